"""FILO2 (Accorsi and Vigo 2024), where its program is on the PATH.

It takes a number of iterations and no time limit, anneals over exactly that number, and
writes its solution at the end. So two shorter runs tell how many there is time for.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from metasage.baselines.base import Track
from metasage.baselines.child import DID_NOT_FINISH
from metasage.baselines.executables import Program, for_program
from metasage.errors import InputError
from metasage.io import read_solution, write_instance
from metasage.problems import Instance, Solution
from metasage.problems.metric import METRICS

# Iterations of the first run for each second of the limit: about 3 percent of it.
_FIRST_PACE = 30.0

# Share of the limit for the second run, and how many times the first it is at least,
# since the start of the program counts in both.
_SECOND_SHARE, _LEAST_GROWTH = 0.15, 3

# Share of what is left for the last run: one that is not done in time is lost. The
# seconds of a run grow with this power of its iterations (measured on seven files of X:
# 0.9 to 1.2 from 3,000 to 30,000).
_LAST_SHARE, _GROWTH = 0.8, 1.2


class Filo2(Program):
    """A local search with annealing, made for large instances, on one core."""

    name = "filo2"
    program = "filo2"
    problems = ("cvrp",)
    hint = "put the program filo2 on the PATH"

    def read_tour(self, path: Path, instance: Any) -> Solution:
        """Read routes, whose customers are counted from 1."""
        return read_solution(path, instance)

    def search(self, instance: Any, track: Track, seed: int) -> None:
        """Run the program three times, the last time for as long as is safe."""
        if instance.size == 0:
            track.offer(Solution([[]]))
            return
        number, runs = str(seed % 2**31), list[tuple[int, float]]()
        with tempfile.TemporaryDirectory(prefix="metasage-") as folder:
            problem = Path(folder) / "problem.vrp"
            write_instance(problem, _rounded(instance))
            tour = Path(folder) / f"problem.vrp_seed-{number}.vrp.sol"
            while (iterations := next_run(runs, track.limit, track.left())) > 0:
                options = {"--coreopt-iterations": iterations, "--outpath": f"{folder}/"}
                words = [str(word) for option in options.items() for word in option]
                began = time.monotonic()
                if not self.run([str(problem), *words, "--seed", number], folder, track):
                    track.note = DID_NOT_FINISH
                    if runs:
                        track.note += f", this is a run of {runs[-1][0]} iterations"
                    return
                runs.append((iterations, time.monotonic() - began))
                self.hand_in(tour, instance, track)


def next_run(runs: list[tuple[int, float]], limit: float, left: float) -> int:
    """Return the iterations of the next run, and 0 where there is none.

    Parameters
    ----------
    runs
        Iterations and seconds of the runs so far.
    limit
        The time limit.
    left
        Seconds of it that are left.
    """
    if not runs:
        return max(1, int(_FIRST_PACE * limit))
    count, seconds = runs[-1]
    if len(runs) == 1:
        return max(_LEAST_GROWTH * count, int(_SECOND_SHARE * limit * count / seconds))
    if len(runs) > 2:
        return 0
    before, least = runs[0]
    # Both runs had to start. Times this short are noisy, so the iterations have a part.
    searching = max((seconds - least) * count / (count - before), seconds / 4)
    searching = min(searching, seconds)
    more = (_LAST_SHARE * left - (seconds - searching)) / searching
    return int(count * more ** (1 / _GROWTH)) if more > 1 else 0


def _rounded(instance: Instance) -> Instance:
    """Return an instance as the program reads it: in the plane, with rounded lengths."""
    whole, rounded = for_program(instance), METRICS["EUC_2D"]
    if (whole.metric.measure, whole.metric.rounding) != (rounded.measure, rounded.rounding):
        raise InputError("filo2 takes Euclidean lengths alone, exact or rounded to the nearest.")
    return whole
