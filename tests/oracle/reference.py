"""Hockey-stick divergences at high precision, independent of the package under test.

Every law returns ``(forward, backward)`` mpmath numbers: forward is delta(eps) of (full, row
zeroed), backward of (row zeroed, full). They are computed at the current ``mp.dps``; ``checked``
evaluates twice, with different working precisions, quadrature orders and meshes, and refuses values
that do not agree.

Derivation for least squares on a sketch with ``r`` rows and ``p`` features. In whitened coordinates
``z = M^(1/2)(x - x_opt)/|w|``, with axis coordinate ``y`` and squared radius ``s2`` on the ``p -
1`` others,

    P ~ (1 + y^2 + s2)^(-(r+1)/2),
    Q ~ (1 + ((1-h)(y-m)^2 + s2)/(1-t))^(-(r+1)/2),    m = sqrt(h t/(1-h)).

Since |w'|^2 + |B'(x-x'_opt)|^2 is |w|^2 + |B(x-x_opt)|^2 less the row's squared residual at x, the
loss is

    L = A + (r+1)/2 log(1 - rho(y)/(1 + y^2 + s2)),    rho(y) = (sqrt(h) y + sqrt(t(1-h)))^2,
    A = -log(1-h)/2 - nu log(1-t)/2,    nu = r - p + 1,

so L <= A always. With y = tan(phi), rho/(1+y^2) = K cos^2(phi - phi0), K = h + t(1-h), whence
-L <= -(r+1)/2 log(1-K) - A = -r log(1-h)/2 - p log(1-t)/2. The outer integral runs over psi = phi -
phi0 in (-pi/2, pi/2); the inner probabilities are incomplete beta functions.
"""

import heapq
from functools import cache, lru_cache
from itertools import pairwise

from mpmath import mp, mpf

# Gauss-Legendre nodes per panel, first panels per piece, digits asked of the integral
MESH = {"order": 20, "splits": 6, "digits": 17}
REACH = 4  # of the stretched variable: what is dropped is within exp(-85) of the ends of a piece


# --- quadrature -----------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def legendre_rule(order, dps):
    """Nodes and weights on (-1, 1), by Newton's method from the Chebyshev guesses."""
    with mp.workdps(dps + 10):
        return tuple(legendre_node(order, k) for k in range(order))


def legendre_node(order, index):
    x = mp.cos(mp.pi * (index + mpf(3) / 4) / (order + mpf(1) / 2))
    for _ in range(mp.prec.bit_length() + 3):
        below, value = mpf(1), x
        for k in range(2, order + 1):
            below, value = value, ((2 * k - 1) * x * value - (k - 1) * below) / k
        slope = order * (x * value - below) / (x * x - 1)
        x -= value / slope
    return x, 2 / ((1 - x * x) * slope * slope)


def panel(f, low, high, rule):
    half, middle = (high - low) / 2, (high + low) / 2
    return half * mp.fsum(weight * f(middle + half * node) for node, weight in rule)


def bisected(f, low, high, whole, rule):
    """Heap entry for a panel: minus its error estimate, its ends, and its two halves' integrals."""
    middle = (low + high) / 2
    parts = panel(f, low, middle, rule), panel(f, middle, high, rule)
    return -abs(sum(parts) - whole), low, high, parts


def stretched(f, low, high):
    """f in the variable v of y = low + (high - low)/(1 + exp(-pi sinh v)).

    It removes roots at both ends, and a layer of any width there becomes about as wide as
    everything else.
    """
    width = high - low

    def transformed(v):
        odds = mp.exp(mp.pi * mp.sinh(v))
        slope = mp.pi * mp.cosh(v) * odds / (1 + odds) ** 2
        y = low + width * odds / (1 + odds) if v < 0 else high - width / (1 + odds)
        return width * slope * f(y)

    return transformed


