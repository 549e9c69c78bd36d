"""EAS against Meta-SAGE on the X instances of CVRPLIB."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from metasage.adaptation.eas import Eas
from metasage.errors import InputError
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table
from metasage.experiments.bench import Bench, mean_objective
from metasage.io import read_best_known, read_instance
from metasage.problems import Instance

# Instances are put together by size, from one of these to the next.
_WIDTH = 100
_RANGES = range(100, 1000, _WIDTH)


class Cvrplib(Experiment):
    """Mean objectives by ranges of the size; the folder of the files is the user's."""

    name = "cvrplib"
    shows = "EAS and Meta-SAGE on the X instances of CVRPLIB (--data FOLDER)"
    source = "table 2 and the table of the appendix"
    cpu = Profile(dict.fromkeys(_RANGES, 1), iterations=50, rollouts=100, problems=("cvrp",))
    paper = replace(PAPER, instances=dict.fromkeys(_RANGES, 100), problems=("cvrp",))

    def run(self, bench: Bench, profile: Profile) -> Table:  # noqa: D102
        files = _files(bench)
        planned = profile.plan("cvrp")
        rows: list[list[Cell]] = []
        for least, count in profile.instances.items():
            # The last range of the paper has its upper end, 1000, too.
            most = least + _WIDTH - (least + _WIDTH != _RANGES.stop)
            chosen = [(f, i) for f, i in files if least <= i.size <= most][:count]
            if not chosen:
                continue
            known = [read_best_known(file, instance) for file, instance in chosen]
            values = [value for value, _ in filter(None, known)]
            means: list[Cell] = [sum(values) / len(values) if all(known) else None]
            for label, method, sml in (
                ("EAS", Eas(**planned), None),
                ("Meta-SAGE", profile.sage("cvrp"), bench.sml("cvrp")),
            ):
                found = [
                    bench.search(
                        f"{label}, {file.stem}", "cvrp", instance.size, 0, instance,
                        method=method, sml=sml,
                    )
                    for file, instance in chosen
                ]  # fmt: skip
                means.append(mean_objective(found))
            rows.append([f"{least} to {most}", len(chosen), *means])
        columns = ["N", "instances", "best known", "EAS", "Meta-SAGE"]
        notes = [
            "The smallest instances of each range, no augmentation. Meta-SAGE is SAGE's preset "
            f"{profile.preset} with SML."
        ]
        return Table("X instances of CVRPLIB", columns, rows, notes)


def _files(bench: Bench) -> list[tuple[Path, Instance]]:
    """Read the instances of the user's folder, smallest first."""
    if bench.data is None:
        raise InputError("name the folder of the X instances by --data.")
    found = [(file, read_instance(file, "cvrp")) for file in sorted(bench.data.glob("*.vrp"))]
    if not found:
        raise InputError("there is no .vrp file in this folder.", bench.data)
    return sorted(found, key=lambda pair: pair[1].size)
