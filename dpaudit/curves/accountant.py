"""δ(ε) by dp-accounting, of DP-SGD and of unlike releases: an upper bound with a lower twin.

The privacy losses of one release are moved to a grid, and dp-accounting convolves them over all
releases. Of DP-SGD all steps are released on the worst gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.curves.libraries import package
from dpaudit.curves.spectrum import Curve
from dpaudit.errors import NoExactSpectrum

GAP = 0.02  # nats: the losses of all releases are moved down by at most this for the lower curve
FINEST, WIDEST = 1e-5, 1e-4  # nats, of the grid of losses; a finer one takes more than 10 s
POINTS = 2e6  # on the grid of one step
ALL_POINTS = 2e7  # on the grid of all releases: 1 GB or so
TAIL = 2e-15  # mass that dp-accounting cuts off, or wraps around, when it convolves
UNIT = 2.0**-53
SAMPLES = {"poisson": "Poisson samples", "fixed": "samples of a fixed size"}
COARSEST = 1e-3  # nats, of the grid of composed curves
MOST = 1 << 18  # points on the grid of a composed curve, in each direction
UNSEEN = 1e-18  # the grid of a composed curve ends where δ falls below this
AT_ONCE = 1 << 12  # ε that a curve is asked for at a time
BEYOND = 1e9  # nats: δ there is the probability of an infinite loss


@value_class(show_numbers=True, eq=True)
class SampledGaussian:
    """The curve of Gaussian noise on sums over random samples, all steps released: two bounds.

    `delta` is an upper bound of δ(ε) of every such mechanism. `low` is a lower bound of δ(ε) of the
    worst one, which releases every noisy sum and whose record has the worst gradient in each step.

    sample_rate : in (0, 1], the probability that a record is in the sample of a step: of the larger
    database, if one record comes or goes and samples have a fixed size. noise_multiplier : > 0, the
    standard deviation of the noise over the bound of one record's value. relation : what D' does
    with a record of D: "remove" leaves it out, or has zeros for it (Poisson samples only); "add"
    has one more; "replace" another one in its place. sampling : "poisson", each record by itself,
    or "fixed", samples of a fixed size without replacement. spacing : the distance of the losses on
    the grid, nats; a larger one is faster and loosens both bounds. By default the bounds are as
    near to each other as they are in 10 s.

    Notes
    -----
    In a sample of fixed size a record that is drawn takes the place of another one, and moves the
    sum by up to twice its bound: one step has the laws (1 − q)N(y, σ²) + qN(x, σ²) and N(y, σ²)
    with |x − y| ≤ 2 (given the others, and by joint convexity). So a record that comes or goes has
    the curve of Poisson samples with half the noise. If x′ replaces x, y stays in both laws, and
    δ(ε) of a step is largest at y = x′ for ε ≥ 0 (Balle, Barthe & Gaboardi 2018). The upper bound
    composes this curve in both directions, which no pair has at once; the lower bound is that of
    y = x′ in all steps.

    Losses are rounded up by Doroshenko et al. 2022 ("Connect the Dots"), down by Meiser & Mohammadi
    2018 ("Tight on Budget?"); the worst gradients are those of Zhu, Dong & Wang 2022 and Schuchardt
    et al. 2024.
    """

    sample_rate: float
    noise_multiplier: float
    steps: int
    relation: str = "remove"
    sampling: str = "poisson"
    spacing: float | None = None

    def delta(self, epsilon: ArrayLike) -> tuple[Array, Array]:
        """Upper bounds of δ(ε) of D against D', and the reverse, in the shape of ε ≥ 0, nats.

        Raises ImportError without dp-accounting.
        """
        epsilon, (forward, backward) = check.epsilon(epsilon), self._rounded_up
        return forward.above(epsilon), backward.above(epsilon)

    def low(self, epsilon: ArrayLike) -> Array:
        """A lower bound of the larger δ of the worst mechanism, in the shape of `epsilon`."""
        epsilon = check.epsilon(epsilon)
        return np.max([losses.below(epsilon) for losses in self._rounded_down], axis=0)

    def renyi(self, order: float) -> tuple[float, float]:
        raise NoExactSpectrum(
            "an accountant's curve bounds δ(ε), not Rényi divergences; "
            "dpaudit.curves.sampled_gaussian has those of one step"
        )

    supremum = (np.inf, np.inf)

    @property
    def interval(self) -> float:
        """The distance of the losses on the grid, nats."""
        if self.spacing is not None:
            return self.spacing
        twice = self.relation == "replace" or self.sampling == "fixed"
        reach = 2.0 if twice else 1.0  # of a sum, in bounds of one record
        shift = reach / self.noise_multiplier
        # the deviation of one loss: that of q = 1, and for a small q by the χ² divergence
        deviation = min(shift, self.sample_rate * np.sqrt(np.expm1(min(shift**2, 500.0))))
        width = shift * (shift + 24.0)
        widest = max(width / POINTS, _width(self.steps, width, deviation**2) / ALL_POINTS)
        return max(min(WIDEST, GAP / self.steps), FINEST, widest)

    @property
    def law(self) -> str:
        relation = "replace one" if self.relation == "replace" else "add or remove one"
        return (
            f"upper bound by dp-accounting: {self.steps} steps of Gaussian noise on "
            f"{SAMPLES[self.sampling]}, {relation}, losses rounded to multiples of "
            f"{self.interval:.3g}"
        )

    @cached_property
    def _rounded_up(self) -> tuple[GridLosses, GridLosses]:
        return self._losses(up=True)

    @cached_property
    def _rounded_down(self) -> tuple[GridLosses, GridLosses]:
        return self._losses(up=False)

    def _losses(self, up: bool) -> tuple[GridLosses, GridLosses]:
        """The losses of all steps, rounded up or down: D against D', and the reverse."""
        distributions = package("dp_accounting.pld.privacy_loss_distribution")
        relations = package("dp_accounting").NeighboringRelation
        fixed, replaced = self.sampling == "fixed", self.relation == "replace"
        noise = self.noise_multiplier / 2.0 if fixed else self.noise_multiplier
        if fixed and replaced and up:
            losses = GridLosses.of([(self._replaced(noise), self.steps)])
            return losses, losses
        one = distributions.from_gaussian_mechanism(
            noise,
            pessimistic_estimate=up,
            value_discretization_interval=self.interval,
            sampling_prob=self.sample_rate,
            use_connect_dots=up,
            neighboring_relation=(
                relations.REPLACE_ONE if replaced and not fixed else relations.ADD_OR_REMOVE_ONE
            ),
        )
        # the masses of each direction, of which its own δ(ε) is a sum at one ε, and the larger
        removed = GridLosses.of([(one._pmf_remove, self.steps)])
        added = removed if one._symmetric else GridLosses.of([(one._pmf_add, self.steps)])
        return (added, removed) if self.relation == "add" else (removed, added)

    def _replaced(self, noise: float) -> Any:
        """A PLDPmf of one step whose δ(ε) for ε ≥ 0 is that of a removed record both ways."""
        mechanisms = package("dp_accounting.pld.privacy_loss_mechanism")
        removed = mechanisms.GaussianPrivacyLoss(
            noise,
            sampling_prob=self.sample_rate,
            adjacency_type=mechanisms.AdjacencyType.REMOVE,
        )
        count = int(np.ceil(removed.connect_dots_bounds().epsilon_upper / self.interval)) + 1
        delta = removed.get_delta_for_epsilon(self.interval * np.arange(count + 1.0))
        return _connected_losses(delta, delta, self.interval, 0.0)[0]