def integrate(f, breaks):
    """Integral of a non-negative f with at most one hump between consecutive breaks.

    f has no singularity between them. Each piece is computed to its own relative accuracy: a narrow
    hump is found by following its flank. A zero in the middle of a piece means that f is zero on
    all of it; breaks that coincide up to rounding are one.
    """
    if mp.dps < MESH["digits"] + 15:
        raise ValueError("mp.dps leaves no room for rounding: call through evaluate")
    rule = legendre_rule(MESH["order"], mp.dps)
    least = (breaks[-1] - breaks[0]) * mpf(10) ** (10 - mp.dps)
    pieces = [(a, b) for a, b in pairwise(breaks) if b - a > least and f((a + b) / 2)]
    return mp.fsum(refined(stretched(f, a, b), rule) for a, b in pieces)


def refined(f, rule):
    """Halve the panels with the largest error estimates.

    It ends when the estimates are negligible together.
    """
    cuts = [mpf(2 * k - MESH["splits"]) / MESH["splits"] * REACH for k in range(MESH["splits"] + 1)]
    heap = [bisected(f, a, b, panel(f, a, b, rule), rule) for a, b in pairwise(cuts)]
    heapq.heapify(heap)
    while True:
        total = mp.fsum(sum(entry[3]) for entry in heap)
        if -mp.fsum(entry[0] for entry in heap) <= mpf(10) ** -MESH["digits"] * total:
            return total
        for _, low, high, parts in [heapq.heappop(heap) for _ in range(1 + len(heap) // 8)]:
            middle = (low + high) / 2
            heapq.heappush(heap, bisected(f, low, middle, parts[0], rule))
            heapq.heappush(heap, bisected(f, middle, high, parts[1], rule))


# --- incomplete gamma and beta functions, both tails to full relative accuracy --------------------


def gamma_tails(b, u):
    """(P(G > u), P(G < u)) for G ~ Gamma(b), b ≥ 0."""
    if b == 0:
        return (mpf(0), mpf(1)) if u >= 0 else (mpf(1), mpf(0))
    if u <= 0:
        return mpf(1), mpf(0)
    return mp.gammainc(b, u, regularized=True), mp.gammainc(b, 0, u, regularized=True)


def positive_series(z, bottom, top=None):
    """1 + z top/bottom + z^2 top(top+1)/(bottom(bottom+1)) + ..., in integers.

    Twice top and bottom are integers. Without top, its factors are 1.
    """
    bits = mp.prec + 20
    z, down = int(mp.ldexp(z, bits)), int(2 * bottom)
    up, step = (int(2 * top), 2) if top else (2, 0)
    term = total = 1 << bits
    while term:
        term = (term * z >> bits) * up // down
        total += term
        up, down = up + step, down + 2
    return mp.ldexp(mpf(total), -bits)


@lru_cache(maxsize=256)
def log_beta(a, b, dps):
    with mp.workdps(dps + 15):
        return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def beta_front(a, b, x, rest):
    return mp.exp(a * mp.log(x) + b * mp.log(rest) - log_beta(a, b, mp.dps))


def beta_fraction(a, b, x):
    """I_x(a, b) a B(a, b) / (x^a (1-x)^b) by its continued fraction (modified Lentz)."""
    value = c = mpf(1)
    d, m = mpf(0), 0
    while True:
        m += 1
        k = m // 2
        top = k * (b - k) if m % 2 == 0 else -(a + k) * (a + b + k)
        step = top * x / ((a + m - 1) * (a + m))
        d = 1 / (1 + step * d)
        c = 1 + step / c
        value *= c * d
        if abs(c * d - 1) < 8 * mp.eps:
            return 1 / value


def beta_below(a, b, x, rest):
    """I_x(a, b) by its positive power series."""
    return beta_front(a, b, x, rest) / a * positive_series(x, a + 1, a + b)


def half_beta(a, x, rest):
    """I_x(a, 1/2)."""
    half = mpf(1) / 2
    if x <= 0.9:
        return beta_below(a, half, x, rest)
    if a * rest < 40:  # the value is above exp(-45), so 70 bits pay for the cancellation
        with mp.extraprec(70):
            return 1 - beta_below(half, a, rest, x)
    return beta_front(a, half, x, rest) / a * beta_fraction(a, half, x)


def beta_tails(a, b, x, rest):
    """(I_x(a, b), 1 - I_x(a, b)) with rest = 1 - x.

    2b is a non-negative integer; x > 1 counts as 1.
    """
    if b == 0:
        return (mpf(1), mpf(0)) if rest <= 0 else (mpf(0), mpf(1))
    if rest <= 0:
        return mpf(1), mpf(0)
    if x * (a + b) > a:
        low = beta_below(b, a, rest, x)
        return 1 - low, low
    start = mpf(1) if b == int(b) else mpf(1) / 2
    value = x**a if start == 1 else half_beta(a, x, rest)
    term = beta_front(a, start, x, rest) / start
    while start < b:
        value += term
        term *= rest * (a + start) / (start + 1)
        start += 1
    return value, 1 - value


# --- least squares on a sketch: the exact law -----------------------------------------------------


def finite_limits(leverage, residual_share, features, rows):
    """(forward, backward) pure epsilon: the loss never exceeds it."""
    h, t = mp.log1p(-mpf(leverage)), mp.log1p(-mpf(residual_share))
    return -h / 2 - (rows - features + 1) * t / 2, -rows * h / 2 - features * t / 2


def finite_loss(leverage, residual_share, features, rows, y, s2):
    """Privacy loss log P/Q at axis coordinate y and squared radius s2 on the other axes."""
    h, t = mpf(leverage), mpf(residual_share)
    residual = (mp.sqrt(h) * y + mp.sqrt(t * (1 - h))) ** 2
    top = finite_limits(leverage, residual_share, features, rows)[0]
    return top + mpf(rows + 1) / 2 * mp.log1p(-residual / (1 + y * y + s2))


class FiniteArc:
    """The law of the angle psi under P, and what is needed of Q given psi."""

    def __init__(self, leverage, residual_share, features, rows):
        h, t = mpf(leverage), mpf(residual_share)
        self.nu, self.rows = mpf(rows - features + 1), rows
        self.top = h + t * (1 - h)
        self.bottom = (1 - h) * (1 - t)
        self.phi = mp.atan2(mp.sqrt(h), mp.sqrt(t * (1 - h)))
        self.a, self.b = (self.nu + 1) / 2, mpf(features - 1) / 2
        self.scale = mp.gamma((self.nu + 1) / 2) / (mp.sqrt(mp.pi) * mp.gamma(self.nu / 2))
        self.factor = mp.exp(mp.log1p(-h) / 2 + self.nu * mp.log1p(-t) / 2)
        self.limits = finite_limits(leverage, residual_share, features, rows)

    def weight(self, psi):
        return self.scale * abs(mp.cos(self.phi + psi)) ** (self.nu - 1)

    def tails(self, psi, gap):
        """((P above, P below), (Q above, Q below), Q/P axis density ratio) at psi.

        Above and below refer to the radius where the relative residual rho/(1 + y^2 + s2) equals
        gap.
        """
        cos2 = mp.cos(psi) ** 2
        left = self.bottom + self.top * mp.sin(psi) ** 2  # 1 - top cos2
        x = gap / (self.top * cos2)
        x_rest = (self.top * cos2 - gap) / (self.top * cos2)
        below = 1 - gap
        z = gap * left / (below * self.top * cos2)
        z_rest = (self.top * cos2 - gap) / (below * self.top * cos2)
        ratio = self.factor * left ** (-self.a)
        return beta_tails(self.a, self.b, x, x_rest), beta_tails(self.a, self.b, z, z_rest), ratio

    def integral(self, integrand, gap, inside, outside):
        """Integral over the angles inside or outside the edge.

        There the relative residual can equal gap.

        integrand(psi) is without the weight; the weight alone differs between psi and -psi.
        """
        end, edge = mp.pi / 2, mp.acos(mp.sqrt(gap / self.top))
        low, high = mpf(0) if inside else edge, end if outside else edge
        shared = cache(integrand)
        ahead = sorted({low, high, *(x for x in (edge, end - self.phi) if low < x < high)})
        behind = sorted({low, high, *(x for x in (edge,) if low < x < high)})
        ahead = integrate(lambda psi: self.weight(psi) * shared(psi), ahead)
        return ahead + integrate(lambda psi: self.weight(-psi) * shared(psi), behind)


def finite_forward(arc, epsilon):
    if epsilon >= arc.limits[0]:
        return mpf(0)
    gap = -mp.expm1(2 * (epsilon - arc.limits[0]) / (arc.rows + 1))
    growth = mp.exp(epsilon)

    def integrand(psi):
        (p, _), (q, _), ratio = arc.tails(psi, gap)
        return p - growth * ratio * q

    return arc.integral(integrand, gap, inside=arc.b > 0, outside=True)


def finite_backward(arc, epsilon):
    if epsilon >= arc.limits[1]:
        return mpf(0)
    gap = -mp.expm1(-2 * (epsilon + arc.limits[0]) / (arc.rows + 1))
    growth = mp.exp(epsilon)

    def integrand(psi):
        (_, p), (_, q), ratio = arc.tails(psi, gap)
        return ratio * q - growth * p

    return arc.integral(integrand, gap, inside=True, outside=False)


def als_finite(leverage, residual_share, features, rows, epsilon):
    """Pair of multivariate Student t laws. At p = 1 the inner probabilities are 0 or 1."""
    if leverage == 0 and residual_share == 0:
        return mpf(0), mpf(0)
    arc = FiniteArc(leverage, residual_share, features, rows)
    return finite_forward(arc, mpf(epsilon)), finite_backward(arc, mpf(epsilon))


# --- laws of independent parts --------------------------------------------------------------------


def of_parts(law, params):
    """The parts of `tests.oracle.parts` that a law is made of, full → zeroed."""
    from tests.oracle import parts  # which takes its quadrature from here

    if law == "gaussian-shift":
        return [parts.Axis(params["mu"], 1)]
    if law == "gaussian-sketch":
        return [parts.Block(1 - mpf(params["leverage"]), params["rows"])]
    h, t = mpf(params["leverage"]), mpf(params["residual_share"])
    axis = parts.Axis(mp.sqrt(params["rows"] * h * t / (1 - h)), (1 - t) / (1 - h))
    others = params["features"] - 1 if t else 0
    return [axis, parts.Block(1 - t, others)] if others else [axis]


def by_parts(law, params, epsilon):
    from tests.oracle import parts

    found = sorted(of_parts(law, params), key=lambda part: part.edge is None)
    if all(part.a == part.b == 0 for part in found):
        return mpf(0), mpf(0)
    back = [part.reversed() for part in found]
    return tuple(parts.conditioned(side, epsilon) for side in (found, back))


# --- evaluation with a check ----------------------------------------------------------------------

LAWS = ("als-finite", "als-asymptotic", "gaussian-shift", "gaussian-sketch")


def deltas(law, params, epsilon):
    if law == "als-finite":
        return als_finite(**params, epsilon=epsilon)
    return by_parts(law, params, epsilon)


def with_mesh(compute, dps, **mesh):
    """compute() at one working precision and with one family of meshes."""
    before = dict(MESH)
    MESH.update(mesh)
    try:
        with mp.workdps(dps):
            return compute()
    finally:
        MESH.update(before)


def evaluate(law, params, epsilon, dps=42, **mesh):
    """(forward, backward) at one working precision and one family of meshes."""
    return with_mesh(lambda: deltas(law, params, mpf(epsilon)), dps, **mesh)


def checked(law, params, epsilon, digits=18):
    """(forward, backward), agreed to ``digits`` digits by two meshes and precisions."""
    first = evaluate(law, params, epsilon)
    second = evaluate(law, params, epsilon, dps=48, order=25, splits=7, digits=20)
    with mp.workdps(48):
        for one, two in zip(first, second, strict=True):
            if abs(one - two) > abs(two) * mpf(10) ** -digits:
                raise ArithmeticError(f"{law} {params} at {epsilon}: {one} and {two}")
    return second
