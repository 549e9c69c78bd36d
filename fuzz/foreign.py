"""Checkpoints of strangers: read, or refused in one sentence, and never executed."""

from __future__ import annotations

import os
import pickle
import zipfile
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import torch

from fuzz.attack import Attack, allowed
from fuzz.mutation import mutate
from metasage.policies.foreign import import_checkpoint

WIDTH, HIDDEN = 16, 24


class _Order:
    """What a pickle can tell its reader to do."""

    def __init__(self, random: Random, folder: Path) -> None:
        target = str(folder / "executed")
        self.call = random.choice(
            [
                (os.mkdir, (target,)),
                (os.system, (f"touch {target}",)),
                (eval, (f"open({target!r}, 'w')",)),
                (open, (target, "w")),
                (getattr, (os, "mkdir")),
            ]
        )

    def __reduce__(self) -> Any:
        return self.call


def pomo_tensors() -> dict[str, Any]:
    """Return the tensors of a small POMO network for the TSP."""
    layer, square = "encoder.layers.0", (WIDTH, WIDTH)
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.embedding.weight": (WIDTH, 2),
        "encoder.embedding.bias": (WIDTH,),
        f"{layer}.multi_head_combine.weight": square,
        f"{layer}.multi_head_combine.bias": (WIDTH,),
        f"{layer}.feedForward.W1.weight": (HIDDEN, WIDTH),
        f"{layer}.feedForward.W1.bias": (HIDDEN,),
        f"{layer}.feedForward.W2.weight": (WIDTH, HIDDEN),
        f"{layer}.feedForward.W2.bias": (WIDTH,),
        "decoder.multi_head_combine.weight": square,
        "decoder.multi_head_combine.bias": (WIDTH,),
    }
    shapes |= {f"{layer}.{name}.weight": square for name in ("Wq", "Wk", "Wv")}
    shapes |= {f"decoder.{name}.weight": square for name in ("Wq_first", "Wq_last", "Wk", "Wv")}
    for number in (1, 2):
        for part in ("weight", "bias"):
            shapes[f"{layer}.addAndNormalization{number}.norm.{part}"] = (WIDTH,)
    return {name: torch.ones(shape) for name, shape in shapes.items()}


def _odd_content(random: Random, folder: Path) -> Any:
    """Return a checkpoint in which something is not what it should be."""
    state = pomo_tensors()
    name = random.choice(list(state))
    tensor = state[name]
    state[name] = random.choice(
        [
            tensor,
            tensor.to_sparse(),
            tensor.to(torch.complex64),
            tensor.double(),
            tensor * float("inf"),
            tensor.expand(2**20, *tensor.shape),
            torch.empty(tensor.shape, device="meta"),
            torch.quantize_per_tensor(tensor, 0.1, 0, torch.qint8),
            _Order(random, folder),
            [tensor],
            None,
        ]
    )
    wrapped = {"model_state_dict": state, "epoch": 3, "other": None}
    place = random.choice(["", "epoch", "other"])
    if place:
        wrapped[place] = random.choice([_Order(random, folder), {}, [[[]]], 10**400, b"x"])
    return random.choice([wrapped, wrapped, state, [state], _Order(random, folder)])


def _repacked(data: bytes, random: Random) -> bytes:
    """Compress, leave out, or damage members of an archive."""
    result = BytesIO()
    try:
        with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(result, "w") as new:
            for member in old.infolist():
                content = old.read(member)
                match random.randrange(8):
                    case 0:
                        continue
                    case 1:
                        content = mutate(content, random) if content else b""
                    case 2:
                        content = content * random.choice([0, 2, 100])
                how = random.choice([zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
                new.writestr(member.filename, content, how)
    except Exception:  # not an archive
        return data
    return result.getvalue()


def attempt(random: Random, folder: Path) -> None:
    """Save an odd checkpoint, damage its file, and import it."""
    buffer = BytesIO()
    content = _odd_content(random, folder)
    try:
        if random.random() < 0.2:
            pickle.dump(content, buffer)
        else:
            torch.save(content, buffer, _use_new_zipfile_serialization=random.random() < 0.7)
    except Exception:  # torch does not save everything
        return
    data = buffer.getvalue()
    for _ in range(random.randrange(3)):
        data = random.choice([mutate, _repacked])(data, random) or b"x"
    path = folder / "epoch-1.pt"
    path.write_bytes(data)
    with allowed():
        import_checkpoint(path, random.choice([None, "tsp", "op"]))
    assert not (folder / "executed").exists(), "the file was executed"


FOREIGN = Attack("foreign", attempt, quick=200)
