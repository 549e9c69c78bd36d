"""Our methods and solvers of others on the same instances, at one time limit."""
