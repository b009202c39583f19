"""What insurance-fairness-ldp reports of a policyholder, as a mechanism to audit.

The database is one row, the number of the person's category. The call is seeded from the audit's
generator by random_state, so an audit comes again digit by digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class KRR:
    """`size` reports of one person: privatise(), called with the one value, as a list."""

    def __init__(self, epsilon: float, categories: Sequence[str]) -> None:
        self.epsilon, self.categories = epsilon, list(categories)

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> list[str]:
        from insurance_fairness_ldp import KaryRandomisedResponse

        response = KaryRandomisedResponse(self.epsilon, self.categories)
        value = self.categories[int(data[0, 0])]
        return [str(response.privatise([value], random_state=rng)[0]) for _ in range(size)]
