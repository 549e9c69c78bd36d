"""A bank of solved instances: a cache, on disk and in memory, that is filled ahead of time."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import numpy as np

from metasage.errors import InputError
from metasage.io.locks import Lock
from metasage.problems import Instance
from metasage.training.data import StepPlan
from metasage.training.solved import (
    Actions,
    Cancelled,
    Shard,
    Solved,
    load_shard,
    make_shard,
    save_shard,
)

# Shards in memory, half a megabyte each; how many of them for later steps; and how many
# are being made or wait for it.
_MOST_KEPT, _MOST_AHEAD, _MOST_UNDER_WAY = 64, 24, 6
# Seconds between two looks at whether to go on waiting.
_PATIENCE = 0.05
_NICENESS = 5


class Bank:
    """Gives out solved instances, made by threads of low priority or read from a folder.

    What it gives out depends on what is asked for alone. Several banks, also of
    other processes, may share a folder.

    Parameters
    ----------
    folder
        Where shards are kept; None for memory alone.
    threads
        Number of threads that make shards.

    Attributes
    ----------
    waited
        Seconds that steps have waited for shards.
    complaint
        Why shards are kept in memory alone, if they are: a sentence.
    """

    def __init__(self, folder: Path | None, threads: int = 2) -> None:
        self.waited = 0.0
        self.complaint: str | None = None
        self._folder = folder
        self._kept: OrderedDict[Shard, Future[Solved]] = OrderedDict()
        self._closing = threading.Event()
        self._threads = ThreadPoolExecutor(threads, "labels", initializer=_step_back)

    def ahead(self, plans: Iterable[StepPlan]) -> None:
        """Begin to make what some steps need, the next one first."""
        wanted = dict.fromkeys(shard for plan in plans for shard in plan.shards)
        under_way = sum(not future.done() for future in self._kept.values())
        for shard in islice(wanted, _MOST_AHEAD):
            under_way += shard not in self._kept
            if under_way > _MOST_UNDER_WAY:
                return
            self._find(shard)

    def wait(self, plan: StepPlan, give_up: Callable[[], bool] = lambda: False) -> bool:
        """Wait until all is there that a step needs; say whether it is.

        Parameters
        ----------
        plan
            The step.
        give_up
            Asked now and then whether to wait no longer.
        """
        began = time.monotonic()
        try:
            for shard in plan.shards:
                future = self._find(shard)
                while True:
                    try:
                        future.result(_PATIENCE)
                        break
                    except NotYet:
                        if give_up():
                            return False
        finally:
            self.waited += time.monotonic() - began
        return True

    def take(self, plan: StepPlan, wanted: Iterable[int]) -> tuple[list[Instance], Actions]:
        """Return instances of a step, and the steps of the solutions of all of them.

        Parameters
        ----------
        plan
            The step.
        wanted
            Numbers of the instances that are wanted.
        """
        length = plan.kind.shard_length
        places = []
        for position in plan.positions:
            solved = self._find(Shard(plan.kind, position // length)).result()
            places.append((solved, position % length))
        instances = [places[i][0].instances[places[i][1]] for i in wanted]
        return instances, _stacked([solved.actions[row] for solved, row in places])

    def close(self) -> None:
        """Let the threads end after the instance that each one solves."""
        self._closing.set()
        self._threads.shutdown(cancel_futures=True)

    def _find(self, shard: Shard) -> Future[Solved]:
        """Return what will be a shard, in memory as one of those used last."""
        if shard not in self._kept:
            self._kept[shard] = self._threads.submit(self._provide, shard)
        self._kept.move_to_end(shard)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return self._kept[shard]

    def _provide(self, shard: Shard) -> Solved:
        if self._folder is None:
            return make_shard(shard, self._closing.is_set)
        path = self._folder / shard.name
        if (found := load_shard(path, shard)) is not None:
            return found
        with self._turn(path.with_suffix(".lock")):
            if (found := load_shard(path, shard)) is not None:
                return found
            solved = make_shard(shard, self._closing.is_set)
            self._save(path, solved)
            return solved

    def _save(self, path: Path, solved: Solved) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            save_shard(path, solved)
        except (InputError, OSError) as error:
            reason = error.message if isinstance(error, InputError) else error.strerror
            self.complaint = f"labels cannot be stored and stay in memory: {reason}"

    @contextmanager
    def _turn(self, path: Path) -> Iterator[None]:
        """Wait while another process makes the same shard, where that can be known."""
        lock = Lock(path)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            while not lock.take():
                if self._closing.wait(_PATIENCE):
                    raise Cancelled
        try:
            yield
        finally:
            lock.give_back()


def _stacked(rows: Sequence[Actions]) -> Actions:
    stacked = np.zeros((len(rows), max(map(len, rows))), dtype=np.int32)
    for target, row in zip(stacked, rows, strict=True):
        target[: len(row)] = row
    return stacked


def _step_back() -> None:
    """Let everything else in the machine go first, where threads have priorities."""
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
