"""Try settings of SAGE on instances apart from those that are reported on.

    python benchmarks/sage_settings.py tsp 200 --count 6

Prints, for each variant, its mean objective after 50 iterations and how often it
was better than `default` on the same instance.
"""

import argparse
import os
from pathlib import Path

import numpy as np

import metasage
from metasage import Sage
from metasage.policies.library import find_model

SHARED = Path(os.environ.get("METASAGE_SHARED", "../shared"))
NETWORKS = {
    "tsp": "checkpoints/pomo_amdkd/checkpoint-tsp-100.pt",
    "cvrp": "checkpoints/pomo_amdkd/checkpoint-cvrp-100.pt",
    "pctsp": "checkpoints/am/pctsp_det_100/epoch-99.pt",
    "op": "checkpoints/am/op_dist_100/epoch-99.pt",
}
SET_SEED, SEED, ITERATIONS, ROLLOUTS = 4321, 1, 50, 100

RATES = {"tsp": 3.2e-3, "cvrp": 4.1e-3, "pctsp": 1e-3, "op": 1e-3}


def variants(problem: str) -> dict[str, Sage]:
    """Return settings by name; everything else is as in `default`."""
    rate = RATES[problem]
    plans = {
        "default": {},
        "paper": {"preset": "paper"},
        "official": {"preset": "official"},
        "sampled start": {"greedy_start": False},
        "no bias": {"bias": "none"},
        "alpha 5": {"alpha": 5.0, "alpha_end": 5.0},
        "alpha 10": {"alpha": 10.0, "alpha_end": 10.0},
        "alpha 20": {"alpha": 20.0, "alpha_end": 20.0},
        "alpha 40": {"alpha": 40.0, "alpha_end": 40.0},
        "alpha 80": {"alpha": 80.0, "alpha_end": 80.0},
        "alpha 40 to 10": {"alpha": 40.0, "alpha_end": 10.0},
        "alpha 20, rate x2": {"alpha": 20.0, "alpha_end": 20.0, "learning_rate": 2 * rate},
        "alpha 20, lambda 0.02": {"alpha": 20.0, "alpha_end": 20.0, "imitation": 0.02},
        "alpha 20, T 0.7 to 0.3": {"alpha": 20.0, "alpha_end": 20.0, "temperature": 0.7},
        "alpha 20, T to 0.15": {"alpha": 20.0, "alpha_end": 20.0, "temperature_end": 0.15},
        "all": {
            "alpha": 20.0,
            "alpha_end": 20.0,
            "learning_rate": 2 * rate,
            "imitation": 0.02,
            "temperature": 0.7,
        },
    }
    return {
        name: Sage(iterations=ITERATIONS, rollouts=ROLLOUTS, **plan) for name, plan in plans.items()
    }


def main() -> None:
    """Run the variants asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem", choices=list(NETWORKS))
    parser.add_argument("size", type=int)
    parser.add_argument("--count", type=int, default=6)
    parser.add_argument("--only", nargs="*", help="Names of variants; all by default.")
    parser.add_argument("--model", help="A published network by default.")
    arguments = parser.parse_args()
    name = arguments.model or str(SHARED / NETWORKS[arguments.problem])
    model = find_model(name, arguments.problem)
    instances = metasage.generate(arguments.problem, arguments.size, arguments.count, SET_SEED)
    sign = 1 if instances.problem.sense == "min" else -1
    base = None
    for name, method in variants(arguments.problem).items():
        if arguments.only and name not in arguments.only:
            continue
        found = np.array(
            [
                metasage.solve(i, method, model=model, improve="none", seed=SEED).objective
                for i in instances
            ]
        )
        base = found if base is None else base
        wins = int((sign * (base - found) > 1e-9).sum())
        print(f"{name:24s} {found.mean():9.4f}  better on {wins} of {len(found)}", flush=True)


if __name__ == "__main__":
    main()
