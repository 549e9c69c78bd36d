"""Threads, chunks and deadlines change nothing; bad input is refused."""

import time

import numpy as np
import pytest
from decoder_reference import PROBLEMS, make_case, rollout_arguments

from metasage import _native
from metasage.errors import NotFinite

FIELDS = ("actions", "log_likelihood", "cost", "steps")


def new_sums(case):
    b, _, d = case["keys"].shape
    return tuple(np.zeros((b, 2 * d * d + 2 * d)) for _ in range(3))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_threads_and_chunks_change_no_bit(problem, simd):
    check_threads_and_chunks(problem, None)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_threads_and_chunks_change_no_bit_with_neighbours(problem):
    check_threads_and_chunks(problem, 5)


def check_threads_and_chunks(problem, neighbours):
    case = make_case(
        problem, nodes=40, instances=2, with_adapter=True, bias_kind=1, neighbours=neighbours
    )
    centre, total = np.array([1.0, 2.0]), 140
    runs = []
    for threads, chunk in ((1, total), (2, total), (2, 2 * _native.block), (1, _native.block)):
        sums, results = new_sums(case), []
        for offset in range(0, total, chunk):
            arguments = rollout_arguments(
                case,
                min(chunk, total - offset),
                rollout_offset=offset,
                eta_sums=sums,
                centre=centre,
                threads=threads,
            )
            results.append(_native.rollout(**arguments))
        longest = max(result["actions"].shape[2] for result in results)
        for result in results:
            room = longest - result["actions"].shape[2]
            result["actions"] = np.pad(result["actions"], ((0, 0), (0, 0), (0, room)))
        joined = [np.concatenate([result[name] for result in results], 1) for name in FIELDS]
        runs.append([*joined, *sums])
    for run in runs[1:]:
        for found, wanted in zip(run, runs[0], strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("neighbours", [None, 5])
def test_a_rollout_does_not_depend_on_the_others(problem, neighbours, simd):
    case = make_case(problem, nodes=40, instances=1, neighbours=neighbours)
    together = _native.rollout(**rollout_arguments(case, 20))
    for offset in (3, 17):
        alone = _native.rollout(**rollout_arguments(case, 1, rollout_offset=offset))
        steps = alone["steps"][0, 0]
        assert together["steps"][0, offset] == steps
        for name in ("log_likelihood", "cost"):
            assert together[name][0, offset] == alone[name][0, 0]
        np.testing.assert_array_equal(
            together["actions"][0, offset, :steps], alone["actions"][0, 0]
        )


@pytest.mark.parametrize("neighbours", [None, 30])
def test_the_deadline_is_kept(neighbours):
    case = make_case("tsp", nodes=1000, instances=1, neighbours=neighbours)
    began = time.monotonic()
    result = _native.rollout(**rollout_arguments(case, 1000, seconds_left=0.01))
    assert not result["finished"]
    assert time.monotonic() - began < 1.0


@pytest.mark.parametrize("neighbours", [None, 100])
def test_the_deadline_is_kept_within_a_given_rollout(neighbours):
    case = make_case("tsp", nodes=2000, instances=1, neighbours=neighbours)
    tour = np.arange(2000, dtype=np.int32).reshape(1, 1, -1)
    given = case | {
        "actions": tour,
        "steps": np.full((1, 1), 2000, np.int32),
        "weights": np.ones((1, 1), np.float32),
        "first_scored": True,
        "seconds_left": 0.01,
    }
    began = time.monotonic()
    assert not _native.backward(**given)["finished"]
    forced = rollout_arguments(case, 0, forced=tour, seconds_left=0.01)
    assert not _native.rollout(**forced)["finished"]
    assert time.monotonic() - began < 1.0


def test_the_caller_goes_on_with_subnormal_numbers():
    """The engine counts them as zero, in its own threads alone."""
    _native.rollout(**rollout_arguments(make_case("tsp"), 3))
    assert np.float32(1e-38) / np.float32(100) > 0


def test_a_far_deadline_changes_nothing():
    case = make_case("tsp")
    result = _native.rollout(**rollout_arguments(case, 3, seconds_left=float("inf")))
    assert result["finished"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": np.zeros((2, 13, 96), np.float32)}, "width of 64 or 128"),
        ({"heads": 4}, "8 heads"),
        ({"keys": np.zeros((2, 13), np.float32)}, "three axes"),
        ({"values": np.zeros((2, 12, 128), np.float32)}, r"values has the shape \(2, 12, 128\)"),
        (
            {"pointers": np.zeros((2, 13, 128))},
            "pointers has to be a C-contiguous array of float32",
        ),
        ({"coords": np.zeros((2, 2, 13), np.float32).swapaxes(1, 2)}, "coords has to be"),
        ({"query_last": None}, "query_last is needed"),
        ({"query_start": None}, "query_start is needed"),
        ({"combine_bias": np.zeros(64, np.float32)}, "combine_bias has the shape"),
        ({"adapter": (1, 2, 3)}, "tuple of w1, b1, w2 and b2"),
        ({"problem": "atsp"}, "'atsp' and must be one of tsp"),
        ({"temperature": 0.0}, "temperature has to be positive"),
        ({"bias_kind": 3}, "bias_kind"),
        ({"threads": 0}, "threads"),
        ({"neighbours": 0}, "neighbours has to be at least 1"),
        ({"starts": np.full((2, 4, 1), 13, np.int32)}, "which is no node"),
        ({"starts": np.zeros((2, 3, 1), np.int32)}, "starts has the shape"),
        ({"seeds": None}, "seeds is needed"),
        ({"rollouts": 0}, "no rollouts"),
        ({"eta_sums": (np.zeros((2, 5)), np.zeros((2, 5)))}, "needs an adapter"),
        ({"forced": np.zeros((2, 1, 13), np.int32)}, "may not go to node 0 at step 1"),
        ({"forced": np.zeros((2, 1, 1), np.int32)}, "not complete after 1 steps"),
        ({"forced": np.full((2, 1, 13), 99, np.int32)}, "may not go to node 99"),
        ({"speed": 1}, "no argument 'speed'"),
    ],
)
@pytest.mark.parametrize("neighbours", [None, 5])
def test_bad_arguments_are_refused(change, message, neighbours):
    arguments = rollout_arguments(make_case("tsp", neighbours=neighbours), 4) | change
    with pytest.raises(ValueError, match=message):
        _native.rollout(**arguments)


