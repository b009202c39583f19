"""The error for values that are not draws of any allowed form."""

from __future__ import annotations


class NotOutcomes(ValueError):
    """The draws have another form than allowed; the caller says where they come from.

    expected : what was expected. got : what came instead.
    """

    def __init__(self, expected: str, got: object) -> None:
        super().__init__(f"{expected}, got {got}")
        self.expected, self.got = expected, got
