"""Forms of a solution: other rollouts, the same routes; and maps of the square."""

import numpy as np
import pytest
import torch

import metasage
from metasage.improve import improve
from metasage.policies.symmetry import augment
from metasage.problems.batch import Batch
from metasage.training.forms import draw_forms, turned

PROBLEMS = ["tsp", "cvrp", "pctsp", "op"]


def solved(problem, size=14, count=4):
    """Instances, and the padded steps of a solution of each."""
    instances = metasage.generate(problem, size, count, 9)
    rows = [
        instances.problem.to_actions(improve(instance, kicks=5, threads=1))
        for instance in instances
    ]
    actions = np.zeros((count, max(map(len, rows)) + 2), dtype=np.int32)
    for target, row in zip(actions, rows, strict=True):
        target[: len(row)] = row
    return list(instances), actions[:, :size] if problem == "tsp" else actions


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_form_is_feasible_and_as_good_as_the_solution(problem):
    instances, actions = solved(problem)
    rules = instances[0].problem
    forms, lengths = draw_forms(rules, actions, 8, np.random.default_rng(1))
    assert forms.shape[:2] == lengths.shape == (4, 8 if problem in ("tsp", "cvrp") else 2)
    for instance, row, mine, steps in zip(instances, actions, forms, lengths, strict=True):
        original = rules.to_solution(row)
        expected = metasage.check(instance, original).objective
        for form, length in zip(mine, steps, strict=True):
            solution = rules.to_solution(form)
            verdict = metasage.check(instance, solution)
            assert verdict.feasible
            assert verdict.objective == pytest.approx(expected, rel=1e-12)
            assert form[:length].tolist() == rules.to_actions(solution)
            assert not form[length:].any()
            assert {frozenset(r) for r in solution.routes} == {
                frozenset(r) for r in original.routes
            }


def test_a_tour_starts_anywhere_and_goes_both_ways():
    tour = np.arange(10, dtype=np.int32)[None]
    forms, _ = draw_forms(metasage.generate("tsp", 10).problem, tour, 40, np.random.default_rng(2))
    turns = (np.diff(forms[0], axis=1) % 10)[:, 0]
    assert set(turns[::2]) | set(turns[1::2]) == {1, 9}
    assert set(turns[::2]) != set(turns[1::2])
    assert len(set(forms[0, :, 0])) == 10


def test_routes_come_in_any_order_and_direction():
    walk = np.array([[1, 2, 3, 0, 4, 0, 5, 6, 0, 0]], dtype=np.int32)
    forms, lengths = draw_forms(
        metasage.generate("cvrp", 6).problem, walk, 400, np.random.default_rng(3)
    )
    assert (lengths == 8).all()
    # Three routes in any order; two of them have two directions.
    assert len({tuple(form) for form in forms[0]}) == 6 * 4


def test_an_empty_tour_has_one_form():
    forms, lengths = draw_forms(
        metasage.generate("op", 6).problem, np.zeros((1, 3), np.int32), 8, np.random.default_rng(4)
    )
    assert not forms.any()
    assert (lengths == 1).all()


def test_forms_are_a_function_of_their_seed():
    _, actions = solved("cvrp")
    rules = metasage.generate("cvrp", 6).problem
    first, again, other = (
        draw_forms(rules, actions, 8, np.random.default_rng(seed))[0] for seed in (5, 5, 6)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_maps_of_the_square_are_those_of_the_augmentation():
    batch = Batch.of(list(metasage.generate("tsp", 7, 1, 3)))
    eight = Batch.of(list(metasage.generate("tsp", 7, 1, 3)) * 8)
    shown = turned(eight, np.arange(8)).coords
    known = augment(batch, 8).coords
    assert sorted(map(torch.Tensor.tolist, shown)) == sorted(map(torch.Tensor.tolist, known))
