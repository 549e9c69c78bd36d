"""What each adaptation method changes, and what it must not."""

import copy
import time

import pytest
import torch
from helpers import is_nearest_neighbour_tour, make_task, run, solve_alone

from metasage.adaptation.active_search import ActiveSearch
from metasage.adaptation.eas import Eas
from metasage.adaptation.eas_tab import EasTab
from metasage.adaptation.guidance import BiasSchedule, Geometric
from metasage.adaptation.registry import METHODS
from metasage.adaptation.sage import PRESETS, Sage
from metasage.adaptation.sampling import Sampling
from metasage.adaptation.task import Task
from metasage.adaptation.update import Adam, Update
from metasage.errors import InputError
from metasage.problems.sets import generate
from metasage.rollout import get_engine
from metasage.rollout.interface import Adapter, Decoding
from metasage.stop import FirstOf, MaxIterations, MaxRuntime, NoImprovement, Target

LEARNERS = ["as", "eas-lay", "eas-emb", "eas-tab", "sage"]
VARIANTS = [
    ActiveSearch(iterations=3),
    Eas(iterations=3),
    Eas(iterations=3, place="after"),
    Eas(iterations=3, variant="emb"),
    EasTab(iterations=3),
    *(Sage(iterations=3, preset=preset) for preset in PRESETS),
    Sage(iterations=3, adapter="embedding"),
    Sage(iterations=3, adapter="embedding", preset="paper"),
]


def label(method):
    return "-".join(str(getattr(method, k, "")) for k in ("name", "preset", "adapter", "place"))


@pytest.mark.parametrize("method", VARIANTS, ids=label)
def test_the_network_is_untouched_and_results_repeat(model, method):
    before = copy.deepcopy(model.policy.state_dict())
    instance = generate(model.config.problem, 12, 1, seed=2)[0]
    runs = [
        solve_alone(instance, method, model=model, threads=threads, seed=4) for threads in (1, 2)
    ]
    after = model.policy.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert all(not parameter.requires_grad for parameter in model.policy.parameters())
    assert runs[0].feasible
    assert runs[0].best == runs[1].best
    assert [row[1:] for row in runs[0].curve] == [row[1:] for row in runs[1].curve]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_looks_at_the_neighbours_alone(model, name):
    """With one neighbour a step has no choice but between that node and the depot."""
    instance = generate(model.config.problem, 12, 1, seed=2)[0]
    options = {"iterations": 2, "rollouts": 6}
    if name == "sage":  # whose bias prefers near nodes anyway
        options |= {"bias": "none", "greedy_start": False}
    near = METHODS[name](**options, neighbours=1)
    found = {
        engine: solve_alone(instance, near, model=model, engine=engine, seed=4)
        for engine in ("native", "torch")
    }
    assert all(result.feasible for result in found.values())
    assert found["native"].objective == pytest.approx(found["torch"].objective, rel=1e-6)
    assert found["native"].to_dict()["parameters"]["neighbours"] == 1
    all_nodes = solve_alone(instance, METHODS[name](**options), model=model, seed=4)
    assert all_nodes.best != found["native"].best
    if model.config.problem == "tsp":
        route = found["native"].best.routes[0]
        assert is_nearest_neighbour_tour(instance.coords, list(route))


def test_wrong_numbers_of_neighbours_are_refused():
    with pytest.raises(InputError, match="neighbours is 0 and must be at least 1"):
        Sampling(neighbours=0)


@pytest.mark.parametrize("method", [Eas(), Sage(greedy_start=False)])
def test_only_eta_changes_in_layer_methods(model, method):
    task = make_task(model)
    inputs = copy.deepcopy(task.inputs)
    strategy = method.start(task)
    before = strategy.eta.clone()
    run(strategy, task, 2)
    assert not torch.equal(before, strategy.eta)
    for field in ("keys", "values", "pointers", "query_last", "combine_weight"):
        assert torch.equal(getattr(task.inputs, field), getattr(inputs, field))


def test_only_pointer_keys_change_in_eas_emb(tsp_model):
    task = make_task(tsp_model)
    inputs = copy.deepcopy(task.inputs)
    run(METHODS["eas-emb"]().start(task), task, 2)
    assert not torch.equal(task.inputs.pointers, inputs.pointers)
    for field in ("keys", "values", "query_last", "combine_weight"):
        assert torch.equal(getattr(task.inputs, field), getattr(inputs, field))


