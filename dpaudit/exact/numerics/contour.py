"""Hockey-stick divergence from the moment function of the privacy loss, by contour inversion.

With M(s) = E_P[e^{sL}],  δ(ε) = (1/2πi) ∫ M(s) e^{−sε} / (s(s+1)) ds  over Re s = c, 0 < c < s_max.
The integrand is evaluated on a hyperbola through the point of the real axis where it is smallest
(the saddle point), so all of it is scaled by that value and the RELATIVE accuracy survives in the
tail. A hyperbola that bends to the side where M(s)e^{−sε} falls off makes the integrand decay
exponentially even when M itself decays like a power of s. Evaluating M takes most of the time, and
one hyperbola serves all ε whose own minimum is not much deeper than the value there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.numerics.special import unresolved

# first trapezoid step in the hyperbola's parameter, halved until the sums agree
STEP, HALVINGS = (0.08, 8)
AGREE = 1e-7  # agreement of two sums: halving the step squares the relative error
# tangents of the angle from the vertical, below 1 so that e^{s²} still decays
BENDS = (0.4, 0.1, 0.025)
# e^{SHARED}: how far above its own minimum an ε may be integrated on another's hyperbola
SHARED = 3.0
ALIKE = 2.0  # e^{±ALIKE}: how different the lengths may be over which their integrands vary
# the points at which an integrand along a line is first evaluated
COARSE = np.concatenate([np.arange(0.0, 16.0, 0.5), np.arange(16.0, 96.0, 2.0)])
NEGLIGIBLE = 1e-17
GROWTH = 1e2  # of the integrand along the line beyond which digits are lost
ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
SMALLEST = 1e-290  # smallest δ that is resolved
BESIDE_ONE = 1e-17  # smallest 1 − δ that is resolved
CANCELS = 1e12  # terms of log M of this size cancel with an error below a thousandth
OVERFLOW = 700.0  # e^{±this} is as far as floats go
# the saddle is looked for in e^{±50}, to 1e-4 of itself; in e^{±230} where the loss is tiny
DECADES, BISECTIONS = 50.0, 20
FARTHER, MORE = 230.0, 22
TINY = 1e-30  # variance of such a loss
NO_LOSS = 1e-200  # variance of a loss that is nowhere infinite: below, it counts as none
NEAREST = 33.0  # and no nearer to a finite end than e^{−33} of it, where floats still differ

Integrand = Callable[[np.ndarray], np.ndarray]


@value_class(eq=True)
class LossTransform:
    """log M(s) of the finite part of the loss, and what the contour needs to know of it.

    log_m : complex s, shape (k,) → log M(s), shape (k,); analytic off the real axis beyond (−1,
        end).
    slope, curvature : real s, shape (k,) → K′(s), K″(s) of K = log M.
    end : M is finite for 0 < s < end.
    maximum : sup of the finite part of L, infinite if unbounded; δ(ε) = floor from there on.
    floor : P(L = ∞), so M(0) = 1 − floor.
    """

    log_m: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[Array], Array]
    curvature: Callable[[Array], Array]
    end: float
    maximum: float
    floor: float = 0.0


def hockey_stick(transform: LossTransform, epsilon: Array) -> Array:
    """δ at each ε (shape (m,), ascending), in [0, 1].

    Where nearly all of the loss lies above ε, the line crosses the real axis in (−1, 0) instead.
    It has then passed the pole at 0, so its integral is δ − 1.
    """
    delta = np.full_like(epsilon, transform.floor)
    if transform.floor == 1.0:
        return delta
    origin = np.zeros(1)
    variance = transform.curvature(origin)[0]
    if variance < NO_LOSS and transform.floor == 0.0:
        return delta
    mean = transform.slope(origin)[0]
    below = mean - 2.0 * np.sqrt(variance) > epsilon
    above = ~below & (epsilon < transform.maximum)
    # 1 − δ = E_P[min(1, e^{ε−L})] ≤ M(−t) e^{tε} for 0 < t < 1 (Chernoff). For a loss of very large
    # mean the terms of log M(−t) grow as t times the mean and cancel, so t stays small there
    t = 0.5 if abs(mean) < CANCELS else 0.5 * CANCELS / abs(mean)
    log_missing = transform.log_m(np.array([-t + 0j])).real + t * epsilon
    certain = below & (log_missing < np.log(BESIDE_ONE))
    delta[certain] = 1.0
    below &= ~certain
    if below.any():
        delta[below] = 1.0 + _integral(transform, epsilon[below], -1.0, 0.0, BESIDE_ONE)
    if above.any():
        delta[above] += np.maximum(_integral(transform, epsilon[above], 0.0, transform.end), 0.0)
    return np.clip(delta, 0.0, 1.0)


def _integral(
    transform: LossTransform, epsilon: Array, start: float, stop: float, smallest: float = SMALLEST
) -> Array:
    """The integral at each ε over hyperbolas near its saddle point in (start, stop)."""
    saddle = _saddle(transform, epsilon, start, stop)
    parts = [
        _shared(transform, epsilon[first:last], saddle[first:last], crossing - first, smallest)
        for first, crossing, last in _bands(transform, epsilon, saddle)
    ]
    return np.concatenate(parts)


def _bands(
    transform: LossTransform, epsilon: Array, saddle: Array
) -> Iterator[tuple[int, int, int]]:
    """Runs of ε that one hyperbola may serve: (first, where it crosses the saddle, end) of each."""
    log_m = transform.log_m(saddle + 0j).real
    least = log_m - saddle * epsilon
    scale = _scale(transform, saddle)

    def reach(ours: slice, at: slice) -> int:
        """How many log(M e^{−sε}/s(s+1)) lie at most SHARED above their own minimum, at least 1.

        They are taken at another's saddle; none counts that varies over a different length.
        """
        s, own = saddle[at], saddle[ours]
        poles = np.log(s * (s + 1.0) / (own * (own + 1.0)))
        excess = log_m[at] - s * epsilon[ours] - least[ours] - poles
        far = np.abs(np.log(scale[at] / scale[ours])) > ALIKE
        beyond = np.flatnonzero(~((excess <= SHARED) & ~far))
        return max(int(beyond[0]), 1) if len(beyond) else len(excess)

    first, count = 0, len(epsilon)
    while first < count:
        middle = first + reach(slice(first, first + 1), slice(first, count)) - 1
        last = middle + reach(slice(middle, count), slice(middle, middle + 1))
        yield first, middle, last
        first = last


def _shared(
    transform: LossTransform, epsilon: Array, saddle: Array, crossing: int, smallest: float
) -> Array:
    """One hyperbola for all of `epsilon` if it suits all of them, else one for each half."""
    value = _on_line(_Line.through(transform, float(saddle[crossing])), epsilon, smallest)
    if value is not None:
        return value
    half = len(epsilon) // 2
    parts = (slice(None, half), slice(half, None))
    return np.concatenate(
        [_shared(transform, epsilon[part], saddle[part], half // 2, smallest) for part in parts]
    )


def _on_line(line: _Line, epsilon: Array, smallest: float) -> Array | None:
    """The integral at each ε; None where several do not bend to one side, or lose their digits.

    Raises `NoExactSpectrum` where one ε by itself does. Two sums may differ by more than AGREE
    where the rounding of sε and of log M is seen: where δ falls as e^{−sε}, rounding ε changes as
    much.
    """
    alone = len(epsilon) == 1
    with np.errstate(under="ignore", over="ignore"):
        peak = np.exp(line.log_peak - line.crossing * epsilon)
        bend, end = line.best(epsilon)
        if not alone and abs(bend) != BENDS[0]:
            return None
        least = np.divide(smallest, peak, out=np.full_like(peak, np.inf), where=peak > 0.0)
        size = abs(line.crossing) * epsilon + abs(line.log_peak)
        agree = np.maximum(AGREE, ROUNDING * size)
        try:
            total = trapezoid(line.integrand(epsilon, bend), end, agree, least=least)
            return np.asarray(total * peak)
        except NoExactSpectrum:
            if alone:
                raise
    return None


@value_class(eq=True)
class _Line:
    """Hyperbolas through one real point; the integral is (1/π)∫₀^∞ Im of the integrand."""

    transform: LossTransform
    crossing: float
    scale: float
    log_peak: float

    @classmethod
    def through(cls, transform: LossTransform, crossing: float) -> _Line:
        here = np.array([crossing])
        return cls(
            transform,
            crossing,
            float(_scale(transform, here)[0]),
            float(transform.log_m(here + 0j)[0].real),
        )

    def integrand(self, epsilon: Array, bend: float) -> Integrand:
        """The integrand along u ↦ s(u), in units of its value on the real axis."""

        def value(u: np.ndarray) -> np.ndarray:
            s = self.crossing + self.scale * (bend * (np.cosh(u) - 1.0) + 1j * np.sinh(u))
            speed = self.scale * (bend * np.sinh(u) + 1j * np.cosh(u)) / (s * (s + 1.0))
            exponent = (
                self.transform.log_m(s)
                - np.multiply.outer(epsilon, s - self.crossing)
                - self.log_peak
            )
            exponent.real = np.minimum(exponent.real, OVERFLOW)
            return np.asarray(np.exp(exponent) * speed)

        return value

    def best(self, epsilon: Array) -> tuple[float, float]:
        """The bend (right > 0) on which the integrand ends soonest without growing, and its end.

        Near a branch point the side that is best far out can be the wrong one at first. Then a
        straighter line is taken, and at last a vertical one, on which the integrand never grows.
        """
        for bend in BENDS:
            ends = {slant: extent(self.integrand(epsilon, slant)) for slant in (bend, -bend)}
            slant = min(ends, key=lambda key: ends[key])
            if ends[slant] < np.inf:
                return slant, ends[slant]
            if len(epsilon) > 1:
                break  # their best bends may differ
        return 0.0, min(extent(self.integrand(epsilon, 0.0)), COARSE[-1])


def extent(integrand: Integrand) -> float:
    """Where every row has first fallen to NEGLIGIBLE of its largest value; infinite if one grows.

    The integrand of a bent line is not examined beyond that point: from there the line may be
    continued vertically, and no integrand grows along a vertical line.
    """
    size = np.abs(integrand(COARSE))
    largest = np.maximum.accumulate(size, axis=1)
    dead = np.flatnonzero(np.all(size <= NEGLIGIBLE * largest, axis=0))
    last = int(dead[0]) if len(dead) else len(COARSE) - 1
    if np.any(largest[:, last] > GROWTH * size[:, 0]):
        return float("inf")
    return float(COARSE[last])


def trapezoid(
    integrand: Integrand,
    end: float,
    agree: float | Array = AGREE,
    step: float = STEP,
    least: float | Array = 0.0,
) -> Array:
    """(1/π)∫₀^end Im integrand(u) du for each row of its values, (m, nodes).

    The imaginary part is even in u and vanishes at `end`, so the trapezoid rule converges fast. The
    step is halved until two sums agree to `agree`, (m,), or differ by less than `least`, (m,).
    Raises `NoExactSpectrum` where they do not.
    """
    total = step * np.sum(integrand(np.arange(1, int(end / step) + 1) * step).imag, axis=1)
    total += 0.5 * step * integrand(np.zeros(1)).imag[:, 0]
    for _ in range(HALVINGS):
        between = (np.arange(int(end / step)) + 0.5) * step
        last, total = total, 0.5 * (total + step * np.sum(integrand(between).imag, axis=1))
        step *= 0.5
        if np.all(np.abs(total - last) <= np.maximum(agree * np.abs(total), least)):
            return np.asarray(total / np.pi)
    return unresolved("two sums along a contour disagree")


def _scale(transform: LossTransform, s: Array) -> Array:
    """The length over which the integrand varies near s: by curvature, the poles, and the end."""
    return np.asarray(
        (transform.curvature(s) + s**-2.0 + (s + 1.0) ** -2.0 + (transform.end - s) ** -2.0) ** -0.5
    )


def _saddle(transform: LossTransform, epsilon: Array, start: float, stop: float) -> Array:
    """About where log M(s) − sε − log|s(s+1)| − log(end − s) is least in (start, stop).

    By bisection of its slope, as it is convex. The last term keeps away from the end: a pole of M
    there may be too faint to be seen.
    """
    tiny = transform.curvature(np.zeros(1))[0] < TINY
    reach, halvings = (FARTHER, MORE) if tiny else (DECADES, BISECTIONS)
    low, high = (
        np.full_like(epsilon, -reach if start == 0.0 else -NEAREST),
        np.full_like(epsilon, reach if np.isinf(stop) else NEAREST + np.log(max(stop, 1.0))),
    )
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        s = _unfold(middle, start, stop)
        rising = (
            transform.slope(s) - epsilon - 1.0 / s - 1.0 / (s + 1.0) + 1.0 / (transform.end - s)
            > 0.0
        )
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    return _unfold(0.5 * (low + high), start, stop)


def _unfold(y: Array, start: float, stop: float) -> Array:
    ratio = np.exp(y)
    if start < 0.0:
        return np.asarray(-1.0 / (1.0 + ratio))
    return np.asarray(stop / (1.0 + max(stop, 1.0) / ratio) if np.isfinite(stop) else ratio)
