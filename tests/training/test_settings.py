from dataclasses import replace

import pytest

from metasage.errors import InputError
from metasage.training.recipes import RECIPES, recipe
from metasage.training.settings import Stage, TrainingSettings, load_settings

SMALL = TrainingSettings("pomo", "tsp", (Stage(10, 8, 4, 3, 1e-3, 1e-5), Stage(20, 4, 4, 2, 1e-4)))


def test_steps_find_their_stage_and_learning_rate():
    assert SMALL.total_steps == 5
    assert SMALL.total_instances == 32
    assert [SMALL.at(step)[0].size for step in range(5)] == [10, 10, 10, 20, 20]
    assert SMALL.stages[0].lr_at(0) == 1e-3
    assert SMALL.stages[0].lr_at(3) == pytest.approx(1e-5)
    assert SMALL.stages[1].lr_at(1) == 1e-4


def test_every_value_can_be_overridden():
    changed = SMALL.overridden(["stages.1.lr=0.5", "clip_norm=2.5", "seed=7", "policy.width=64"])
    assert changed.stages[1].lr == 0.5
    assert (changed.clip_norm, changed.seed, changed.policy) == (2.5, 7, {"width": 64})
    assert changed.stages[0] == SMALL.stages[0]


@pytest.mark.parametrize(
    "wrong", ["speed=1", "stages.9.lr=1", "stages.0.speed=1", "seed", "method='am'", "copies=3"]
)
def test_unknown_or_conflicting_values_are_refused(wrong):
    with pytest.raises(InputError):
        SMALL.overridden([wrong])


def test_settings_come_from_toml(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(
        'method = "symnco"\nproblem = "op"\ncopies = 2\n'
        "[[stages]]\nsize = 20\nbatch = 8\nrollouts = 4\nsteps = 10\nlr = 1e-4\n"
    )
    settings = load_settings(path)
    assert (settings.method, settings.problem, settings.stages[0].steps) == ("symnco", "op", 10)
    path.write_text("method = ")
    with pytest.raises(InputError, match="TOML"):
        load_settings(path)


def test_the_work_left_counts_the_nodes_of_later_stages():
    small = Stage(size=20, batch=8, rollouts=4, steps=10, lr=1e-4)
    large = Stage(size=100, batch=2, rollouts=10, steps=5, lr=1e-4)
    settings = replace(SMALL, stages=(small, large))
    assert settings.work_after(0) == 10 * 8 * 80 + 5 * 2 * 1000
    assert settings.work_after(9) == 8 * 80 + 5 * 2 * 1000
    assert settings.work_after(12) == 3 * 2 * 1000
    assert settings.work_after(15) == 0


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
    assert settings.stages[0].size == 100


def test_recipes_that_do_not_exist_are_named():
    with pytest.raises(InputError, match="no recipe for pomo on op"):
        recipe("paper", "pomo", "op")
    with pytest.raises(InputError, match="'fast' is not one of"):
        recipe("fast", "pomo", "tsp")
