"""δ(ε) at 50 digits and more where `tests/oracle` has none: derived apart from the package.

Each function returns mpmath numbers at the working precision. Forward is first → second law. What
is subtracted is computed with enough digits that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy.special import erfc
from scipy.stats import chi2

from dpaudit._core.types import Array
from reports.make.extras import package

parts, reference = (package(f"tests.oracle.{name}", "test") for name in ("parts", "reference"))
mp = package("mpmath", "test").mp
mpf = mp.mpf
MESH: dict[str, int] = {"order": 20, "splits": 6, "digits": 18}
DIGITS = 50
PLACES = np.arange(-3.8, 3.81, 0.095)  # of the tanh–sinh rule
FARTHEST = 39.0  # of a standard normal number: e^{−760}
REACH = 220  # standard deviations: beyond them lies less than e^{−20000}


def sketch(leverage: float, rows: int, epsilon: float, forward: bool) -> Any:
    """∫ (1 − e^{ε−L}) over the χ² density where L > ε, so that any number of rows will do."""

    def compute() -> Any:
        q, b, e = mpf(leverage), mpf(rows) / 2, mpf(epsilon)
        slope = q / (1 - q) if forward else -q
        start = b * mp.log1p(-q) * (1 if forward else -1)
        edge, front = (e - start) / slope, mp.loggamma(b)
        if edge <= 0 and not forward:
            return mpf(0)

        def excess(x: Any) -> Any:
            gain = -mp.expm1(e - start - slope * x)
            return gain * mp.exp((b - 1) * mp.log(x) - x - front)

        wide = REACH * (mp.sqrt(b) + REACH)
        if forward:
            low = max(edge, mpf(0))
            return reference.integrate(excess, [low, max(low, b) + wide])
        return reference.integrate(excess, [max(mpf(0), min(b, edge) - wide), edge])

    return reference.with_mesh(compute, DIGITS, **MESH)


def laplace(shift: float, count: int, epsilon: float, forward: bool = True) -> Any:
    """Coordinates at either end of their losses, and sums of the others as splines times e^{−u}.

    Both directions are equal.
    """
    with mp.workdps(DIGITS + 10 * count):
        t, e = mpf(shift), mpf(epsilon)
        total = mpf(0)
        for high, low in product(range(count + 1), repeat=2):
            rest = count - high - low
            if rest < 0:
                continue
            ways = mp.factorial(count) / (
                mp.factorial(high) * mp.factorial(low) * mp.factorial(rest)
            )
            mass = ways * mpf(2) ** -count * mp.exp(-low * t)
            total += mass * _over_sums((high - low + rest) * t, t, rest, e)
        return total


def _over_sums(top: Any, t: Any, count: int, e: Any) -> Any:
    """∫ e^{−u}(1 − e^{ε−top+2u})₊ s(u) du, s/tⁿ the density of the sum of n numbers from (0, t)."""
    if count == 0:
        return max(mpf(0), -mp.expm1(e - top))
    end = (top - e) / 2
    total = mpf(0)
    for knot in range(count + 1):
        room = min(end, count * t) - knot * t
        if room > 0:
            one = mp.exp(-knot * t) * _power_integral(count, mpf(-1), room)
            other = mp.exp(knot * t + e - top) * _power_integral(count, mpf(1), room)
            total += (-1) ** knot * mp.binomial(count, knot) * (one - other)
    return total


def _power_integral(count: int, sign: Any, end: Any) -> Any:
    """∫₀^end e^{sign·x} x^{count−1}/(count−1)! dx by its power series."""
    terms, power, index = [], end**count / mp.factorial(count - 1), 0
    while True:
        terms.append(power / (count + index))
        index += 1
        power *= sign * end / index
        if abs(power) < mp.eps * abs(terms[0]) * mpf(10) ** -10:
            return mp.fsum(terms)


def outcomes(
    first: Sequence[Any], second: Sequence[Any], epsilon: float, forward: bool = True
) -> Any:
    """Σ (p − e^ε q)₊."""
    rise, sides = mp.exp(mpf(epsilon)), (first, second) if forward else (second, first)
    return mp.fsum(max(mpf(0), p - rise * q) for p, q in zip(*sides, strict=True))


def answers(queries: Array, threshold: float, scales: tuple[float, float]) -> list[Any]:
    """The probabilities of all answers of a sparse vector technique, each above or below.

    scales : that of the threshold's Laplace noise, and that of each query's.
    """
    noise, each = map(mpf, scales)
    kinks = sorted({mpf(float(q)) - mpf(threshold) for q in queries} | {mpf(0)})
    ends = [-REACH * noise, *kinks, REACH * noise]

    def below(x: Any) -> Any:
        return mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2

    def chance(pattern: tuple[int, ...]) -> Any:
        def density(rho: Any) -> Any:
            places = [(mpf(threshold) + rho - mpf(float(q))) / each for q in queries]
            sides = [below(-x) if up else below(x) for x, up in zip(places, pattern, strict=True)]
            return mp.fprod(sides) * mp.exp(-abs(rho) / noise) / (2 * noise)

        return reference.integrate(density, ends)

    def compute() -> list[Any]:
        return [chance(pattern) for pattern in product((0, 1), repeat=len(queries))]

    return list(reference.with_mesh(compute, DIGITS, **MESH))


class Student:
    """The law of sketched least squares: centre, shape and determinant from the data, p ≤ 2.

    The density is ∝ |w|^{-p} √det (1 + d²)^{−(r+1)/2}, d² = (x − c)ᵀ(G/|w|²)(x − c).
    """

    def __init__(self, data: Array, rows: int) -> None:
        values = mp.matrix(data.tolist())
        X, y = values[:, : data.shape[1] - 1], values[:, data.shape[1] - 1]
        gram = X.T * X
        self.centre = mp.lu_solve(gram, X.T * y)
        rest = y - X * self.centre
        self.shape = gram / mp.fdot(rest, rest)
        self.rows, self.size = rows, data.shape[1] - 1
        self.log_det = mp.log(mp.det(self.shape))

    def square(self, x: Any) -> Any:
        """d² at x."""
        move = x - self.centre
        return (move.T * self.shape * move)[0]

    def rays(self) -> Any:
        """The matrix that maps unit vectors to steps of d = 1 from the centre."""
        return mp.inverse(mp.cholesky(self.shape).T)


def replaced_student(first: Student, second: Student, epsilon: float) -> Any:
    """P(L > ε) − e^ε Q(L > ε), each by rays from its own centre, p = 2.

    On a ray {L > ε} is where 1 + d_Q² exceeds κ(1 + d_P²), a quadratic in the distance ρ, and the
    distance has P(> ρ) = (1 + ρ²)^{−(r−1)/2}.
    """

    def compute() -> Any:
        own = _inside(first, second, epsilon, first)
        other = _inside(first, second, epsilon, second)
        return own - mp.exp(mpf(epsilon)) * other

    return reference.with_mesh(compute, DIGITS, order=16, splits=4, digits=15)


def _inside(first: Student, second: Student, epsilon: float, law: Student) -> Any:
    """The probability of {L > ε} under `law`, L the loss of `first` against `second`."""
    k = first.rows + 1
    level = mp.exp(2 * (mpf(epsilon) - (first.log_det - second.log_det) / 2) / k)
    steps = law.rays()

    def form(angle: Any) -> tuple[Any, Any, Any]:
        move = steps * mp.matrix([mp.cos(angle), mp.sin(angle)])
        parts = []
        for one, times in ((second, mpf(1)), (first, -level)):
            gap = law.centre - one.centre
            lift = one.shape * move
            linear = 2 * (gap.T * lift)[0]
            parts.append(
                [times * x for x in ((move.T * lift)[0], linear, 1 + (gap.T * one.shape * gap)[0])]
            )
        return tuple(a + b for a, b in zip(*parts, strict=True))

    def tail(rho: Any) -> Any:
        return (1 + rho * rho) ** (-mpf(first.rows - 1) / 2)

    def chance(angle: Any) -> Any:
        a, b, c = form(angle)
        cuts = [mpf(0), *(x for x in parts.roots(a, b, c) if x > 0)]
        total = mpf(0)
        for i, low in enumerate(cuts):
            high = cuts[i + 1] if i + 1 < len(cuts) else None
            middle = 2 * low + 1 if high is None else (low + high) / 2
            if (a * middle + b) * middle + c > 0:
                total += tail(low) - (tail(high) if high is not None else 0)
        return total

    breaks = _turns(form)
    return reference.integrate(chance, breaks) / (2 * mp.pi)


def _turns(form: Callable[[Any], tuple[Any, Any, Any]]) -> list[Any]:
    """Angles over one turn at which a root appears, leaves for infinity, or passes the centre."""
    signs: tuple[Callable[[Any], Any], ...] = (
        lambda x: form(x)[1] ** 2 - 4 * form(x)[0] * form(x)[2],
        lambda x: form(x)[0],
        lambda x: form(x)[1],
    )
    places = [2 * mp.pi * k / 97 for k in range(98)]
    nodes = {mpf(0), 2 * mp.pi, *(mp.pi * k / 8 for k in range(1, 16))}
    for sign in signs:
        for low, high in pairwise(places):
            if sign(low) * sign(high) < 0:
                nodes.add(mp.findroot(sign, (low, high), solver="anderson", tol=mp.eps**1.5))
    return sorted(nodes)


def replaced_wishart(up: float, down: float, freedom: int, epsilon: float) -> float:
    """Additive Wishart noise, a row replaced, in floats: three nested sums of positive terms.

    Half as many nodes are off by 3e-7 at m = 2, these by about 2e-11. For few degrees of freedom.

    N is a standard Wishart matrix of order 2 with m degrees of freedom, by its Bartlett factors:
    y = N₂₂ ~ χ²_m, N₁₂ = n√y with n ~ N(0, 1), x = N₁₁ − n² ~ χ²_{m−1}. With a = (m − 3)/2 and
    D = (x + α)(y − β) − βn² the loss of N + α e₁e₁ᵀ against N + β e₂e₂ᵀ is

        L = (α − β)/2 − a ln(D/(xy)),   infinite where y ≤ β or D ≤ 0.
    """
    a, shift = 0.5 * (freedom - 3), epsilon - 0.5 * (up - down)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = float(np.exp(-shift / a)) if a else np.nan  # of D to xy, where L = ε
        marks = [down, down / (1.0 - ratio) if ratio < 1.0 else down]
        y, in_y = _chi_square(np.array([[*marks, *(down + x for x in _scale(freedom))]]), freedom)
        y, in_y = y[0], in_y[0]
        edge = up * (y - down) / (ratio * y - y + down)  # of x, where n = 0 has L = ε
        knots = [np.where(edge > 0.0, edge, 0.0), *(np.full_like(y, x) for x in _scale(freedom))]
        x, in_x = _chi_square(np.stack([np.zeros_like(y), *knots], axis=1), freedom - 1)
        inner = _over_normal(x, y[:, None], (up, down), a, shift)
        inner = np.sum(np.where(in_x > 0.0, in_x * inner, 0.0), axis=1)
    return float(chi2.cdf(down, freedom) + np.sum(np.where(in_y > 0.0, in_y * inner, 0.0)))


def _scale(freedom: int) -> Array:
    return freedom * np.array([0.02, 0.3, 1.0, 2.0, 5.0, 20.0 + 400.0 / freedom])


def _chi_square(knots: Array, freedom: int) -> tuple[Array, Array]:
    """Tanh–sinh nodes between the knots (m, k); weights times the density."""
    knots = np.sort(knots, axis=1)
    u = 0.5 * np.pi * np.sinh(PLACES)
    share = 1.0 / (1.0 + np.exp(-2.0 * u))
    weight = (PLACES[1] - PLACES[0]) * 0.25 * np.pi * np.cosh(PLACES) / np.cosh(u) ** 2
    width = np.diff(knots, axis=1)[..., None]
    x = (knots[:, :-1, None] + width * share).reshape(len(knots), -1)
    weights = (width * weight).reshape(x.shape)
    return x, np.where(weights > 0.0, weights * chi2.pdf(x, freedom), 0.0)


def _over_normal(x: Array, y: Array, sizes: tuple[float, float], a: float, shift: float) -> Array:
    """E over n of (1 − e^{ε−L})₊, by n = n₁ sin θ with D = 0 at n₁."""
    up, down = sizes
    whole = (x + up) * (y - down)
    last = np.sqrt(whole / down)
    beyond = erfc(last / np.sqrt(2.0))
    if a == 0.0:
        return np.asarray(beyond + max(-np.expm1(shift), 0.0) * (1.0 - beyond))
    least = np.exp(-shift / a) * x * y
    turn = np.sqrt(np.clip((whole - least) / whole, 0.0, 1.0))  # sin θ where L = ε
    far = np.minimum(FARTHEST / last, 1.0)
    low, high = (turn, far) if a > 0.0 else (np.zeros_like(turn), np.minimum(turn, far))
    low, high = np.arcsin(np.minimum(low, high))[..., None], np.arcsin(high)[..., None]
    nodes, weights = np.polynomial.legendre.leggauss(24)
    theta = low + 0.5 * (high - low) * (1.0 + nodes)
    n, log_cos = last[..., None] * np.sin(theta), np.log(np.cos(theta))
    gain = -np.expm1(shift + a * (np.log(whole / (x * y))[..., None] + 2.0 * log_cos))
    density = np.exp(-0.5 * n**2 + log_cos) * last[..., None] / np.sqrt(2.0 * np.pi)
    inside = np.sum(0.5 * (high - low) * weights * density * np.maximum(gain, 0.0), axis=-1)
    return np.asarray(beyond + 2.0 * inside)
