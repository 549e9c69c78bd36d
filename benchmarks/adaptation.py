"""Compare the adaptation methods, paired on the same instances and seeds.

    python benchmarks/adaptation.py run tsp-200 cvrp-200 ...   (or: run all)
    python benchmarks/adaptation.py report

Every iteration has 100 rollouts, at both sizes. Every finished search is a line of
``benchmarks/results/adaptation.jsonl``, and is not run again; an interrupted run goes
on where it stopped. Two processes with ``--threads 1`` may run different experiments
at once. Networks and sets are the published ones, in the folder that
``METASAGE_SHARED`` names.

Rows at equal iterations run 50 of them. Rows at equal seconds go on until they took
as many as `sage-default` did for its 50 on the same instance, and what they found
until then counts; sampling and EAS, which have no schedule, are measured in one
search for both.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import metasage
from metasage import ActiveSearch, Eas, Sage, Sampling, Sgbs
from metasage.adaptation.method import Method
from metasage.policies.library import find_model

SHARED = Path(os.environ.get("METASAGE_SHARED", "../shared"))
RESULTS = Path(__file__).parent / "results" / "adaptation.jsonl"
ITERATIONS = 50
ROLLOUTS = 100
SEED = 1234

ENDLESS: dict[str, Any] = {"iterations": 1_000_000, "rollouts": ROLLOUTS}
TIMED = {"as": ActiveSearch(**ENDLESS), "sgbs-eas": Sgbs(eas=True, **ENDLESS)}
PLAIN = {"sample": Sampling(**ENDLESS), "eas-lay": Eas(**ENDLESS)}
PLANNED: dict[str, Any] = {"iterations": ITERATIONS, "rollouts": ROLLOUTS}
READINGS = {
    "sage-default": Sage(**PLANNED),
    "sage-paper": Sage(preset="paper", **PLANNED),
    "sage-official": Sage(preset="official", **PLANNED),
}
# What `default` is made of, one part after another.
PARTS = {
    "no bias, T=1": Sage(bias="none", temperature_end=1.0, **PLANNED),
    "bias, T=1": Sage(temperature_end=1.0, **PLANNED),
    "no bias, T falls": Sage(bias="none", **PLANNED),
    "paper's bias held, T=1": Sage(preset="paper", alpha_end=1.0, temperature_end=1.0, **PLANNED),
    "paper's bias falls, T=1": Sage(preset="paper", temperature_end=1.0, **PLANNED),
}

POMO = "checkpoints/pomo_amdkd/checkpoint-{}-100.pt"
AM = "checkpoints/am/{}_100/epoch-99.pt"
SETS = {
    ("tsp", 200): "tsp200_test_small_seed1235_first250",
    ("tsp", 500): "tsp500_main_table_seed1234",
    ("cvrp", 200): "vrp200_test_small_seed1235_first250",
    ("cvrp", 500): "vrp500_main_table_seed1234",
    ("pctsp", 200): "pctsp200_test_seed1234_first250",
    ("pctsp", 500): "pctsp500_test_seed1234",
    ("op", 200): "op_dist200_test_seed1234_first250",
    ("op", 500): "op_dist500_test_seed1234",
}
NETWORKS = {
    "tsp": POMO.format("tsp"),
    "cvrp": POMO.format("cvrp"),
    "pctsp": AM.format("pctsp_det"),
    "op": AM.format("op_dist"),
}


@dataclass(frozen=True)
class Experiment:
    """Some rows on the first instances of a set."""

    problem: str
    size: int
    count: int
    rows: dict[str, Method]


def _experiments() -> dict[str, Experiment]:
    found = {}
    for problem in ("tsp", "cvrp"):
        rows = READINGS | PLAIN
        found[f"{problem}-200"] = Experiment(problem, 200, 16, rows | TIMED)
        found[f"{problem}-500"] = Experiment(
            problem, 500, 8, rows | {"sgbs-eas": TIMED["sgbs-eas"]}
        )
        found[f"{problem}-500-parts"] = Experiment(problem, 500, 4, PARTS)
    for problem in ("pctsp", "op"):
        rows = {"sage-default": READINGS["sage-default"], "sage-paper": READINGS["sage-paper"]}
        found[f"{problem}-200"] = Experiment(problem, 200, 16, rows | PLAIN)
        found[f"{problem}-500"] = Experiment(problem, 500, 4, rows | PLAIN)
    return found


EXPERIMENTS = _experiments()


def records() -> Iterator[dict[str, Any]]:
    """Read what was measured before."""
    if RESULTS.exists():
        with RESULTS.open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def run(name: str, threads: int) -> None:
    """Make the searches of an experiment that are still missing."""
    experiment = EXPERIMENTS[name]
    done = {(r["experiment"], r["row"], r["index"]): r for r in records()}
    model = find_model(str(SHARED / NETWORKS[experiment.problem]), experiment.problem)
    file = SETS[experiment.problem, experiment.size]
    instances = metasage.read_set(SHARED / "data" / "paper_sets" / f"{file}.npz")
    for index in range(experiment.count):
        for row, method in experiment.rows.items():
            if (name, row, index) in done:
                continue
            iterations, seconds = ITERATIONS, 0.0
            if row in TIMED or row in PLAIN:
                seconds = done[name, "sage-default", index]["seconds"]
            if row in TIMED:
                iterations = 0
            record = {"experiment": name, "row": row, "index": index}
            record |= search(instances[index], model, method, iterations, seconds, threads)
            done[name, row, index] = record
            RESULTS.parent.mkdir(exist_ok=True)
            with RESULTS.open("a", encoding="utf-8") as out:
                out.write(json.dumps(record) + "\n")
            print(name, index, row, f"{record['objective']:.4f}", flush=True)


def search(
    instance: metasage.Instance,
    model: Any,
    method: Method,
    iterations: int,
    seconds: float,
    threads: int,
) -> dict[str, Any]:
    """Search once, until iterations and seconds are over."""
    begin = time.monotonic()

    def stop(iteration: int, objective: float | None) -> bool:
        return iteration >= iterations and time.monotonic() - begin >= seconds

    result = metasage.solve(
        instance, method, stop, model=model, improve="none", seed=SEED, threads=threads
    )
    if result.interrupted:
        raise SystemExit("interrupted: the same command goes on from here")
    return {
        "objective": result.objective,
        "seconds": round(result.seconds, 2),
        "iterations": result.iterations,
        "curve": [[round(s, 2), i, round(o, 6)] for s, i, o in result.curve],
        "parameters": result.settings["parameters"],
        "version": metasage.__version__,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.command == "run":
        chosen = list(EXPERIMENTS) if arguments.names == ["all"] else arguments.names
        for chosen_name in chosen:
            run(chosen_name, arguments.threads)
    else:
        from adaptation_report import report

        report()
