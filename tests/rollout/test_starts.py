"""First nodes: only those that the rules allow."""

import pytest
import torch
from helpers import make_model, solve_alone

import metasage
from metasage.problems.batch import Batch
from metasage.rollout.starts import reachable_starts


def op_in_reach(limit):
    """Four customers at 1, 2, 3 and 4 from the depot."""
    places = [[0, 0], [1, 0], [0, 2], [3, 0], [0, 4]]
    return metasage.Op(coords=places, prize=[0, 1, 1, 1, 1], max_length=limit)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (8, [1, 2, 3, 4]),
        (6, [1, 2, 3, 1]),
        (4, [1, 2, 1, 2]),
        (2, [1, 1, 1, 1]),
        (1, [0, 0, 0, 0]),
    ],
)
def test_nodes_out_of_reach_are_replaced_in_turn(limit, expected):
    found = reachable_starts(Batch.of([op_in_reach(limit)]), torch.tensor([[1, 2, 3, 4]]))
    assert found.tolist() == [expected]


@pytest.mark.parametrize("engine", ["native", "torch"])
@pytest.mark.parametrize("limit", [0.5, 2, 4, 100])
def test_forced_starts_keep_a_short_limit(limit, engine):
    model = make_model("op", starts="forced")
    instance = op_in_reach(limit)
    for method in (metasage.Greedy(), metasage.Sampling(iterations=2), metasage.Sage(iterations=2)):
        result = solve_alone(instance, method, model=model, engine=engine)
        assert result.feasible
        assert (result.objective > 0) == (limit >= 2)
