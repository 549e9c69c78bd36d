"""Train the networks of the package, one after another.

    nohup python benchmarks/train_networks.py FOLDER [NAME ...] &

Each network is a run in a folder of its own; labels are shared. What was interrupted
goes on where it stopped, what is finished is left alone. ``benchmarks/ship.py`` takes a
run into the package. On two cores: two to three hours for each network that knows
scale, one to two for each of the paper's.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from metasage.training.recipes import recipe
from metasage.training.train import train

# Name, recipe, method, problem, and the network of this list that it starts from.
NETWORKS = (
    ("scale-tsp", "scale", "pomo", "tsp", None),
    ("scale-op", "scale", "pomo", "op", "scale-tsp"),
    ("scale-pctsp", "scale", "pomo", "pctsp", "scale-tsp"),
    ("scale-cvrp", "scale", "pomo", "cvrp", "scale-tsp"),
    ("pomo-tsp", "cpu", "pomo", "tsp", None),
    ("symnco-tsp", "cpu", "symnco", "tsp", "pomo-tsp"),
    ("pomo-cvrp", "cpu", "pomo", "cvrp", None),
    ("symnco-cvrp", "cpu", "symnco", "cvrp", "pomo-cvrp"),
    ("symnco-pctsp", "cpu", "symnco", "pctsp", None),
    ("symnco-op", "cpu", "symnco", "op", None),
)


def main() -> None:
    """Train what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="Where runs and labels are kept.")
    parser.add_argument("names", nargs="*", help="Networks; all by default.")
    arguments = parser.parse_args()
    for name, recipe_name, method, problem, source in NETWORKS:
        if arguments.names and name not in arguments.names:
            continue
        folder = arguments.folder / name
        # A network that was not trained here is taken from the package.
        trained = arguments.folder / (source or "") / "model.safetensors"
        start = "" if source is None else str(trained) if trained.exists() else source
        settings = replace(recipe(recipe_name, method, problem), start_from=start)
        resume = (folder / "settings.json").exists()
        run = train(
            folder,
            None if resume else settings,
            resume=resume,
            labels=arguments.folder / "labels",
            listener=lambda row, name=name: print(name, row, flush=True),
        )
        if run.interrupted:
            return


if __name__ == "__main__":
    main()
