"""Rollout engines: one interface, two implementations."""
