"""Published checkpoints of other projects, read without running their code."""

from metasage.policies.foreign.reader import import_checkpoint

__all__ = ["import_checkpoint"]
