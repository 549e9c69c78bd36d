"""The greedy first iteration of SAGE's default, and the bias that it chooses."""

from dataclasses import replace

import pytest
import torch
from helpers import is_nearest_neighbour_tour, make_task, run, solve_alone

from metasage.adaptation.greedy import Greedy
from metasage.adaptation.greedy_start import strongest_tolerated
from metasage.adaptation.guidance import Geometric
from metasage.adaptation.sage import STRENGTHS, Sage
from metasage.problems.sets import generate
from metasage.rollout.interface import LocalityBias


def test_a_greedy_start_looks_at_the_neighbours_alone(tsp_model):
    instance = generate("tsp", 12, 1, seed=2)[0]
    result = solve_alone(instance, Sage(iterations=1, neighbours=1), model=tsp_model)
    assert is_nearest_neighbour_tour(instance.coords, list(result.best.routes[0]))


def test_a_greedy_start_is_the_greedy_method_and_is_imitated(model):
    instance = generate(model.config.problem, 15, 1, 3)[0]
    greedy = solve_alone(instance, Greedy(), model=model)
    first = solve_alone(instance, Sage(iterations=1, bias="none"), model=model)
    assert first.best == greedy.best
    task = make_task(model)
    strategy = Sage().start(task)
    record = run(strategy, task, 1)
    assert torch.equal(strategy.samples.target, task.replayed(record.best))


def test_a_greedy_start_tries_strengths_of_the_bias_on_equal_shares(cvrp_model):
    task = make_task(cvrp_model, size=20)
    strategy = Sage().start(task)
    rollouts = strategy.rollout(0, 0.0)
    half = replace(task, rollouts=task.rollouts // 2)
    biases = [LocalityBias("outside", alpha * 0.2**0.5) for alpha in STRENGTHS["cvrp"]]
    parts = [
        half.rollout(replace(task.decoding, greedy=True, bias=bias), 0).cost for bias in biases
    ]
    assert torch.equal(rollouts.cost, torch.cat(parts, dim=1))
    means = [float(part.mean()) for part in parts]
    stronger = means[1] <= 1.005 * means[0]
    kept = STRENGTHS["cvrp"][stronger]
    assert strategy.chosen() == {"alpha": kept, "alpha_end": kept}
    result = solve_alone(task.instance, Sage(iterations=1), model=cvrp_model, seed=task.seed)
    assert result.to_dict()["parameters"]["alpha"] == kept


@pytest.mark.parametrize(
    ("costs", "kept"),
    [((10.0, 10.04), 40.0), ((10.0, 10.06), 10.0), ((10.3, 10.0), 40.0), ((-5.0, -4.98), 40.0),
     ((-5.0, -4.9), 10.0)],
)  # fmt: skip
def test_the_strongest_bias_is_kept_that_costs_little(costs, kept):
    guides = [Sage().guide("cvrp", alpha) for alpha in (10.0, 40.0)]
    assert strongest_tolerated(guides, list(costs)).bias.alpha.at(0.5) == pytest.approx(kept)


def test_a_strength_that_is_given_is_not_tried(cvrp_model):
    task = make_task(cvrp_model)
    strategy = Sage(alpha=7.0).start(task)
    assert [guide.bias.alpha for guide in strategy.tried] == [Geometric(7.0, 7.0)]
    strategy = Sage(alpha_end=3.0).start(task)
    ends = [Geometric(alpha, 3.0) for alpha in STRENGTHS["cvrp"]]
    assert [guide.bias.alpha for guide in strategy.tried] == ends


def test_without_replay_the_greedy_tour_is_not_imitated(tsp_model):
    task = make_task(tsp_model)
    strategy = Sage(replay=False, adapter="embedding").start(task)
    run(strategy, task, 2)
    assert strategy.samples.target is None
