"""Log-odds of P in each cell of scores: smooth in the score, but for atoms that differ.

Given the cell that a draw fell into, its side is a coin whose log-odds estimate the privacy loss
there. Counts alone are too few where δ is small, so a cell's log-odds are the score itself plus a
line, a parabola and bends, by penalised logistic regression (Platt 1999, with bends). The score
enters as it is; flattened at its ends, where few draws could train it and scores overstate the
loss; and by its rank, for scores in another unit. Which of these and which prior variances hold is
averaged over by evidence (MacKay, Bayesian interpolation, Neural Computation 1992).

The log-ratio of two normal laws needs no draws at its ends: if the outputs are normal it is right
there, too, as it is. If it bends elsewhere they are not, and then nothing vouches for its ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import betaln, expit, log_expit, ndtri, softmax

from dpaudit._core.types import Array
from dpaudit.certify.plug_in.laws import Counted
from dpaudit.scoring.models.logistic import newton

LARGEST = 50.0  # nats; scores of any scale are clipped there
FLATTENED = 5.0  # nats from which the flattened score grows as a square root
MIDDLE = np.linspace(0.1, 0.9, 17)
END = np.array([0.0003, 0.001, 0.003, 0.01, 0.03])
BENDS = np.concatenate([END, MIDDLE, 1.0 - END[::-1]])  # shares of the draws below them
# Prior variances times draws, of constant, line and parabola, for scores that are log-odds: what
# their own training left unknown falls as 1/draws. Prior variances for other scores; of bends.
TRUSTED, FREE = np.array([12.0, 12.0, 2.4]), np.ones(3)
BENT = (1e-5, 1e-3, 1e-1, 10.0)
FITTED = 300  # cells that a regression is fitted to; neighbours are put together
GAIN = 1e-4  # nats; a Newton step that gains no more is the last one


@dataclass(frozen=True)
class Setting:
    """What a regression starts from, a position among `_bases`, and its prior variances."""

    base: int
    trusted: bool
    bent: float


SCORE, FLAT, RANK = range(3)  # positions among `_bases`
SETTINGS = tuple(Setting(*one) for one in product((SCORE, FLAT, RANK), (True, False), BENT))
# of a closed form: as it is if it does not bend, flattened if it does
CLOSED = tuple(
    one for one in SETTINGS if one.base == RANK or (one.base == SCORE) == (one.bent == BENT[0])
)


@dataclass(frozen=True, eq=False, repr=False)
class CellOdds:
    """odds : (c,) log-odds of P among the draws of each cell. table, setting : the regression that
    is likeliest.
    """

    odds: Array
    table: _Table
    setting: Setting

    @classmethod
    def of(cls, cells: Counted) -> CellOdds:
        """Averaged over all settings."""
        tables = [_Table.of(base, cells) for base in _bases(cells)]
        settings = CLOSED if cells.closed else SETTINGS
        fits = [tables[one.base].fit(cells, one) for one in settings]
        smooth, evidence = (np.array(part) for part in zip(*fits, strict=True))
        best = settings[int(np.argmax(evidence))]
        odds = _with_atoms(cells, softmax(evidence) @ smooth)
        return cls(odds, tables[best.base], best)

    def of_part(self, part: Counted) -> Array:
        """The odds by part of the draws, with the likeliest setting of all of them, (c,)."""
        return _with_atoms(part, self.table.fit(part, self.setting)[0])


def _with_atoms(cells: Counted, odds: Array) -> Array:
    """Means over whether a cell has the smooth odds or odds of its own, by likelihood, (c,).

    Of c cells one is expected to have its own; their prior is Jeffreys's.
    """
    p, q = cells.p, cells.q
    own = betaln(p + 0.5, q + 0.5) - betaln(0.5, 0.5)
    smooth = p * log_expit(odds) + q * log_expit(-odds)
    share = expit(own - smooth - np.log(len(odds)))
    return np.asarray(odds + share * (np.log(p + 0.5) - np.log(q + 0.5) - odds))


def _bases(cells: Counted) -> Iterator[Array]:
    """Log-odds before any correction, (c,) each."""
    score, size = np.clip(cells.score, -LARGEST, LARGEST), cells.size
    yield score
    yield score * (1.0 + (score / FLATTENED) ** 4) ** -0.125
    yield ndtri((np.cumsum(size) - 0.5 * size) / size.sum())


@dataclass(frozen=True, eq=False, repr=False)
class _Table:
    """The features of a regression on cells.

    base : (c,) log-odds before any feature counts. features : (c, k). group : (c,) of each cell;
    the regression sees groups of neighbours. few_base, few_features : means over the groups.
    """

    base: Array
    features: Array
    group: np.ndarray
    few_base: Array
    few_features: Array

    @classmethod
    def of(cls, base: Array, cells: Counted) -> _Table:
        base, count, size = base + cells.offset, len(base), cells.size
        features = _features(base, size)
        group = np.arange(count) * min(FITTED, count) // count
        whole = np.bincount(group, weights=size)
        few_base, *few = (
            np.bincount(group, weights=size * one) / whole for one in (base, *features.T)
        )
        return cls(base, features, group, few_base, np.column_stack(few))

    def fit(self, cells: Counted, setting: Setting) -> tuple[Array, float]:
        """The cells' log-odds, (c,), and the log-likelihood of the counts, weights integrated out
        by Laplace's approximation.
        """
        p, q = (np.bincount(self.group, weights=one).astype(float) for one in (cells.p, cells.q))
        first = TRUSTED / cells.size.sum() if setting.trusted else FREE
        bent = np.full(self.features.shape[1] - len(first), setting.bent)
        ridge = 1.0 / np.concatenate([first, bent])
        found = newton(self.few_features, p, q, ridge, offset=self.few_base, gain=GAIN)
        width = np.linalg.slogdet(found.hessian)[1]
        evidence = 0.5 * (np.log(ridge).sum() - width) - found.objective
        return self.base + self.features @ found.weights, float(evidence)


def _features(base: Array, size: Array) -> Array:
    """Ones, the standardised base, its square, its excess over each bend, (c, 3 + bends)."""
    mean = np.average(base, weights=size)
    deviation = np.sqrt(np.average((base - mean) ** 2, weights=size))
    standard = (base - mean) / (deviation or 1.0)
    at = np.searchsorted(np.cumsum(size) / size.sum(), BENDS).clip(max=len(base) - 1)
    bends = np.maximum(standard[:, None] - standard[at], 0.0)
    return np.column_stack([np.ones_like(base), standard, standard**2, bends])
