"""The short part of `make fuzz`: the same seeds each time."""

import pytest

import metasage
from fuzz.attack import MOST_MEMORY, Attack, allowed, run
from fuzz.attacks import ATTACKS


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name):
    faults = run(ATTACKS[name], range(ATTACKS[name].quick))
    assert not faults, "\n\n".join(map(str, faults))


def test_what_is_raised_is_a_fault_with_the_command_that_shows_it_again():
    def attempt(random, folder):
        (folder / "own").write_text("x")
        with allowed():
            if random.random() < 0.5:
                raise metasage.InputError("a sentence.")
        if random.random() < 0.5:
            raise KeyError("odd")

    attack = Attack("odd", attempt, quick=0)
    seeds = [fault.seed for fault in run(attack, range(40))]
    assert 5 < len(seeds) < 35
    assert seeds == [fault.seed for fault in run(attack, range(40))]
    report = str(run(attack, seeds[:1])[0])
    assert "KeyError: 'odd'" in report
    assert report.endswith(f"Again: python -m fuzz odd --seed {seeds[0]} --count 1")


@pytest.mark.parametrize("text", ["no point", "two\nlines."])
def test_an_error_that_is_no_sentence_is_a_fault(text):
    def attempt(random, folder):
        with allowed():
            raise metasage.InputError(text) if "\n" not in text else metasage.MetasageError(text)

    assert len(run(Attack("odd", attempt, quick=0), [1])) == 1


def test_memory_is_a_fault():
    def attempt(random, folder):
        bytearray(MOST_MEMORY + 2**29)[::4096] = b"x" * -(-(MOST_MEMORY + 2**29) // 4096)

    assert "MB of memory" in run(Attack("greedy", attempt, quick=0), [1])[0].report
