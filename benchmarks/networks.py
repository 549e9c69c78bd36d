"""Measure shipped networks: the tables of ``docs/models.md``.

    python benchmarks/networks.py [NAME|FILE ...]

Greedy rollouts from all starts, without adaptation and without scale meta-learner,
on the instances of ``benchmarks/references.py``; gaps to its values.
"""

import sys

from metasage.policies.library import find_model, shipped_models
from metasage.rollout import get_engine
from metasage.training.validation import gap, validate

SIZES = {100: 64, 200: 16, 500: 8, 1000: 4}


def main() -> None:
    """Print a row of Markdown for each network."""
    heads = " | ".join(f"N={size}" for size in SIZES)
    print(f"| network | N=100, 8-fold augmentation | {heads} |")
    print("|---" * (len(SIZES) + 2) + "|")
    for name in sys.argv[1:] or shipped_models():
        model = find_model(name)
        engine = get_engine("auto", model.config)
        problem = model.config.problem
        cells = []
        for size, copies in [(100, 8), *((size, 1) for size in SIZES)]:
            found = validate(model.policy, engine, size, SIZES[size], copies)
            distance = gap(problem, size, SIZES[size], found)
            known = "" if distance is None else f" ({100 * distance:.2f}%)"
            cells.append(f"{found:.3f}{known}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
