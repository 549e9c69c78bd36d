"""Gaps of the local search, from its own start, on public instances.

Needs the folder of public instances (METASAGE_SHARED, or ../shared). Gaps are in
percent of the best known value, for OPLib of the EA4OP scores; negative is
better. The paper's random sets have none: there the reference is PyVRP on one
core for the same seconds.

    python benchmarks/improve.py [tsp] [oplib] [cvrp] [sets] [--seconds 1 10] [--seed 1]
"""

import argparse
import json
import os
from pathlib import Path

import metasage
from metasage.baselines import get_baseline
from metasage.improve import improve

SHARED = Path(os.environ.get("METASAGE_SHARED", Path(__file__).parents[2] / "shared")) / "data"
NAMES = {
    "tsp": "kroA200 lin318 pcb442 rat575 u724 pr1002 pcb1173 fl1400 d1655 u2152 pr2392 fnl4461",
    "oplib": "eil51-gen1-50 kroB100-gen4-45 kroA150-gen3-50 kroA200-gen2-50 pr264-gen4-70 "
    "lin318-gen3-50 fl417-gen1-50 pcb442-gen4-20 d493-gen2-50 p654-gen3-50 u724-gen4-85 "
    "pr1002-gen1-50 rl1304-gen3-50 fl1400-gen3-50",
    "cvrp": "X-n303-k21 X-n401-k29 X-n502-k39 X-n641-k35 X-n801-k40 X-n1001-k43",
}
SETS = ("op_dist500", "op_dist1000", "pctsp500", "pctsp1000")
OF_EACH_SET = 2


def objective(instance: metasage.Instance, solution: metasage.Solution) -> float:
    """Objective by the checker; a result that is infeasible would be an error."""
    verdict = metasage.check(instance, solution)
    assert verdict.feasible, verdict.violation
    assert verdict.objective is not None
    return verdict.objective


def gap(instance: metasage.Instance, value: float, reference: float) -> float:
    """Percent by which a value is worse than the reference."""
    share = 100.0 * (value / reference - 1.0)
    return share if instance.problem.sense == "min" else -share


def cases(group: str) -> list[tuple[str, metasage.Instance, float | None]]:
    """Names, instances and best known values of a group."""
    index = json.loads((SHARED / "index.json").read_text())
    if group != "sets":
        entries = [(name, index[name]) for name in NAMES[group].split()]
        return [
            (name, metasage.read_instance(SHARED / entry["file"]), entry["best_known"])
            for name, entry in entries
        ]
    found = []
    for name in SETS:
        instances = metasage.read_set(SHARED / index[f"{name}_test_seed1234"]["file"])
        found += [(f"{name}/{i}", instances[i], None) for i in range(OF_EACH_SET)]
    return found


def main() -> None:
    """Measure the groups that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", default=[*NAMES, "sets"])
    parser.add_argument("--seconds", nargs="+", type=float, default=[1.0, 10.0])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for group in options.groups:
        gaps = []
        for name, instance, best_known in cases(group):
            row = []
            for seconds in options.seconds:
                reference = best_known
                if reference is None:
                    pyvrp = get_baseline("pyvrp").solve(instance, seconds, options.seed)
                    reference = pyvrp.objective
                found = improve(instance, seconds=seconds, seed=options.seed)
                row.append(gap(instance, objective(instance, found), reference))
            gaps.append(row)
            print(f"{name:20}", *(f"{one:8.2f}" for one in row), flush=True)
        means = [sum(column) / len(column) for column in zip(*gaps, strict=True)]
        print(f"{group + ' mean':20}", *(f"{one:8.2f}" for one in means), flush=True)


if __name__ == "__main__":
    main()
