"""Compare `solve` with its parts and with solvers of others, at equal seconds.

    python benchmarks/solvers.py run 10 [GROUP ...]   (all instances of the groups)
    python benchmarks/solvers.py run 60 [GROUP ...]   (six of each problem)
    python benchmarks/solvers.py report

Groups are x, xml (XML100), xxl, asymmetric (X with lengths that differ by direction),
tsplib, oplib and sets. Ours have all cores, and on CVRPs one core as well; what uses
one core, as solvers of others do, runs on different instances at once. Every finished
search is a line of ``benchmarks/results/solvers.jsonl``, and is not run again. Needs
the folder of public instances (METASAGE_SHARED, or ../shared), and
`pip install .[baselines]`; the programs filo2 and LKH take part if they are on the PATH.
"""

import argparse
import json
import math
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import metasage
from metasage.baselines import get_baseline
from metasage.baselines.base import DIRECTION
from metasage.comparison.contestants import OwnMethod
from metasage.comparison.contests import Contest, Contestant, play
from metasage.problems.metric import EXPLICIT

SHARED = Path(os.environ.get("METASAGE_SHARED", Path(__file__).parents[2] / "shared")) / "data"
RESULTS = Path(__file__).parent / "results" / "solvers.jsonl"
SEED = 1

CONTROL = "local-search"
WITH_NETWORK = ("sage+final", "sage+memetic")
OWN = ("sage", *WITH_NETWORK, CONTROL)
ONE_CORE = f"{CONTROL}, one core"

Row = dict[str, dict[str, Any]]  # what each solver found on one instance

PEERS = ("pyvrp", "hgs", "filo2", "lkh3")  # of ours on one core, for the CVRP
PROGRAMS = ("filo2", "lkh3")
OTHERS = {
    "tsp": ("lkh", "ortools"),
    "cvrp": tuple(n for n in PEERS if n not in PROGRAMS or get_baseline(n).is_available()),
    "pctsp": ("pyvrp", "ortools"),
    "op": ("pyvrp", "ortools"),
}
# Apart from those on which settings of the local search were chosen (benchmarks/improve.py).
NAMES = {
    "x": "X-n106-k14 X-n125-k30 X-n148-k46 X-n176-k26 X-n195-k51 X-n219-k73 X-n247-k50 X-n270-k35 "
    "X-n308-k13 X-n336-k84 X-n367-k17 X-n420-k130 X-n459-k26 X-n513-k21 X-n561-k42 X-n627-k43 "
    "X-n701-k44 X-n783-k48 X-n895-k37 X-n979-k58",
    "xxl": "Leuven1 Antwerp1",
    "asymmetric": "X-n106-k14 X-n148-k46 X-n195-k51 X-n247-k50 X-n308-k13 X-n336-k84 X-n420-k130 "
    "X-n513-k21 X-n627-k43 X-n783-k48",
    "tsplib": "berlin52 kroB100 ch150 kroB200 pr299 pr439 d493 d657 u1060 vm1084 rl1304 nrw1379 "
    "u1817 rl1889 u2319",
    "oplib": "st70-gen2-50 kroC100-gen3-50 pr124-gen4-30 pr152-gen1-50 kroB200-gen2-50 "
    "pr226-gen4-40 pr299-gen3-50 pr439-gen2-50 d493-gen4-70 rat575-gen1-50 d657-gen3-50 "
    "u1060-gen3-50 pcb1173-gen3-50 d1291-gen3-50 rl1323-gen3-50",
}
SETS = {
    f"{problem}{size}": file.format(size)
    for problem, file in {
        "tsp": "tsp{}_main_table_seed1234",
        "cvrp": "vrp{}_main_table_seed1234",
        "pctsp": "pctsp{}_test_seed1234",
        "op": "op_dist{}_test_seed1234",
    }.items()
    for size in (500, 1000)
}
OF_EACH_SET = 4
# Scores of OPLib files, the best of five methods and EA4OP's (alberto-santini/orienteering-alns).
OPLIB_BEST = SHARED / "oplib_best.json"
# Files whose scores were changed since.
OTHER_SCORES = {
    f"{name}-gen3"
    for name in ("a280", "fnl4461", "nrw1379", "rat195", "rat575", "rat783", "tsp225")
}
# From this time limit on: these of the files, and the first one of each set.
_LONG_FROM = 30.0
LONG = NAMES | {
    "x": "X-n125-k30 X-n195-k51 X-n308-k13 X-n420-k130 X-n561-k42 X-n627-k43 X-n783-k48 X-n979-k58",
    "tsplib": "kroB200 d657 nrw1379 u2319",
    "oplib": "kroB200-gen2-50 pr439-gen2-50 d657-gen3-50 rl1323-gen3-50",
}
LONG_OF_EACH_SET = {"tsp": 1, "cvrp": 1, "op": 1, "pctsp": 3}


