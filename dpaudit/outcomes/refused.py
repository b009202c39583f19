"""The error of draws that are no outcomes."""

from __future__ import annotations


class NotOutcomes(ValueError):
    """What was expected and what came instead."""

    def __init__(self, expected: str, got: object) -> None:
        super().__init__(f"{expected}, got {got}")
        self.expected, self.got = expected, got
