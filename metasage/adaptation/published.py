"""Published settings of the methods, by problem; the defaults of ours.

No torch in here: the command line shows them in its help.
"""

from __future__ import annotations

Numbers = tuple[float, ...]


class ByProblem(dict[str, Numbers]):
    """Numbers by problem; one that the papers do not know takes those of the CVRP."""

    def __missing__(self, problem: str) -> Numbers:
        return self["cvrp"]

    def __str__(self) -> str:
        problems: dict[str, list[str]] = {}
        for problem, numbers in self.items():
            problems.setdefault("/".join(f"{n:g}" for n in numbers), []).append(problem)
        return ", ".join(f"{text} ({', '.join(names)})" for text, names in problems.items())


# The paper's appendix: learning rates of EAS-Lay and SAGE, and of active search.
EAS_RATES = ByProblem(tsp=(3.2e-3,), cvrp=(4.1e-3,), pctsp=(1e-3,), op=(1e-3,))
AS_RATES = ByProblem(tsp=(2.6e-4,), cvrp=(2.6e-5,), pctsp=(2.6e-4,), op=(2.6e-4,))

# The public code of EAS-Emb; the paper has none for PCTSP and OP.
EMB_RATES = ByProblem(tsp=(3.2e-3,), cvrp=(4.9e-3,), pctsp=(1e-3,), op=(1e-3,))

# Exponent and strength of the public code of EAS-Tab, which knows TSP and CVRP.
TABLES = ByProblem(tsp=(0.505, 8.57), cvrp=(0.539, 9.55))

# Beam width and rollouts per node of the paper's appendix, for TSP and CVRP.
BEAMS = ByProblem(tsp=(10, 9), cvrp=(4, 3))

# Learning and imitation rates of SGBS with EAS; the last two are those of EAS.
SGBS_RATES = ByProblem(
    tsp=(8.15e-3, 6e-3), cvrp=(4.1e-3, 5e-3), pctsp=(1e-3, 5e-3), op=(1e-3, 5e-3)
)

IMITATION = 5e-3
"""Weight lambda of self-imitation (the paper's appendix)."""

ITERATIONS = ByProblem(tsp=(200,), cvrp=(200,), pctsp=(100,), op=(100,))
"""Iterations K (the paper's appendix)."""


def help_text() -> str:
    """Say all of them, one paragraph a method."""
    lines = [
        "Defaults of the methods, as published (where nothing is, those of the CVRP):",
        f"Iterations, where neither they nor a time limit are given: {ITERATIONS}.",
        f"as: learning_rate {AS_RATES}.",
        f"eas-lay and sage: learning_rate {EAS_RATES}; imitation {IMITATION:g}.",
        f"eas-emb: learning_rate {EMB_RATES}; imitation {IMITATION:g}.",
        f"eas-tab: exponent and strength {TABLES}.",
        f"sgbs: beam and expansion {BEAMS}.",
        f"sgbs-eas: the same; learning rate and imitation {SGBS_RATES}.",
        "Each can be set by --set NAME=VALUE; docs/adaptation.md tells all names and sources.",
    ]
    return "\n\n".join(lines)
