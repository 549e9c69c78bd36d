"""Solve the validation instances of training with strong solvers.

Writes ``metasage/training/references.json``, from which the trainer takes the
gap that it shows. TSP: LKH; the others: PyVRP for the seconds given here.

    python benchmarks/references.py
"""

import json
from pathlib import Path

import metasage
from metasage.baselines import get_baseline
from metasage.training.validation import SEED

SIZE, COUNT = 100, 64
SECONDS = {"tsp": 60.0, "cvrp": 10.0, "pctsp": 14.0, "op": 10.0}
TARGET = Path(metasage.__file__).parent / "training" / "references.json"


def main() -> None:
    """Solve all problems and write the values."""
    values: dict[str, list[float]] = {}
    for problem, seconds in SECONDS.items():
        row = []
        solver = get_baseline("lkh" if problem == "tsp" else "pyvrp")
        for instance in metasage.generate(problem, SIZE, COUNT, SEED):
            outcome = solver.solve(instance, seconds, seed=1)
            assert not outcome.note, outcome.note
            row.append(round(outcome.objective, 6))
        values[f"{problem}-{SIZE}"] = row
        print(problem, sum(row) / len(row), flush=True)
        about = "benchmarks/references.py: LKH (elkai) for the TSP, PyVRP for the others"
        TARGET.write_text(json.dumps({"made by": about, "values": values}, indent=1) + "\n")


if __name__ == "__main__":
    main()
