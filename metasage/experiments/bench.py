"""Runs searches, and remembers each one, so that an experiment can be resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from metasage import __version__
from metasage.adaptation.method import Method
from metasage.errors import InputError
from metasage.policies.library import find_model
from metasage.policies.model import Model
from metasage.policies.sml import Sml
from metasage.policies.sml_files import find_sml, fingerprint
from metasage.problems import Instance
from metasage.problems.sets import generate
from metasage.runtime.interrupts import Interrupted
from metasage.solving.solve import solve

# Of the paper's test sets, which are drawn whole.
_SEEDS = {("tsp", 200): 1235, ("cvrp", 200): 1235}
_COUNTS = {200: 1000}

Curve = list[tuple[float, int, float]]


@dataclass(frozen=True)
class Found:
    """What one search found.

    Parameters
    ----------
    objective
        By the checker.
    seconds
        Its time.
    curve
        (seconds, iteration, objective) of every improvement.
    values
        Other numbers that the experiment measured.
    """

    objective: float
    seconds: float
    curve: Curve
    values: dict[str, float]


def mean_objective(found: Sequence[Found]) -> float:
    """Mean over the objectives of searches."""
    return sum(result.objective for result in found) / len(found)


class Bench:
    """A folder of results, and the networks they are made with.

    Parameters
    ----------
    folder
        Where results are kept: one line of JSON a search.
    models
        Networks by problem, by name or file, in place of the shipped ones.
    smls
        Files of scale meta-learners by problem, in place of the networks' own.
    kind
        Kind of shipped networks: ``pomo`` or ``symnco``.
    seed
        Seed of all searches.
    threads
        Threads of the engine; 0 for all cores.
    listener
        Called with a line of text for every search.
    data
        Folder of instances that are not drawn, but read.
    """

    def __init__(
        self,
        folder: Path,
        models: dict[str, str],
        smls: dict[str, str],
        kind: str = "symnco",
        seed: int = 1234,
        threads: int = 0,
        listener: Callable[[str], None] | None = None,
        data: Path | None = None,
    ) -> None:
        self.folder, self.models, self.smls, self.kind = folder, models, smls, kind
        self.seed, self.threads = seed, threads
        self.listener, self.data = listener, data
        self._loaded: dict[str, tuple[Model, str]] = {}
        self._used: dict[str, Sml] = {}

    def listen(self, row: dict[str, Any]) -> None:
        """Pass a row of a training log on to the listener."""
        if self.listener is not None:
            self.listener(", ".join(f"{name} {value}" for name, value in row.items()))

    def model(self, problem: str) -> Model:
        """Return the network of a problem."""
        return self._model(problem)[0]

    def sml(self, problem: str) -> Sml:
        """Return the scale meta-learner of a problem."""
        name = self.smls.get(problem, "shipped")
        found = find_sml(name, self.model(problem))
        if found is None:
            raise InputError(f"'{name}' is no scale meta-learner, which the experiment needs.")
        self._used[problem] = found
        return found

    def about(self) -> str:
        """Say which networks and meta-learners were used, and the seed."""
        networks = ", ".join(model.name for model, _ in self._loaded.values())
        learners = ", ".join(f"{s.name} ({s.learner.reading})" for s in self._used.values())
        return f"Networks {networks}; scale meta-learners {learners or 'none'}; seed {self.seed}."

    def instances(self, problem: str, size: int, count: int) -> Sequence[Instance]:
        """Return the first instances of the paper's test set."""
        seed = _SEEDS.get((problem, size), 1234)
        drawn = max(count, _COUNTS.get(size, 128))
        whole = generate(problem, size, drawn, seed)
        return [whole[index] for index in range(count)]

    def mean(self, label: str, problem: str, size: int, count: int, **options: Any) -> float:
        """Mean objective of `search` over the first instances of a test set."""
        found = self.searches(label, problem, size, count, **options)
        return mean_objective(found)

    def searches(
        self, label: str, problem: str, size: int, count: int, **options: Any
    ) -> list[Found]:
        """Search the first instances of a test set."""
        return [
            self.search(label, problem, size, index, instance, **options)
            for index, instance in enumerate(self.instances(problem, size, count))
        ]

    def search(
        self,
        label: str,
        problem: str,
        size: int,
        index: int,
        instance: Instance,
        *,
        method: Method,
        sml: Sml | None = None,
    ) -> Found:
        """Search once, unless that was done before."""

        def make() -> Found:
            result = solve(
                instance,
                method,
                model=self.model(problem),
                sml="none" if sml is None else sml,
                improve="none",
                seed=self.seed,
                threads=self.threads,
            )
            if result.interrupted:
                raise Interrupted
            return Found(result.objective, result.seconds, list(result.curve), {})

        settings = [method.name, method.parameters(problem), sml and fingerprint(sml.learner)]
        return self.remembered(label, problem, size, index, settings, make)

    def remembered(
        self,
        label: str,
        problem: str,
        size: int,
        index: int,
        settings: Any,
        make: Callable[[], Found],
    ) -> Found:
        """Return what was found before with the same settings and weights, or make it."""
        weights = self._model(problem)[1]
        where = [label, problem, size, index, weights, self.seed, settings, __version__]
        key = json.dumps(where, sort_keys=True)
        if key not in self._records:
            found = make()
            self._records[key] = found
            self._append(key, found)
            if self.listener is not None:
                self.listener(
                    f"{problem} {size} #{index} {label}: {found.objective:.6g} "
                    f"({found.seconds:.1f} s)"
                )
        return self._records[key]

    @cached_property
    def _records(self) -> dict[str, Found]:
        path = self.folder / "searches.jsonl"
        if not path.exists():
            return {}
        records = {}
        text = path.read_text(encoding="utf-8")
        if not text.endswith("\n"):  # cut off by a kill: the next line must not join it
            with open(path, "a", encoding="utf-8") as file:
                file.write("\n")
        for line in text.splitlines():
            try:
                row = json.loads(line)
                key = row.pop("key")
                records[key] = Found(**row)
            except (ValueError, KeyError, TypeError):
                continue  # it is made again
        return records

    def _append(self, key: str, found: Found) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "searches.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key} | vars(found)) + "\n")

    def _model(self, problem: str) -> tuple[Model, str]:
        if problem not in self._loaded:
            # POMO has no network for PCTSP and OP.
            kind = self.kind if problem in ("tsp", "cvrp") else "symnco"
            name = self.models.get(problem) or f"{kind}-{problem}"
            model = find_model(name, problem)
            if model.config.problem != problem:
                raise InputError(f"the model '{name}' is one for {model.config.problem}.")
            self._loaded[problem] = (model, fingerprint(model.policy))
        return self._loaded[problem]
