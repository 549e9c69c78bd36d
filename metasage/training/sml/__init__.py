"""Meta-training of the scale meta-learner: labels of a teacher, then distillation."""
