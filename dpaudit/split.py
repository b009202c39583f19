"""The one function that decides which draws train, which choose and which certify."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit import _check
from dpaudit._check import Array
from dpaudit.errors import InvalidInput

TRAIN, CHOOSE = 0.4, 0.1
SMALLEST = 10  # draws a side below which no part is of use


@dataclass(frozen=True)
class Split:
    """Sizes a side: `train` fits scores, `choose` picks among them and their thresholds, `test` only certifies."""

    train: int
    choose: int
    test: int

    def parts(self, draws: Array) -> tuple[Array, Array, Array]:
        """Views of (train, choose, test); draws are i.i.d., so consecutive ranges will do."""
        first, second = self.train, self.train + self.choose
        return draws[:first], draws[first:second], draws[second : second + self.test]


def split(samples: int, train: float = TRAIN, choose: float = CHOOSE) -> Split:
    """Split `samples` draws a side; `train` and `choose` are shares, the rest certifies. Raises `InvalidInput`."""
    samples = _check.integer("samples", samples, 1)
    train = _check.real("train share", train, 0.0, 1.0)
    choose = _check.real("choose share", choose, 0.0, 1.0)
    sizes = Split(int(samples * train), int(samples * choose), samples - int(samples * train) - int(samples * choose))
    if min(sizes.train, sizes.choose, sizes.test) < SMALLEST:
        raise InvalidInput(
            f"samples must leave at least {SMALLEST} draws a side to train, choose and certify, got {samples} "
            f"({sizes.train}, {sizes.choose}, {sizes.test})"
        )
    return sizes
