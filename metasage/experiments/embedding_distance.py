"""How far adaptation moves the embeddings, with and without the meta-learner."""

from __future__ import annotations

from dataclasses import replace

from metasage.adaptation.sage import Sage
from metasage.experiments.base import PAPER, Cell, Experiment, Profile, Table
from metasage.experiments.bench import Bench, Found
from metasage.policies.sml import Sml
from metasage.policies.sml_files import fingerprint
from metasage.problems import Instance
from metasage.rollout import get_engine
from metasage.training.sml.embedding import move_embedding


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
        notes = ["SAGE's preset paper, whatever the profile, with eta on the embeddings."]
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
        preset="paper",
        adapter="embedding",
        iterations=profile.iterations,
        rollouts=profile.rollouts,
    )
    model = bench.model(problem)

    def make() -> Found:
        engine = get_engine("auto", model.config, threads=bench.threads)
        moved, record = move_embedding(instance, model, engine, method, bench.seed, sml)
        assert record.objective is not None
        values = {"distance": float(moved.abs().sum())}
        return Found(record.objective, record.seconds, record.curve, values)

    settings = [method.name, method.parameters(problem), sml and fingerprint(sml.learner)]
    return bench.remembered(f"{label} SML", problem, size, index, settings, make)
