import pytest
from helpers import solve_alone

from metasage.adaptation.greedy import Greedy
from metasage.adaptation.sgbs import Sgbs
from metasage.errors import InputError
from metasage.problems.sets import generate
from metasage.stop import MaxRuntime


def instance_of(model, size=14, seed=4):
    return generate(model.config.problem, size, 1, seed)[0]


def test_no_beam_and_no_rollouts_is_the_best_greedy_start(model):
    instance = instance_of(model)
    greedy = solve_alone(instance, Greedy(), model=model)
    search = solve_alone(instance, Sgbs(beam=1, expansion=0), model=model)
    assert search.best == greedy.best


def test_a_wider_search_finds_no_worse_and_often_better(model):
    instance = instance_of(model)
    sign = -1 if model.config.problem == "op" else 1
    greedy = sign * solve_alone(instance, Greedy(), model=model).objective
    narrow = sign * solve_alone(instance, Sgbs(beam=2, expansion=2), model=model).objective
    wide = sign * solve_alone(instance, Sgbs(beam=8, expansion=6), model=model).objective
    assert narrow <= greedy
    assert wide < greedy


def test_results_are_feasible_with_copies_and_with_eas(model):
    instance = instance_of(model)
    for method in (Sgbs(augment=4), Sgbs(eas=True, iterations=2, augment=2)):
        result = solve_alone(instance, method, model=model)
        assert result.feasible
        assert result.iterations == (method.iterations or 1)


def test_engines_search_alike(tsp_model):
    instance = instance_of(tsp_model)
    found = [
        solve_alone(instance, Sgbs(beam=3, expansion=3), model=tsp_model, engine=engine).objective
        for engine in ("native", "torch")
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_a_deadline_ends_a_pass_with_what_it_has(tsp_model):
    instance = instance_of(tsp_model, size=250)
    result = solve_alone(instance, Sgbs(beam=20, expansion=20), MaxRuntime(1.0), model=tsp_model)
    assert result.feasible
    assert result.seconds < 2.0


def test_wrong_settings_are_refused():
    with pytest.raises(InputError):
        Sgbs(beam=0)
    with pytest.raises(InputError):
        Sgbs(expansion=-1)