@value_class
class GridLosses:
    """δ of privacy losses on a grid: between them it is linear in e^ε.

    loss : (m,), nats, ascending from 0 to one beyond all finite ones. delta : (m,), δ there.
    rounding : how far a δ may be off by floating point. lost : the mass that does not count from
    below.
    """

    loss: Array
    delta: Array
    rounding: float
    lost: float = 0.0

    @classmethod
    def of(cls, parts: Sequence[tuple[Any, int]], lost: float = 0.0) -> GridLosses:
        """The losses of independent releases: each a PLDPmf of dp-accounting, and how often.

        The errors of a Fourier transform of length n are at most 7u log₂ n of its norm (Higham
        2002, theorem 24.2). A power of T releases has T times as much, and so has a product; m of
        the values have at most √m times their norm. The errors of powers and of products before
        the last fit into 8 instead of 7, and into two more for each part after the first. Masses
        and sums of them have errors of a few u of each P(L ≥ l), l > 0; all of these add up to
        E[L₊] in steps of the grid.
        """
        from scipy.signal import lfilter  # here: slow to import

        parts = [(one.to_dense_pmf(), times) for one, times in parts]
        with np.errstate(all="ignore"):  # masses below floats
            powers = (one.self_compose(times) if times > 1 else one for one, times in parts)
            whole = reduce(lambda first, second: first.compose(second), powers)
        grid, norms = whole._discretization, [float(np.linalg.norm(one._probs)) for one, _ in parts]
        count = max(len(whole._probs), *(len(one._probs) for one, _ in parts))
        total = sum(times * norm for (_, times), norm in zip(parts, norms, strict=True))
        total += (2.0 * len(parts) - 1.0) * max(norms)
        rounding = 8.0 * UNIT * np.log2(2.0 * count) * total * np.sqrt(count)
        rounding += 4.0 * UNIT * (_steps(whole) + sum(k * _steps(one) for one, k in parts))
        first, end = max(0, 1 - whole._lower_loss), whole._lower_loss + len(whole._probs)
        probability = whole._probs[first:]
        loss = grid * np.append(np.arange(whole._lower_loss + first, end), max(end, 1))
        mass = np.append(np.cumsum(probability[::-1])[::-1], 0.0)
        later = np.append(lfilter([1.0], [1.0, -np.exp(-grid)], probability[::-1])[::-1], 0.0)
        # Σ p (1 − e^{ε − l}) over the losses l above ε, which rounding may let rise
        delta = np.append(mass[0] - later[0] * np.exp(-loss[0]), mass - later)
        delta = np.maximum.accumulate(delta[::-1])[::-1] + float(whole._infinity_mass)
        return cls(np.append(0.0, loss), delta, float(rounding + len(parts) * TAIL), lost)

    def above(self, epsilon: Array) -> Array:
        return np.clip(self._delta(epsilon) + self.rounding, 0.0, 1.0)

    def below(self, epsilon: Array) -> Array:
        return np.clip(self._delta(epsilon) - self.rounding - self.lost, 0.0, 1.0)

    def _delta(self, epsilon: Array) -> Array:
        """δ at ε ≥ 0 before rounding is allowed for, a chord in e^ε between two losses."""
        epsilon = np.minimum(epsilon, self.loss[-1])
        place = np.minimum(np.searchsorted(self.loss, epsilon, side="right"), len(self.loss) - 1)
        near, far = self.loss[place - 1], self.loss[place]
        high, low = self.delta[place - 1], self.delta[place]
        share = np.exp(epsilon - far) * np.expm1(near - epsilon) / np.expm1(near - far)
        return np.asarray(np.maximum(high + share * (low - high), low))


