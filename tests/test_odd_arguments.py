"""Whatever a caller hands over by mistake, the answer is a sentence or a result."""

import dataclasses
import inspect
import warnings

import numpy as np
import pytest

import metasage

ODD = [
    None, "x", b"x", [], {}, (1, 2), 5, -1, 0, 1.5, float("nan"), float("inf"), 1e30, 1e-300, True,
    np.int64(3), np.float64(2.5), object(),
]  # fmt: skip
INSTANCE = metasage.generate("cvrp", 8, 1, 1)[0]
SOLUTION = metasage.Solution([[node] for node in range(1, 9)])
METHODS = [
    metasage.Greedy, metasage.Sampling, metasage.ActiveSearch, metasage.Eas, metasage.EasTab,
    metasage.Sgbs, metasage.Sage,
]  # fmt: skip
FIELDS = {
    metasage.Tsp: {"coords": [[0, 0], [1, 1]]},
    metasage.Cvrp: {"coords": [[0, 0], [1, 1]], "demand": [0, 1], "capacity": 2},
    metasage.Pctsp: {"coords": [[0, 0], [1, 1]], "prize": [0, 1], "penalty": [0, 1]},
    metasage.Op: {"coords": [[0, 0], [1, 1]], "prize": [0, 1], "max_length": 5},
}


def tried(call):
    """Call; what is raised must be one sentence of ours."""
    sentence = "."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
    except metasage.MetasageError as error:
        sentence = str(error)
    assert sentence.endswith(".")
    assert "\n" not in sentence


def is_long(value):
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and value > 2


@pytest.mark.parametrize(
    "name",
    [n for n in inspect.signature(metasage.solve).parameters if n not in ("callbacks", "started")],
)
def test_solve(name):
    for value in ODD:
        options = {"instance": INSTANCE, "time_limit": 0.1, name: value}
        if name == "time_limit" and is_long(value):
            continue
        if options["time_limit"] is None:
            options["iterations"] = 1
        tried(lambda options=options: metasage.solve(**options))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (metasage.check, (INSTANCE, SOLUTION)),
        (metasage.plot, (INSTANCE, SOLUTION, "x.png")),
        (metasage.write_solution, ("x.sol", INSTANCE, SOLUTION)),
        (metasage.write_instance, ("x.vrp", INSTANCE)),
        (metasage.write_set, ("x.npz", metasage.generate("tsp", 5))),
        (metasage.generate, ("cvrp", 5, 1, 1)),
        (metasage.read, ("x",)),
        (metasage.read_instances, ("x",)),
        (metasage.read_set, ("x",)),
        (metasage.read_solution, ("x", INSTANCE)),
        (metasage.Solution, ([[1]],)),
        (metasage.MaxRuntime, (1,)),
        (metasage.MaxIterations, (1,)),
        (metasage.NoImprovement, (1,)),
        (metasage.Target, (1, "min")),
        (metasage.FirstOf, (metasage.MaxRuntime(1),)),
    ],
)
def test_functions(function, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in range(len(arguments)):
        for value in ODD:
            given = [*arguments[:place], value, *arguments[place + 1 :]]
            tried(lambda given=given: function(*given))
            if function is metasage.Solution:
                tried(lambda value=value: metasage.Solution([value]))
                tried(lambda value=value: metasage.Solution([[value]]))


@pytest.mark.parametrize("name", ["instances", "limit", "offset", "improve", "method"])
def test_evaluate(name):
    for value in ODD:
        options = {"instances": [INSTANCE], name: value}
        tried(lambda options=options: metasage.evaluate(**options))


@pytest.mark.parametrize("kind", FIELDS, ids=lambda kind: kind.__name__)
def test_instances(kind):
    names = {field.name for field in dataclasses.fields(kind)}
    for name in names:
        for value in ODD:
            tried(lambda name=name, value=value: kind(**(FIELDS[kind] | {name: value})))


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_settings(kind):
    for field in dataclasses.fields(kind):
        for value in ODD:
            tried(lambda name=field.name, value=value: kind(**{name: value}))


def test_sizes_and_threads_beyond_all_machines():
    for call in (
        lambda: metasage.generate("tsp", 2**62),
        lambda: metasage.generate("op", 10**5, 10**5),
        lambda: metasage.solve(INSTANCE, threads=100_000),
        lambda: metasage.solve(INSTANCE, "greedy", device="meta"),
    ):
        with pytest.raises(metasage.InputError, match=r"at most|not one that torch can use"):
            call()
