"""Equivalent forms of a solution, and of the instance that it solves."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from metasage.problems import Problem
from metasage.problems.batch import Batch
from metasage.training.solved import Actions

Forms = NDArray[np.int64]


def draw_forms(
    problem: Problem, actions: Actions, count: int, random: np.random.Generator
) -> tuple[Forms, Forms]:
    """Draw rollouts that build the same solutions in other orders.

    A closed tour without depot may start anywhere and go either way; routes may
    come in any order and go either way; a single tour from the depot has its two
    directions alone.

    Parameters
    ----------
    problem
        The problem.
    actions
        Steps of a solution of each instance, padded with 0.
    count
        Number of forms wanted.
    random
        Source of randomness.

    Returns
    -------
    tuple
        Steps of shape (instances, forms, steps), padded with 0, and the number of
        steps of each form.
    """
    wide = actions.astype(np.int64)
    if not problem.has_depot:
        forms = _turned_tours(wide, count, random)
        lengths = np.full(forms.shape[:2], forms.shape[2])
    elif problem.single_tour:
        forms = _both_ways(wide, min(count, 2), random)
        lengths = np.count_nonzero(forms, axis=2) + 1  # the way home is a step, too
    else:
        forms = _shuffled_routes(wide, count, random)
        steps = np.arange(1, forms.shape[2] + 1)
        lengths = np.where(forms != 0, steps, 0).max(axis=2)  # padding begins after the last one
    return forms, lengths


def turned(batch: Batch, maps: NDArray[np.int64]) -> Batch:
    """Show each instance by one of the 8 maps of the unit square onto itself.

    Parameters
    ----------
    batch
        The instances.
    maps
        Number of the map of each, below 8.
    """
    mirror_x, mirror_y, exchange = (
        torch.from_numpy(maps & bit != 0).to(batch.device).unsqueeze(-1) for bit in (1, 2, 4)
    )
    x, y = batch.coords.unbind(-1)
    x, y = torch.where(mirror_x, 1 - x, x), torch.where(mirror_y, 1 - y, y)
    return batch.moved(
        torch.stack([torch.where(exchange, y, x), torch.where(exchange, x, y)], dim=-1)
    )


def _directions(instances: int, count: int, random: np.random.Generator) -> NDArray[np.bool_]:
    """Tell which forms go backwards: every second one, the first by chance."""
    first = random.integers(2, size=(instances, 1))
    return np.asarray((first + np.arange(count)) % 2 == 1)


def _turned_tours(tours: Forms, count: int, random: np.random.Generator) -> Forms:
    instances, size = tours.shape
    starts = random.integers(size, size=(instances, count))
    sign = np.where(_directions(instances, count, random), -1, 1)
    places = (starts[..., None] + sign[..., None] * np.arange(size)) % size
    return np.take_along_axis(tours[:, None], places, axis=2)


def _both_ways(tours: Forms, count: int, random: np.random.Generator) -> Forms:
    customers = np.count_nonzero(tours, axis=1)[:, None]
    backwards = customers - 1 - np.arange(tours.shape[1])
    reverse = np.where(
        backwards >= 0, np.take_along_axis(tours, np.maximum(backwards, 0), axis=1), 0
    )
    turned = _directions(len(tours), count, random)[..., None]
    return np.where(turned, reverse[:, None], tours[:, None])


def _shuffled_routes(walks: Forms, count: int, random: np.random.Generator) -> Forms:
    """Sort the steps by a random number of their route, each before the depot that ends it."""
    walks = np.pad(walks, ((0, 0), (0, 1)))  # the last route ends at the depot, too
    instances, steps = walks.shape
    ends = walks == 0
    route = np.cumsum(ends, axis=1) - ends
    routes = int(route.max()) + 1
    rank = random.random((instances, count, routes)).argsort(axis=2)
    sign = random.integers(2, size=(instances, count, routes)) * 2 - 1
    # Every depot of the padding is a route of its own, which must stay behind.
    last = np.where(ends, 0, route).max(axis=1)
    rank = np.where(np.arange(routes) <= last[:, None, None], rank, rank + routes)
    within = np.take_along_axis(sign, route[:, None], axis=2) * np.arange(steps)
    within = np.where(ends[:, None], steps, within)
    key = np.take_along_axis(rank, route[:, None], axis=2) * (2 * steps + 1) + within
    return np.take_along_axis(walks[:, None], key.argsort(axis=2), axis=2)[..., :-1]
