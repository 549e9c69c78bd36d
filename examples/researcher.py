"""Adapt a policy of your own to a problem of your own.

    python examples/researcher.py

The problem: the shortest *open* path through all nodes (no way home). Adding it is
one class; because the native engine has no rule for it, rollouts run in torch, and there is
no local search for it.

The first policy: no training at all. Its embeddings are random Fourier features of the
places, whose products approximate exp(-distance^2), so that it prefers near nodes.
Anything with `config`, `view`, `embed` and `decoder` can be adapted the same way.

The second: the package's own network, trained on small paths for a quarter of a minute.
"""

import math
import tempfile

import numpy as np
import torch
from torch import Tensor, nn

import metasage
from metasage.policies.config import PolicyConfig
from metasage.policies.library import find_model
from metasage.policies.model import Model
from metasage.problems.batch import Batch
from metasage.problems.instance import Check
from metasage.problems.tsp import Tsp, TspProblem
from metasage.rollout.interface import DecoderInputs
from metasage.training.settings import TrainingSettings
from metasage.training.stage import Stage
from metasage.training.train import train


class PathInstance(Tsp):
    """Places and a metric, as in the TSP."""


class OpenPath(TspProblem):
    """The TSP without the last edge; everything else is inherited."""

    name = "path"
    instance_class = PathInstance

    def from_arrays(self, arrays, name=""):
        return PathInstance(coords=arrays["loc"], name=name)

    def check(self, instance, solution):
        closed = super().check(instance, solution)
        if closed.violation:
            return closed
        nodes = np.array(solution.routes[0])
        return Check(float(instance.lengths(nodes[:-1], nodes[1:]).sum()), None)

    def objectives(self, instance, actions):
        return instance.lengths(actions[:, :-1], actions[:, 1:]).sum(axis=1)

    def cost(self, batch, actions):
        return batch.edge_lengths(actions[..., :-1], actions[..., 1:]).sum(-1)


class FourierPolicy(nn.Module):
    """Prefers near nodes, by random features of their places."""

    def __init__(self, width: int = 64, sharpness: float = 8.0) -> None:
        super().__init__()
        self.config = PolicyConfig("path", width=width)
        generator = torch.Generator().manual_seed(0)
        self.frequencies = sharpness * torch.randn(2, width // 2, generator=generator)

    def view(self, instances, device="cpu") -> Batch:
        return Batch.of(instances, device)

    def embed(self, batch: Batch) -> Tensor:
        angles = batch.coords @ self.frequencies
        # Scaled so that the logits of near and far nodes differ by several units.
        features = torch.cat([angles.cos(), angles.sin()], dim=-1)
        return features * math.sqrt(10 / self.config.width**0.5)

    def decoder(self, h: Tensor) -> DecoderInputs:
        # The glimpse gathers what is near the current node, and the pointer what is near that.
        width = self.config.width
        return DecoderInputs(
            keys=h, values=h, pointers=h, query_last=h * 8, query_first=torch.zeros_like(h),
            query_scalar=None, query_start=None, combine_weight=torch.eye(width),
            combine_bias=None, heads=self.config.heads, clip=self.config.clip,
        )  # fmt: skip


def train_briefly(folder: str) -> Model:
    """Train a small network on paths of 15 nodes by POMO."""
    settings = TrainingSettings(
        "pomo", "path", (Stage((15,), 64, 15, 40, 1e-3),), normalise_advantages=True, muon=0.7,
        validation_sizes=(15,), validation_count=16,
        policy={"width": 64, "layers": 2, "hidden": 128},
    )  # fmt: skip
    train(folder, settings)
    return find_model(f"{folder}/model.safetensors")


def main() -> None:
    """Compare both policies as they are with the same when they adapt."""
    instance = metasage.generate("path", size=40, count=1, seed=1)[0]
    with tempfile.TemporaryDirectory() as folder:
        trained = train_briefly(folder)
    for name, model in (("fourier", Model(FourierPolicy())), ("trained", trained)):
        for method in (metasage.Greedy(), metasage.Sampling(iterations=10),
                       metasage.Sage(iterations=10)):  # fmt: skip
            result = metasage.solve(instance, method, model=model, seed=1)
            print(f"{name} {method.name:8s} {result.objective:.4f}  ({result.seconds:.1f} s)")


if __name__ == "__main__":
    main()
