"""Recognise a published checkpoint and turn it into one of our models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from metasage.errors import InputError
from metasage.io.files import quoted
from metasage.policies.foreign import attention_model, pomo, rl4co
from metasage.policies.foreign.pickled import load_pickled
from metasage.policies.foreign.tensors import Tensors
from metasage.policies.model import Model
from metasage.problems import all_problems, get_problem

# Where the known projects keep their state dict inside a checkpoint.
_WRAPPERS = ("model_state_dict", "state_dict", "model")


def import_checkpoint(path: str | Path, problem: str | None = None) -> Model:
    """Read a published checkpoint.

    Parameters
    ----------
    path
        File of AM, POMO (old or new), EAS, SGBS, Sym-NCO, AMDKD, Meta-SAGE or
        RL4CO.
    problem
        Problem of the network, where neither the ``args.json`` beside the file
        nor the tensors tell it.

    Raises
    ------
    InputError
        If a tensor is missing, left over, of the wrong shape or not finite, or
        if the network is one for another problem.
    """
    path = Path(path)
    checkpoint = load_pickled(path)
    try:
        state = _state_dict(checkpoint)
        layout: Any
        if rl4co.MARK in state or f"policy.{rl4co.MARK}" in state:
            layout, tensors = rl4co, Tensors(rl4co.policy_tensors(state))
            guess = rl4co.guess_problem(tensors, checkpoint)
        elif attention_model.MARK in state:
            layout, tensors = attention_model, Tensors(state)
            guess = attention_model.guess_problem(tensors)
        elif pomo.MARK in state:
            layout, tensors = pomo, Tensors(state)
            guess = pomo.guess_problem(tensors)
        else:
            first = next(iter(state), "none")
            raise InputError(f"no known network has these tensors (the first is {quoted(first)}).")
        known = _from_arguments(path) or guess
        if problem is not None and known not in (None, get_problem(problem).name):
            raise InputError(f"the network was trained for {known} and not for {problem}.")
        chosen = known or problem
        if chosen is None:
            raise InputError("the tensors fit both cvrp and op: say which with --problem.")
        config, converted = layout.convert(tensors, chosen)
        tensors.finish()
        name = layout.__name__.rsplit(".", 1)[-1].replace("_", " ")
        return Model.build(config, converted, {"imported from": name, "file": path.name})
    except InputError as error:
        raise InputError(error.message, path) from None


def _state_dict(checkpoint: Any) -> dict[str, Tensor]:
    """Unwrap the state dict; a bare one is returned as it is."""
    if isinstance(checkpoint, dict):
        for wrapper in _WRAPPERS:
            if isinstance(checkpoint.get(wrapper), dict):
                checkpoint = checkpoint[wrapper]
                break
    if not isinstance(checkpoint, dict) or not checkpoint:
        raise InputError("there is no state dict in this file.")
    for name, tensor in checkpoint.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise InputError(f"{quoted(str(name))} is not a tensor.")
    return checkpoint


def _from_arguments(path: Path) -> str | None:
    """Read the problem from Kool's ``args.json`` beside the file, if it is there."""
    arguments = path.with_name("args.json")
    if not arguments.is_file():
        return None
    try:
        name = str(json.loads(arguments.read_bytes())["problem"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    # 'pctsp_det' and 'op_dist' name a problem and its kind of prizes.
    name = name.split("_")[0]
    return name if name in all_problems() else None
