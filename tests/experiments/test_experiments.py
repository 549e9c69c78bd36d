"""Every experiment runs on tiny networks, remembers what it did, and adds up."""

from dataclasses import replace

import pytest
import torch
from helpers import solve_alone as solve

from metasage.adaptation.greedy import Greedy
from metasage.adaptation.sage import Sage
from metasage.errors import InputError
from metasage.experiments import EXPERIMENTS
from metasage.experiments.base import Profile, change
from metasage.experiments.bench import Bench, Found
from metasage.experiments.curves import mean_curve
from metasage.experiments.scale_matching import Told
from metasage.experiments.sml_objectives import _OBJECTIVES
from metasage.io import write_instance
from metasage.policies.config import PolicyConfig
from metasage.policies.model import Model
from metasage.policies.policy import AttentionPolicy
from metasage.policies.sml import ScaleMetaLearner, Sml
from metasage.policies.sml_files import save_sml
from metasage.problems.batch import Batch
from metasage.problems.sets import generate
from metasage.rollout import get_engine
from metasage.training.sml.embedding import move_embedding
from metasage.training.sml.settings import sml_recipe


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    models, smls = {}, {}
    for problem in ("tsp", "cvrp", "pctsp", "op"):
        torch.manual_seed(0)
        starts = "forced" if problem in ("tsp", "cvrp") else "free"
        config = PolicyConfig(problem, width=64, layers=1, hidden=64, starts=starts)
        models[problem] = str(folder / f"{problem}.safetensors")
        Model(AttentionPolicy(config).eval().requires_grad_(False)).save(models[problem])
        learner = ScaleMetaLearner("official", 64)
        torch.nn.init.normal_(learner.output.weight, std=0.05)
        smls[problem] = str(folder / f"{problem}-sml.safetensors")
        save_sml(Sml(learner), smls[problem])
    return models, smls


TINY = Profile({12: 2}, iterations=4, rollouts=6)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_runs_and_goes_on(tmp_path, networks, name, monkeypatch):
    short = replace(sml_recipe("cpu", "tsp"), labels=4, sizes=(10, 12), steps=1, batch=2,
                    teacher_iterations=2, teacher_rollouts=6, rollouts=6)  # fmt: skip
    monkeypatch.setattr("metasage.experiments.sml_objectives.sml_recipe", lambda *_: short)
    experiment = EXPERIMENTS[name]
    profile = replace(TINY, problems=experiment.cpu.problems)
    for seed in (1, 2):
        write_instance(tmp_path / f"X-{seed}.vrp", generate("cvrp", 12, 1, seed)[0])
    lines: list[str] = []

    def bench():
        return Bench(tmp_path, *networks, listener=lines.append, data=tmp_path)

    table = experiment.run(bench(), profile)
    assert lines
    assert table.rows
    assert all(len(row) == len(table.columns) for row in table.rows)
    files = table.save(tmp_path / name)
    assert all(file.stat().st_size > 100 for file in files)
    lines.clear()
    again = experiment.run(bench(), profile)
    assert again.rows == table.rows
    assert not lines, "nothing is searched twice"


def test_a_result_cut_off_by_a_kill_is_made_again(tmp_path, networks):
    experiment = EXPERIMENTS["zero-shot"]
    profile = replace(TINY, problems=("tsp",))
    table = experiment.run(Bench(tmp_path, *networks), profile)
    path = tmp_path / "searches.jsonl"
    path.write_text(path.read_text()[:-30])
    lines: list[str] = []
    again = experiment.run(Bench(tmp_path, *networks, listener=lines.append), profile)
    assert len(lines) == 1
    assert again.rows == table.rows


def solved(bench, method, sml, problem="tsp"):
    """Mean objective by the interface that users have."""
    found = [
        solve(instance, method, model=bench.models[problem], sml=sml).objective
        for instance in bench.instances(problem, 12, 2)
    ]
    return sum(found) / len(found)


def test_columns_with_and_without_are_just_that(tmp_path, networks):
    bench = Bench(tmp_path, *networks)
    profile = replace(TINY, problems=("tsp",))
    ((_, _, _, without, with_sml, _),) = EXPERIMENTS["zero-shot"].run(bench, profile).rows
    assert without == solved(bench, Greedy(), "none")
    assert with_sml == solved(bench, Greedy(), bench.smls["tsp"])
    assert without != with_sml
    for row in EXPERIMENTS["sml-gain"].run(bench, profile).rows:
        method = Sage(preset=row[0], iterations=4, rollouts=6)
        assert row[5] == solved(bench, method, "none")
        assert row[6] == solved(bench, method, bench.smls["tsp"])
        assert row[8] == solved(bench, replace(method, iterations=8), "none")


