"""What the runs of one version of a mechanism say together against its claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.certify.betting import log_mean
from dpaudit.run.ledger.entry import Entry
from dpaudit.verdict.numbers import count, from_log, number

ALPHA = 0.05  # of a false alarm over the whole history, where no level is given


@dataclass(frozen=True)
class Standing:
    """The evidence of one version, the `version`-th of its mechanism, from 1.

    Sound versions are rejected with probability at most α over the whole history, however many
    there are: version k gets α/(k(k + 1)), and the shares sum to α. The evidence of a version
    is a mean over widths of products over runs (`certify.betting.pooled`), so by Ville's inequality
    it ever reaches k(k + 1)/α with probability at most that share. Products need runs whose draws
    are independent, so no two runs of a mechanism and claim have one seed.

    entries : its runs, in order. log_e : their evidence. largest : its largest value so far, which
    decides. alpha : of a false alarm, 1 − the level.
    """

    version: int
    entries: Sequence[Entry]
    log_e: float
    largest: float
    alpha: float = ALPHA

    @classmethod
    def of(cls, version: int, entries: Sequence[Entry], alpha: float = ALPHA) -> Standing:
        """From the runs of a version, one or more."""
        sums = np.cumsum([one.log_e for one in entries], axis=0)
        path = log_mean(sums)
        return cls(version, entries, float(path[-1]), float(path.max()), alpha)

    @property
    def key(self) -> tuple[str, str]:
        """Of its version."""
        return self.entries[0].key

    @property
    def needed(self) -> float:
        """The evidence that rejects."""
        return self.version * (self.version + 1) / self.alpha

    @property
    def violated(self) -> bool:
        """Whether the claim is rejected."""
        return bool(self.largest >= np.log(self.needed))

    @property
    def text(self) -> str:
        """ "Ledger: the claim is rejected. 30 runs … brought the e-value against it to 55 …" """
        runs = "1 run" if len(self.entries) == 1 else f"{count(len(self.entries))} runs"
        drawn = count(sum(one.draws for one in self.entries))
        verdict, beside = ("rejected", "at least") if self.violated else ("not rejected", "below")
        peak, now = from_log(self.largest), from_log(self.log_e)
        text = (
            f"Ledger: the claim is {verdict}. {runs} of version {self.version} of the code, "
            f"{drawn} draws a side in all, brought the e-value against it to {peak}, {beside} the "
            f"{number(self.needed)} that rejects it."
        )
        return text if now == peak else f"{text} It is {now} now."

    def to_dict(self) -> dict[str, Any]:
        """In JSON types; evidence as its logarithm."""
        return {
            "version": self.version,
            "runs": len(self.entries),
            "draws": sum(one.draws for one in self.entries),
            "log_e": self.log_e,
            "largest_log_e": self.largest,
            "needed": self.needed,
            "violated": self.violated,
            "text": self.text,
        }