def test_everything_changes_in_active_search(tsp_model):
    task = make_task(tsp_model)
    strategy = ActiveSearch(learning_rate=1e-2).start(task)
    run(strategy, task, 2)
    changed = dict(strategy.adapted.policy.named_parameters())
    for name, weight in tsp_model.policy.named_parameters():
        assert not torch.equal(weight, changed[name]), name


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_fresh_layer_is_the_identity(model, place):
    task = make_task(model)
    strategy = Eas(place=place).start(task)
    plain = task.rollout(Decoding(), 0)
    layered = strategy.rollout(0, 0.0)
    assert torch.equal(plain.actions, layered.actions)
    assert torch.allclose(plain.log_likelihood, layered.log_likelihood, atol=1e-4)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_the_step_of_eta_follows_the_gradient_of_the_objective(tsp_model, preset):
    """One step against the loss of the paper, written with autograd of the torch engine."""
    task = make_task(tsp_model, size=9)
    task.policy = copy.deepcopy(task.policy)
    strategy = Sage(preset=preset, greedy_start=False).start(task)
    strategy.eta += 0.05 * torch.randn(
        strategy.eta.shape, generator=torch.Generator().manual_seed(1)
    )
    solution = task.instance.problem.to_solution(range(9))
    if strategy.update.replay:
        strategy.target = task.replayed(solution)
    eta = strategy.eta.clone().requires_grad_()
    rollouts = strategy.rollout(0, 0.5)
    used = strategy.used
    decoding = Decoding(
        temperature=used.temperature, bias=used.bias, adapter=Adapter.from_flat(eta)
    )
    weights = strategy.update.weights(rollouts.cost, task.rollouts)
    engine = get_engine("torch", task.policy.config)
    loss = engine.weighted_log_likelihood(task.batch, task.inputs, decoding, rollouts, weights)
    (expected,) = torch.autograd.grad(loss, eta)
    seen = []
    strategy.optimiser.descend = seen.append
    strategy.learn(rollouts, solution)
    error = (seen[0] - expected).norm() / expected.norm()
    assert float(error) < 1e-3


def test_weights_of_the_objective_by_hand():
    cost = torch.tensor([[1.0, 4.0, 7.0, 2.0]])
    replayed = Update(1.0, 0.5).weights(cost, samples=3)
    assert torch.allclose(replayed, torch.tensor([[-1.0, 0.0, 1.0, -0.5]]))
    best_of_samples = Update(1.0, 0.5, replay=False).weights(cost[:, :3], samples=3)
    assert torch.allclose(best_of_samples, torch.tensor([[-1.5, 0.0, 1.0]]))


def test_adam_is_adam():
    torch.manual_seed(0)
    ours, theirs = torch.randn(3, 5), torch.zeros(3, 5)
    theirs.copy_(ours).requires_grad_()
    own = Adam(ours, 0.01, weight_decay=0.1)
    reference = torch.optim.Adam([theirs], lr=0.01, weight_decay=0.1)
    for _ in range(5):
        gradient = torch.randn(3, 5)
        own.descend(gradient)
        theirs.grad = gradient
        reference.step()
    assert torch.allclose(ours, theirs, atol=1e-6)


def test_schedules_are_held_at_their_ends():
    alpha = Geometric(1.0, 0.3)
    assert [alpha.at(p) for p in (-1, 0, 1, 7)] == pytest.approx([1.0, 1.0, 0.3, 0.3])
    assert alpha.at(0.5) == pytest.approx(0.3**0.5)
    bias = BiasSchedule("outside", Geometric(10, 10), by_density=True)
    assert bias.at(0.3, 400).strength == pytest.approx(20.0)


def test_official_schedules_count_to_200_whatever_is_planned(tsp_model):
    task = make_task(tsp_model)
    strategy = Sage(preset="official", iterations=50).start(task)
    assert strategy.guide.decoding(task, 50, 1.0).temperature == pytest.approx(0.3**0.25)
    assert strategy.guide.decoding(task, 900, 1.0).temperature == pytest.approx(0.3)
    planned = Sage(preset="paper", iterations=50).start(task)
    assert planned.guide.decoding(task, 50, 1.0).temperature == pytest.approx(0.3)


@pytest.mark.parametrize("name", ["sample", *LEARNERS])
def test_a_run_stopped_early_is_the_start_of_the_planned_one(tsp_model, name):
    instance = generate("tsp", 12, 1, seed=9)[0]
    method = METHODS[name](iterations=8)
    whole = solve_alone(instance, method, model=tsp_model)
    early = solve_alone(instance, method, MaxIterations(3), model=tsp_model)
    start = [row[1:] for row in whole.curve if row[1] < 3]
    assert [row[1:] for row in early.curve] == start
    assert early.iterations == 3


@pytest.mark.parametrize("name", LEARNERS)
def test_adaptation_beats_sampling_at_equal_budget(tsp_model, name):
    """An untrained network learns a lot about one instance; sampling learns nothing."""
    instance = generate("tsp", 30, 1, seed=3)[0]
    # The published settings are for trained networks.
    stronger = {
        "as": {"learning_rate": 1e-3},
        "eas-emb": {"learning_rate": 0.1},
        "eas-tab": {"strength": 150.0},
    }
    options = stronger.get(name, {})
    sampled = solve_alone(instance, Sampling(iterations=40), model=tsp_model).objective
    adapted = solve_alone(
        instance, METHODS[name](iterations=40, **options), model=tsp_model
    ).objective
    assert adapted < 0.95 * sampled


