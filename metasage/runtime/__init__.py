"""The program and its machine: signals, processes, cores, memory, time."""
