"""The bank: a cache of a pure function, whatever happens to its files."""

import itertools
import threading
import time

import numpy as np
import pytest

import metasage
from metasage.errors import InputError
from metasage.training import bank as bank_module
from metasage.training import solved as solved_module
from metasage.training.bank import Bank
from metasage.training.data import plan_steps
from metasage.training.settings import Stage, TrainingSettings
from metasage.training.solved import Kind, Shard, load_shard, make_shard, save_shard

KIND = Kind("tsp", 8, "uniform", False, 0.5)
PROBLEMS = ["tsp", "cvrp", "pctsp", "op"]


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch):
    monkeypatch.setattr(solved_module, "SHARD_NODES", 80)


def plans(labels=0, batch=6, sizes=(8,), steps=4):
    stage = Stage(sizes, batch, 1, steps, 1e-3, reinforce=0.0, imitation=1.0, labels=labels,
                  kicks=0.5)  # fmt: skip
    return list(plan_steps(TrainingSettings("pomo", "tsp", (stage,))))


def content(bank, plan):
    assert bank.wait(plan)
    instances, actions = bank.take(plan, range(plan.count))
    return np.stack([instance.coords for instance in instances]), actions


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.fixture
def open_bank():
    opened = []

    def opening(folder, threads=2):
        opened.append(Bank(folder, threads))
        return opened[-1]

    yield opening
    for bank in opened:
        bank.close()


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("varied", [False, True])
def test_labels_are_feasible_and_a_shard_survives_its_file(problem, varied, tmp_path):
    shard = Shard(Kind(problem, 8, "mixed", varied, 0.5), 3)
    made = make_shard(shard)
    assert len(made.instances) == 10
    for instance, steps in zip(made.instances, made.actions, strict=True):
        assert metasage.check(instance, made.instances.problem.to_solution(steps)).feasible
    save_shard(tmp_path / shard.name, made)
    read = load_shard(tmp_path / shard.name, shard)
    assert np.array_equal(read.actions, made.actions)
    for name, array in made.instances.arrays.items():
        assert np.array_equal(read.instances.arrays[name], array)


def test_labels_of_small_tours_are_the_shortest_ones():
    made = make_shard(Shard(Kind("tsp", 7, "uniform", False, 2.0), 0))
    for instance, steps in zip(made.instances, made.actions, strict=True):
        lengths = [
            instance.tour_length(np.array([0, *order]))
            for order in itertools.permutations(range(1, 7))
        ]
        assert instance.tour_length(steps) == pytest.approx(min(lengths))


def test_instances_without_a_solution_are_drawn_again():
    kind = Kind("pctsp", 2, "uniform", False, 0.0)
    drawn = metasage.generate("pctsp", 2, 40, Shard(kind, 0).seeds(1)[0])
    reasons = [drawn.problem.infeasibility(instance) for instance in drawn]
    assert any(reasons)
    assert not all(reasons)
    made = make_shard(Shard(kind, 0)).instances
    for old, new, reason in zip(drawn, made, reasons, strict=True):
        assert made.problem.infeasibility(new) is None
        assert (reason is None) == np.array_equal(old.prize, new.prize)


def test_every_property_of_a_kind_makes_other_instances():
    kinds = [
        KIND,
        Kind("tsp", 8, "uniform", False, 1.0),
        Kind("tsp", 8, "clustered", False, 0.5),
        Kind("tsp", 8, "uniform", True, 0.5),
    ]
    shards = [Shard(kind, 0) for kind in kinds] + [Shard(KIND, 1)]
    assert len({shard.name for shard in shards}) == 5
    assert len({make_shard(shard).instances.arrays["loc"].tobytes() for shard in shards}) == 5


def test_content_depends_on_the_plan_alone(tmp_path, open_bank):
    steps = plans(sizes=(8, 9), steps=6)
    one, two = open_bank(None, threads=1), open_bank(tmp_path)
    two.ahead(steps)
    expected = [content(one, plan) for plan in steps]
    assert all(
        same(content(two, plan), known)
        for plan, known in reversed(list(zip(steps, expected, strict=True)))
    )
    for file in list(tmp_path.iterdir())[::2]:
        file.unlink()
    three = open_bank(tmp_path)
    assert all(
        same(content(three, plan), known) for plan, known in zip(steps, expected, strict=True)
    )


