"""A sentence that stands before the headline of a reason."""

from __future__ import annotations

from dpaudit._core.value import value_class


@value_class(eq=True)
class Note:
    """A sentence on the claim, the pair or the draws, and what it does to a verdict.

    text : the sentence if the claim is refuted, or if the note leaves the verdict as it is.
    doubt : the sentence if the claim is not refuted; the verdict is then "inconclusive". "" if the
        note leaves it as it is.
    """

    text: str
    doubt: str = ""
