"""What SAGE makes of the default networks: the table of ``docs/models.md``.

    python benchmarks/adapted.py run tsp-200 cvrp-500 ...   (or: run all)
    python benchmarks/adapted.py report

The paper's iterations (200 on TSP and CVRP, 100 on PCTSP and OP), as many rollouts as
nodes, no augmentation, no local search; the first instances of the validation sets, apart
from those on which settings were chosen, and gaps to `benchmarks/references.py`. Every
finished search is a line of ``benchmarks/results/adapted.jsonl`` and is not run again,
unless the network was trained further since.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import metasage
from metasage.policies.library import default_model, find_model
from metasage.policies.model import Model
from metasage.training.validation import SEED, references

RESULTS = Path(__file__).parent / "results" / "adapted.jsonl"
PROBLEMS = ("tsp", "cvrp", "pctsp", "op")
# Number of instances of each size.
COUNTS = {200: 8, 500: 4, 1000: 2}
SEED_OF_SEARCH = 1


def identity(model: Model, problem: str, size: int, index: int) -> dict[str, Any]:
    """Say what makes a search: a network that was trained further is another one."""
    return {
        "problem": problem,
        "n": size,
        "index": index,
        "model": model.name,
        "validation": model.provenance["validation"],
        "settings": model.suggestions("sage"),
        "seed": SEED_OF_SEARCH,
    }


def stored() -> list[dict[str, Any]]:
    """Return all searches so far."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def searches(problem: str, size: int) -> Iterator[tuple[Model, metasage.Instance, dict[str, Any]]]:
    """Yield network, instance and identity of each search of a cell."""
    model = find_model(default_model(problem))
    every = len(references(problem, size) or [])
    instances = metasage.generate(problem, size, every, SEED)
    for index in range(COUNTS[size]):
        yield model, instances[index], identity(model, problem, size, index)


def run(problem: str, size: int, threads: int) -> None:
    """Make the searches of a cell that are missing."""
    done = [{name: value for name, value in row.items() if name != "found"} for row in stored()]
    for model, instance, about in searches(problem, size):
        if about in done:
            continue
        method = metasage.Sage(rollouts=size)
        result = metasage.solve(
            instance, method, model=model, improve="none", seed=SEED_OF_SEARCH, threads=threads
        )
        found = {
            "objective": result.objective,
            "greedy": result.curve[0][2],
            "iterations": result.iterations,
            "seconds": round(result.seconds, 1),
        }
        with RESULTS.open("a") as file:
            file.write(json.dumps(about | {"found": found}) + "\n")
        print(problem, size, about["index"], found, flush=True)


def report() -> None:
    """Print the table: mean gap in percent, after the first greedy iteration and at the end."""
    print("| | " + " | ".join(f"N={size}" for size in COUNTS) + " |")
    print("|---" * (len(COUNTS) + 1) + "|")
    rows = stored()
    for problem in PROBLEMS:
        cells = []
        for size in COUNTS:
            known = references(problem, size) or []
            found = [
                (row["found"], known[row["index"]])
                for _, _, about in searches(problem, size)
                for row in rows
                if about == {name: value for name, value in row.items() if name != "found"}
            ]
            gap = metasage.generate(problem, 1, 1, 1)[0].problem.gap
            if not found:
                cells.append("")
                continue
            first, last = (
                100 * sum(gap(row[name], best) for row, best in found) / len(found)
                for name in ("greedy", "objective")
            )
            cells.append(f"{first:.2f} to {last:.2f} ({len(found)})")
        print(f"| {problem} | " + " | ".join(cells) + " |")


def main() -> None:
    """Run or report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("cells", nargs="*", help="PROBLEM-SIZE, or all.")
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.command == "report":
        report()
        return
    cells = [f"{problem}-{size}" for size in COUNTS for problem in PROBLEMS]
    for cell in cells if arguments.cells == ["all"] else arguments.cells:
        problem, size = cell.split("-")
        run(problem, int(size), arguments.threads)


if __name__ == "__main__":
    main()
