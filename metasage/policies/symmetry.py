"""Maps of the plane that leave a problem unchanged but not its features."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metasage.errors import InputError
from metasage.problems.batch import Batch


def augment(batch: Batch, copies: int) -> Batch:
    """Stack the first of the 8 maps of the unit square onto itself.

    Copies of the whole batch follow one another, in the order that POMO
    published: (x, y), (1-x, y), (x, 1-y), (1-x, 1-y), and the same with x and y
    exchanged.
    """
    if copies not in (1, 2, 4, 8):
        raise InputError(f"augmentation is {copies} and must be 1, 2, 4 or 8.")
    x, y = batch.coords.unbind(-1)
    pairs = [(x, y), (1 - x, y), (x, 1 - y), (1 - x, 1 - y)]
    pairs += [(b, a) for a, b in ((x, y), (x, 1 - y), (1 - x, y), (1 - x, 1 - y))]
    return stacked(batch, [torch.stack(pair, dim=-1) for pair in pairs[:copies]])


def rotate(batch: Batch, copies: int, generator: torch.Generator) -> Batch:
    """Stack the batch and random rotations of it about the centre of the square.

    Half of the rotations also exchange x and y (Kim et al. 2022). The first
    copy is the batch itself.
    """
    centred = batch.coords - 0.5
    maps = [batch.coords]
    for _ in range(copies - 1):
        angle, mirror = torch.rand(2, generator=generator).tolist()
        cosine, sine = math.cos(2 * math.pi * angle), math.sin(2 * math.pi * angle)
        turn = centred.new_tensor([[cosine, sine], [-sine, cosine]])
        turned = centred @ turn + 0.5
        maps.append(turned.flip(-1) if mirror < 0.5 else turned)
    return stacked(batch, maps)


def stacked(batch: Batch, maps: list[Tensor]) -> Batch:
    """Return copies of the batch, one after another, with other places."""
    rows = torch.arange(batch.num_instances, device=batch.device).repeat(len(maps))
    return batch.select(rows).moved(torch.cat(maps))
