"""What a comparison makes of its listener, and of methods that are not ours."""

import pytest

import metasage
from metasage.adaptation import registry
from metasage.comparison.contestants import choose_contestants

INSTANCE = metasage.generate("tsp", 8, 1, 1)[0]


@pytest.mark.parametrize("error", [RuntimeError("mine"), metasage.InputError("mine"), OSError(5)])
@pytest.mark.parametrize("early", [True, False])
def test_what_a_listener_raises_comes_out(error, early):
    def listen(instance, solver, objective, seconds):
        if early or objective is not None:
            raise error

    with pytest.raises(type(error)) as told:
        metasage.compare(
            INSTANCE, time_limit=0.2, methods=["local-search"], baselines=["nearest"],
            listener=listen,
        )  # fmt: skip
    assert told.value is error


class Point:
    def load(self):
        return metasage.Greedy


def test_methods_of_others_take_part_by_their_entry_points(monkeypatch):
    def points(group, name):
        return [Point()] if (group, name) == ("metasage.methods", "theirs") else []

    monkeypatch.setattr(registry, "entry_points", points)
    chosen = choose_contestants([INSTANCE], ["theirs", "theirs+final"], ["nearest"])
    assert [contestant.name for contestant in chosen[:2]] == ["theirs", "theirs+final"]
    for name in ("nobodys", "nobodys+final"):
        with pytest.raises(metasage.InputError, match="method 'nobodys' is not one of"):
            choose_contestants([INSTANCE], [name], ["nearest"])
