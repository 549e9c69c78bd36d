"""Published networks, byte for byte, reach the values measured for them."""

import json

import numpy as np
import pytest
import torch

from metasage.policies.foreign import import_checkpoint
from metasage.problems.sets import InstanceSet, guess_problem
from metasage.rollout import get_engine
from metasage.rollout.interface import Decoding, Request

PROBLEMS = {"tsp": "tsp", "cvrp": "cvrp", "pctsp": "pctsp_det", "op": "op_dist"}
NETWORKS = [f"am/{kind}_{size}" for kind in PROBLEMS.values() for size in (20, 50, 100)]
NETWORKS += ["pomo_amdkd/tsp_100", "pomo_amdkd/cvrp_100"]
SETS = {
    "tsp": "tsp100_test_seed1234",
    "cvrp": "vrp100_test_seed1234",
    "pctsp": "pctsp100_test_seed1234",
    "op": "op_dist100_test_seed1234",
}


def first_instances(shared, problem, count):
    index = json.loads((shared / "data" / "index.json").read_text())
    with np.load(shared / "data" / index[SETS[problem]]["file"]) as file:
        arrays = {name: file[name][:count] for name in file.files}
    return list(InstanceSet(guess_problem(set(arrays)), arrays))


def test_every_published_network_is_tried(shared):
    index = json.loads((shared / "checkpoints" / "index.json").read_text())
    assert sorted(index) == sorted(NETWORKS)


@pytest.mark.parametrize("engine", ["native", "torch"])
@pytest.mark.parametrize("name", NETWORKS)
def test_greedy_value_is_the_measured_one(shared, name, engine):
    entry = json.loads((shared / "checkpoints" / "index.json").read_text())[name]
    model = import_checkpoint(shared / "checkpoints" / entry["file"])
    problem = model.config.problem
    assert problem == entry["problem"]
    ((condition, measured),) = entry["measured"].items()
    single = "single start" in condition
    instances = first_instances(shared, problem, 128 if single else 64)
    assert model.config.starts == ("free" if single else "forced")
    batch = model.policy.view(instances)
    seeds = torch.zeros(len(instances), dtype=torch.long)
    request = Request(1, seeds)
    if not single:
        starts = torch.arange(100) + int(batch.problem.has_depot)
        request = Request(100, seeds, starts=starts.expand(len(instances), -1))
    if engine == "native":
        pytest.importorskip("metasage._native")
    rollout_engine = get_engine(engine, model.config)
    rollouts = rollout_engine.rollout(batch, model.policy(batch), Decoding(greedy=True), request)
    mean = abs(float(rollouts.cost.min(1).values.mean()))
    # The list prints four digits for the one, three for the other.
    assert round(mean, 4 if single else 3) == measured
