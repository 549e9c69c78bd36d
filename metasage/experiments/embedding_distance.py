"""How far adaptation moves the embeddings, with and without the meta-learner."""

from __future__ import annotations

import time
from dataclasses import replace

import torch

from metasage.adaptation.result import Incumbent
from metasage.adaptation.sage import Sage, SageOnEmbedding
from metasage.adaptation.search import Search
from metasage.adaptation.stop import MaxIterations
from metasage.adaptation.task import Task
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table
from metasage.experiments.bench import Bench, Found
from metasage.policies.sml import Sml
from metasage.policies.sml_files import fingerprint
from metasage.problems import Instance
from metasage.rollout import get_engine


class EmbeddingDistance(Experiment):
    """L1 distance between input and output of eta, where eta sits on the embeddings."""

    name = "embedding-distance"
    shows = "L1 distance that adaptation moves the embeddings, with and without SML"
    source = "table 4"
    cpu = Profile({500: 2}, iterations=50, rollouts=100, problems=("tsp", "cvrp"))
    paper = replace(PAPER, instances={500: 128}, problems=("tsp", "cvrp"))

    def run(self, bench: Bench, profile: Profile) -> Table:  # noqa: D102
        rows: list[list[Cell]] = []
        for problem in profile.problems:
            for size, count in profile.instances.items():
                for label, sml in (("without", None), ("with", bench.sml(problem))):
                    found = [
                        _measure(bench, label, problem, size, index, instance, sml, profile)
                        for index, instance in enumerate(bench.instances(problem, size, count))
                    ]
                    distance = sum(f.values["distance"] for f in found) / count
                    objective = sum(f.objective for f in found) / count
                    rows.append([problem, size, f"{label} SML", distance, objective])
        columns = ["problem", "N", "", "L1 distance", "objective"]
        notes = [f"{profile.iterations} iterations of SAGE with eta on the embeddings."]
        return Table("Distance between input and output of eta", columns, rows, notes)


def _measure(
    bench: Bench,
    label: str,
    problem: str,
    size: int,
    index: int,
    instance: Instance,
    sml: Sml | None,
    profile: Profile,
) -> Found:
    method = Sage(
        adapter="embedding",
        greedy_start=False,
        iterations=profile.iterations,
        rollouts=profile.rollouts,
    )
    model = bench.model(problem)

    def make() -> Found:
        began = time.monotonic()
        task = Task.of(
            instance, model.policy, get_engine("auto", model.config, threads=bench.threads),
            sml=None if sml is None else sml.learner,
            rollouts=method.rollouts, copies=1, seed=bench.seed,
        )  # fmt: skip
        strategy = method.start(task)
        assert isinstance(strategy, SageOnEmbedding)
        incumbent = Incumbent(instance)
        search = Search(incumbent, MaxIterations(profile.iterations), profile.iterations)
        search.run(strategy)
        if search.interrupted:
            raise KeyboardInterrupt
        with torch.no_grad():
            distance = float((strategy.adapted_embedding() - task.embedding).abs().sum())
        assert incumbent.objective is not None
        seconds = time.monotonic() - began
        return Found(incumbent.objective, seconds, search.curve, {"distance": distance})

    settings = [method.name, method.parameters(problem), sml and fingerprint(sml.learner)]
    return bench.remembered(f"{label} SML", problem, size, index, settings, make)
