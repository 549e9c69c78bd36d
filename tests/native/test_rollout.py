import decoder_reference as reference
import numpy as np
import pytest
import torch
from decoder_reference import PROBLEMS, make_case, rollout_arguments

from metasage import _native
from metasage.problems import get_problem
from metasage.problems.batch import Batch

VARIANTS = {
    "plain": {},
    "width 64": {"width": 64, "nodes": 21},
    "one node more than a group": {"nodes": 25},
    "no bias of the combining layer": {"combine_bias": None},
    "no extra queries": {"query_first": None, "query_scalar": None},
    "adapter before": {"with_adapter": True, "adapter_place": "before"},
    "adapter after": {"with_adapter": True, "adapter_place": "after", "width": 64},
    "bias outside": {"bias_kind": 1, "bias_strength": 3.0, "temperature": 0.7},
    "bias inside": {"bias_kind": 2, "bias_strength": 0.6, "temperature": 1.5},
    "neighbours": {"neighbours": 4, "nodes": 30, "bias_kind": 1, "bias_strength": 2.0},
    "one neighbour": {"neighbours": 1, "with_adapter": True, "width": 64},
    "locality outside": {"with_locality": True, "bias_kind": 1, "bias_strength": 0.7},
    "locality inside, skip": {"with_locality": True, "locality_inside": True, "skip": True},
    "skip, adapter before": {"skip": True, "with_adapter": True, "adapter_place": "before"},
    "shared adapter": {"with_adapter": True, "shared_adapter": True},
    "neighbours, locality, skip, adapter": {
        "neighbours": 4,
        "with_locality": True,
        "locality_inside": True,
        "skip": True,
        "with_adapter": True,
    },
    "more neighbours than nodes": {"neighbours": 99, "with_adapter": True},
}


def make_starts(case, rollouts):
    """Force every other rollout to its own node."""
    first, n = int(case["problem"] != "tsp"), case["keys"].shape[1]
    starts = np.full((len(case["keys"]), rollouts, 1), -1, dtype=np.int32)
    starts[:, ::2, 0] = first + np.arange(rollouts)[::2] % (n - first)
    return starts


