"""What a search of a bound found, and how hard it looked."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.report.text import count
from dpaudit.testing.bound.inequality import Trial


@dataclass(frozen=True)
class BoundSearch:
    """The outcome of `dpaudit.testing.search_bound`.

    Attributes
    ----------
    simplest : Trial or None
        The plainest setting at which the bound fails; None where none was found.
    worst : Trial or None
        The failing setting with the largest factor; None where none was found.
    closest : Trial or None
        Of the settings at which it holds, the one with the least room; None where there is none.
    tried : int
        Settings at which both sides were computed.
    excluded : int
        Further ones that the hypotheses refused.
    undecided : int
        Further ones without an exact value.
    exhaustive : bool
        Whether every setting of the domain was looked at.
    domain : str
        The ranges in words.
    rng : object
        The seed.
    """

    simplest: Trial | None
    worst: Trial | None
    closest: Trial | None
    tried: int
    excluded: int
    undecided: int
    exhaustive: bool
    domain: str
    rng: object

    @property
    def holds(self) -> bool:
        """Whether no setting was found at which the bound fails. A search proves nothing."""
        return self.worst is None

    @property
    def slack(self) -> float | None:
        """≥ 1, by how many times the bound is loose where it is closest to failing."""
        return None if self.closest is None else self.closest.factor

    @property
    def searched(self) -> str:
        """How hard it was tried, in words."""
        every = "every setting" if self.exhaustive else "settings"
        parts = [
            f"{count(self.tried)} {every} of {self.domain}",
            f"{count(self.excluded)} more excluded by the hypotheses" * (self.excluded > 0),
            f"{count(self.undecided)} more without an exact value" * (self.undecided > 0),
            f"seed {self.rng}" * (not self.exhaustive),
        ]
        return "; ".join(part for part in parts if part)

    @property
    def text(self) -> str:
        """Several lines: the verdict first, then the settings, then how much was searched."""
        found = {"simplest": self.simplest, "worst": self.worst, "closest": self.closest}
        if not self.holds:
            del found["closest"]
        lines = [f"  {name:<11}{trial}" for name, trial in found.items() if trial is not None]
        verdict = "no failure of the bound was found" if self.holds else "the bound fails"
        return "\n".join([verdict, *lines, f"  {'searched':<11}{self.searched}"])

    def __str__(self) -> str:
        return self.text


class BoundFailure(AssertionError):
    """A bound that fails.

    Attributes
    ----------
    search : BoundSearch
        The search that found it.
    """

    def __init__(self, search: BoundSearch) -> None:
        self.search = search
        super().__init__(search.text)
