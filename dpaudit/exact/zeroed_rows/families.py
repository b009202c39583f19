"""The exact curves of families of zeroed rows: of one entry, and which entries can be the worst."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.spectrum import Curve
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact import replaced_student, replaced_wishart
from dpaudit.exact.composition import PrivacyLoss, compose
from dpaudit.exact.numerics.special import VANISHING, Share
from dpaudit.exact.pairs.gaussian import Axes
from dpaudit.exact.zeroed_rows.als import StudentCurve, asymptotic_loss
from dpaudit.laws import (
    ComposedRows,
    ReplacedStudentRows,
    ReplacedWishartRows,
    ScaleRows,
    ShiftRows,
    SketchRows,
    StudentRows,
    WishartRows,
    ZeroedRows,
)


@singledispatch
def curve(family: ZeroedRows, index: int, law: str) -> tuple[Curve, str]:
    """The curve of entry `index` and the name of its law; forward is full → zeroed."""
    raise TypeError(f"no exact curve for {type(family).__name__}")


@curve.register
def _(family: ShiftRows, index: int, law: str) -> tuple[Curve, str]:
    mu, name = float(family.mu[index]), "Gaussian shift"
    return (PrivacyLoss.gaussian_shift(mu) if np.isfinite(mu) else PrivacyLoss.disjoint(name)), name


@curve.register
def _(family: SketchRows, index: int, law: str) -> tuple[Curve, str]:
    q = Share.of(family.leverage[index], family.room[index])
    loss = PrivacyLoss.of_sketch(q, family.rows)
    return (loss.reversed() if family.inverted else loss), loss.law


@curve.register
def _(family: ScaleRows, index: int, law: str) -> tuple[Curve, str]:
    up, down, name = family.up[index], family.down[index], "Gaussian rows pair"
    if down >= 1.0:
        return PrivacyLoss.disjoint(name), name
    change = np.array([up, -down])
    change[np.abs(change) < VANISHING] = 0.0
    loss = PrivacyLoss.of_axes(
        Axes.of_excess(np.zeros(2), change, np.full(2, float(family.rows))), name
    )
    return (loss.reversed() if family.inverted else loss), name


@curve.register
def _(family: WishartRows, index: int, law: str) -> tuple[Curve, str]:
    loss = PrivacyLoss.additive_wishart(float(family.quadratic[index]), family.dof, family.dim)
    return loss, loss.law


@curve.register
def _(family: StudentRows, index: int, law: str) -> tuple[Curve, str]:
    h = Share.of(family.leverage[index], family.room[index])
    t = Share.of(family.residual_share[index], family.share_room[index])
    sizes = family.features, family.rows
    if law == "finite":
        finite = StudentCurve(h.value, t.value, *sizes, (h.rest, t.rest))
        return finite, "Student t (finite rows)"
    return asymptotic_loss(h, t, *sizes), "Gaussian (rows to infinity)"


@curve.register
def _(family: ReplacedStudentRows, index: int, law: str) -> tuple[Curve, str]:
    pair = replaced_student.Replaced.of(family, np.array([index]))
    return replaced_student.ReplacedStudentCurve(pair), "Student t (finite rows)"


@curve.register
def _(family: ReplacedWishartRows, index: int, law: str) -> tuple[Curve, str]:
    return replaced_wishart.replaced_curve(family, index)


@curve.register
def _(family: ComposedRows, index: int, law: str) -> tuple[Curve, str]:
    losses = [curve(part, index, law)[0] for part in family.parts]
    for loss in losses:
        if not isinstance(loss, PrivacyLoss):
            raise NoExactSpectrum(
                "the Student t law of a sketched least-squares solution has no moment function "
                "to compose; use law='asymptotic', or dpaudit.audit, which needs only draws"
            )
    whole = compose([loss for loss in losses if isinstance(loss, PrivacyLoss)], family.times)
    return whole, whole.law


def pareto_set(family: ZeroedRows, law: str, left_out: tuple[int, ...] = ()) -> np.ndarray:
    """Entries among which the worst is found at every ε; `left_out` are not looked at.

    In each group of `monotone_coordinates` they are the Pareto set.
    """
    found = []
    for rows, *coordinates in monotone_coordinates(family, law):
        rows = rows[~np.isin(rows, left_out)] if left_out else rows
        found.append(
            rows[pareto_indices(np.column_stack([values[rows] for values in coordinates]))]
        )
    return np.unique(np.concatenate(found))


@singledispatch
def monotone_coordinates(family: ZeroedRows, law: str) -> list[tuple[np.ndarray, ...]]:
    """Groups (entries, coordinate, …) of a family, in whose coordinates δ is monotone.

    Within a group an entry that is larger in every coordinate has the larger δ at every ε.
    """
    raise TypeError(f"no exact curve for {type(family).__name__}")


@monotone_coordinates.register
def _(family: ShiftRows, law: str) -> list[tuple[np.ndarray, ...]]:
    """δ grows with μ."""
    return [(np.arange(len(family.mu)), family.mu)]


@monotone_coordinates.register
def _(family: SketchRows, law: str) -> list[tuple[np.ndarray, ...]]:
    """δ grows with q: by monotone likelihood ratio each {L > ε} separates farther scales better."""
    return [(np.arange(len(family.leverage)), _odds(family.leverage, family.room))]


@monotone_coordinates.register
def _(family: ScaleRows, law: str) -> list[tuple[np.ndarray, ...]]:
    """δ grows with either change of scale.

    Adding N(0, c) to both laws of an axis brings their variances closer.
    """
    return [(np.arange(len(family.up)), family.up, family.down)]


@monotone_coordinates.register
def _(family: WishartRows, law: str) -> list[tuple[np.ndarray, ...]]:
    """δ grows with q = vᵀV⁻¹v: the pair is q + c against c ~ χ², which is self-decomposable.

    So for a < 1 there is an independent Z with ac + Z ~ c, and x ↦ ax + Z takes the pair of q to
    the pair of aq (post-processing). docs/theory/monotonicity.md has a second proof.
    """
    return [(np.arange(len(family.quadratic)), family.quadratic)]


@monotone_coordinates.register
def _(family: StudentRows, law: str) -> list[tuple[np.ndarray, ...]]:
    """By leverage and residual share at finite r, else by three numbers on either side of h = t.

    Finite: δ is non-decreasing in h and in t, proved in docs/theory/monotonicity.md. The asymptotic
    curve is NOT: its axis variance v = (1−t)/(1−h) may come closer to 1 as h or t grows. There δ
    grows with t at a fixed axis law (the other axes are scales), with m at fixed v (Anderson's
    theorem), and with |1 − v| at fixed m²/|1 − v|, since scaling by a and adding N(0, 1 − a²) takes
    (m, 1 − v) to (am, a²(1 − v)).
    """
    h, t, room = family.leverage, family.residual_share, family.room
    t_odds = _odds(t, family.share_room)
    if law == "finite":
        return [(np.arange(len(h)), _odds(h, room), t_odds)]
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.abs(t - h)
        spread = np.where(room > 0.0, gap / room, np.inf)
        pull = np.where(h * t > 0.0, h * t / gap, 0.0)
    return [
        (side, t_odds, spread, pull)
        for side in (np.flatnonzero(t > h), np.flatnonzero(t <= h))
        if len(side)
    ]


@monotone_coordinates.register
def _(family: ReplacedStudentRows | ReplacedWishartRows, law: str) -> list[tuple[np.ndarray, ...]]:
    """None is known, so `dpaudit.exact.worst_case` searches; nothing is known of compositions.

    Raises `NoExactSpectrum`.
    """
    raise NoExactSpectrum(
        "no order of the replacements of a row is proved for sketched least squares or additive "
        "Wishart noise composed with another release; take each alone, or "
        "dpaudit.exact.spectrum on one pair"
    )


@monotone_coordinates.register
def _(family: ComposedRows, law: str) -> list[tuple[np.ndarray, ...]]:
    """A composition grows with every coordinate of every part; groups meet group by group."""
    groups: list[tuple[np.ndarray, ...]] = []
    for part in family.parts:
        found = monotone_coordinates(part, law)
        groups = [_meet(one, other) for one in groups for other in found] if groups else found
    return [group for group in groups if len(group[0])]


def _odds(share: Array, room: Array) -> Array:
    """share/(1 − share): it keeps the order of shares that are 1 in floats; infinite at 1."""
    return np.divide(share, room, out=np.full_like(share, np.inf), where=room > 0.0)


def _meet(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return np.intersect1d(one[0], other[0]), *one[1:], *other[1:]


def pareto_indices(points: Array) -> np.ndarray:
    """Indices of the Pareto set of `points` ≥ 0, (n, k): every row is ≤ one of them throughout."""
    left, kept = np.arange(len(points)), []
    # the largest of an increasing function is a Pareto point
    size = np.log(np.clip(points, 1e-300, 1e300)).sum(axis=1)
    while len(left):
        best = left[np.argmax(size[left])]
        kept.append(best)
        left = left[(points[left] > points[best]).any(axis=1)]
    return np.array(kept, dtype=np.intp)
