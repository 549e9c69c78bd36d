"""The options that make one attention policy AM, POMO or Sym-NCO."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal

from metasage.errors import InputError
from metasage.problems import Problem, get_problem
from metasage.values import Range, require_valid

# Far beyond any network that there is, so that a file cannot speak of endless ones.
Width = Annotated[int, Range(1, 2**16)]
Layers = Annotated[int, Range(1, 1000)]


@dataclass(frozen=True)
class PolicyConfig:
    """Architecture of a policy.

    Parameters
    ----------
    problem
        Name of the problem.
    width, layers, heads, hidden
        Embedding width, encoder layers, heads, and width of the feed-forward
        part.
    norm
        Normalisation in the encoder: over the nodes of an ``instance`` (POMO)
        or over the ``batch``, with running statistics (AM).
    attention_bias
        Whether the encoder's query, key and value projections have biases.
    encoder_combine_bias, combine_bias
        Whether the layers that join the heads have biases, in encoder and
        decoder.
    projected_pointer
        Whether the final pointer's keys are projected (AM) or the embeddings
        themselves (POMO).
    mean_query
        Whether the query has a term from the mean embedding.
    placeholder
        Whether there is a learned query for TSP's first step (AM).
    projection_head
        Whether there is a head for Sym-NCO's invariance loss.
    starts
        ``forced``: rollout i starts at node i (POMO); ``free``: the policy
        chooses (AM).
    fractional_load
        Whether loads add up as float32 fractions of the capacity, as in the
        code that trained the network (AM); a vehicle that is exactly full may
        then count as overfull. Otherwise loads are exact.
    clip
        Bound of the logits.
    pointer_locality
        Whether the pointer has a learned preference for near nodes, and whether
        it is ``outside`` or ``inside`` of tanh.
    glimpse_locality, encoder_locality
        Whether the heads of the glimpse and of the encoder's layers have one.
    query_skip
        Whether the query is added to the glimpse, as in a transformer.
    query_residual
        Whether the query passes a residual layer, the one that SAGE adapts.
    neighbours
        Number of nearest nodes that a step looks at where there are more, in
        training and, unless the user says otherwise, afterwards; 0 for all.
    """

    problem: str
    width: Width = 128
    layers: Layers = 6
    heads: Width = 8
    hidden: Width = 512
    norm: Literal["instance", "batch"] = "instance"
    attention_bias: bool = False
    encoder_combine_bias: bool = True
    combine_bias: bool = True
    projected_pointer: bool = False
    mean_query: bool = False
    placeholder: bool = False
    projection_head: bool = False
    starts: Literal["forced", "free"] = "forced"
    fractional_load: bool = False
    clip: Annotated[float, Range(1e-3, 1e6)] = 10.0
    pointer_locality: Literal["none", "outside", "inside"] = "none"
    glimpse_locality: bool = False
    encoder_locality: bool = False
    query_skip: bool = False
    query_residual: bool = False
    neighbours: Annotated[int, Range(0, 10**9)] = 0

    def __post_init__(self) -> None:
        require_valid(self)
        get_problem(self.problem)
        if self.width % self.heads:
            raise InputError(f"a width of {self.width} does not divide into {self.heads} heads.")
        if self.starts == "free" and not (self.placeholder or self.rules.has_depot):
            raise InputError("a tour without a depot starts freely by a placeholder alone.")

    @property
    def rules(self) -> Problem:
        """The problem itself."""
        return get_problem(self.problem)

    @property
    def kind(self) -> str:
        """Name of the family: pomo, symnco or am."""
        if self.projection_head:
            return "symnco"
        return "pomo" if self.starts == "forced" else "am"

    @property
    def num_features(self) -> int:
        """Number of features of a node that is not the depot."""
        return self.rules.num_features

    def nearest(self, nodes: int) -> int | None:
        """Return the number of nodes that a step looks at among so many; None for all."""
        return self.neighbours if 0 < self.neighbours < nodes else None

    def require_problem(self, problem: str) -> None:
        """Complain about instances of another problem."""
        if problem != self.problem:
            raise InputError(
                f"the model was trained for {self.problem} and cannot solve {problem}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> PolicyConfig:
        """Read the options from plain data, refusing unknown ones."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise InputError(f"'{unknown[0]}' is not an option of a policy.")
        return cls(**values)
