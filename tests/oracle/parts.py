"""Privacy losses of one release and of several, at high precision: the source of pairs.json.

A part is one release. It knows `delta(e)` = E[(1 − e^{e−L})₊] = P(L > e) − e^e Q(L > e) in closed
form at ANY real e, and the law of its own loss. A composition follows by conditioning on the first
part,

    δ(e) = E_L₁[δ_rest(e − L₁)],

an integral of positive terms; nothing here knows of moment functions. Q is the law of the other
database, so {L > e} is an interval or its complement in one variable whose law is normal or χ²
under both.
"""

from functools import cache

from mpmath import mp, mpf

from tests.oracle.reference import gamma_tails, integrate

REACH = 200  # standard deviations kept: what is dropped is below e^(-20000)


class Axis:
    """N(0, 1) against N(shift, ratio): L = a z² + b z + c under z ~ N(0, 1)."""

    floor = mpf(0)

    def __init__(self, shift, ratio):
        self.shift, self.ratio = mpf(shift), mpf(ratio)
        self.a = (1 / self.ratio - 1) / 2
        self.b = -self.shift / self.ratio
        self.c = self.shift**2 / (2 * self.ratio) + mp.log(self.ratio) / 2
        # the extreme loss
        self.edge = self.c - self.b**2 / (4 * self.a) if self.a else self.c if self.b == 0 else None

    def reversed(self):
        return Axis(-self.shift / mp.sqrt(self.ratio), 1 / self.ratio)

    def delta(self, e):
        ends = roots(self.a, self.b, self.c - e)
        if self.a == 0:
            return self._half_line(e)
        if len(ends) < 2:
            return 1 - mp.exp(e) if self.a > 0 else mpf(0)
        spread = mp.sqrt(self.ratio)
        share = outside if self.a > 0 else between
        return share(*ends) - mp.exp(e) * share(*((x - self.shift) / spread for x in ends))

    def _half_line(self, e):
        """Equal variances: a Gaussian shift."""
        mu = abs(self.shift)
        if mu == 0:
            return max(1 - mp.exp(e), mpf(0))
        return mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)

    def mean(self, g, level):
        """E[g(L)], where g may have a kink at `level`."""
        inside = {mpf(0), *roots(mpf(0), 2 * self.a, self.b)}
        if level is not None:
            inside |= set(roots(self.a, self.b, self.c - level))
        breaks = [-mpf(REACH), *sorted(x for x in inside if abs(x) < REACH), mpf(REACH)]
        return integrate(lambda z: mp.npdf(z) * g((self.a * z + self.b) * z + self.c), breaks)


NOTHING = Axis(0, 1)


class Block:
    """`count` equal axes without a shift: L = a X + c with X ~ χ²_count.

    Under Q, X/ratio ~ χ²_count.
    """

    floor, b = mpf(0), mpf(0)

    def __init__(self, ratio, count):
        self.ratio, self.count = mpf(ratio), mpf(count)
        self.a = (1 / self.ratio - 1) / 2
        self.edge = self.count * mp.log(self.ratio) / 2

    def reversed(self):
        return Block(1 / self.ratio, self.count)

    def delta(self, e):
        if self.a == 0:
            return max(1 - mp.exp(e), mpf(0))
        x = (e - self.edge) / self.a
        side = 0 if self.a > 0 else 1
        b = self.count / 2
        return gamma_tails(b, x / 2)[side] - mp.exp(e) * gamma_tails(b, x / self.ratio / 2)[side]

    def mean(self, g, level):
        kink = mpf(0) if level is None else (level - self.edge) / self.a
        return chi_mean(self.count, mpf(0), lambda x: g(self.a * x + self.edge), kink)


