"""The main table: all adaptation methods on all problems and sizes."""

from __future__ import annotations

from metasage.adaptation.active_search import ActiveSearch
from metasage.adaptation.eas import Eas
from metasage.adaptation.method import Method
from metasage.adaptation.sgbs import Sgbs
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table, change
from metasage.experiments.bench import Bench, mean_objective
from metasage.experiments.yardstick import SOLVERS, solve_as_long
from metasage.policies.sml import Sml

# Active search has no place in the paper's table beyond these sizes.
_MOST_NODES_OF_AS = {"tsp": 500, "cvrp": 500}


class Main(Experiment):
    """Objective, gap and seconds of each method, beside a solver at Meta-SAGE's seconds."""

    name = "main"
    shows = "AS, EAS, SGBS+EAS and Meta-SAGE on all problems and sizes"
    source = "table 1"
    cpu = Profile({200: 4, 500: 2}, iterations=50, rollouts=100)
    paper = PAPER

    def run(self, bench: Bench, profile: Profile) -> Table:  # noqa: D102
        rows: list[list[Cell]] = []
        for problem in profile.problems:
            for size, count in profile.instances.items():
                found = {
                    label: bench.searches(label, problem, size, count, method=method, sml=sml)
                    for label, (method, sml) in _methods(bench, profile, problem, size).items()
                }
                solver = solve_as_long(bench, problem, size, found["Meta-SAGE"])
                reference = mean_objective(solver) if solver else None
                for label, results in ({SOLVERS[problem]: solver} | found).items():
                    if results:
                        mean = mean_objective(results)
                        gap = None if reference is None else -change(reference, mean, problem)
                        spent = sum(result.seconds for result in results) / count
                        rows.append([problem, size, count, label, mean, gap, spent])
        columns = ["problem", "N", "instances", "method", "objective", "gap in %", "seconds"]
        notes = [
            "All methods have the same iterations (SGBS+EAS: passes), where the paper gives its "
            "rivals the seconds of Meta-SAGE. Gaps are to the solver, which had those seconds on "
            f"one core. Meta-SAGE is SAGE's preset {profile.preset} with SML."
        ]
        return Table("Adaptation methods on all problems", columns, rows, notes)


def _methods(
    bench: Bench, profile: Profile, problem: str, size: int
) -> dict[str, tuple[Method, Sml | None]]:
    planned = profile.plan(problem)
    methods: dict[str, tuple[Method, Sml | None]] = {
        "EAS": (Eas(**planned), None),
        "SGBS+EAS": (Sgbs(eas=True, **planned), None),
        "Meta-SAGE": (profile.sage(problem), bench.sml(problem)),
    }
    if size <= _MOST_NODES_OF_AS.get(problem, size):
        methods = {"AS": (ActiveSearch(**planned), None)} | methods
    return methods
