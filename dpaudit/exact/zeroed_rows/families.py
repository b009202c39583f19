"""The exact curves of families of zeroed rows: of one entry, and which entries can be the worst."""

from __future__ import annotations

import numpy as np

from dpaudit._core.types import Array
from dpaudit.curves.spectrum import Curve
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact import replaced_student, replaced_wishart
from dpaudit.exact.composition import PrivacyLoss, compose
from dpaudit.exact.numerics.special import VANISHING, Share
from dpaudit.exact.pairs.gaussian import Axes
from dpaudit.exact.zeroed_rows.additive_wishart import WishartCurve
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

Groups = list[tuple[np.ndarray, ...]]


def curve(family: ZeroedRows, index: int, law: str) -> tuple[Curve, str]:
    """The curve of entry `index` and the name of its law; forward is full → zeroed."""
    match family:
        case ShiftRows():
            mu, name = float(family.mu[index]), "Gaussian shift"
            known = np.isfinite(mu)
            return (PrivacyLoss.gaussian_shift(mu) if known else PrivacyLoss.disjoint(name)), name
        case SketchRows():
            q = Share.of(family.leverage[index], family.room[index])
            loss = PrivacyLoss.of_sketch(q, family.rows)
            return (loss.reversed() if family.inverted else loss), loss.law
        case ScaleRows():
            up, down, name = family.up[index], family.down[index], "Gaussian rows pair"
            if down >= 1.0:
                return PrivacyLoss.disjoint(name), name
            change = np.array([up, -down])
            change[np.abs(change) < VANISHING] = 0.0
            rows = np.full(2, float(family.rows))
            loss = PrivacyLoss.of_axes(Axes.of_excess(np.zeros(2), change, rows), name)
            return (loss.reversed() if family.inverted else loss), name
        case WishartRows():
            size = float(family.quadratic[index])
            return WishartCurve.of(size, family.dof, family.dim), "additive Wishart"
        case StudentRows():
            h = Share.of(family.leverage[index], family.room[index])
            t = Share.of(family.residual_share[index], family.share_room[index])
            sizes = family.features, family.rows
            if law == "asymptotic":
                return asymptotic_loss(h, t, *sizes), "Gaussian (rows to infinity)"
            finite = StudentCurve(h.value, t.value, *sizes, (h.rest, t.rest))
            return finite, "Student t (finite rows)"
        case ReplacedStudentRows():
            pair = replaced_student.Replaced.of(family, np.array([index]))
            return replaced_student.ReplacedStudentCurve(pair), "Student t (finite rows)"
        case ReplacedWishartRows():
            return replaced_wishart.replaced_curve(family, index)
        case ComposedRows():
            losses = [curve(part, index, law)[0] for part in family.parts]
            known_losses = [loss for loss in losses if isinstance(loss, PrivacyLoss)]
            if len(known_losses) < len(losses):
                raise NoExactSpectrum(
                    "additive Wishart noise, and the Student t law of a sketched least-squares "
                    "solution, have no moment function to compose; use dpaudit.exact.spectrum on "
                    "one pair, which bounds it, or law='asymptotic' for the latter"
                )
            whole = compose(known_losses, family.times)
            return whole, whole.law
    raise TypeError(f"no exact curve for {type(family).__name__}")


def pareto_set(family: ZeroedRows, law: str, left_out: tuple[int, ...] = ()) -> np.ndarray:
    """Entries among which the worst is found at every ε; `left_out` are not looked at.

    In each group of `monotone_coordinates` they are the Pareto set.
    """
    entries = []
    for rows, *coordinates in monotone_coordinates(family, law):
        rows = rows[~np.isin(rows, left_out)] if left_out else rows
        points = np.column_stack([values[rows] for values in coordinates])
        entries.append(rows[pareto_indices(points)])
    return np.unique(np.concatenate(entries))