@dataclass
class Case:
    """An instance, and where it belongs."""

    group: str
    name: str
    contest: Contest


def cases(group: str, is_long: bool) -> Iterator[Case]:
    """Yield the instances of a group, with their best known objectives."""
    index = json.loads((SHARED / "index.json").read_text())
    if group != "sets":
        for name in names(group, is_long, index):
            file = SHARED / index[name]["file"]
            instance = metasage.read_instance(file)
            if group == "asymmetric":
                instance = asymmetric(instance)
                yield Case(group, f"{name}, asymmetric", Contest(str(file), instance))
                continue
            known = (index[name]["best_known"], "best known")
            yield Case(group, name, Contest(str(file), instance, known))
        return
    for name, key in SETS.items():
        instances = metasage.read_set(SHARED / index[key]["file"])
        count = LONG_OF_EACH_SET[instances.problem.name] if is_long else OF_EACH_SET
        for number in range(count):
            yield Case(name, f"{name}/{number}", Contest(name, instances[number]))


def names(group: str, is_long: bool, index: dict[str, Any]) -> list[str]:
    """Return the names of the files of a group."""
    if group == "xml":
        return [name for name in index if name.startswith("XML100")][::3]
    return (LONG if is_long else NAMES)[group].split()


def asymmetric(instance: metasage.Instance) -> metasage.Instance:
    """Multiply all lengths by 0.8 to 1.2, by another number for each direction."""
    lengths = instance.length_matrix()
    factors = np.random.default_rng(SEED).uniform(0.8, 1.2, lengths.shape)
    return replace(instance, coords=None, matrix=np.round(lengths * factors), metric=EXPLICIT)


