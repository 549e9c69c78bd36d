"""What the tests of all commands need."""

from pathlib import Path

import pytest

from metasage.cli.run import run


@pytest.fixture
def metasage(capfd):
    """Run a command line; return exit code, output and errors."""

    def call(*arguments):
        code = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def examples() -> Path:
    """Return the folder of examples."""
    return Path(__file__).parents[2] / "examples"
