"""What draws certify: their split, the sets, the confidence regions and the band.

The room knows scores and no mechanism. `split` divides the draws; `sets` (or `few`, for few draws)
chooses the sets from the choosing draws; `estimate.certify` counts the certifying draws in them and
makes a region of each (`binomial`); the regions are a `band.Certificate`, off which everything is
read. `betting` is for audits that stop, `one_run` for audits of one run.

The names below are loaded on first use, so that a part of the room is imported without the others.
"""

from dpaudit._core.lazy import on_first_use

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "dpaudit.certify.band": "Certificate Region",
        "dpaudit.certify.bet_choice": "Menu cuts_by_draws",
        "dpaudit.certify.betting": "NO_BET Bet Cuts Hits Null PairCounts Side log_mean null_of",
        "dpaudit.certify.binomial": "lower ratio_region region upper",
        "dpaudit.certify.counting": "CellCount StreamedCounts",
        "dpaudit.certify.estimate": "Choices Direction Estimate certify",
        "dpaudit.certify.few": "certify_few few_bet few_split",
        "dpaudit.certify.interval": "cells_interval",
        "dpaudit.certify.plug_in": "CellCounts estimated mean_scores",
        "dpaudit.certify.refuting": "RefutingCounts",
        "dpaudit.certify.scores": "ScoreCells SortedScores",
        "dpaudit.certify.sets": "FOCUS CandidateSets ChosenSet choose_sets",
        "dpaudit.certify.split": "Split samples_for",
    },
)