def records() -> list[dict[str, Any]]:
    """Read what was measured before."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def run(seconds: float, groups: list[str], own: tuple[str, ...] = OWN) -> None:
    """Make the searches that are still missing, ours one by one, then those of others."""
    done = {(r["seconds"], r["instance"], r["solver"]) for r in records()}
    wanted = [case for group in groups for case in cases(group, seconds > _LONG_FROM)]
    for case in wanted:
        for name in own:
            if (seconds, case.name, name) not in done:
                search(seconds, case, OwnMethod(name))
    # PyVRP holds Python's lock: one process for each search.
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        jobs = [
            pool.submit(search, seconds, case, contestant, name)
            for case in wanted
            for name, contestant in on_one_core(case.contest.instance).items()
            if (seconds, case.name, name) not in done
        ]
        for job in jobs:
            job.result()


def on_one_core(instance: metasage.Instance) -> dict[str, Contestant]:
    """Return by name who solves an instance on one core."""
    problem = instance.problem.name
    baselines = {name: get_baseline(name) for name in OTHERS[problem]}
    if instance.is_directed:
        baselines = {name: one for name, one in baselines.items() if DIRECTION in one.keeps}
    found: dict[str, Contestant] = dict(baselines)
    if problem == "cvrp":
        found[ONE_CORE] = OwnMethod(CONTROL, threads=1)
    return found


def search(seconds: float, case: Case, contestant: Contestant, name: str | None = None) -> None:
    """Let somebody solve an instance, and write down, under a name, what was found."""
    contest = case.contest
    play(contest, contestant, seconds, SEED)
    entry = contest.entries.pop()
    found = entry.outcome
    record = {
        "seconds": seconds,
        "group": case.group,
        "instance": case.name,
        "problem": contest.instance.problem.name,
        "n": contest.instance.size,
        "solver": name or entry.solver,
        "objective": None if found is None else found.objective,
        "used": None if found is None else round(found.seconds, 2),
        "best_known": None if contest.best_known is None else contest.best_known[0],
        "note": entry.note,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as out:
        out.write(json.dumps(record) + "\n")
    print(case.name, record["solver"], record["objective"], entry.note, flush=True)


def report() -> None:
    """Print, for each time limit, mean gaps, who is ahead, and ours against our control."""
    found: dict[float, dict[str, dict[str, Row]]] = {}
    for record in records():
        by_name = found.setdefault(record["seconds"], {}).setdefault(record["group"], {})
        by_name.setdefault(record["instance"], {})[record["solver"]] = record
    for seconds, groups in sorted(found.items()):
        rows = [row for by_name in groups.values() for row in by_name.values()]
        solvers = [
            name
            for name in (*OWN, ONE_CORE, "lkh", *PEERS, "ortools")
            if any(name in r for r in rows)
        ]
        print(f"\n{seconds:g} s, mean gap in %\n\n| | instances | " + " | ".join(solvers) + " |")
        print("|---|---|" + "---|" * len(solvers))
        for group, by_name in groups.items():
            cells = [mean_gap(list(by_name.values()), solver) for solver in solvers]
            print(f"| {group} | {len(by_name)} | " + " | ".join(cells) + " |")
            if group == "oplib" and (known := by_best_of_five(by_name)):
                cells = [mean_gap(known, solver) for solver in solvers]
                print(
                    f"| {group}, to the best of five | {len(known)} | " + " | ".join(cells) + " |"
                )
        report_ahead(seconds, groups)
        print(f"\n{seconds:g} s, against {CONTROL}: better by %, wins - losses\n")
        print("| | " + " | ".join(WITH_NETWORK) + " |\n|---|" + "---|" * len(WITH_NETWORK))
        for group, by_name in groups.items():
            cells = [against_control(list(by_name.values()), solver) for solver in WITH_NETWORK]
            print(f"| {group} | " + " | ".join(cells) + " |")


def by_best_of_five(by_name: dict[str, Row]) -> list[Row]:
    """Return what was found on OPLib files, to be compared with the best of five methods."""
    if not OPLIB_BEST.exists():
        return []
    best = json.loads(OPLIB_BEST.read_text())
    rows = []
    for name, row in by_name.items():
        key = name.rpartition("-")[0]  # without the limit's share
        if key in best and key not in OTHER_SCORES:
            known = {"best_known": best[key][0]}
            rows.append({solver: record | known for solver, record in row.items()})
    return rows


def report_ahead(seconds: float, groups: dict[str, dict[str, Row]]) -> None:
    """Print on how many files ours on one core is ahead of each peer."""
    rows = {
        group: [row for row in by_name.values() if ONE_CORE in row]
        for group, by_name in groups.items()
    }
    if not any(rows.values()):
        return
    print(f"\n{seconds:g} s, {ONE_CORE}: ahead - behind\n")
    print("| | " + " | ".join(PEERS) + " |\n|---|" + "---|" * len(PEERS))
    for group, some in rows.items():
        if some:
            print(f"| {group} | " + " | ".join(ahead(some, peer) for peer in PEERS) + " |")


def ahead(rows: list[Row], peer: str) -> str:
    """Return on how many instances ours on one core is ahead of and behind a peer."""
    # Who found nothing is behind everybody.
    pairs = [
        [
            math.inf if row[name]["objective"] is None else row[name]["objective"]
            for name in (ONE_CORE, peer)
        ]
        for row in rows
        if peer in row
    ]
    if not pairs:
        return ""
    wins, losses = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    return f"{wins} - {losses} of {len(pairs)}"


def mean_gap(rows: list[Row], solver: str) -> str:
    """Return the mean gap of a solver in percent, to the best known or to the best here."""
    gaps, failures = [], 0
    for row in rows:
        if solver not in row:
            continue
        values = [r["objective"] for r in row.values() if r["objective"] is not None]
        is_min = row[solver]["problem"] != "op"
        known = row[solver]["best_known"] or (min(values) if is_min else max(values))
        value = row[solver]["objective"]
        if value is None:
            failures += 1
        else:
            gaps.append(100 * (value / known - 1) * (1 if is_min else -1))
    failed = f" ({failures} without a solution)" if failures else ""
    return f"{sum(gaps) / len(gaps):.2f}{failed}" if gaps else failed.strip()


def against_control(rows: list[Row], solver: str) -> str:
    """Return by how much a solver is better than local search alone, instance by instance."""
    gains = []
    for row in rows:
        ours, control = (row.get(name, {}).get("objective") for name in (solver, CONTROL))
        if ours is not None and control is not None:
            sign = -1 if row[solver]["problem"] == "op" else 1
            gains.append(100 * sign * (1 - ours / control))
    if not gains:
        return ""
    wins, losses = sum(g > 0 for g in gains), sum(g < 0 for g in gains)
    return f"{sum(gains) / len(gains):+.2f}, {wins} - {losses}"


def main() -> None:
    """Run or report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("seconds", nargs="?", type=float, default=10.0)
    parser.add_argument("groups", nargs="*", default=["x", "tsplib", "oplib", "sets"])
    parser.add_argument("--without-network", action="store_true", help="Local search and others.")
    arguments = parser.parse_args()
    if arguments.command == "run":
        own = (CONTROL,) if arguments.without_network else OWN
        run(arguments.seconds, arguments.groups, own)
    else:
        report()


if __name__ == "__main__":
    main()