@pytest.mark.parametrize("size", [5, 40])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_problem_and_method_respects_the_constraints(model, name, size):
    instance = generate(model.config.problem, size, 1, seed=8)[0]
    result = solve_alone(instance, METHODS[name](iterations=3, augment=2), model=model)
    assert result.feasible
    assert result.iterations == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"preset": "secret"},
        {"adapter": "hat"},
        {"bias": "sideways"},
        {"temperature": 0.0},
        {"alpha": -1.0},
    ],
)
def test_unknown_settings_are_refused(wrong):
    with pytest.raises(InputError):
        Sage(**wrong)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_the_table_favours_the_incumbents_edges_as_published(problem, request):
    from metasage.rollout.torch_engine import StepDecoder

    model = request.getfixturevalue("tsp_model")
    if problem == "cvrp":
        model = request.getfixturevalue("cvrp_model")
    task = make_task(model, size=6)
    strategy = EasTab(exponent=0.5, strength=9.0).start(task)
    incumbent = run(strategy, task, 1)
    actions = task.instance.problem.to_actions(incumbent.best)
    decoder = StepDecoder(task.batch, task.inputs, Decoding(), 1)
    decoder.step(torch.tensor([actions[:1]]))
    chance = decoder.log_probabilities()[0, 0, actions[1]].exp()
    edges = list(
        zip(strategy.bonus.sources[0].tolist(), strategy.bonus.targets[0].tolist(), strict=True)
    )
    found = strategy.bonus.values[0, edges.index((actions[0], actions[1]))].exp()
    assert float(found) == pytest.approx(max(1.0, 9.0 / float(chance) ** 0.5), rel=1e-5)


@pytest.mark.parametrize(
    "settings",
    [{"alpha": 0.0}, {"alpha_end": 0.0}, {"learning_rate": 0.0}, {"bias": "inside"}],
)
def test_settings_of_nothing_are_refused_and_not_replaced(tsp_model, settings):
    with pytest.raises(InputError):
        Sage(**settings).start(make_task(tsp_model))


@pytest.mark.parametrize("method", [ActiveSearch(), Sage(preset="paper", adapter="embedding")])
def test_little_memory_makes_torch_learn_in_parts(tsp_model, method):
    task = make_task(tsp_model, size=9, engine="torch")
    strategy = method.start(task)
    found = []
    for memory, rollouts_at_a_time in ((1e9, 9), (1.0, 1)):
        task.max_memory = memory
        assert min(9, task.chunk(learning=True)) == rollouts_at_a_time
        rollouts = strategy.rollout(0, 0.0)
        weights = strategy.update.weights(rollouts.cost.float(), task.rollouts)
        gradients = strategy.gradients(rollouts, weights)
        found.append(torch.cat([g.flatten() for g in gradients if g is not None]))
    assert torch.allclose(*found, rtol=1e-3, atol=1e-5)
    assert float(found[0].norm()) > 0


@pytest.mark.parametrize(
    ("stop", "planned"),
    [(MaxIterations(4), 4), (NoImprovement(3), 200), (FirstOf(MaxIterations(4), Target(0.0)), 4)],
)
def test_schedules_run_over_what_is_planned(tsp_model, monkeypatch, stop, planned):
    """A criterion without a clock leaves them to its own number, or to the default."""
    seen = []
    rollout = Task.rollout
    monkeypatch.setattr(
        Task,
        "rollout",
        lambda self, decoding, *rest: seen.append(decoding) or rollout(self, decoding, *rest),
    )
    instance = generate("tsp", 8, 1, 1)[0]
    result = solve_alone(instance, Sage(preset="paper"), stop, model=tsp_model)
    expected = [0.3 ** (k / planned) for k in range(len(seen))]
    assert [decoding.temperature for decoding in seen] == pytest.approx(expected)
    assert result.to_dict()["parameters"]["iterations"] == planned


def test_schedules_of_the_clock_begin_with_the_first_iteration(tsp_model, monkeypatch):
    seen = []
    at = Geometric.at
    monkeypatch.setattr(
        Geometric, "at", lambda self, progress: seen.append(progress) or at(self, progress)
    )
    spent = time.monotonic() - 1.0  # before the search began
    instance = generate("tsp", 20, 1, 1)[0]
    method = Sage(preset="paper")
    solve_alone(instance, method, MaxRuntime(2.0), model=tsp_model, started=spent)
    assert seen[0] < 0.2
    assert 0.8 < seen[-1] <= 1.0


@pytest.mark.parametrize("name", list(METHODS))
def test_results_name_every_setting_that_was_used(cvrp_model, name):
    instance = generate("cvrp", 8, 1, 1)[0]
    method = METHODS[name](iterations=1)
    parameters = solve_alone(instance, method, model=cvrp_model).to_dict()["parameters"]
    optional = {"rollouts", "neighbours"}
    optional |= {"learning_rate", "imitation"} if name == "sgbs" else set()
    assert {key for key, value in parameters.items() if value is None} == optional
