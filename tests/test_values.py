"""What a setting may be is read off its annotation, for every way to set one."""

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest

import metasage
from metasage.adaptation.registry import METHODS, make_method
from metasage.errors import InputError
from metasage.training.settings import TrainingSettings
from metasage.training.sml.settings import SmlSettings, sml_recipe
from metasage.training.stage import Stage
from metasage.values import Count, Range, assign, require_valid

STAGE = Stage((10,), 2, 2, 1, 1e-3)


@dataclass(frozen=True)
class Several:
    """Settings of all kinds."""

    count: Count | None = None
    rate: float = 1.0
    sizes: tuple[Count, ...] = (1,)
    flag: bool = False
    stages: tuple[Stage, ...] = ()

    def __post_init__(self):
        require_valid(self)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"count": 0}, "count is 0 and must be at least 1."),
        ({"count": 10**20}, "count is 100000000000000000000 and must be at most 1e+09."),
        ({"count": 10**5000}, "count is too large and must be at most 1e+09."),
        ({"count": True}, "count is True and must be a whole number."),
        ({"count": 1.5}, "count is 1.5 and must be a whole number."),
        ({"rate": float("inf")}, "rate is inf and must be a finite number."),
        ({"rate": None}, "rate is None and must be a finite number."),
        ({"sizes": 5}, "sizes is 5 and must be a list, each a whole number."),
        ({"sizes": (5, 0)}, "sizes is [5, 0] and must be a list, each at least 1."),
        ({"flag": 1}, "flag is 1 and must be true or false."),
        ({"stages": (1,)}, "stages is [1] and must be a list, each a Stage."),
    ],
)
def test_a_wrong_value_is_one_sentence(values, sentence):
    with pytest.raises(InputError) as told:
        Several(**values)
    assert str(told.value) == sentence


def test_numbers_of_numpy_become_plain_ones():
    made = Several(np.int64(3), np.float32(2.5), [np.int32(4)], np.bool_(True))
    assert made == Several(3, 2.5, (4,), True)
    assert [type(value) for value in (made.count, made.rate, made.sizes[0], made.flag)] == [
        int, float, int, bool,
    ]  # fmt: skip


def test_both_ends_of_a_range_belong_to_it():
    demands = [Range(1, 2).demand(value) for value in (0.9, 1, 2, 2.1)]
    assert demands == ["at least 1", None, None, "at most 2"]


@pytest.mark.parametrize("text", ["1e400", "9" * 5000, "[" * 5000, "nan", "true"])
def test_whatever_an_assignment_holds_is_judged_as_a_value(text):
    with pytest.raises(InputError, match=r"rate is .* and must be a finite number"):
        Several(**assign({"rate": 1.0}, [f"rate={text}"]))


@pytest.mark.parametrize("name", METHODS)
def test_every_number_of_every_method_has_bounds(name):
    method = make_method(name)
    for item in fields(method):
        if isinstance(getattr(method, item.name), bool) or item.name in ("eas", "variant"):
            continue
        for odd in (float("nan"), float("inf"), -1, 1e30, 10**30):
            with pytest.raises(InputError, match=f"^{item.name} is .* and must be "):
                replace(method, **{item.name: odd})


@pytest.mark.parametrize("settings", [STAGE, sml_recipe("cpu", "tsp")], ids=["stage", "sml"])
def test_every_number_of_a_training_has_bounds(settings):
    for item in fields(settings):
        if isinstance(getattr(settings, item.name), bool):
            continue
        for odd in (float("nan"), float("inf"), -1, 1e30, 10**30):
            with pytest.raises(InputError, match=f"^{item.name} is .* and must be "):
                replace(settings, **{item.name: odd})


def test_python_and_files_say_the_same():
    settings = TrainingSettings("pomo", "tsp", (STAGE,))
    with pytest.raises(InputError) as from_python:
        replace(settings, log_every=0)
    with pytest.raises(InputError) as from_text:
        settings.overridden(["log_every=0"])
    assert str(from_python.value) == str(from_text.value)


def test_numbers_of_numpy_make_the_same_search():
    instance = metasage.generate("tsp", 8, 1, 1)[0]
    results = [
        metasage.solve(instance, stop=metasage.MaxIterations(count), seed=seed, improve="none")
        for count, seed in ((2, 3), (np.int64(2), np.int64(3)))
    ]
    assert results[0].best == results[1].best
    assert type(results[1].to_dict()["seed"]) is int


def test_numbers_of_numpy_train_as_plain_ones():
    assert SmlSettings(steps=np.int64(7), lr=np.float64(1e-3)) == SmlSettings(steps=7, lr=1e-3)
