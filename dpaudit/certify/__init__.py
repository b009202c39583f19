"""What draws certify: their split, the sets, the confidence regions and the band.

The room knows scores and no mechanism. `split` divides the draws; `sets` (or `few`, for few draws)
chooses the sets from the choosing draws; `estimate.certify` counts the certifying draws in them and
makes a region of each (`binomial`); the regions are a `band.Certificate`, off which everything is
read. `betting` is for audits that stop, `one_run` for audits of one run.

The names below are loaded on first use, so that a part of the room is imported without the others.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "band": ["Certificate", "Region"],
    "bet_choice": ["Menu", "cuts_by_draws"],
    "betting": ["NO_BET", "Bet", "Counts", "Cuts", "Hits", "Null", "Side", "log_mean", "null_of"],
    "binomial": ["lower", "ratio_region", "region", "upper"],
    "counting": ["CellCount", "StreamedCounts"],
    "estimate": ["Choices", "Direction", "Estimate", "certify"],
    "few": ["certify_few", "few_bet", "few_split"],
    "interval": ["cells_interval"],
    "plug_in": ["Counted", "estimated", "mean_scores"],
    "refuting": ["RefutingCounts"],
    "scores": ["ScoreCells", "SortedScores"],
    "sets": ["FOCUS", "CandidateSets", "ChosenSet", "choose_sets"],
    "split": ["Split", "samples_for"],
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_PLACES)


def __getattr__(name: str) -> Any:
    """Load a name on first use (PEP 562)."""
    if name in _PLACES:
        return getattr(importlib.import_module(f"dpaudit.certify.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'dpaudit.certify' has no attribute {name!r}")
