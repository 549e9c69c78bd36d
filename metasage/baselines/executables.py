"""Concorde, LKH 3 and Compass, where their programs are on the PATH.

Each is given an instance as a file in a folder of its own, and its tour is read
back from there. Lengths and prizes that are not whole are put on a fine grid.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from abc import abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from metasage.baselines.base import LIMITS, Baseline, Track
from metasage.baselines.child import DID_NOT_FINISH
from metasage.baselines.fleet import enough_vehicles
from metasage.errors import InputError
from metasage.io import read, read_solution, write_instance
from metasage.io.solution import FileSolution
from metasage.problems import Instance, Solution
from metasage.problems.cvrp import Cvrp
from metasage.problems.limits import exact_units
from metasage.problems.op import Op
from metasage.problems.scaling import units_above, with_whole_lengths
from metasage.runtime.processes import start_program

# Units of the side of the square around all nodes where lengths are not whole.
_RESOLUTION = 1_000_000

# Kept back from the limit, to start a program and to read its tour.
_RESERVED_SHARE = 0.05


class Program(Baseline):
    """A program on the PATH that writes its solution to a file."""

    program: ClassVar[str]

    def is_available(self) -> bool:
        """Whether the program is on the PATH."""
        return shutil.which(self.program) is not None

    @abstractmethod
    def read_tour(self, path: Path, instance: Any) -> Solution:
        """Read what the program wrote."""

    def run(self, arguments: list[str], folder: str, track: Track) -> bool:
        """Run the program in a folder, and say whether it was done in time."""
        program = shutil.which(self.program)
        assert program is not None
        process = start_program([program, *arguments], folder)
        try:
            process.wait(timeout=track.left())
        except subprocess.TimeoutExpired:
            return False
        finally:
            process.kill()
            process.wait()
        return True

    def hand_in(self, path: Path, instance: Any, track: Track) -> None:
        """Offer what the program wrote, if it did."""
        if not path.exists():
            return
        try:
            track.offer(self.read_tour(path, instance))
        except InputError as error:
            track.violation = f"its tour cannot be read: {error.message}"


class Executable(Program):
    """A program that reads an instance from a file, and runs once."""

    suffix: ClassVar[dict[str, str]]
    """Suffix of the instance's file for each problem."""

    @abstractmethod
    def arguments(
        self, instance: Any, problem: Path, tour: Path, seconds: float, seed: int
    ) -> list[str]:
        """Prepare a run in the folder of the files, and return the program's arguments."""

    def search(self, instance: Any, track: Track, seed: int) -> None:
        """Run the program until it is done or its time is over."""
        with tempfile.TemporaryDirectory(prefix="metasage-") as folder:
            tour = Path(folder) / "tour.out"
            problem = Path(folder) / f"problem{self.suffix[instance.problem.name]}"
            write_instance(problem, for_program(instance))
            seconds = max(0.1, track.left() - _RESERVED_SHARE * track.limit)
            arguments = self.arguments(instance, problem, tour, seconds, seed)
            if not self.run(arguments, folder, track):
                track.note = DID_NOT_FINISH
            # A program that was ended may have left its best tour so far.
            self.hand_in(tour, instance, track)


class Concorde(Executable):
    """Concorde's exact solver (Applegate et al. 2006)."""

    name = "concorde"
    program = "concorde"
    problems = ("tsp",)
    suffix: ClassVar = {"tsp": ".tsp"}
    hint = "put the program concorde on the PATH"

    def arguments(
        self, instance: Any, problem: Path, tour: Path, seconds: float, seed: int
    ) -> list[str]:
        """Return the arguments; Concorde takes no time limit."""
        return ["-x", "-s", str(seed % 2**31), "-o", str(tour), str(problem)]

    def read_tour(self, path: Path, instance: Any) -> Solution:
        """Read the number of nodes and the nodes, counted from 0."""
        words = path.read_text().split()
        if not words or not all(word.isdecimal() for word in words):
            raise InputError("whole numbers were expected.")
        return Solution([map(int, words[1:])])