def test_a_demand_above_the_capacity_is_refused():
    case = make_case("cvrp")
    case["fields"]["capacity"][:] = 3
    with pytest.raises(ValueError, match="does not lie between 0 and the capacity"):
        _native.rollout(**rollout_arguments(case, 1))


def test_a_start_out_of_reach_is_refused():
    case = make_case("op")
    case["fields"]["max_length"][:] = 1e-3
    starts = np.ones((2, 1, 1), np.int32)
    with pytest.raises(ValueError, match="may not go to node 1 at step 0"):
        _native.rollout(**rollout_arguments(case, 1, starts=starts))


@pytest.mark.parametrize("name", ["keys", "query_last", "combine_weight", "coords"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused(name, number):
    case = make_case("cvrp", instances=1)
    case[name].flat[7] = number
    with pytest.raises(NotFinite, match=f"{name} holds numbers that are not finite"):
        _native.rollout(**rollout_arguments(case, 2))


def test_backward_refuses_what_the_rules_forbid():
    case = make_case("tsp")
    arguments = case | {
        "actions": np.zeros((2, 1, 13), np.int32),
        "steps": np.full((2, 1), 13, np.int32),
        "weights": np.ones((2, 1), np.float32),
        "first_scored": True,
    }
    with pytest.raises(ValueError, match="may not go to node 0 at step 1"):
        _native.backward(**arguments)
    with pytest.raises(ValueError, match="steps holds 14"):
        _native.backward(**arguments | {"steps": np.full((2, 1), 14, np.int32)})


def test_an_unknown_instruction_set_is_refused(monkeypatch):
    monkeypatch.setenv("METASAGE_SIMD", "mmx")
    with pytest.raises(ValueError, match="mmx"):
        _native.simd()
