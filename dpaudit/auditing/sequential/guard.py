"""The refusals of a sequential audit while it goes on, and at its end."""

from __future__ import annotations

from dpaudit import scoring
from dpaudit.auditing.independence import refuse_dependence
from dpaudit.auditing.sequential.source import Past
from dpaudit.auditing.settings import Settings
from dpaudit.sampling import degenerate
from dpaudit.scoring import Fitted

FIRST_LOOK = 256  # draws a side


class Guard:
    """Refuses draws that depend on each other, and scores that depend on other rows.

    It looks at all draws that `past` holds, whenever they have doubled and at the end. Half of what
    `refuse_dependence` may spend goes to the looks, 1/(b + 1) − 1/(b + 2) of it to one after batch
    b.
    """

    def __init__(self, settings: Settings, past: Past) -> None:
        self.settings, self.past = settings, past
        self.looked_at = 0
        self.drift: tuple[str, ...] = ()

    def look(self, number: int, fitted: Fitted | None) -> None:
        """After batch `number`, if there are twice as many draws as at the last look."""
        if self.past.size >= max(FIRST_LOOK, 2 * self.looked_at):
            self._look(number, fitted)

    def end(self, number: int, fitted: Fitted) -> tuple[str, ...]:
        """Before the verdict, after batch `number`. Sentences for the report."""
        if self.looked_at < self.past.size:
            self._look(number, fitted)
        return (*self.drift, *degenerate.notes(*self.past.parts[0]))

    def _look(self, number: int, fitted: Fitted | None) -> None:
        self.looked_at = self.past.size
        rows, share = self.past.rows(), 0.5 / ((number + 1) * (number + 2))
        self.drift = refuse_dependence(rows, self.past.call_sizes(), share)
        if fitted is not None and not isinstance(self.settings.classifier, str):
            scoring.refuse_batch_scores(fitted, rows)
