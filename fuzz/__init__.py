"""Attacks on metasage: odd files, settings, networks, signals and limits, drawn by a seed."""
