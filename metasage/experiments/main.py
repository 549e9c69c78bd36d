"""The main table: all adaptation methods on all problems and sizes."""

from __future__ import annotations

from metasage.adaptation.active_search import ActiveSearch
from metasage.adaptation.eas import Eas
from metasage.adaptation.method import Method
from metasage.adaptation.sage import Sage
from metasage.adaptation.sgbs import Sgbs
from metasage.baselines import get_baseline
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table, change
from metasage.experiments.bench import Bench, Found, mean_objective
from metasage.policies.sml import Sml
from metasage.problems import Instance

# Stand for the solvers of the paper: LKH for Concorde, PyVRP for LKH3 and Compass.
_SOLVERS = {"tsp": "lkh", "cvrp": "pyvrp", "pctsp": "pyvrp", "op": "pyvrp"}

# Below it a solver has hardly begun.
_LEAST_SECONDS = 1.0

# Active search has no place in the paper's table beyond this size.
_MOST_NODES_OF_AS = 500


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
                seconds = [result.seconds for result in found["Meta-SAGE"]]
                solver = _solve(bench, problem, size, seconds)
                reference = mean_objective(solver) if solver else None
                for label, results in ({_SOLVERS[problem]: solver} | found).items():
                    if results:
                        mean = mean_objective(results)
                        gap = None if reference is None else -change(reference, mean, problem)
                        spent = sum(result.seconds for result in results) / count
                        rows.append([problem, size, count, label, mean, gap, spent])
        columns = ["problem", "N", "instances", "method", "objective", "gap in %", "seconds"]
        notes = [
            f"{profile.iterations} iterations (PCTSP, OP: half of them; SGBS+EAS: passes). Gaps "
            "are to the solver, which had the seconds of Meta-SAGE on one core. Meta-SAGE is "
            "SAGE's preset default with SML."
        ]
        return Table("Adaptation methods on all problems", columns, rows, notes)


def _methods(
    bench: Bench, profile: Profile, problem: str, size: int
) -> dict[str, tuple[Method, Sml | None]]:
    planned = profile.plan(problem)
    methods: dict[str, tuple[Method, Sml | None]] = {
        "EAS": (Eas(**planned), None),
        "SGBS+EAS": (Sgbs(eas=True, **planned), None),
        "Meta-SAGE": (Sage(**planned), bench.sml(problem)),
    }
    if size <= _MOST_NODES_OF_AS:
        methods = {"AS": (ActiveSearch(**planned), None)} | methods
    return methods


def _solve(bench: Bench, problem: str, size: int, seconds: list[float]) -> list[Found]:
    """Let a solver have the same seconds; nothing where it is not installed."""
    solver = get_baseline(_SOLVERS[problem])
    if not solver.is_available():
        return []
    found = []
    for index, instance in enumerate(bench.instances(problem, size, len(seconds))):

        def make(index: int = index, instance: Instance = instance) -> Found:
            outcome = solver.solve(instance, max(_LEAST_SECONDS, seconds[index]), bench.seed)
            curve = [(at, 0, objective) for at, objective in outcome.curve]
            return Found(outcome.objective, outcome.seconds, curve, {})

        found.append(bench.remembered(solver.name, problem, size, index, [seconds[index]], make))
    return found