def monotone_coordinates(family: ZeroedRows, law: str) -> Groups:
    """Groups (entries, coordinate, …) of a family, in whose coordinates δ is monotone.

    Within a group an entry that is larger in every coordinate has the larger δ at every ε. The
    reasons:

    ShiftRows: δ grows with μ. SketchRows: δ grows with q; by monotone likelihood ratio each
    {L > ε} separates farther scales better. ScaleRows: δ grows with either change of scale, since
    adding N(0, c) to both laws of an axis brings their variances closer.

    WishartRows: δ grows with q = vᵀV⁻¹v. The pair is q + c against c ~ χ², which is
    self-decomposable: for a < 1 there is an independent Z with ac + Z ~ c, and x ↦ ax + Z takes the
    pair of q to the pair of aq (post-processing). docs/theory/monotonicity.md has a second proof.

    StudentRows at finite r: δ is non-decreasing in h and in t, proved in
    docs/theory/monotonicity.md. The asymptotic curve is NOT, as its axis variance v = (1−t)/(1−h)
    may come closer to 1 while h or t grows. On either side of h = t it grows with t at a fixed axis
    law (the other axes are scales), with m at fixed v (Anderson's theorem), and with |1 − v| at
    fixed m²/|1 − v|: scaling by a and adding N(0, 1 − a²) takes (m, 1 − v) to (am, a²(1 − v)).

    ComposedRows: a composition grows with every coordinate of every part; groups meet group by
    group. No order of replaced rows is proved, so `dpaudit.exact.worst_case` searches for the worst
    of them. Raises `NoExactSpectrum` for their compositions.
    """
    match family:
        case ShiftRows():
            return [(np.arange(len(family.mu)), family.mu)]
        case SketchRows():
            return [(np.arange(len(family.leverage)), _odds(family.leverage, family.room))]
        case ScaleRows():
            return [(np.arange(len(family.up)), family.up, family.down)]
        case WishartRows():
            return [(np.arange(len(family.quadratic)), family.quadratic)]
        case StudentRows():
            h, t, room = family.leverage, family.residual_share, family.room
            t_odds = _odds(t, family.share_room)
            if law == "finite":
                return [(np.arange(len(h)), _odds(h, room), t_odds)]
            with np.errstate(divide="ignore", invalid="ignore"):
                gap = np.abs(t - h)
                spread = np.where(room > 0.0, gap / room, np.inf)
                pull = np.where(h * t > 0.0, h * t / gap, 0.0)
            sides = (np.flatnonzero(t > h), np.flatnonzero(t <= h))
            return [(side, t_odds, spread, pull) for side in sides if len(side)]
        case ReplacedStudentRows() | ReplacedWishartRows():
            raise NoExactSpectrum(
                "no order of the replacements of a row is proved for sketched least squares or "
                "additive Wishart noise composed with another release; take each alone, or "
                "dpaudit.exact.spectrum on one pair"
            )
        case ComposedRows():
            first, *others = (monotone_coordinates(part, law) for part in family.parts)
            for more in others:
                first = [
                    (np.intersect1d(rows, others_rows), *own, *theirs)
                    for rows, *own in first
                    for others_rows, *theirs in more
                ]
            return [group for group in first if len(group[0])]
    raise TypeError(f"no exact curve for {type(family).__name__}")


def _odds(share: Array, room: Array) -> Array:
    """share/(1 − share): it keeps the order of shares that are 1 in floats; infinite at 1."""
    return np.divide(share, room, out=np.full_like(share, np.inf), where=room > 0.0)


def pareto_indices(points: Array) -> np.ndarray:
    """Indices of the Pareto set of `points` ≥ 0, (n, k): every row is ≤ one of them throughout."""
    left, indices = np.arange(len(points)), []
    # the largest of an increasing function is a Pareto point
    size = np.log(np.clip(points, 1e-300, 1e300)).sum(axis=1)
    while len(left):
        best = left[np.argmax(size[left])]
        indices.append(best)
        left = left[(points[left] > points[best]).any(axis=1)]
    return np.array(indices, dtype=np.intp)
