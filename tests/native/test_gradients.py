import decoder_reference as reference
import numpy as np
import pytest
import torch
from decoder_reference import PROBLEMS, make_case, rollout_arguments

from metasage import _native

SETTINGS = {
    "plain": {},
    "no optional inputs": {"combine_bias": None, "query_first": None, "query_scalar": None},
    "adapter before, bias outside": {
        "with_adapter": True,
        "adapter_place": "before",
        "bias_kind": 1,
        "bias_strength": 2.0,
        "temperature": 0.8,
    },
    "adapter after, bias inside": {
        "with_adapter": True,
        "adapter_place": "after",
        "bias_kind": 2,
        "bias_strength": 0.7,
        "width": 64,
    },
    "neighbours": {"neighbours": 4},
    "neighbours, adapter after": {
        "neighbours": 4,
        "with_adapter": True,
        "adapter_place": "after",
        "bias_kind": 1,
        "bias_strength": 2.0,
        "width": 64,
    },
    "locality outside": {"with_locality": True, "bias_kind": 1, "bias_strength": 2.0},
    "locality inside, skip": {"with_locality": True, "locality_inside": True, "skip": True},
    "locality inside, skip, adapter before": {
        "with_locality": True,
        "locality_inside": True,
        "skip": True,
        "with_adapter": True,
        "adapter_place": "before",
        "temperature": 0.8,
    },
    "skip, shared adapter": {
        "skip": True,
        "with_adapter": True,
        "shared_adapter": True,
        "width": 64,
    },
    "neighbours, locality, skip, shared adapter": {
        "neighbours": 4,
        "with_locality": True,
        "locality_inside": True,
        "skip": True,
        "with_adapter": True,
        "shared_adapter": True,
    },
    "neighbours, locality outside": {"neighbours": 4, "with_locality": True},
}
ADAPTER = ("w1", "b1", "w2", "b2")


def soft_case(problem, **changes):
    """Draw a case whose probabilities are far from 0 and 1."""
    case = make_case(problem, nodes=19, instances=2, **changes)
    return case | {"clip": 2.0}


def assert_close(found, wanted):
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max() + 1e-9)


def backward_arguments(case, result, weights, first_scored):
    names = ("actions", "steps")
    return (
        case
        | {name: result[name] for name in names}
        | {
            "weights": weights,
            "first_scored": first_scored,
        }
    )


def expected_gradients(case, result, weights, first_scored):
    """Gradients of the weighted log-likelihoods by autograd."""
    tensors = reference.tensors_of(case, requires_grad=True)
    total = torch.zeros((), dtype=torch.float64)
    for b, r in np.ndindex(weights.shape):
        actions = result["actions"][b, r, : result["steps"][b, r]]
        logs, _ = reference.log_likelihood(case, tensors, b, actions, first_scored)
        total = total + float(weights[b, r]) * logs
    total.backward()
    return {
        name: np.zeros(tensor.shape) if tensor.grad is None else tensor.grad.numpy()
        for name, tensor in tensors.items()
    }


def check_backward(problem, setting, first_scored):
    case = soft_case(problem, seed=7, **SETTINGS[setting])
    result = _native.rollout(**rollout_arguments(case, 3))
    weights = np.random.default_rng(1).normal(size=(2, 3)).astype(np.float32)
    found = _native.backward(**backward_arguments(case, result, weights, first_scored))
    wanted = expected_gradients(case, result, weights, first_scored)
    assert found.pop("finished")
    logs = found.pop("log_likelihood")
    if first_scored:
        np.testing.assert_allclose(logs, result["log_likelihood"], rtol=1e-5)
    assert found.keys() == wanted.keys()
    for name, gradient in wanted.items():
        assert_close(found[name], gradient)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_backward_equals_autograd(problem, setting):
    check_backward(problem, setting, first_scored=True)


@pytest.mark.parametrize("setting", SETTINGS)
def test_backward_in_all_instruction_sets(setting, simd):
    check_backward("cvrp", setting, first_scored=False)


