from dataclasses import replace
from itertools import pairwise

import pytest

from metasage.errors import InputError
from metasage.training.data import plan_steps
from metasage.training.recipes import RECIPES, recipe
from metasage.training.settings import Stage, TrainingSettings, load_settings

SMALL = TrainingSettings(
    "pomo", "tsp", (Stage((10,), 8, 4, 3, 1e-3, 1e-5), Stage((20,), 4, 4, 2, 1e-4))
)


def test_steps_find_their_stage_and_learning_rate():
    assert SMALL.total_steps == 5
    assert SMALL.total_instances == 32
    assert [SMALL.at(step)[0].sizes[0] for step in range(5)] == [10, 10, 10, 20, 20]
    assert SMALL.stages[0].lr_at(0) == 1e-3
    assert SMALL.stages[0].lr_at(3) == pytest.approx(1e-5)
    assert SMALL.stages[1].lr_at(1) == 1e-4


def test_every_value_can_be_overridden():
    changed = SMALL.overridden(["stages.1.lr=0.5", "clip_norm=2.5", "seed=7", "policy.width=64"])
    assert changed.stages[1].lr == 0.5
    assert (changed.clip_norm, changed.seed, changed.policy) == (2.5, 7, {"width": 64})
    assert changed.stages[0] == SMALL.stages[0]


@pytest.mark.parametrize(
    "wrong",
    [
        "speed=1",
        "stages.9.lr=1",
        "stages.0.speed=1",
        "seed",
        "method='am'",
        "copies=3",
        "stages.0.sizes=20",
        "stages.0.sizes=[]",
        "stages.0.sizes=[20, 0]",
        "stages.0.sizes=[20.5]",
        "stages.0.reinforce=0",
        "stages.0.imitation=-1",
        "stages.0.forms=0",
        "stages.0.labels=-1",
        "stages.0.kicks=-0.5",
        "stages.0.varied=1",
        "stages.0.rollouts=1",
        "validation_sizes=[]",
    ],
)
def test_unknown_or_conflicting_values_are_refused(wrong):
    with pytest.raises(InputError):
        SMALL.overridden([wrong])


def test_settings_come_from_toml(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(
        'method = "symnco"\nproblem = "op"\ncopies = 2\n'
        "[[stages]]\nsizes = [20]\nbatch = 8\nrollouts = 4\nsteps = 10\nlr = 1e-4\n"
    )
    settings = load_settings(path)
    assert (settings.method, settings.problem, settings.stages[0].steps) == ("symnco", "op", 10)
    path.write_text("method = ")
    with pytest.raises(InputError, match="TOML"):
        load_settings(path)


def test_the_work_left_counts_the_nodes_of_later_stages():
    small = Stage(sizes=(20,), batch=8, rollouts=4, steps=10, lr=1e-4)
    large = Stage(sizes=(100,), batch=2, rollouts=10, steps=5, lr=1e-4)
    settings = replace(SMALL, stages=(small, large))
    assert settings.work_after(0) == 10 * 8 * 80 + 5 * 2 * 1000
    assert settings.work_after(9) == 8 * 80 + 5 * 2 * 1000
    assert settings.work_after(12) == 3 * 2 * 1000
    assert settings.work_after(15) == 0


def test_a_step_of_any_size_has_about_as_many_nodes():
    stage = Stage((50, 100, 500, 5000), 30, 4, 8, 1e-3)
    assert [stage.batch_at(size) for size in stage.sizes] == [30, 15, 3, 1]
    settings = replace(SMALL, stages=(stage,))
    assert settings.total_instances == 8 * (30 + 15 + 3 + 1) // 4
    assert settings.work_after(6) == 2 * 4 * (3 * 1500 + 5000) / 4


def test_work_counts_what_is_decoded():
    stage = Stage((20,), 8, 4, 10, 1e-4)
    assert stage.work == 8 * 20 * 4
    assert replace(stage, imitation=1.0, forms=5).work == 8 * 20 * 9
    assert replace(stage, imitation=1.0, forms=5, reinforce=0.0).work == 8 * 20 * 5


def test_imitation_alone_needs_no_second_rollout():
    stage = Stage((20,), 8, 1, 10, 1e-4, imitation=1.0)
    replace(SMALL, stages=(replace(stage, reinforce=0.0),))
    with pytest.raises(InputError, match="two rollouts"):
        replace(SMALL, stages=(stage,))


def test_plans_draw_sizes_and_layouts_and_count_labels():
    stages = (
        Stage((10,), 4, 2, 5, 1e-3),
        Stage((10, 20), 4, 2, 200, 1e-3, clustered=0.5, imitation=1.0),
        Stage((10,), 4, 2, 5, 1e-3, imitation=1.0, labels=7),
    )
    settings = replace(SMALL, stages=stages)
    plans = list(plan_steps(settings))
    assert list(plan_steps(settings, 120)) == plans[120:]
    middle = plans[5:205]
    assert {(plan.kind.size, plan.kind.layout) for plan in middle} == {
        (size, layout) for size in (10, 20) for layout in ("uniform", "clustered", "mixed")
    }
    assert 60 < sum(plan.kind.size == 10 for plan in middle) < 140
    assert 60 < sum(plan.kind.layout == "uniform" for plan in middle) < 140
    assert all(plan.count == 40 // plan.kind.size for plan in middle)
    # New ones follow one another, kind by kind; nothing is asked of the bank without imitation.
    for kind in {plan.kind for plan in middle}:
        taken = [place for plan in middle if plan.kind == kind for place in plan.positions]
        assert taken == list(range(len(taken)))
    assert not any(plan.positions or plan.shards for plan in plans[:5])
    again = [place for plan in plans[205:] for place in plan.positions]
    assert max(again) == 6
    assert all((b - a) % 7 == 1 for a, b in pairwise(again))


@pytest.mark.parametrize("pair", RECIPES["paper"])
def test_the_paper_recipe_only_reinforces_on_published_instances(pair):
    for stage in RECIPES["paper"][pair].stages:
        assert (stage.reinforce, stage.imitation, stage.varied) == (1.0, 0.0, False)


def test_settings_survive_being_written(tmp_path):
    for known in RECIPES.values():
        for settings in known.values():
            assert TrainingSettings.from_dict(settings.to_dict()) == settings


@pytest.mark.parametrize(
    ("method", "problem", "instances"),
    [("pomo", "tsp", 309_900_000), ("pomo", "cvrp", 80_000_000), ("symnco", "op", 128_000_000)],
)
def test_the_paper_recipe_has_the_published_length(method, problem, instances):
    settings = recipe("paper", method, problem)
    assert settings.total_instances == pytest.approx(instances, rel=0.02)
    assert settings.stages[0].sizes == (100,)


def test_recipes_that_do_not_exist_are_named():
    with pytest.raises(InputError, match="no recipe for pomo on op"):
        recipe("paper", "pomo", "op")
    with pytest.raises(InputError, match="'fast' is not one of"):
        recipe("fast", "pomo", "tsp")