def test_components_begin_with_plain_adaptation_and_end_with_meta_sage(tmp_path, networks):
    bench = Bench(tmp_path, *networks)
    rows = EXPERIMENTS["components"].run(bench, replace(TINY, problems=("tsp",))).rows
    whole = Sage(preset="paper", iterations=4, rollouts=6)
    plain = replace(whole, bias="none", temperature_end=1.0)
    assert rows[0][-1] == solved(bench, plain, "none")
    assert rows[1][-1] == solved(bench, plain, bench.smls["tsp"])
    assert rows[-1][-1] == solved(bench, whole, bench.smls["tsp"])


def test_a_meta_learner_is_told_a_scale(tmp_path, networks):
    learner = Bench(tmp_path, *networks).sml("tsp").learner
    batch = Batch.of(list(generate("tsp", 150, 2, 1)))
    h = torch.randn(2, 150, 64)
    assert torch.equal(Told(learner, 150)(h, batch), learner(h, batch))
    assert not torch.equal(Told(learner, 400)(h, batch), learner(h, batch))


def test_adaptation_moves_embeddings_from_where_the_meta_learner_left_them(tmp_path, networks):
    profile = replace(TINY, problems=("tsp",))
    rows = EXPERIMENTS["embedding-distance"].run(Bench(tmp_path, *networks), profile).rows
    assert [row[2] for row in rows] == ["without SML", "with SML"]
    assert all(row[3] > 0 for row in rows)
    assert rows[0][3] != rows[1][3]


def test_without_iterations_nothing_has_moved_from_there(tmp_path, networks):
    bench = Bench(tmp_path, *networks)
    model, sml = bench.model("tsp"), bench.sml("tsp")
    engine = get_engine("auto", model.config)
    instance = bench.instances("tsp", 12, 1)[0]
    method = Sage(preset="paper", adapter="embedding", iterations=1, rollouts=6, learning_rate=1e-9)
    moved, search = move_embedding(instance, model, engine, method, 1, sml)
    assert search.iteration == 1
    batch = model.policy.view([instance])
    h = model.policy.embed(batch)
    assert float((sml.learner(h, batch) - h).abs().sum()) > 1
    assert float(moved.abs().sum()) < 1e-3


def test_objectives_are_left_out_one_by_one():
    recipe = sml_recipe("cpu", "cvrp")
    distil, zero, both = (replace(recipe, **changes) for changes in _OBJECTIVES.values())
    assert (distil.zero, distil.biased, distil.guided) == (0, 0, 0)
    assert distil.distil
    assert zero.distil == 0
    assert zero.zero
    assert both == recipe


def test_a_table_says_what_made_it(tmp_path, networks):
    bench = Bench(tmp_path, *networks)
    bench.sml("tsp")
    name = networks[1]["tsp"]
    assert bench.about().endswith(f"scale meta-learners {name} (official); seed 1234.")


def test_no_meta_learner_is_refused(tmp_path, networks):
    with pytest.raises(InputError, match="'none' is no scale meta-learner"):
        Bench(tmp_path, networks[0], {"tsp": "none"}).sml("tsp")


def test_means_over_curves_hold_the_incumbent():
    one = Found(4.0, 1.0, [(0.1, 0, 6.0), (0.2, 2, 4.0)], {})
    two = Found(5.0, 1.0, [(0.1, 0, 8.0), (0.2, 1, 5.0)], {})
    assert mean_curve([one, two], 4) == pytest.approx([7.0, 5.5, 4.5, 4.5])


def test_better_is_positive_in_both_senses():
    assert change(10.0, 9.0, "tsp") == pytest.approx(10)
    assert change(10.0, 11.0, "op") == pytest.approx(10)


def test_the_papers_test_sets_are_the_instances(tmp_path, networks, shared):
    import numpy as np

    bench = Bench(tmp_path, *networks)
    stored = np.load(shared / "data/paper_sets/vrp500_main_table_seed1234.npz")
    found = bench.instances("cvrp", 500, 2)[1]
    np.testing.assert_array_equal(found.coords[1:].astype(np.float32), stored["loc"][1])


def test_x_instances_are_put_together_by_size(tmp_path, networks):
    for name, size, seed in (("small", 12, 1), ("other", 14, 2), ("large", 120, 3)):
        write_instance(tmp_path / f"{name}.vrp", generate("cvrp", size, 1, seed)[0])
    profile = replace(TINY, instances={10: 5, 110: 5, 500: 5})
    table = EXPERIMENTS["cvrplib"].run(Bench(tmp_path, *networks, data=tmp_path), profile)
    assert [row[:3] for row in table.rows] == [["10 to 109", 2, None], ["110 to 209", 1, None]]
    with pytest.raises(InputError, match="--data"):
        EXPERIMENTS["cvrplib"].run(Bench(tmp_path, *networks), profile)
