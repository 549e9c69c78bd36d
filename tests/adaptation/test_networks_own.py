"""What a network brings along: a trained layer, near nodes, settings of methods."""

import pytest
import torch
from helpers import make_task, solve_alone

from metasage.adaptation.eas import Eas
from metasage.adaptation.greedy import Greedy
from metasage.adaptation.sage import Sage
from metasage.errors import InputError
from metasage.policies.config import PolicyConfig
from metasage.policies.model import Model
from metasage.policies.policy import AttentionPolicy
from metasage.problems.sets import generate
from metasage.rollout.interface import Adapter, Decoding
from metasage.stop import MaxIterations


def made_model(provenance=None, **options):
    torch.manual_seed(3)
    scale = {
        "pointer_locality": "outside",
        "glimpse_locality": True,
        "encoder_locality": True,
        "query_skip": True,
        "query_residual": True,
    }
    policy = AttentionPolicy(PolicyConfig("tsp", width=64, layers=2, **(scale | options)))
    policy.eval().requires_grad_(False)
    if policy.decoder.residual is not None:
        policy.decoder.residual.w2.normal_(std=0.1)
    return Model(policy, provenance=provenance or {})


@pytest.mark.parametrize("method", [Sage(), Eas(), Sage(preset="paper")], ids=str)
def test_adaptation_starts_from_the_layer_that_was_trained(method):
    model = made_model()
    task = make_task(model, copies=2)
    strategy = method.start(task)
    strategy = getattr(strategy, "samples", strategy)
    layer = model.policy.decoder.residual()
    assert torch.equal(strategy.eta, layer.flat().expand(2, -1))
    before = task.rollout(Decoding(), 0)
    started = task.rollout(Decoding(adapter=Adapter.from_flat(strategy.eta, strategy.place)), 0)
    assert torch.equal(before.actions, started.actions)
    rollouts = strategy.rollout(0, 0.0)
    strategy.learn(rollouts, None)
    assert not torch.equal(strategy.eta, layer.flat().expand(2, -1))
    assert torch.equal(layer.w1, model.policy.decoder.residual().w1)


def test_a_network_made_for_near_nodes_looks_at_them_where_there_are_more():
    model = made_model(neighbours=10)
    assert make_task(model, size=15).decoding.neighbours == 10
    assert make_task(model, size=10).decoding.neighbours is None
    instance = generate("tsp", 30, 1, 1)[0]
    own = solve_alone(instance, Greedy(), model=model)
    asked = solve_alone(instance, Greedy(neighbours=10), model=made_model())
    every = solve_alone(instance, Greedy(neighbours=30), model=model)
    assert own.best == asked.best
    assert every.best == solve_alone(instance, Greedy(), model=made_model()).best


def test_from_a_size_on_a_network_may_suggest_near_nodes():
    model = made_model({"near": [10, 25]})
    instances = [generate("tsp", size, 1, 1)[0] for size in (20, 30)]
    few, many = (solve_alone(i, Greedy(), model=model) for i in instances)
    assert few.settings["parameters"]["neighbours"] is None
    assert many.settings["parameters"]["neighbours"] == 10
    assert many.best == solve_alone(instances[1], Greedy(neighbours=10), model=made_model()).best
    every = solve_alone(instances[1], Greedy(neighbours=30), model=model)
    assert every.best == solve_alone(instances[1], Greedy(), model=made_model()).best


def test_settings_of_a_network_are_those_of_default_where_nothing_is_said():
    model = made_model({"settings": {"sage": {"learning_rate": 3e-4, "temperature": 0.4}}})
    instance, stop = generate("tsp", 12, 1, 1)[0], MaxIterations(2)

    def used(method):
        return solve_alone(instance, method, stop, model=model).settings["parameters"]

    assert used(Sage())["learning_rate"] == 3e-4
    assert used(Sage())["temperature"] == 0.4
    assert used(Sage())["temperature_end"] == 0.3
    assert used(Sage(temperature=0.9))["temperature"] == 0.9
    assert used(Sage(preset="paper"))["learning_rate"] == 3.2e-3
    assert used(Eas())["learning_rate"] == 3.2e-3


@pytest.mark.parametrize("wrong", [{"colour": 1}, {"learning_rate": -1.0, "temperature": "warm"}])
def test_settings_that_no_method_has_are_refused(wrong):
    model = made_model({"settings": {"sage": wrong}})
    with pytest.raises(InputError, match="suggests for sage are not understood"):
        solve_alone(generate("tsp", 12, 1, 1)[0], Sage(), MaxIterations(1), model=model)
