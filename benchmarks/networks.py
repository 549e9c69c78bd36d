"""Measure shipped networks: the tables of ``docs/models.md``.

    python benchmarks/networks.py [NAME|FILE ...] [--layout clustered]

Greedy rollouts from all starts, without adaptation and without scale meta-learner,
on the instances of ``benchmarks/references.py``; gaps to its values.
"""

import argparse

from metasage.policies.library import find_model, shipped_models
from metasage.problems.layout import LAYOUTS
from metasage.rollout import get_engine
from metasage.training.validation import gap, validate

SIZES = {100: 64, 200: 16, 500: 8, 1000: 4}


def main() -> None:
    """Print a row of Markdown for each network."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="Networks; those of the package by default.")
    parser.add_argument("--layout", choices=LAYOUTS, default="uniform")
    arguments = parser.parse_args()
    heads = " | ".join(f"N={size}" for size in SIZES)
    print(f"| network | N=100, 8-fold augmentation | {heads} |")
    print("|---" * (len(SIZES) + 2) + "|")
    for name in arguments.names or shipped_models():
        model = find_model(name)
        engine = get_engine("auto", model.config)
        problem = model.config.problem
        cells = []
        for size, copies in [(100, 8), *((size, 1) for size in SIZES)]:
            count, layout = SIZES[size], arguments.layout
            found = validate(model.policy, engine, size, count, copies, layout)
            distance = gap(problem, size, count, found, layout)
            known = "" if distance is None else f" ({100 * distance:.2f}%)"
            cells.append(f"{found:.3f}{known}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
