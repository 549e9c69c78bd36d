"""Solvers of others behind one interface: ``solve(instance, seconds, seed)``."""
