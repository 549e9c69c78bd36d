"""How searches use the scale meta-learner."""

from dataclasses import replace

import pytest
import torch
from helpers import solve_alone

from metasage.adaptation.active_search import ActiveSearch
from metasage.adaptation.eas import Eas
from metasage.adaptation.greedy import Greedy
from metasage.adaptation.sage import Sage
from metasage.errors import OutsideTraining
from metasage.policies.sml import ScaleMetaLearner, Sml
from metasage.problems.sets import generate


def sml_of(model, std, **provenance):
    torch.manual_seed(0)
    learner = ScaleMetaLearner("official", model.config.width)
    torch.nn.init.normal_(learner.output.weight, std=std)
    return Sml(learner.requires_grad_(False), provenance, "mine")


def instance_of(model, size=20):
    return generate(model.config.problem, size, 1, 1)[0]


@pytest.mark.parametrize(
    "method", [Greedy(), Sage(iterations=3), Eas(iterations=3), ActiveSearch(iterations=3)]
)
def test_zero_weights_change_nothing_and_others_do(model, method):
    instance = instance_of(model)
    without = solve_alone(instance, method, model=model, sml="none")
    zero = solve_alone(instance, method, model=model, sml=sml_of(model, 0.0))
    other = solve_alone(instance, method, model=model, sml=sml_of(model, 0.3))
    assert [o for _, _, o in zero.curve] == [o for _, _, o in without.curve]
    assert [o for _, _, o in other.curve] != [o for _, _, o in without.curve]
    assert (without.settings["sml"], other.settings["sml"]) == ("none", "mine")
    assert other.feasible


def test_active_search_starts_from_the_moved_embeddings(tsp_model):
    instance = instance_of(tsp_model)
    sml = sml_of(tsp_model, 0.3)
    first = Sage(iterations=1, bias="none", greedy_start=False)
    assert (
        solve_alone(instance, ActiveSearch(iterations=1), model=tsp_model, sml=sml).objective
        == solve_alone(instance, first, model=tsp_model, sml=sml).objective
    )


def test_sizes_outside_of_training_are_told(tsp_model):
    sml = sml_of(tsp_model, 0.1, sizes=[400, 200])
    with pytest.warns(OutsideTraining, match="trained on 200 to 400 nodes; with 20 it"):
        assert solve_alone(instance_of(tsp_model), Greedy(), model=tsp_model, sml=sml).feasible
    small = replace(tsp_model, provenance={"recipe": {"stages": [{"size": 1}]}})
    with pytest.warns(OutsideTraining, match="101 nodes, more than 100 times the 1 "):
        solve_alone(instance_of(tsp_model, 101), Greedy(), model=small)