@pytest.mark.parametrize("instances", [3, 9])
@pytest.mark.parametrize("neighbours", [None, 5])
def test_backward_does_not_depend_on_threads(instances, neighbours):
    case = make_case(
        "tsp",
        nodes=30,
        instances=instances,
        with_adapter=True,
        with_locality=True,
        skip=True,
        neighbours=neighbours,
    )
    result = _native.rollout(**rollout_arguments(case, 21))
    weights = np.random.default_rng(1).normal(size=(instances, 21)).astype(np.float32)
    one, two = (
        _native.backward(**backward_arguments(case, result, weights, True) | {"threads": threads})
        for threads in (1, 2)
    )
    for name, gradient in one.items():
        np.testing.assert_array_equal(gradient, two[name])


def test_many_instances_give_the_gradients_of_each():
    case = make_case("tsp", nodes=20, instances=9)
    result = _native.rollout(**rollout_arguments(case, 2))
    weights = np.ones((9, 2), dtype=np.float32)
    together = _native.backward(**backward_arguments(case, result, weights, True))
    per_instance = ("keys", "values", "pointers", "query_last", "query_first", "query_start")
    total = np.zeros((128, 128))
    for b in range(9):
        part = slice(b, b + 1)
        single = case | {name: case[name][part] for name in (*per_instance, "coords")}
        arguments = backward_arguments(
            single, {name: result[name][part] for name in ("actions", "steps")}, weights[part], True
        )
        alone = _native.backward(**arguments)
        for name in per_instance:
            assert_close(together[name][part], alone[name])
        total += alone["combine_weight"]
    assert_close(together["combine_weight"], total)


def test_backward_equals_finite_differences():
    case = make_case("pctsp", width=64, instances=1, nodes=18, seed=2) | {"clip": 3.0}
    result = _native.rollout(**rollout_arguments(case, 1))
    weights = np.ones((1, 1), dtype=np.float32)
    gradient = _native.backward(**backward_arguments(case, result, weights, True))
    direction = np.random.default_rng(3).normal(size=case["values"].shape).astype(np.float32)

    def logs(step):
        moved = case | {"values": case["values"] + np.float32(step) * direction}
        arguments = rollout_arguments(moved, 0, forced=result["actions"], forced_first_scored=True)
        return float(_native.rollout(**arguments)["log_likelihood"][0, 0])

    slope = (logs(3e-3) - logs(-3e-3)) / 6e-3
    assert slope == pytest.approx(float((gradient["values"] * direction).sum()), rel=1e-2)


def new_sums(case):
    b, _, d = case["keys"].shape
    return tuple(np.zeros((b, 2 * d * d + 2 * d)) for _ in range(3))


def flat_gradient(case, actions, b, first_scored):
    """Gradient of one rollout's log-likelihood by the adapter of its instance."""
    tensors = reference.tensors_of(case, requires_grad=True)
    logs, walk = reference.log_likelihood(case, tensors, b, actions, first_scored)
    logs.backward()
    return np.concatenate([tensors[name].grad[b].numpy().ravel() for name in ADAPTER]), walk.cost()


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("bias_kind", [1, 2])
def test_eta_sums_equal_autograd(problem, place, bias_kind):
    check_eta_sums(problem, place, bias_kind)


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("neighbours", [None, 4])
def test_eta_sums_in_all_instruction_sets(place, neighbours, simd):
    check_eta_sums("cvrp", place, 1, neighbours)


def check_eta_sums(problem, place, bias_kind, neighbours=None):
    case = soft_case(
        problem,
        seed=8,
        width=64,
        with_adapter=True,
        adapter_place=place,
        bias_kind=bias_kind,
        bias_strength=0.8,
        neighbours=neighbours,
    )
    forced = _native.rollout(**rollout_arguments(case, 2, rollout_offset=100))
    starts = np.full((2, 3), -1, dtype=np.int32)
    if problem != "op":
        starts[:, 1] = 4
    sums, centre = new_sums(case), np.array([0.5, -2.0])
    result = _native.rollout(
        **rollout_arguments(
            case,
            3,
            starts=starts[..., None],
            forced=forced["actions"],
            eta_sums=sums,
            centre=centre,
        )
    )
    for b in range(2):
        wanted = [np.zeros_like(total[b]) for total in sums]
        for r in range(5):
            scored = r < 3 and starts[b, r] < 0
            actions = result["actions"][b, r, : result["steps"][b, r]]
            gradient, cost = flat_gradient(case, actions, b, scored)
            if r < 3:
                wanted[0] += (cost - centre[b]) * gradient
                wanted[1] += gradient
            else:
                wanted[2] += gradient
        for found, total in zip(sums, wanted, strict=True):
            assert_close(found[b], total)
