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


# The paper's appendix: learning and imitation rates of EAS-Lay and SAGE, learning rates
# of active search.
EAS_RATES = ByProblem(tsp=(3.2e-3, 5e-3), cvrp=(4.1e-3, 5e-3), pctsp=(1e-3, 5e-3), op=(1e-3, 5e-3))
AS_RATES = ByProblem(tsp=(2.6e-4,), cvrp=(2.6e-5,), pctsp=(2.6e-4,), op=(2.6e-4,))

# The public code of EAS-Emb; PCTSP and OP, which it does not know, as EAS-Lay.
EMB_RATES = ByProblem(
    tsp=(3.2e-3, 5.8e-3), cvrp=(4.9e-3, 6.3e-3), pctsp=(1e-3, 5e-3), op=(1e-3, 5e-3)
)

# The public code of EAS, for active search, too.
WEIGHT_DECAY = 1e-6

# Exponent and strength of the public code of EAS-Tab, which knows TSP and CVRP.
TABLES = ByProblem(tsp=(0.505, 8.57), cvrp=(0.539, 9.55))

# Beam width and rollouts per node of the paper's appendix, for TSP and CVRP.
BEAMS = ByProblem(tsp=(10, 9), cvrp=(4, 3))

# Learning and imitation rates of SGBS with EAS; the last two are those of EAS.
SGBS_RATES = ByProblem(
    tsp=(8.15e-3, 6e-3), cvrp=(4.1e-3, 5e-3), pctsp=(1e-3, 5e-3), op=(1e-3, 5e-3)
)

ITERATIONS = ByProblem(tsp=(200,), cvrp=(200,), pctsp=(100,), op=(100,))
"""Iterations K (the paper's appendix)."""


# What SAGE's presets hold; docs/adaptation.md compares them.
_SAGE = (
    "sage: learning_rate and imitation as eas-lay; temperature 1, temperature_end 0.3 (the paper's "
    "appendix); bias, alpha, alpha_end, by_density, replay and greedy_start by --preset; adapter "
    "query (appendix and code) or embedding (the paper's main text)."
)


def help_text() -> str:
    """Return the help of all settings, one paragraph for each method."""
    lines = [
        "Settings of the methods, with their defaults and where these come from; each can be set "
        "by --set NAME=VALUE. Where nothing is published, those of the CVRP.",
        f"Iterations, where neither they nor a time limit are given: {ITERATIONS} (the paper's "
        "appendix).",
        "sample: temperature 1.",
        f"as: learning_rate {AS_RATES} (the paper's appendix); weight_decay {WEIGHT_DECAY:g} (EAS "
        "code).",
        f"eas-lay: learning_rate and imitation {EAS_RATES} (the paper's appendix); weight_decay "
        f"{WEIGHT_DECAY:g}, place before (EAS code) or after (SGBS code).",
        f"eas-emb: learning_rate and imitation {EMB_RATES} (EAS code); weight_decay as eas-lay.",
        f"eas-tab: exponent and strength {TABLES} (EAS code).",
        f"sgbs: beam and expansion {BEAMS} (the paper's appendix).",
        f"sgbs-eas: the same; learning_rate and imitation {SGBS_RATES} (the paper's appendix).",
        _SAGE,
        "docs/adaptation.md tells more.",
    ]
    return "\n\n".join(lines)