class Wishart:
    """Additive Wishart noise, with a row of q = vᵀV⁻¹v zeroed.

    With m = k − d + 1 and a = (m − 2)/2:

    forward (full → zeroed), c ~ χ²_m:   L = q/2 − a ln(1 + q/c),
    backward, c' = c + q ~ χ²_m under the zeroed database:  L = −q/2 − a ln(1 − q/c'), infinite
    where c' < q.
    """

    def __init__(self, q, dof, dim, forward=True):
        self.q, self.m, self.forward = mpf(q), mpf(dof - dim + 1), forward
        self.given = q, dof, dim
        self.a = (self.m - 2) / 2
        self.edge = self.q / 2 if forward else -self.q / 2  # where c → ∞
        self.floor = mpf(0) if forward else self.share(self.q)[1]

    def reversed(self):
        return Wishart(*self.given, forward=not self.forward)

    def share(self, c):
        """(P(χ²_m > c), P(χ²_m < c))."""
        return gamma_tails(self.m / 2, c / 2)

    def loss(self, c):
        if self.forward:
            return self.edge - self.a * mp.log1p(self.q / c)
        return self.edge - self.a * mp.log1p(-self.q / max(c, self.q * (1 + 4 * mp.eps)))

    def place(self, e):
        """The c at which L = e, or None."""
        if self.a == 0 or e == self.edge:
            return None
        odds = mp.expm1((self.edge - e) / self.a)  # q/c, or −q/c'
        c = self.q / odds if self.forward else -self.q / odds
        return c if c > (0 if self.forward else self.q) else None

    def delta(self, e):
        place, rise = self.place(e), mp.exp(e)
        if place is None:  # all of the outputs that both can give, or none
            above = self.share(self.q)[0]
            own, others = (1, above) if self.forward else (above, 1)
            return self.floor + (own - rise * others if e < self.edge else 0)
        # the same output in Q's variable
        other = place + self.q if self.forward else place - self.q
        if not self.forward:
            return self._backward(place, other, rise)
        if self.a > 0:
            return self.share(place)[0] - rise * self.share(other)[0]
        with mp.workdps(4 * mp.dps):  # far out the set is thin beside q
            return self.share(place)[1] - rise * (
                self.share(place + self.q)[1] - self.share(self.q)[1]
            )

    def _backward(self, place, other, rise):
        if self.a > 0:
            return self.share(place)[1] - rise * self.share(other)[1]
        return self.floor + self.share(place)[0] - rise * self.share(other)[0]

    def mean(self, g, level):
        start = mpf(0) if self.forward else self.q
        kink = None if level is None else self.place(level)
        return self.floor + chi_mean(self.m, start, lambda c: g(self.loss(c)), kink or start)


def chi_mean(freedom, start, g, kink):
    """E[g(X); X > start] for X ~ χ²_freedom, in the variable √X."""
    half = freedom / 2
    front = 2 / (mp.gamma(half) * 2**half)

    def integrand(y):
        return front * y ** (freedom - 1) * mp.exp(-y * y / 2) * g(y * y)

    low, high = mp.sqrt(start), mp.sqrt(freedom) + REACH
    inside = {mp.sqrt(freedom), mp.sqrt(max(kink, mpf(0)))}
    return integrate(integrand, [low, *sorted(x for x in inside if low < x < high), high])


def roots(a, b, c):
    """Real roots of a x² + b x + c, ascending, without cancellation.

    None for a constant or a double root.
    """
    if a == 0:
        return [] if b == 0 else [-c / b]
    discriminant = b * b - 4 * a * c
    if discriminant <= 0:
        return []
    q = -(b + (mp.sqrt(discriminant) if b >= 0 else -mp.sqrt(discriminant))) / 2
    return sorted([q / a, c / q])


def between(low, high):
    """P(low < Z < high) from the nearer tail."""
    return mp.ncdf(high) - mp.ncdf(low) if low < 0 else mp.ncdf(-low) - mp.ncdf(-high)


def outside(low, high):
    return mp.ncdf(low) + mp.ncdf(-high)


def conditioned(parts, e):
    """δ(e) of the parts together."""
    first, rest = parts[0], parts[1:]
    if not rest:
        return first.delta(e)
    edges = [part.edge for part in rest]
    level = None if None in edges else e - sum(edges)
    shared = cache(lambda loss: conditioned(rest, e - loss))
    return first.mean(shared, level)