def test_new_instances_follow_one_another_until_they_come_again(open_bank):
    bank = open_bank(None)
    places = np.concatenate([content(bank, plan)[0] for plan in plans()])
    assert len({place.tobytes() for place in places}) == 24
    again = np.concatenate([content(bank, plan)[0] for plan in plans(labels=9)])
    assert np.array_equal(again[:9], places[:9])
    assert np.array_equal(again[9:18], places[:9])
    assert np.array_equal(again[18:], places[:6])


@pytest.mark.parametrize("harm", ["empty", "cut", "text", "shape", "range", "pickle"])
def test_a_damaged_file_is_made_anew(tmp_path, open_bank, harm):
    shard = Shard(KIND, 0)
    path = tmp_path / shard.name
    plan = plans()[0]
    expected = content(open_bank(tmp_path), plan)
    whole = path.read_bytes()
    if harm in ("empty", "cut", "text"):
        path.write_bytes({"empty": b"", "cut": whole[: len(whole) // 2], "text": b"oh"}[harm])
    else:
        arrays = dict(np.load(path))
        arrays["actions"] = {
            "shape": arrays["actions"][:5],
            "range": arrays["actions"] + 3,
            "pickle": np.array([{}] * 10, dtype=object),
        }[harm]
        np.savez(path, **arrays)
    assert load_shard(path, shard) is None
    assert same(content(open_bank(tmp_path), plan), expected)
    assert load_shard(path, shard) is not None


def test_a_shared_folder_is_not_filled_again(tmp_path, open_bank, monkeypatch):
    steps = plans()
    first = open_bank(tmp_path)
    expected = [content(first, plan) for plan in steps]

    def refuse(*arguments):
        raise AssertionError("made again")

    monkeypatch.setattr(bank_module, "make_shard", refuse)
    second = open_bank(tmp_path)
    assert all(
        same(content(second, plan), known) for plan, known in zip(steps, expected, strict=True)
    )


def test_two_banks_make_a_shard_once(tmp_path, open_bank, monkeypatch):
    made = []

    def slowly(shard, cancelled):
        made.append(shard)
        time.sleep(0.3)
        return make_shard(shard)

    monkeypatch.setattr(bank_module, "make_shard", slowly)
    plan = plans()[0]
    banks = [open_bank(tmp_path), open_bank(tmp_path)]
    for bank in banks:
        bank.ahead([plan])
    assert same(content(banks[0], plan), content(banks[1], plan))
    assert len(made) == 1
    assert [file.name for file in tmp_path.iterdir()] == [Shard(KIND, 0).name]


def test_a_folder_that_takes_no_files_does_not_end_training(tmp_path, open_bank, monkeypatch):
    plan = plans()[0]
    expected = content(open_bank(None), plan)
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    bank = open_bank(blocked / "labels")
    assert same(content(bank, plan), expected)
    assert "Not a directory" in bank.complaint

    def fail(path, solved):
        raise InputError("the file cannot be written: no space left on device.", path)

    monkeypatch.setattr(bank_module, "save_shard", fail)
    full = open_bank(tmp_path / "full")
    assert same(content(full, plan), expected)
    assert "no space left" in full.complaint


def test_whoever_waits_can_give_up_and_leave(open_bank, monkeypatch):
    going_on = threading.Event()

    def endless(shard, cancelled):
        while not cancelled():
            going_on.wait(0.01)
        raise bank_module.Cancelled

    monkeypatch.setattr(bank_module, "make_shard", endless)
    bank = open_bank(None)
    began = time.monotonic()
    assert not bank.wait(plans()[0], lambda: time.monotonic() > began + 0.2)
    assert bank.waited >= 0.2
    bank.close()
    assert time.monotonic() - began < 2.0


def test_memory_and_work_ahead_are_bounded(open_bank, monkeypatch):
    monkeypatch.setattr(bank_module, "_MOST_KEPT", 10)
    monkeypatch.setattr(bank_module, "_MOST_AHEAD", 5)
    monkeypatch.setattr(bank_module, "_MOST_UNDER_WAY", 3)
    made = []

    def counted(shard, cancelled):
        made.append(shard)
        return make_shard(shard)

    monkeypatch.setattr(bank_module, "make_shard", counted)
    bank = open_bank(None)
    steps = plans(batch=10, steps=30)
    bank.ahead(steps)
    assert len(bank._kept) <= 3
    for number, plan in enumerate(steps):
        bank.ahead(steps[number:])
        content(bank, plan)
        assert len(bank._kept) <= 10
        assert len(made) <= number + 6
    assert len(made) == len(set(made)) == 30
