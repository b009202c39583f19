"""δ(ε) from the moment function of the loss along lines of the complex plane, at high precision.

δ(ε) = (1/2πi) ∫ M(s) e^{−sε} / (s(s+1)) ds. The line runs from a point of (0, end) on the real axis
straight up, or at a chosen angle to the side on which e^{−sε}M(s) falls; the trapezoid rule is
taken in w of s = start + r e^{iθ}, r = start·exp(w − e^{−w}). Two angles and steps make two
computations.
"""

from mpmath import mp, mpf

from tests.oracle.parts import NOTHING, Axis, Block, Wishart, conditioned

LEAST, MOST = mpf(-6), mpf(500)  # of w: r/start runs from e^{−410} on
HALVINGS = 10
SEARCH = 90  # golden sections in log s over e^{±80}


def log_moment(part, s):
    """log E[e^{sL}; L < ∞]."""
    if isinstance(part, Axis):
        room = 1 - 2 * part.a * s
        return part.c * s + part.b**2 * s * s / (2 * room) - mp.log(room) / 2
    if isinstance(part, Block):
        return part.edge * s - part.count / 2 * mp.log(1 - 2 * part.a * s)
    return wishart_log_moment(part, s)


def wishart_log_moment(part, s):
    """By Tricomi's function: backward, E[e^{sL}] = e^{−(s+1)z} z^{m/2} Γ(α)U(α, m/2 + 1, z)/Γ(m/2).

    z = q/2, α = 1 − as. Forward is backward at −1 − s: e^{−L}P of one direction is the finite part
    of the other.
    """
    s = -1 - s if part.forward else s
    half, z = part.m / 2, part.q / 2
    alpha = 1 - part.a * s
    value = mp.gamma(alpha) * mp.hyperu(alpha, half + 1, z)
    return mp.log(value) - (s + 1) * z + half * mp.log(z) - mp.loggamma(half)


def domain_end(part):
    if isinstance(part, Wishart):
        if part.forward:
            return mp.inf if part.a >= 0 else -part.m / (2 * part.a)
        return 1 / part.a if part.a > 0 else mp.inf
    return 1 / (2 * part.a) if part.a > 0 else mp.inf


class Together:
    """Releases with how often each is made: pairs (part, times)."""

    def __init__(self, counted):
        self.counted = [(part, mpf(times)) for part, times in counted]
        self.end = min(domain_end(part) for part, _ in self.counted)
        self.floor = 1 - mp.fprod((1 - part.floor) ** times for part, times in self.counted)
        self.upright = any(isinstance(part, Wishart) for part, _ in self.counted)

    def log_m(self, s):
        return mp.fsum(times * log_moment(part, s) for part, times in self.counted)

    @property
    def maximum(self):
        """The largest finite loss."""
        return mp.fsum(times * self._top(part) for part, times in self.counted)

    @property
    def drift(self):
        """log M(s) ~ drift·s far out.

        The exception: a shift without a change of variance makes it fall off by itself.
        """
        return mp.fsum(times * part.edge for part, times in self.counted if part.edge is not None)

    @property
    def straight(self):
        """Whether a shift hardly bends.

        Its e^{s²} falls off on steep lines only, where others may grow at first.
        """
        axes = [part for part, _ in self.counted if isinstance(part, Axis) and part.a != 0]
        return any(abs(axis.b) > 500 * abs(axis.a) for axis in axes)

    @property
    def depth(self):
        """How many variables conditioning integrates over, and one."""
        return int(sum(times for _, times in self.counted))

    def conditioned(self, e, swapped=False):
        """δ(e) by conditioning, in one of two orders.

        Swapped: from the losses' densities alone (one part), or from the second part (two).
        """
        parts = [part for part, times in self.counted for _ in range(int(times))]
        parts.sort(key=lambda part: part.edge is None)  # a shift has no kink: last
        if swapped:
            parts = [parts[0], NOTHING] if len(parts) == 1 else parts[::-1]
        return conditioned(parts, e)

    @staticmethod
    def _top(part):
        if isinstance(part, Wishart):
            bounded = part.a >= 0 if part.forward else part.a <= 0
        else:
            bounded = part.a < 0 or (part.a == 0 and part.edge is not None)
        if not bounded:
            return mp.inf
        return part.edge


def saddle(together, e):
    """About where M(s) e^{−se}/(s(s+1)) is least on (0, end)."""

    def place(y):
        r = mp.exp(y)
        return r if together.end == mp.inf else together.end * r / (together.end + r)

    def height(y):
        s = place(y)
        return mp.re(together.log_m(s)) - s * e - mp.log(s * (s + 1))

    with mp.workdps(20):
        # Tricomi's function is slow, and not needed far out
        reach = mpf(5 if together.upright else 60)
        low, high = -reach, reach
        golden = (mp.sqrt(5) - 1) / 2
        for _ in range(30 if together.upright else SEARCH):
            a, b = high - golden * (high - low), low + golden * (high - low)
            low, high = (low, b) if height(a) < height(b) else (a, high)
        return place((low + high) / 2)


def inverted(together, e, angle, digits):
    """δ(e) along the line at `angle` (degrees) from the real axis.

    Vertical where noise is Wishart's or an axis nearly straight: there the angle moves the line
    instead.
    """
    e = mpf(e)
    if e >= together.maximum:
        return together.floor
    start = saddle(together, e)
    if together.straight:
        start, angle = start * angle / 90, 90
    angle = 90 if together.upright else angle
    theta = mp.radians(angle if e > together.drift else 180 - angle)
    turn = mp.expjpi(theta / mp.pi)
    peak = mp.re(together.log_m(start)) - start * e

    def integrand(w):
        r = start * mp.exp(w - mp.exp(-w))
        s = start + r * turn
        value = mp.exp(together.log_m(s) - s * e - peak) / (s * (s + 1))
        return r * (1 + mp.exp(-w)) * value * turn

    return together.floor + mp.exp(peak) / mp.pi * trapezoid(integrand, digits)


def trapezoid(integrand, digits):
    """∫ Im integrand(w) dw, the step halved until two sums agree to `digits` digits."""
    end = last_alive(integrand)
    step = mpf(1) / 8
    total = sum_from(integrand, LEAST, end, step)
    for _ in range(HALVINGS):
        finer = (total + sum_from(integrand, LEAST + step / 2, end, step)) / 2
        step, last, total = step / 2, total, finer
        if abs(total - last) <= mpf(10) ** (-digits) * abs(total):
            return total
    raise ArithmeticError(f"no agreement to {digits} digits")


def sum_from(integrand, begin, end, step):
    return step * mp.fsum(
        mp.im(integrand(begin + k * step)) for k in range(int((end - begin) / step) + 1)
    )


def last_alive(integrand):
    """Where the integrand has fallen to 10^(8 − dps) of its largest value for good."""
    w, largest, quiet = mpf(-2), mpf(0), 0
    while quiet < 6 and w < MOST:
        size = abs(integrand(w))
        largest = max(largest, size)
        quiet = quiet + 1 if size < largest * mpf(10) ** (8 - mp.dps) else 0
        w += mpf(1) / 4
    return w