class Lkh3(Executable):
    """LKH 3 (Helsgaun 2017), free for academic and non-commercial use."""

    name = "lkh3"
    program = "LKH"
    problems = ("tsp", "cvrp")
    suffix: ClassVar = {"tsp": ".tsp", "cvrp": ".vrp"}
    keeps = frozenset(LIMITS)
    hint = "put the program LKH on the PATH"

    def arguments(
        self, instance: Any, problem: Path, tour: Path, seconds: float, seed: int
    ) -> list[str]:
        """Write the file of parameters and return its name."""
        parameters = problem.with_name("run.par")
        lines: dict[str, Any] = {
            "PROBLEM_FILE": problem,
            "OUTPUT_TOUR_FILE": tour,
            "RUNS": 1,
            "SEED": seed % 2**31,
            "TIME_LIMIT": max(1, round(seconds)),
        }
        special = []
        if isinstance(instance, Cvrp):
            special = ["SPECIAL"]
            # By itself LKH takes as few vehicles as the demand allows, and uses them all.
            lines |= {"VEHICLES": enough_vehicles(instance), "MTSP_MIN_SIZE": 0}
        text = [*special, *(f"{key} = {value}" for key, value in lines.items())]
        parameters.write_text("\n".join(text) + "\n")
        return [str(parameters)]

    def read_tour(self, path: Path, instance: Any) -> Solution:
        """Read a tour, in which further depots are counted on behind the customers."""
        content = read(path)
        if not isinstance(content, FileSolution):
            raise InputError("a tour was expected.")
        nodes = np.array(content.routes[0]) - 1
        if not instance.problem.has_depot:
            return Solution([nodes])
        nodes = np.where(nodes >= instance.num_nodes, 0, nodes)
        start = int(np.flatnonzero(nodes == 0)[0]) if (nodes == 0).any() else 0
        solution: Solution = instance.problem.to_solution(np.roll(nodes, -start))
        return solution


class Compass(Executable):
    """Compass with its evolutionary algorithm EA4OP (Kobeaga, Merino and Lozano 2018)."""

    name = "compass"
    program = "compass"
    problems = ("op",)
    suffix: ClassVar = {"op": ".oplib"}
    hint = "put the program compass on the PATH"

    def arguments(
        self, instance: Any, problem: Path, tour: Path, seconds: float, seed: int
    ) -> list[str]:
        """Return the arguments; Compass takes neither time limit nor seed."""
        return ["--op", "--op-ea4op", str(problem), "-o", str(tour)]

    def read_tour(self, path: Path, instance: Any) -> Solution:
        """Read a tour from the depot on."""
        return read_solution(path, for_program(instance))


def for_program(instance: Instance) -> Instance:
    """Return an instance as programs want it: whole numbers, and nodes counted from 1."""
    on_grid, unit = with_whole_lengths(instance, _RESOLUTION)
    changes: dict[str, Any] = {"labels": np.arange(1, instance.num_nodes + 1)}
    if isinstance(instance, Cvrp):
        demand, capacity = exact_units(instance.demand, instance.capacity)
        changes |= {"demand": demand.astype(np.float64), "capacity": float(capacity)}
        if instance.max_route_length is not None and unit != 1.0:
            changes["max_route_length"] = _on_grid(instance.max_route_length, instance, unit)
        if instance.service_time is not None and unit != 1.0:
            changes["service_time"] = units_above(instance.service_time, unit).astype(np.float64)
    elif isinstance(instance, Op) and unit != 1.0:
        changes["max_length"] = _on_grid(instance.max_length, instance, unit)
        largest = float(instance.prize.max()) or 1.0
        changes["prize"] = np.rint(instance.prize * (_RESOLUTION / largest))
    return replace(on_grid, **changes)


def _on_grid(longest: float, instance: Instance, unit: float) -> float:
    """Return a bound on the length of a tour in units, so that what keeps it fits."""
    # Rounding an edge and its ends takes less than two units.
    slack = 2.0 * instance.num_nodes
    return max(1.0, float(np.floor(longest * unit)) - slack)