def _steps(pmf: Any) -> float:
    """E[L₊] of a dense PLDPmf in steps of its grid."""
    return float(np.maximum(pmf._lower_loss + np.arange(len(pmf._probs)), 0.0) @ pmf._probs)


@value_class
class ComposedCurves:
    """The curve of independent releases that each have a curve: two bounds.

    parts : the curves, and how often each is released. names : what they are, in words.

    The losses of each release are moved to multiples of h such that its δ(ε) is kept there, and is
    a chord in e^ε between two of them ("Connect the Dots", Doroshenko et al. 2022). With d the δ of
    all T of them by dp-accounting, d(ε + Th) ≤ δ(ε) ≤ d(ε). Composition keeps the order of curves
    (Zhu, Dong & Wang 2022), so one release will do. The second inequality is that δ is convex in
    e^ε. For the first, δ(ε) is the integral of e^{ε − l}P(L > l) over l > ε. The tangent of δ at l
    has the value P(L > l) at e^ε = 0. There it is above each chord that begins at a larger ε, as
    that between the first two multiples of h after l, whose value is the one of d at l + h.

    The bounds hold up to the errors of the curves themselves. Losses beyond the ends of the grid
    count as infinite in the upper bound, and not at all in the lower one.
    """

    parts: tuple[tuple[Curve, int], ...]
    names: str

    def delta(self, epsilon: ArrayLike) -> tuple[Array, Array]:
        """Upper bounds of (forward, backward) δ at each ε ≥ 0, nats, in the shape of `epsilon`.

        Raises ImportError without dp-accounting.
        """
        epsilon, limits = check.epsilon(epsilon), self.supremum
        forward, backward = (
            np.where(epsilon < limit, losses.above(epsilon), 0.0)
            for losses, limit in zip(self._losses, limits, strict=True)
        )
        return forward, backward

    def low(self, epsilon: ArrayLike) -> Array:
        """A lower bound of the larger δ at each ε ≥ 0, nats, in the shape of `epsilon`."""
        later = check.epsilon(epsilon) + self.interval * sum(times for _, times in self.parts)
        return np.max([losses.below(later) for losses in self._losses], axis=0)

    def renyi(self, order: float) -> tuple[float, float]:
        both = [np.multiply(times, curve.renyi(order)) for curve, times in self.parts]
        forward, backward = np.sum(both, axis=0)
        return float(forward), float(backward)

    @cached_property
    def supremum(self) -> tuple[float, float]:
        forward, backward = np.sum([np.multiply(k, c.supremum) for c, k in self.parts], axis=0)
        return float(forward), float(backward)

    @property
    def law(self) -> str:
        return (
            f"upper bound by dp-accounting: {self.names}, losses moved to multiples of "
            f"{self.interval:.3g}"
        )

    @cached_property
    def interval(self) -> float:
        """The distance h of the losses on the grid, nats."""
        ends = np.array([[_end(curve, side) for side in (0, 1)] for curve, _ in self.parts])
        times, widths = [times for _, times in self.parts], ends.sum(axis=1)
        # the deviation of a loss is at most half of its range
        whole = sum(_width(k, w, w**2 / 4.0) for k, w in zip(times, widths, strict=True))
        wanted = min(COARSEST, GAP / sum(times))
        return float(max(wanted, FINEST, ends.max() / MOST, whole / ALL_POINTS))

    @cached_property
    def _losses(self) -> tuple[GridLosses, GridLosses]:
        both = [(_connected(curve, self.interval), k) for curve, k in self.parts]
        forward, backward = (
            GridLosses.of(
                [(each[side][0], k) for each, k in both],
                lost=sum(k * each[side][1] for each, k in both),
            )
            for side in (0, 1)
        )
        return forward, backward


