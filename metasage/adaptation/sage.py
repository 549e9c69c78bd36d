"""SAGE: scheduled adaptation with guided exploration (Son et al. 2023).

The settings and how they fit together; `query` has the layer that adapts, and `guidance`
the schedules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from metasage.adaptation.guidance import BiasSchedule, Geometric, Guide, Guided
from metasage.adaptation.method import Method, Strategy
from metasage.adaptation.published import EAS_RATES, ByProblem
from metasage.errors import InputError
from metasage.values import LearningRate, Strength, Temperature, Weight

if TYPE_CHECKING:
    from metasage.adaptation.task import Task
    from metasage.policies.model import Model

Preset = Literal["default", "paper", "official"]

# The readings of the method; docs/adaptation.md says where they differ and why.
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {"bias": "outside", "alpha": 1.0, "alpha_end": 0.3, "by_density": False,
              "replay": False, "greedy_start": False, "temperature": 1.0, "temperature_end": 0.3,
              "horizon": None, "tsp_weight_decay": 0.0},
    "official": {"bias": "inside", "alpha": 1.0, "alpha_end": 0.3, "by_density": False,
                 "replay": True, "greedy_start": False, "temperature": 1.0, "temperature_end": 0.3,
                 "horizon": 200, "tsp_weight_decay": 1e-6},
    "default": {"bias": "outside", "alpha": None, "alpha_end": None, "by_density": True,
                "replay": True, "greedy_start": True, "temperature": 1.0, "temperature_end": 0.3,
                "horizon": None, "tsp_weight_decay": 0.0},
}  # fmt: skip

# What a preset says and no setting can change.
_HIDDEN = ("horizon", "tsp_weight_decay")

# Strengths of the bias that `default` tries; without a trial it is the first. Measured: on
# the CVRP the better one depends on the network, elsewhere one serves all.
STRENGTHS = ByProblem(tsp=(40.0,), cvrp=(10.0, 40.0), pctsp=(20.0,), op=(20.0,))


@dataclass(frozen=True, kw_only=True)
class Sage(Method):
    """SAGE. What is left None is what the preset says, or for ``default`` the network.

    Parameters
    ----------
    preset
        ``paper`` and ``official`` are the two published readings, ``default``
        is what measured best.
    adapter
        Where eta sits: on the ``query``, or on the node ``embedding``.
    bias
        Formula of the locality bias: ``outside`` or ``inside`` the clipping, or
        ``none``.
    alpha, alpha_end
        Strength of the locality bias at the start and at the end. ``default``
        holds one strength, which the greedy iteration chooses; see `GreedyStart`.
    by_density
        Whether that strength grows with the square root of the size.
    temperature, temperature_end
        Softmax temperature at the start and at the end.
    learning_rate
        Step size; by default 3.2e-3 (TSP), 4.1e-3 (CVRP), 1e-3 (PCTSP, OP).
    imitation
        Weight lambda of self-imitation; by default 5e-3.
    replay
        Whether the best solution so far is imitated, rather than the best of
        the samples.
    greedy_start
        Whether the first iteration is greedy, so that there is something good
        to imitate from the start.
    """

    name = "sage"
    uses_sml = True

    preset: Preset = "default"
    adapter: Literal["query", "embedding"] = "query"
    bias: Literal["outside", "inside", "none"] | None = None
    alpha: Strength | None = None
    alpha_end: Strength | None = None
    by_density: bool | None = None
    temperature: Temperature | None = None
    temperature_end: Temperature | None = None
    learning_rate: LearningRate | None = None
    imitation: Weight | None = None
    replay: bool | None = None
    greedy_start: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bias == "inside" and self.alpha is None and PRESETS[self.preset]["alpha"] is None:
            raise InputError("bias 'inside' needs an alpha, as --preset official has.")

    def defaults(self, problem: str) -> dict[str, Any]:  # noqa: D102
        rate, imitation = EAS_RATES[problem]
        own = {"learning_rate": rate, "imitation": imitation}
        return own | {n: v for n, v in PRESETS[self.preset].items() if n not in _HIDDEN}

    def suited(self, model: Model) -> Self:  # noqa: D102
        return super().suited(model) if self.preset == "default" else self

    def guide(self, problem: str, alpha: float | None) -> Guide:
        """Return the schedules of locality bias and temperature, the bias beginning at alpha."""
        own = self.resolved(problem)
        assert own.bias is not None
        assert own.temperature is not None
        assert own.temperature_end is not None
        temperature = Geometric(own.temperature, own.temperature_end)
        bias = None
        if own.bias != "none":
            start = STRENGTHS[problem][0] if alpha is None else alpha
            end = start if own.alpha_end is None else own.alpha_end
            bias = BiasSchedule(own.bias, Geometric(start, end), bool(own.by_density))
        return Guide(temperature, bias, PRESETS[self.preset]["horizon"])

    def start(self, task: Task) -> Strategy:  # noqa: D102
        from metasage.adaptation.gradient import EmbeddingLayer, GradientAdaptation
        from metasage.adaptation.greedy_start import GreedyStart
        from metasage.adaptation.query import QueryAdaptation
        from metasage.adaptation.update import Update

        problem = task.instance.problem.name
        own = self.resolved(problem)
        assert own.learning_rate is not None
        assert own.imitation is not None
        decay = PRESETS[self.preset]["tsp_weight_decay"] if problem == "tsp" else 0.0
        update = Update(own.learning_rate, own.imitation, decay, bool(own.replay))
        guide = self.guide(problem, own.alpha)
        samples: Guided
        if self.adapter == "query":  # the appendix of the paper
            samples = QueryAdaptation(task, update, guide)
        else:  # its main text
            samples = GradientAdaptation(task, update, EmbeddingLayer(task), guide)
        if not own.greedy_start:
            return samples
        strengths = STRENGTHS[problem] if own.alpha is None else (own.alpha,)
        return GreedyStart(task, samples, [self.guide(problem, alpha) for alpha in strengths])
