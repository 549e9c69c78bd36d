"""The methods by the names that the command line gives them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from metasage.adaptation.active_search import ActiveSearch
from metasage.adaptation.eas import Eas
from metasage.adaptation.eas_tab import EasTab
from metasage.adaptation.greedy import Greedy
from metasage.adaptation.method import Method
from metasage.adaptation.sage import Sage
from metasage.adaptation.sampling import Sampling
from metasage.adaptation.sgbs import Sgbs

METHODS: dict[str, Callable[..., Method]] = {
    "greedy": Greedy,
    "sample": Sampling,
    "as": ActiveSearch,
    "eas-lay": partial(Eas, variant="lay"),
    "eas-emb": partial(Eas, variant="emb"),
    "eas-tab": EasTab,
    "sgbs": Sgbs,
    "sgbs-eas": partial(Sgbs, eas=True),
    "sage": Sage,
}