def assert_as_reference(case, arguments, result):
    """Follow every rollout step by step; skip draws at the edge of a node's interval."""
    everything = reference.tensors_of(case)
    starts = arguments["starts"]
    for b, r in np.ndindex(result["cost"].shape):
        tensors = reference.of_instance(everything, b)
        steps = int(result["steps"][b, r])
        actions = result["actions"][b, r]
        assert not actions[steps:].any()
        walk, expected = reference.Walk(case, b), 0.0
        for t, action in enumerate(actions[:steps]):
            assert not walk.done
            given = -1 if starts is None or t >= starts.shape[2] else starts[b, r, t]
            if given < 0:
                nodes, logs = reference.log_probabilities(case, tensors, walk)
                expected += float(logs[nodes.index(action)])
                if arguments["greedy"]:
                    assert float(logs.max() - logs[nodes.index(action)]) < 1e-5
                else:
                    rollout = r + arguments["rollout_offset"]
                    drawn = reference.drawn_number(arguments["seeds"][b], rollout, t)
                    ends = logs.exp().cumsum(0).numpy()
                    if np.abs(ends - drawn).min() > 1e-5:
                        assert nodes[int(np.searchsorted(ends, drawn, side="right"))] == action
            else:
                assert action == given
            walk.step(action)
        assert walk.done
        assert result["log_likelihood"][b, r] == pytest.approx(expected, rel=1e-5, abs=1e-5)
        assert result["cost"][b, r] == pytest.approx(walk.cost(), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_sampling_follows_the_reference(problem, variant):
    check_sampling(problem, variant)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(
    "variant",
    ["adapter before", "adapter after", "bias inside", "neighbours", "locality inside, skip"],
)
def test_all_instruction_sets_sample_alike(problem, variant, simd):
    check_sampling(problem, variant)


def check_sampling(problem, variant):
    case = make_case(problem, seed=3, **VARIANTS[variant])
    arguments = rollout_arguments(case, 18, rollout_offset=5, starts=make_starts(case, 18))
    if problem == "op":
        arguments["starts"][:] = -1
    result = _native.rollout(**arguments)
    assert result["finished"]
    assert_as_reference(case, arguments, result)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("neighbours", [None, 3])
def test_greedy_takes_the_best_node(problem, neighbours, simd):
    case = make_case(problem, seed=4, neighbours=neighbours)
    arguments = rollout_arguments(case, 2, greedy=True, seeds=None)
    assert_as_reference(case, arguments, _native.rollout(**arguments))


def test_greedy_takes_the_lowest_of_equal_nodes(simd):
    case = make_case("tsp", pointers=np.zeros((2, 13, 128), dtype=np.float32))
    result = _native.rollout(**rollout_arguments(case, 1, greedy=True))
    assert result["actions"][0, 0].tolist() == list(range(13))


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("neighbours", [None, 3])
def test_forced_rollouts_are_scored_like_sampled_ones(problem, neighbours, simd):
    case = make_case(
        problem, nodes=40, seed=5, bias_kind=1, bias_strength=1.0, neighbours=neighbours
    )
    sampled = _native.rollout(**rollout_arguments(case, 3))
    forced = _native.rollout(
        **rollout_arguments(case, 1, forced=sampled["actions"], forced_first_scored=True)
    )
    for name in ("actions", "steps"):
        wanted = sampled[name]
        found = forced[name][:, 1:]
        np.testing.assert_array_equal(found[..., : wanted.shape[-1]], wanted)
    np.testing.assert_allclose(forced["cost"][:, 1:], sampled["cost"], rtol=1e-12)
    np.testing.assert_allclose(
        forced["log_likelihood"][:, 1:], sampled["log_likelihood"], rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("neighbours", [None, 2])
def test_first_forced_step_is_free_unless_scored(problem, neighbours):
    case = make_case(problem)
    # Sampled from all nodes, so that few of the steps go to near ones.
    actions = _native.rollout(**rollout_arguments(case, 1))["actions"]
    case["neighbours"] = neighbours
    tensors = reference.tensors_of(case)
    for scored in (False, True):
        arguments = rollout_arguments(case, 0, forced=actions, forced_first_scored=scored)
        result = _native.rollout(**arguments)
        for b in range(2):
            steps = result["steps"][b, 0]
            wanted, _ = reference.log_likelihood(case, tensors, b, actions[b, 0, :steps], scored)
            assert result["log_likelihood"][b, 0] == pytest.approx(
                float(wanted), rel=1e-5, abs=1e-5
            )


@pytest.mark.parametrize("problem", PROBLEMS)
def test_reference_masks_like_the_package(problem):
    case = make_case(problem, instances=1, nodes=20, seed=6)
    actions = _native.rollout(**rollout_arguments(case, 1))["actions"][0, 0]
    fields = {name: torch.from_numpy(field) for name, field in case["fields"].items()}
    batch = Batch(get_problem(problem), torch.from_numpy(case["coords"]), fields)
    rules, walk = batch.problem.rules(batch, 1), reference.Walk(case, 0)
    for node in actions:
        assert (~rules.forbidden()[0, 0]).nonzero()[:, 0].tolist() == walk.allowed()
        if rules.scalar() is not None:
            assert float(rules.scalar()[0, 0]) == pytest.approx(walk.scalar(), rel=1e-6)
        rules.step(torch.full((1, 1), int(node)))
        walk.step(node)
    assert bool(rules.done[0, 0])
    assert walk.done


@pytest.mark.parametrize("problem", PROBLEMS)
def test_given_steps_are_followed_before_the_policy_goes_on(problem):
    case = make_case(problem, seed=11)
    walked = _native.rollout(**rollout_arguments(case, 5))["actions"][..., :2]
    arguments = rollout_arguments(case, 5, starts=np.ascontiguousarray(walked), greedy=True)
    result = _native.rollout(**arguments)
    assert np.array_equal(result["actions"][..., :2], walked)
    assert_as_reference(case, arguments, result)
