"""Instances that are beyond the networks: local search, or a refusal."""

import pytest

import metasage
from metasage.adaptation.greedy import Greedy
from metasage.errors import InputError
from metasage.problems import Solution
from metasage.problems.cvrp import Cvrp
from metasage.problems.metric import EXPLICIT
from metasage.problems.tsp import Tsp
from metasage.solving.record import Record
from metasage.solving.solve import solve

# 0 -> 1 -> 2 -> 0 is 1 + 2 + 3; the other way round it is 30 + 20 + 10.
DIRECTED = Tsp(matrix=[[0, 1, 30], [10, 0, 2], [3, 20, 0]], metric=EXPLICIT)
LIMITED = Cvrp(
    coords=[[0, 0], [0, 3], [4, 3], [4, 0]], demand=[0, 1, 1, 1], capacity=9, max_route_length=12
)


@pytest.mark.parametrize(("instance", "objective"), [(DIRECTED, 6), (LIMITED, 18)])
def test_what_is_beyond_the_networks_is_left_to_local_search(instance, objective):
    result = solve(instance, stop=metasage.MaxRuntime(5))
    assert (result.objective, result.feasible) == (objective, True)
    assert result.settings["method"] == "local-search"


@pytest.mark.parametrize("instance", [DIRECTED, LIMITED])
@pytest.mark.parametrize("asked", [{"method": Greedy()}, {"model": "pomo-tsp"}])
def test_a_network_that_is_asked_for_is_refused(instance, asked):
    with pytest.raises(InputError, match=r"beyond the networks|which a network needs"):
        solve(instance, **asked)


def test_the_incumbent_is_feasible_as_soon_as_anything_is():
    record = Record(LIMITED)
    assert record.offer(Solution([[1, 2, 3]])).violation
    assert record.best == Solution([[1, 2, 3]])
    assert record.objective is None
    record.offer(Solution([[1], [2], [3]]))
    assert record.objective == 24.0
    record.offer(Solution([[1, 2, 3]]))
    assert record.objective == 24.0
    record.offer(Solution([[1], [2, 3]]))
    assert record.objective == 18.0
    assert [objective for _, _, objective in record.curve] == [24.0, 18.0]
