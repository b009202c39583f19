"""ALS from the leverage and residual share of a row: exact law at finite r, and asymptotic law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit.exact.composition import PrivacyLoss
from dpaudit.exact.numerics.gaussian_axes import Axes
from dpaudit.exact.numerics.share import Share
from dpaudit.exact.numerics.special import VANISHING
from dpaudit.exact.zeroed_rows import als_finite


def als(
    leverage: float,
    residual_share: float,
    features: int,
    rows: int,
    epsilon: ArrayLike,
    law: str = "finite",
) -> tuple[Array, Array]:
    """δ(ε) of approximate least squares when one row is zeroed.

    Parameters
    ----------
    leverage : float in [0, 1]
        hᵢ of the row among the features; 1 (the others lose rank) gives δ = 1.
    residual_share : float in [0, 1]
        tᵢ = wᵢ²/((1−hᵢ)‖w‖²); 1 (the others fit exactly) gives δ = 1.
    features : int
        p ≥ 1, a constant column included.
    rows : int
        r ≥ p + 1 sketch rows.
    epsilon : float or array of shape (m,), nats
        ε ≥ 0.
    law : {"finite", "asymptotic"}, default "finite"
        "finite", the exact multivariate Student law; or "asymptotic", its large-r Gaussian limit.

    Returns
    -------
    forward : array of the shape of `epsilon`
        Full → zeroed.
    backward : array of the shape of `epsilon`
        Zeroed → full.

    Raises
    ------
    InvalidInput
        When an argument is not as described.

    Notes
    -----
    At finite r the loss is bounded, so δ = 0 from a finite ε on.

    References
    ----------
    Paper 1, lemmas 1, 3 and 8 (asymptotic); the finite law, of which that paper says that it may
    not be computable, is derived in `dpaudit.exact.zeroed_rows.als_finite`.

    Examples
    --------
    >>> import dpaudit as dp
    >>> dp.exact.als(leverage=0.1, residual_share=0.2, features=3, rows=50, epsilon=[0.5, 20.0])
    (array([0.27777164, 0.        ]), array([0.25955939, 0.        ]))
    """
    leverage = check.real("leverage", leverage, 0.0, 1.0)
    residual_share = check.real("residual_share", residual_share, 0.0, 1.0)
    features = check.integer("features", features, 1)
    check.choice("law", law, ("finite", "asymptotic"))
    if check.integer("rows", rows, 2) < features + 1:
        fail("rows", rows, f"at least features + 1 = {features + 1}")
    compute = als_finite.finite if law == "finite" else asymptotic
    return compute(Share.of(leverage), Share.of(residual_share), features, rows, epsilon)


@dataclass(frozen=True)
class StudentCurve:
    """The curve of ALS at finite `rows`, one row zeroed; fields as of `dpaudit.exact.als`.

    rest : 1 − leverage and 1 − residual_share, where they are known to more digits than these have.
    """

    leverage: float
    residual_share: float
    features: int
    rows: int
    rest: tuple[float | None, float | None] = (None, None)

    @property
    def _numbers(self) -> tuple[Share, Share, int, int]:
        h, t = (Share.of(*both) for both in zip(self._shares, self.rest, strict=True))
        return h, t, self.features, self.rows

    @property
    def _shares(self) -> tuple[float, float]:
        return self.leverage, self.residual_share

    def delta(self, epsilon: ArrayLike) -> tuple[Array, Array]:
        """(forward, backward) δ at each ε ≥ 0, nats, in the shape of `epsilon`."""
        return als_finite.finite(*self._numbers, epsilon)

    def renyi(self, order: float) -> tuple[float, float]:
        """Rényi divergences (forward, backward) of an order > 0, nats. Raises `InvalidInput`."""
        order = check.real("order", order, 0.0, open_=True)
        return als_finite.renyi(*self._numbers, order)

    @property
    def supremum(self) -> tuple[float, float]:
        """The largest losses (forward, backward); δ = 0 from there on."""
        return als_finite.pure_limits(*self._numbers)


def asymptotic(
    h: Share, t: Share, features: int, rows: int, epsilon: ArrayLike
) -> tuple[Array, Array]:
    """δ of the large-r Gaussian limit, (forward, backward)."""
    return asymptotic_loss(h, t, features, rows).delta(epsilon)


def asymptotic_loss(h: Share, t: Share, features: int, rows: int) -> PrivacyLoss:
    """N(0, I) against axis N(m, (1−t)/(1−h)), m² = rht/(1−h), and p − 1 axes N(0, 1 − t)."""
    name = "Gaussian (rows to infinity)"
    if h.rest == 0.0 or t.rest == 0.0:
        return PrivacyLoss.disjoint(name)
    if h.value + t.value < VANISHING:
        return PrivacyLoss.gaussian_shift(0.0)
    used = 1 if features == 1 else 2
    shift = np.array([np.sqrt(rows * h.value * t.value / h.rest), 0.0])
    gap = h.value - t.value if min(h.value, t.value) < 0.5 else t.rest - h.rest
    excess, ratio = np.array([gap / h.rest, -t.value]), np.array([t.rest / h.rest, t.rest])
    count = np.array([1.0, features - 1.0])
    axes = Axes(shift[:used], excess[:used], ratio[:used], count[:used])
    return PrivacyLoss.of_axes(axes, name)
