"""Odd networks and meta-learners: refused when they are read, or an answer in the end."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor

import metasage
from fuzz.attack import Attack, allowed
from fuzz.mutation import mutate
from fuzz.odd import odd_json
from metasage.adaptation.registry import METHODS
from metasage.cli.app import run as run_command
from metasage.policies.config import PolicyConfig
from metasage.policies.model import Model
from metasage.policies.policy import AttentionPolicy
from metasage.policies.sml import READINGS, ScaleMetaLearner, Sml
from metasage.policies.sml_files import save_sml

SCALES = (0.0, -1.0, 1e2, 1e4, 1e8, 1e15, 1e30, 1e38, float("inf"), float("nan"))
KINDS = (torch.int64, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.bool)

LOCAL = {
    "pointer_locality": "outside",
    "glimpse_locality": True,
    "encoder_locality": True,
    "query_skip": True,
    "query_residual": True,
}


def make_network(random: Random, problem: str) -> Model:
    """Return a small network of one of the architectures, untrained."""
    torch.manual_seed(random.randrange(1000))
    options: dict[str, Any] = dict(LOCAL) if random.random() < 0.5 else {}
    options["starts"] = random.choice(["forced", "free"])
    options["placeholder"] = problem == "tsp"
    options["norm"] = random.choice(["instance", "batch"])
    options["projected_pointer"] = random.random() < 0.5
    config = PolicyConfig(problem, width=64, layers=1, hidden=64, **options)
    return Model(AttentionPolicy(config).eval().requires_grad_(False))


def attempt(random: Random, folder: Path) -> None:
    """Spoil a network or its meta-learner, and solve with them."""
    problem = random.choice(["tsp", "cvrp", "pctsp", "op"])
    network, learner = folder / "network.safetensors", folder / "sml.safetensors"
    make_network(random, problem).save(network, torch.float32)
    reading = random.choice(READINGS)
    save_sml(Sml(ScaleMetaLearner(reading, 64).eval()), learner)
    spoilt = learner if random.random() < 0.3 else network
    data = spoilt.read_bytes()
    for _ in range(random.choice([1, 1, 2])):
        data = random.choice([mutate, _odd_header, _odd_tensor, _odd_tensor])(data, random)
    spoilt.write_bytes(data)
    instance = metasage.generate(problem, 8, 1, random.randrange(1000))[0]
    with allowed():
        result = metasage.solve(
            instance,
            METHODS[random.choice(list(METHODS))](iterations=2, rollouts=4),
            model=str(network),
            sml=str(learner) if random.random() < 0.5 else "none",
            engine=random.choice(["native", "torch"]),
            improve=random.choice(["none", "final", "memetic"]),
            threads=1,
        )
        assert result.feasible
    assert run_command(["models", "show", str(network), "--json", str(folder / "a")]) in (0, 2)


def _split(data: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + length])
    except (ValueError, RecursionError):
        return {}, data
    return (header if isinstance(header, dict) else {}), data[8 + length :]


def _joined(header: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def _odd_header(data: bytes, random: Random) -> bytes:
    """Put an odd value somewhere into what the file says of itself."""
    header, body = _split(data)
    if not header:
        return data
    name = random.choice(list(header))
    about = header[name]
    if name == "__metadata__" or random.random() < 0.7:
        try:
            inner = json.loads(header["__metadata__"]["metasage"])
        except (KeyError, TypeError, ValueError, RecursionError):
            return data
        target = inner
        while isinstance(target, dict) and target and random.random() < 0.8:
            key = random.choice(list(target))
            if not isinstance(target[key], dict) or random.random() < 0.2:
                target[key] = odd_json(random)
                break
            target = target[key]
        header["__metadata__"]["metasage"] = json.dumps(inner)
    elif isinstance(about, dict) and about:
        about[random.choice(list(about))] = random.choice(
            [odd_json(random), "F64", [0, 10**12], [2**40], [1, 1]]
        )
    return _joined(header, body)


def _odd_tensor(data: bytes, random: Random) -> bytes:
    """Change the numbers, kind, shape or name of a tensor, or of all."""
    from safetensors import SafetensorError
    from safetensors.torch import load, save

    try:
        tensors: dict[str, Tensor] = load(data)
    except (SafetensorError, ValueError, RuntimeError, KeyError, TypeError):
        return data
    names = list(tensors)
    if not names:
        return data
    header, _ = _split(data)
    about = header.get("__metadata__")
    for name in random.choice([names, [random.choice(names)]]):
        tensor = tensors[name]
        match random.randrange(6):
            case 0 | 1 | 2:
                tensors[name] = tensor * random.choice(SCALES)
            case 3:
                tensors[name] = tensor.to(random.choice(KINDS))
            case 4:
                tensors[name] = tensor.reshape(-1)[: random.randrange(1 + tensor.numel())].clone()
            case _:
                tensors[name + random.choice(["", ".x"])] = tensors.pop(name)
    kept = {k: v.contiguous() for k, v in tensors.items()}
    texts = about if isinstance(about, dict) else {}
    return save(kept, {str(k): str(v) for k, v in texts.items()})


NETWORKS = Attack("networks", attempt, quick=60)
