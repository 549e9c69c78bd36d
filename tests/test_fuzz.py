"""The short part of `make fuzz`: the same seeds each time."""

import pytest

from fuzz.attack import run
from fuzz.attacks import ATTACKS


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name):
    faults = run(ATTACKS[name], range(ATTACKS[name].quick))
    assert not faults, "\n\n".join(map(str, faults))
