"""Solve validation instances with strong solvers.

Writes ``metasage/training/references.json``, from which the trainer and the model
cards take the gaps that they show. TSP: LKH; the others: PyVRP for the seconds given
here, on one core each. PCTSP and OP: half of the seconds more for our own local search
from PyVRP's solution, which it makes 0.5% and 1.6% better at N=100.

    python benchmarks/references.py                        (all that are missing)
    python benchmarks/references.py cvrp-100 tsp-500-mixed (these, anew)
"""

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import metasage
from metasage.baselines import get_baseline
from metasage.improve import improve
from metasage.io import write_atomically
from metasage.problems.layout import LAYOUTS
from metasage.training.validation import SEED, reference_name

# Number of instances of each size, and seconds for each.
SIZES = {100: (64, 4.0), 200: (16, 10.0), 500: (8, 30.0), 1000: (4, 60.0)}
PROBLEMS = ("tsp", "cvrp", "pctsp", "op")
TARGET = Path(metasage.__file__).parent / "training" / "references.json"


def solve(problem: str, size: int, layout: str, index: int) -> float:
    """Solve one instance, measured by the checker."""
    count, seconds = SIZES[size]
    instance = metasage.generate(problem, size, count, SEED, layout)[index]
    # LKH ends by itself, long before this.
    solver = get_baseline("lkh" if problem == "tsp" else "pyvrp")
    outcome = solver.solve(instance, 300.0 if problem == "tsp" else seconds, seed=1)
    assert not outcome.note, outcome.note
    if problem in ("pctsp", "op"):
        found = improve(instance, [outcome.solution], seconds=seconds / 2, seed=1, threads=1)
        verdict = metasage.check(instance, found)
        assert verdict.objective is not None
        return round(verdict.objective, 6)
    return round(outcome.objective, 6)


def main() -> None:
    """Solve what is asked for, and write the values."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", help="PROBLEM-SIZE[-LAYOUT]; what is missing by default."
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    stored = json.loads(TARGET.read_text()) if TARGET.exists() else {"values": {}}
    every = {
        reference_name(problem, size, layout): (problem, size, layout)
        for layout in LAYOUTS
        for size in SIZES
        for problem in PROBLEMS
    }
    wanted = arguments.names or [name for name in every if name not in stored["values"]]
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
        for name in wanted:
            count = SIZES[every[name][1]][0]
            jobs = [pool.submit(solve, *every[name], index) for index in range(count)]
            stored["values"][name] = [job.result() for job in jobs]
            print(name, sum(stored["values"][name]) / count, flush=True)
            write_atomically(TARGET, json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
