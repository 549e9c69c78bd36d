"""Steps that look at the nearest nodes alone, in both engines."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from metasage.policies.config import PolicyConfig
from metasage.policies.library import find_model
from metasage.policies.policy import AttentionPolicy
from metasage.problems import check, get_problem
from metasage.problems.batch import Batch
from metasage.problems.sets import generate
from metasage.rollout.interface import (
    Adapter,
    Decoding,
    EdgeBonus,
    EtaSums,
    LocalityBias,
    Request,
)
from metasage.rollout.random import instance_seeds
from metasage.rollout.torch_engine import StepDecoder, TorchEngine

pytest.importorskip("metasage._native")
from metasage.rollout.native_engine import NativeEngine

PROBLEMS = ["tsp", "cvrp", "pctsp", "op"]
COUNT, SIZE, ROLLOUTS, WIDTH = 2, 40, 11, 64
ENGINES = {"native": NativeEngine(), "torch": TorchEngine()}


def make_case(problem, seed=0, size=SIZE, **options):
    torch.manual_seed(seed)
    if problem in ("pctsp", "op"):
        options = {"starts": "free"} | options
    config = PolicyConfig(problem, width=WIDTH, layers=2, hidden=64, **options)
    policy = AttentionPolicy(config)
    batch = policy.view(list(generate(problem, size, COUNT, seed=seed)))
    starts = None
    if config.starts == "forced":
        starts = (torch.arange(ROLLOUTS) + int(config.rules.has_depot)).expand(COUNT, -1)
    return policy, batch, Request(ROLLOUTS, instance_seeds(seed, COUNT), starts=starts)


def adapter(place):
    return Adapter.from_flat(torch.randn(COUNT, 2 * WIDTH**2 + 2 * WIDTH) * 0.1, place)


def far_forced(batch):
    """A feasible rollout of each instance that hardly ever goes to a near node."""
    rules = batch.problem.rules(batch, 1)
    actions = []
    while not rules.done.all():
        # The highest allowed number, which has nothing to do with distance; the depot is last.
        allowed = ~rules.forbidden()[:, 0]
        nodes = torch.arange(batch.num_nodes).where(allowed, -1).max(-1).values.unsqueeze(1)
        nodes = nodes.where(~rules.done, 0 if batch.problem.has_depot else rules.current)
        rules.step(nodes)
        actions.append(nodes)
    return torch.stack(actions, dim=-1)


def ring_bonus(nodes):
    sources = torch.arange(nodes).expand(COUNT, -1)
    return EdgeBonus(sources, (sources + 1) % nodes, torch.linspace(0, 5, nodes).expand(COUNT, -1))


DECODINGS = {
    "greedy": lambda: Decoding(greedy=True),
    "plain": lambda: Decoding(),
    "outside": lambda: Decoding(temperature=0.6, bias=LocalityBias("outside", 2.0)),
    "inside": lambda: Decoding(temperature=1.7, bias=LocalityBias("inside", 0.7)),
    "after": lambda: Decoding(adapter=adapter("after")),
    "before": lambda: Decoding(adapter=adapter("before"), bias=LocalityBias("outside", 1.0)),
}


def assert_same_rollouts(ours, theirs, tolerance):
    same = (ours.steps == theirs.steps) & torch.isclose(ours.cost, theirs.cost, rtol=1e-5)
    # A draw may lie on a boundary by chance: one in a thousand steps at the very most.
    assert same.float().mean() > 0.95
    assert torch.allclose(
        ours.log_likelihood[same], theirs.log_likelihood[same], rtol=tolerance, atol=tolerance
    )
    steps = min(ours.actions.shape[2], theirs.actions.shape[2])
    assert torch.equal(ours.actions[same][:, :steps], theirs.actions[same][:, :steps])


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("kind", DECODINGS)
def test_both_engines_roll_out_the_same(problem, kind):
    policy, batch, request = make_case(problem, seed=PROBLEMS.index(problem) + 1)
    decoding = replace(DECODINGS[kind](), neighbours=5)
    with torch.no_grad():
        inputs = policy(batch)
    request = replace(request, forced=far_forced(batch))
    ours, theirs = (e.rollout(batch, inputs, decoding, request) for e in ENGINES.values())
    assert torch.isfinite(theirs.log_likelihood).all()
    assert_same_rollouts(ours, theirs, 1e-4)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_bonuses_are_added_to_the_candidates(problem):
    policy, batch, request = make_case(problem, seed=3)
    bonus = ring_bonus(batch.num_nodes)
    with torch.no_grad():
        inputs = policy(batch)
    decoding = Decoding(temperature=2.0, bonus=bonus, neighbours=5)
    ours, theirs = (e.rollout(batch, inputs, decoding, request) for e in ENGINES.values())
    assert_same_rollouts(ours, theirs, 1e-4)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["greedy", "outside", "after"])
def test_as_many_neighbours_as_nodes_change_nothing(problem, engine, kind):
    policy, batch, request = make_case(problem, seed=2)
    decoding = DECODINGS[kind]()
    with torch.no_grad():
        inputs = policy(batch)
    request = replace(request, forced=far_forced(batch))
    dense, sparse = (
        ENGINES[engine].rollout(batch, inputs, replace(decoding, neighbours=count), request)
        for count in (None, batch.num_nodes)
    )
    assert torch.equal(dense.actions, sparse.actions)
    assert torch.allclose(dense.log_likelihood, sparse.log_likelihood, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_free_start_looks_at_all_nodes(engine):
    policy, batch, request = make_case("tsp", seed=4, starts="free", placeholder=True)
    with torch.no_grad():
        inputs = policy(batch)
    first = StepDecoder(batch, inputs, Decoding(neighbours=1), 1).log_probabilities()
    assert torch.isfinite(first).all()
    found = ENGINES[engine].rollout(batch, inputs, Decoding(neighbours=1), request)
    # One candidate leaves no choice but the first node, which all nodes are possible for.
    wanted = first[:, 0].gather(1, found.actions[..., 0])
    assert torch.allclose(found.log_likelihood.float(), wanted, atol=1e-5)
    assert len(found.actions[0, :, 0].unique()) > 1


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("kind", ["plain", "outside", "inside", "after", "before"])
def test_gradients_agree_with_autograd(problem, kind):
    policy, batch, request = make_case(problem, seed=5)
    decoding = replace(DECODINGS[kind](), neighbours=5)
    eta = None
    if decoding.adapter is not None:
        eta = decoding.adapter.flat().requires_grad_()
        decoding = replace(decoding, adapter=Adapter.from_flat(eta, decoding.adapter.place))
    with torch.no_grad():
        request = replace(request, forced=far_forced(batch))
        rollouts = NativeEngine().rollout(batch, policy(batch), decoding, request)
    weights = torch.randn(COUNT, ROLLOUTS + 1)
    found = []
    for engine in ENGINES.values():
        inputs = policy(batch)
        total = engine.weighted_log_likelihood(batch, inputs, decoding, rollouts, weights)
        wanted = [
            t
            for t in (*vars(inputs).values(), eta)
            if isinstance(t, torch.Tensor) and t.requires_grad
        ]
        gradients = torch.autograd.grad(total, wanted, allow_unused=True)
        found.append(
            [
                torch.zeros_like(t) if g is None else g
                for t, g in zip(wanted, gradients, strict=True)
            ]
        )
    for ours, theirs in zip(*found, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-4 * float(theirs.abs().max()))


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("place", ["after", "before"])
def test_eta_sums_agree_with_autograd(problem, place):
    # Longer than the rows that the kernel keeps at a time.
    policy, batch, request = make_case(problem, seed=6, size=90 if problem == "tsp" else SIZE)
    with torch.no_grad():
        inputs = policy(batch)
    decoding = Decoding(adapter=adapter(place), bias=LocalityBias("outside", 1.0), neighbours=5)
    sums = []
    for engine in ENGINES.values():
        total = EtaSums.zeros(COUNT, WIDTH)
        wish = replace(
            request,
            forced=far_forced(batch),
            eta_sums=total,
            centre=torch.full((COUNT,), 3.0, dtype=torch.float64),
        )
        engine.rollout(batch, inputs, decoding, wish)
        sums.append(total)
    for name in ("by_cost", "plain", "forced"):
        ours, theirs = (getattr(total, name) for total in sums)
        assert torch.allclose(ours, theirs, rtol=1e-3, atol=1e-4 * float(theirs.abs().max()))


def candidates_of(problem, places, fields, path, count, given=None):
    """Nodes with a probability after some steps."""
    torch.manual_seed(0)
    coords = torch.tensor([places], dtype=torch.float32)
    batch = Batch(get_problem(problem), coords, fields)
    policy = AttentionPolicy(PolicyConfig(problem, width=WIDTH, layers=1, hidden=64)).eval()
    with torch.no_grad():
        decoder = StepDecoder(batch, policy(batch), Decoding(neighbours=count), 1)
        for node in path:
            decoder.step(torch.tensor([[node]]))
        wanted = None if given is None else torch.tensor([[given]])
        log_p = decoder.log_probabilities(wanted)[0, 0]
    return torch.isfinite(log_p).nonzero()[:, 0].tolist()


# On a line, at eighths, which float32 represents exactly.
LINE = [(0.0, 0.0), (0.125, 0.0), (0.25, 0.0), (0.375, 0.0), (0.75, 0.0), (1.0, 0.0)]


def test_candidates_are_the_nearest_unvisited_nodes():
    assert candidates_of("tsp", LINE, {}, [3], 2) == [1, 2]
    assert candidates_of("tsp", LINE, {}, [3], 3) == [0, 1, 2]
    assert candidates_of("tsp", LINE, {}, [2, 3], 3) == [0, 1, 4]
    assert candidates_of("tsp", LINE, {}, [2, 3], 1, given=5) == [1, 5]
    assert candidates_of("tsp", LINE, {}, [3], 99) == [0, 1, 2, 4, 5]


def test_of_equally_far_nodes_the_lower_number_is_taken():
    square = [(0.5, 0.5), (0.5, 1.0), (1.0, 0.5), (0.5, 0.0), (0.0, 0.5)]
    assert candidates_of("tsp", square, {}, [0], 2) == [1, 2]
    assert candidates_of("tsp", square, {}, [2, 0], 2) == [1, 3]


def test_the_depot_comes_on_top_where_it_is_allowed():
    fields = {
        "demand": torch.tensor([[0.0, 1.0, 1.0, 1.0, 9.0, 1.0]]),
        "capacity": torch.tensor([10.0]),
    }
    assert candidates_of("cvrp", LINE, fields, [], 2) == [1, 2]
    assert candidates_of("cvrp", LINE, fields, [3], 2) == [0, 1, 2]
    # Node 4 does not fit any more, and the depot does not count.
    assert candidates_of("cvrp", LINE, fields, [3, 2], 2) == [0, 1, 5]
    assert candidates_of("cvrp", LINE, fields, [3, 2], 1, given=4) == [0, 1]


@pytest.mark.parametrize("spread", ["grid", "cluster", "one place"])
def test_ties_and_clusters_are_resolved_alike(spread):
    torch.manual_seed(1)
    size = 100
    places = torch.cartesian_prod(torch.arange(10), torch.arange(10)).float() / 9
    if spread == "cluster":
        places = torch.rand(size, 2) * torch.where(torch.arange(size) < 95, 1e-3, 1.0).unsqueeze(1)
    if spread == "one place":
        places = torch.full((size, 2), 0.25)
    policy = AttentionPolicy(PolicyConfig("tsp", width=WIDTH, layers=1, hidden=64)).eval()
    batch = Batch(get_problem("tsp"), places.unsqueeze(0))
    with torch.no_grad():
        inputs = policy(batch)
    request = Request(4, instance_seeds(1, 1), starts=torch.tensor([[0, 33, 50, 99]]))
    decoding = Decoding(neighbours=3)
    ours, theirs = (e.rollout(batch, inputs, decoding, request) for e in ENGINES.values())
    assert torch.equal(ours.actions, theirs.actions)
    assert torch.allclose(ours.log_likelihood, theirs.log_likelihood, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("size", [2, 7, 60, 230])
@pytest.mark.parametrize("neighbours", [1, 6])
def test_solutions_are_feasible_at_every_size(problem, size, neighbours):
    torch.manual_seed(size)
    starts = "free" if problem in ("pctsp", "op") else "forced"
    config = PolicyConfig(problem, width=WIDTH, layers=1, hidden=64, starts=starts)
    policy = AttentionPolicy(config).eval()
    instances = list(generate(problem, size, 8, seed=size))
    instances = [i for i in instances if i.problem.infeasibility(i) is None][:2]
    batch = policy.view(instances)
    nodes = (torch.arange(3) % size + int(config.rules.has_depot)).expand(len(instances), -1)
    seeds = instance_seeds(1, len(instances))
    request = Request(3, seeds, starts=nodes if starts == "forced" else None)
    with torch.no_grad():
        decoding = Decoding(neighbours=neighbours)
        found = NativeEngine().rollout(batch, policy(batch), decoding, request)
    for row, instance in enumerate(instances):
        for rollout in range(3):
            steps = int(found.steps[row, rollout])
            actions = found.actions[row, rollout, :steps].numpy()
            assert check(instance, instance.problem.to_solution(actions)).violation is None


@pytest.mark.parametrize("problem", PROBLEMS)
def test_threads_do_not_change_anything(problem):
    policy, batch, request = make_case(problem, seed=7)
    decoding = Decoding(adapter=adapter("after"), neighbours=6)
    results = []
    for threads in (1, 2):
        engine = NativeEngine(threads)
        total = EtaSums.zeros(COUNT, WIDTH)
        wish = replace(request, forced=far_forced(batch), eta_sums=total)
        inputs = policy(batch)
        rollouts = engine.rollout(batch, inputs, decoding, wish)
        loss = engine.weighted_log_likelihood(batch, inputs, decoding, rollouts, rollouts.cost)
        gradients = torch.autograd.grad(loss, [inputs.keys, inputs.values, inputs.pointers])
        results.append(
            (rollouts.actions, rollouts.log_likelihood, *vars(total).values(), *gradients)
        )
    assert all(torch.equal(one, two) for one, two in zip(*results, strict=True))


def memory(name):
    """Bytes of memory that this process has (VmRSS), or had at most (VmHWM)."""
    rows = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(row.split()[1]) for row in rows if row.startswith(name))


def reset_peak_memory():
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pytest.skip("the peak of memory cannot be measured here")
    return memory("VmRSS")


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_large_instances_need_little_memory(problem):
    torch.manual_seed(0)
    size = 2000
    policy = AttentionPolicy(PolicyConfig(problem, width=WIDTH, layers=1, hidden=64)).eval()
    instance = generate(problem, size, 1, seed=1)[0]
    batch = policy.view([instance])
    with torch.no_grad():
        inputs = policy(batch)
    total = EtaSums.zeros(1, WIDTH)
    flat = torch.randn(1, 2 * WIDTH**2 + 2 * WIDTH) * 0.1
    request = Request(
        8, instance_seeds(1, 1), starts=torch.arange(1, 9).expand(1, -1), eta_sums=total
    )
    decoding = Decoding(neighbours=20, adapter=Adapter.from_flat(flat))
    before = reset_peak_memory()
    found = NativeEngine(2).rollout(batch, inputs, decoding, request)
    # Node rows and lists take 2 MB, the rows of eta 10; a matrix of all pairs would be 16.
    assert memory("VmHWM") - before < 16e6
    actions = found.actions[0, 0, : found.steps[0, 0]].numpy()
    assert check(instance, instance.problem.to_solution(actions)).violation is None


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_a_published_network_loses_little(problem, shared):
    model = find_model(str(shared / f"checkpoints/pomo_amdkd/checkpoint-{problem}-100.pt"), problem)
    batch = model.policy.view(list(generate(problem, 100, 4, seed=1)))
    starts = (torch.arange(100) + int(problem == "cvrp")).expand(4, -1)
    request = Request(100, instance_seeds(1, 4), starts=starts)
    with torch.no_grad():
        inputs = model.policy(batch)
    dense, sparse = (
        NativeEngine()
        .rollout(batch, inputs, Decoding(greedy=True, neighbours=count), request)
        .cost.min(1)
        .values.mean()
        for count in (None, 50)
    )
    assert math.isclose(float(sparse), float(dense), rel_tol=0.02)
