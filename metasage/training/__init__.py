"""Pre-training of policies: POMO and Sym-NCO."""
