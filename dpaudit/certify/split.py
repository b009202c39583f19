"""The split of the draws of an audit into training, choosing and certifying draws."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

from dpaudit._core import check
from dpaudit._core.types import Array
from dpaudit.certify.constants import (
    CHOOSE,
    CHOOSE_ROOT,
    PURE_CHOOSE,
    PURE_CHOOSE_KNOWN,
    SMALLEST,
    TRAIN,
    TRAIN_COLUMNS,
    TRAIN_ROOT,
    TRAIN_WIDE,
    WIDE,
)
from dpaudit.errors import InvalidInput


@dataclass(frozen=True)
class Split:
    """Draws a side for each purpose: `train` fits scores, `choose` chooses a score and the sets,
    `certify` certifies.
    """

    train: int
    choose: int
    certify: int

    @property
    def total(self) -> int:
        return self.train + self.choose + self.certify

    def parts(self, draws: Array) -> tuple[Array, Array, Array]:
        """Views of the (train, choose, certify) draws: consecutive ranges, as draws are i.i.d."""
        first, second = self.train, self.train + self.choose
        return draws[:first], draws[first:second], draws[second : second + self.certify]


def split(
    draws: int,
    train_share: float | None = None,
    choose_share: float | None = None,
    columns: int | None = None,
    *,
    trained: bool = True,
    focus: str = "spectrum",
) -> Split:
    """Split `draws` draws a side; what neither trains nor chooses certifies. `few_split` in
    `certify.few` splits at most 500.

    columns : numbers in an output. trained : False for a score that is known beforehand, for which
        no draws are spent on training. focus : as in `sets.choose_sets`.

    By default the smaller of 0.4·draws (0.2 for outputs of one number, 0.3 for two, 0.5 for more
    than √draws numbers) and 100·√draws train, and the smaller of 0.1·draws and 50·√draws choose;
    with the focus "pure" a share chooses, however many draws there are. A score from n draws that
    misses by O(1/√n) loses O(1/n) of what it certifies, to second order about the best set, and the
    certificate O(1/√m) with m draws: n need only grow as √m. Of k numbers that all differ the score
    loses O(k/n).
    """
    columns = columns or 0
    wide = columns > max(WIDE, sqrt(draws))
    usual = TRAIN_WIDE if wide else TRAIN_COLUMNS.get(columns, TRAIN)
    usual = usual if trained else 0.0
    if focus == "pure" and choose_share is None:
        choose_share = PURE_CHOOSE if trained else PURE_CHOOSE_KNOWN
    first = _size("train share", train_share, draws, usual, TRAIN_ROOT)
    second = _size("choose share", choose_share, draws, CHOOSE, CHOOSE_ROOT)
    sizes = Split(first, second, draws - first - second)
    if min(sizes.train if trained else SMALLEST, sizes.choose, sizes.certify) < SMALLEST:
        shares = (
            usual if train_share is None else train_share,
            CHOOSE if choose_share is None else choose_share,
        )
        least = min(*(shares if trained else shares[1:]), 1.0 - sum(shares))
        enough = f"; take {ceil(SMALLEST / least):,} draws" if least > 1e-9 else ""
        raise InvalidInput(
            f"draws must leave at least {SMALLEST} a side to train, choose and certify, "
            f"got {draws} ({sizes.train}, {sizes.choose}, {sizes.certify}){enough}",
            argument="draws",
        )
    return sizes


def _size(name: str, share: float | None, draws: int, usual: float, root: float) -> int:
    if share is None:
        return int(min(usual * draws, root * sqrt(draws)))
    return int(draws * check.real(name, share, 0.0, 1.0) + 1e-6)  # 29 of 100 are a share of 0.29


def samples_for(certify: int) -> int:
    """The fewest draws a side that leave `certify` certifying draws by the default split of outputs
    of three numbers or more.
    """
    low, high = certify, 3 * certify + 100
    while low < high:
        middle = (low + high) // 2
        train = _size("", None, middle, TRAIN, TRAIN_ROOT)
        rest = middle - train - _size("", None, middle, CHOOSE, CHOOSE_ROOT)
        low, high = (low, middle) if rest >= certify else (middle + 1, high)
    return low
