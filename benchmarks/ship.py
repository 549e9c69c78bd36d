"""Take a trained network into the package.

    python benchmarks/ship.py runs/tsp scale-tsp --set sage.learning_rate=3e-4

Writes the run's averaged weights in half precision to ``metasage/policies/weights``,
with its validation at N=100 and the settings of methods that measured best with it.
``metasage models show NAME`` then tells all of it.
"""

import argparse
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from metasage.policies.library import WEIGHTS, find_model
from metasage.rollout import get_engine
from metasage.training.validation import gap, validate

SIZE, COUNT = 100, 64


def settings_of(assignments: list[str]) -> dict[str, dict[str, Any]]:
    """Read METHOD.NAME=VALUE."""
    return tomllib.loads("\n".join(assignments))


def main() -> None:
    """Validate the rounded weights and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="Folder of the run.")
    parser.add_argument("name", help="Name in the package.")
    parser.add_argument("--set", action="append", default=[], metavar="METHOD.NAME=VALUE")
    parser.add_argument(
        "--near",
        type=int,
        nargs=2,
        metavar=("K", "N"),
        help="From N nodes on, K suffice.",
    )
    arguments = parser.parse_args()
    target = WEIGHTS / f"{arguments.name}.safetensors"
    model = find_model(arguments.run / "model.safetensors")
    if arguments.set:
        settings = settings_of(arguments.set)
        model = replace(model, provenance=model.provenance | {"settings": settings})
    if arguments.near:
        model = replace(model, provenance=model.provenance | {"near": arguments.near})
    model.save(target, torch.float16)
    rounded = find_model(target)
    problem = model.config.problem
    found = validate(rounded.policy, get_engine("auto", model.config), SIZE, COUNT)
    distance = gap(problem, SIZE, COUNT, found)
    about = {"validation": found, "validation_size": SIZE, "gap": distance}
    replace(model, provenance=model.provenance | about).save(target, torch.float16)
    print(f"{target}: {found:.4f}, {100 * (distance or 0):.2f}%, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