def _width(times: int, width: float, variance: float) -> float:
    """About the range of losses that dp-accounting keeps of a power, by its Chernoff bounds."""
    if width == 0.0:
        return 0.0
    order = np.arange(1.0, 21.0)
    chernoff = np.min(order * times * variance / width - 2.0 * np.log(TAIL) * width / order)
    return float(min(times * width, chernoff))


def _end(curve: Curve, side: int) -> float:
    """The largest loss of a direction, or an ε from which on δ hardly falls any more."""
    if np.isfinite(curve.supremum[side]):
        return curve.supremum[side]
    with np.errstate(all="ignore"):
        infinite, far = float(curve.delta(BEYOND)[side]), 1.0
    while float(curve.delta(far)[side]) - infinite > UNSEEN and far < BEYOND:
        far *= 1.25
    return far


def _connected(curve: Curve, grid: float) -> list[tuple[Any, float]]:
    """The losses of each direction on the grid, and the mass that may not count from below."""
    counts = [int(np.ceil(_end(curve, side) / grid)) + 1 for side in (0, 1)]
    epsilon = grid * np.arange(max(counts) + 1.0)
    parts = [curve.delta(epsilon[i : i + AT_ONCE]) for i in range(0, len(epsilon), AT_ONCE)]
    forward, backward = (
        np.concatenate(side)[: count + 1]
        for side, count in zip(zip(*parts, strict=True), counts, strict=True)
    )
    with np.errstate(all="ignore"):
        infinite = [float(side) for side in curve.delta(BEYOND)]
    return [
        _connected_losses(forward, backward, grid, infinite[0]),
        _connected_losses(backward, forward, grid, infinite[1]),
    ]


def _connected_losses(
    forward: Array, backward: Array, grid: float, infinite: float
) -> tuple[Any, float]:
    """The losses of one direction from both curves at ε = 0, h, 2h, …

    The loss x of an outcome is −x in the other direction, where its probability is e^{−x} as large.
    """
    above, below = _masses(forward, grid), _masses(backward, grid)
    below *= np.exp(-grid * np.arange(1.0, len(below) + 1.0))
    negative = float(np.minimum(above, 0.0).sum() + np.minimum(below, 0.0).sum())  # by rounding
    above, below = np.maximum(above, 0.0), np.maximum(below, 0.0)
    zero = 1.0 - float(above.sum() + below.sum() + forward[-1])
    pmf = package("dp_accounting.pld.pld_pmf").DensePLDPmf(
        grid,
        -len(below),
        np.concatenate([below[::-1], [max(zero, 0.0)], above]),
        float(forward[-1]),
        True,
    )
    unseen = below[-1] + max(forward[-1] - infinite, 0.0)
    return pmf, float(unseen - negative - min(zero, 0.0))


def _masses(delta: Array, grid: float) -> Array:
    """The probability of the losses h, 2h, …, (m,), if δ at ε = 0, h, … is connected by chords."""
    fall = np.append(-np.diff(delta), 0.0)
    return fall[:-1] - np.diff(fall) / np.expm1(grid)
