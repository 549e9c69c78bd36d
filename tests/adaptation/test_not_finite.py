"""Numbers that go wrong end the network's part with a sentence, and lose nothing."""

import pytest
import torch
from helpers import make_model, solve_alone

import metasage
from metasage.adaptation.registry import METHODS
from metasage.adaptation.sage import Sage
from metasage.adaptation.update import Adam, Update
from metasage.errors import NetworkLeftOut, NotFinite, TooLarge
from metasage.problems.sets import generate
from metasage.stop import MaxIterations

ENDS = "The network's part ends here"


def broken(problem, factor):
    """Return a network whose decoder has weights that are too large."""
    model = make_model(problem)
    for name, weight in model.policy.named_parameters():
        if name.startswith("decoder"):
            weight.data *= factor
    return model


@pytest.mark.parametrize("engine", ["native", "torch"])
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("problem", ["tsp", "op"])
def test_an_overflowing_network_is_a_warning_and_the_answer_comes_without_it(name, engine, problem):
    instance = generate(problem, 12, 1, 1)[0]
    method = METHODS[name](iterations=3, rollouts=8)
    with pytest.warns(NetworkLeftOut, match=ENDS):
        result = solve_alone(instance, method, model=broken(problem, torch.inf), engine=engine)
    assert result.feasible
    assert result.found_by == "construction"


@pytest.mark.parametrize("engine", ["native", "torch"])
@pytest.mark.parametrize("factor", [1e4, 1e8, 1e12, 1e30])
def test_large_weights_are_an_answer_in_either_way(engine, factor):
    instance = generate("cvrp", 12, 1, 1)[0]
    method = metasage.Sage(iterations=3, rollouts=8)
    result = metasage.solve(instance, method, model=broken("cvrp", factor), engine=engine)
    assert result.feasible


def test_what_was_found_before_a_divergence_is_kept(cvrp_model, monkeypatch):
    descend, calls = Adam.descend, []

    def later(self, gradient):
        calls.append(None)
        descend(self, gradient * (torch.nan if len(calls) == 3 else 1.0))

    monkeypatch.setattr(Adam, "descend", later)
    instance = generate("cvrp", 20, 1, 1)[0]
    method = Sage(iterations=9, greedy_start=False)
    short = solve_alone(instance, method, MaxIterations(2), model=cvrp_model)
    calls.clear()
    with pytest.warns(NetworkLeftOut, match=ENDS) as heard:
        result = solve_alone(instance, method, model=cvrp_model)
    assert len(heard) == 1
    assert (result.iterations, result.found_by) == (2, "network")
    assert result.objective <= short.objective


@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_adam_keeps_away_from_what_is_not_finite(number):
    parameters = torch.ones(3)
    adam = Adam(parameters, Update(0.1, 0.0, 0.0, False))
    with pytest.raises(NotFinite, match="the gradient is not finite"):
        adam.descend(torch.tensor([1.0, number, 1.0]))
    assert torch.equal(parameters, torch.ones(3))


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: no memory")])
def test_want_of_memory_ends_the_network_s_part_too(cvrp_model, monkeypatch, error):
    honest, calls = Sage.start, []

    def start(self, task):
        strategy = honest(self, task)

        def learn(rollouts, best):
            calls.append(None)
            if len(calls) == 2:
                raise error

        strategy.learn = learn
        return strategy

    monkeypatch.setattr(Sage, "start", start)
    instance = generate("cvrp", 20, 1, 1)[0]
    with pytest.warns(NetworkLeftOut, match=r"not enough memory for the network\.$"):
        result = solve_alone(instance, Sage(iterations=9), model=cvrp_model)
    assert (result.iterations, result.found_by) == (1, "network")
    monkeypatch.setattr(Sage, "start", lambda self, task: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        solve_alone(instance, Sage(iterations=9), model=cvrp_model)


def test_rollouts_that_no_memory_holds_are_refused_before_they_begin(cvrp_model):
    instance = generate("cvrp", 11, 1, 1)[0]
    method = Sage(iterations=1, rollouts=10**9)
    with pytest.raises(TooLarge, match="1000000000 rollouts of 12 nodes need about"):
        solve_alone(instance, method, model=cvrp_model)
    with pytest.warns(NetworkLeftOut, match="Local search goes on alone"):
        assert metasage.solve(instance, method, model=cvrp_model).feasible
