"""δ(ε) of DP-SGD by dp-accounting: an upper bound with a lower twin.

dp-accounting rounds the privacy losses of one step to a grid, up for one curve and down for the
other, and convolves them over the steps. All steps are released on the worst pair of gradients.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.curves.libraries import package
from dpaudit.errors import NoExactSpectrum

GAP = 0.02  # nats: rounding down moves the losses of all steps by at most this
FINEST, WIDEST = 1e-5, 1e-4  # nats, of the grid of losses; a finer one takes more than 10 s
POINTS = 2e6  # on the grid of one step
TAIL = 2e-15  # mass that dp-accounting cuts off, or wraps around, when it convolves
UNIT = 2.0**-53


@value_class(show_numbers=True, eq=True)
class SampledGaussian:
    """The curve of Gaussian noise on sums over Poisson samples, all steps released: two bounds.

    `delta` is an upper bound of δ(ε) of every such mechanism. `low` is a lower bound of δ(ε) of the
    worst one, which releases every noisy sum and whose record has the worst gradient in each step.

    Attributes
    ----------
    sample_rate : float in (0, 1]
        The probability that a record is in the sample of a step.
    noise_multiplier : float > 0
        The standard deviation of the noise over the bound of one record's value.
    steps : int ≥ 1
        The number of steps.
    relation : {"remove", "add", "replace"}
        What D' does with a record of D: leaves it out, or has zeros for it; has one more; has
        another one in its place.
    spacing : float, optional
        The distance of the losses on the grid, nats. A larger one is faster and loosens both
        bounds. By default the bounds are as near to each other as they are in 10 s.

    References
    ----------
    Doroshenko et al. 2022 ("Connect the Dots") for the losses rounded up; Meiser & Mohammadi 2018
    ("Tight on Budget?") for those rounded down; Zhu, Dong & Wang 2022 and Schuchardt et al. 2024
    for the worst gradients.
    """

    sample_rate: float
    noise_multiplier: float
    steps: int
    relation: str = "remove"
    spacing: float | None = None

    def delta(self, epsilon: ArrayLike) -> tuple[Array, Array]:
        """Upper bounds of δ(ε) of D against D', and the reverse; ε ≥ 0, nats, gives the shape.

        Raises ImportError without dp-accounting.
        """
        forward, backward = self._rounded_up
        return forward.above(np.asarray(epsilon)), backward.above(np.asarray(epsilon))

    def low(self, epsilon: ArrayLike) -> Array:
        """A lower bound of the larger δ of the worst mechanism, in the shape of `epsilon`."""
        forward, backward = self._rounded_down
        return np.maximum(forward.below(np.asarray(epsilon)), backward.below(np.asarray(epsilon)))

    def renyi(self, order: float) -> tuple[float, float]:
        """Raises `NoExactSpectrum`: losses on a grid bound δ alone."""
        raise NoExactSpectrum(
            "an accountant's curve bounds δ(ε), not Rényi divergences; "
            "dpaudit.curves.sampled_gaussian has those of one step"
        )

    @property
    def supremum(self) -> tuple[float, float]:
        """The loss is unbounded."""
        return np.inf, np.inf

    @property
    def interval(self) -> float:
        """The distance of the losses on the grid, nats."""
        if self.spacing is not None:
            return self.spacing
        reach = 2.0 if self.relation == "replace" else 1.0  # of a sum, in bounds of one record
        widest = reach / self.noise_multiplier * (reach / self.noise_multiplier + 24.0)
        return max(min(WIDEST, GAP / self.steps), FINEST, widest / POINTS)

    @property
    def law(self) -> str:
        """The curve in words, for `Spectrum.law`."""
        relation = "replace one" if self.relation == "replace" else "add or remove one"
        return (
            f"upper bound by dp-accounting: {self.steps} steps of Gaussian noise on Poisson "
            f"samples, {relation}, losses rounded to multiples of {self.interval:.3g}"
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
        replaced = self.relation == "replace"
        one = distributions.from_gaussian_mechanism(
            self.noise_multiplier,
            pessimistic_estimate=up,
            value_discretization_interval=self.interval,
            sampling_prob=self.sample_rate,
            use_connect_dots=up,
            neighboring_relation=relations.REPLACE_ONE if replaced else relations.ADD_OR_REMOVE_ONE,
        )
        # the masses of each direction, of which its own δ(ε) is a sum at one ε, and the larger
        removed = GridLosses.of(one._pmf_remove, self.steps)
        added = removed if one._symmetric else GridLosses.of(one._pmf_add, self.steps)
        return (added, removed) if self.relation == "add" else (removed, added)


@value_class
class GridLosses:
    """Privacy losses on a grid with their probabilities, m of them above 0.

    loss : (m,), nats, ascending. mass : (m + 1,), the probability of each loss and those after it.
    discounted : (m + 1,), the sum of p e^{l − l'} over each loss l and those l' after it. infinite
    : the probability of an infinite loss. rounding : how far a δ may be off by floating point.
    """

    loss: Array
    mass: Array
    discounted: Array
    infinite: float
    rounding: float

    @classmethod
    def of(cls, one: Any, steps: int) -> GridLosses:
        """The losses of `steps` independent releases. one : a PLDPmf of dp-accounting.

        The errors of a Fourier transform of length n are at most 7u log₂ n of its norm (Higham
        2002, theorem 24.2). A power of T steps has T times as much, and m of the values at most
        √m times their norm; the errors of the power fit into 8 instead of 7.
        """
        from scipy.signal import lfilter  # here: slow to import

        one = one.to_dense_pmf()
        whole = one.self_compose(steps)
        grid, norm = whole._discretization, float(np.linalg.norm(one._probs))
        count = max(len(whole._probs), len(one._probs))
        rounding = 8.0 * UNIT * np.log2(2.0 * count) * (steps + 1) * norm * np.sqrt(count)
        first = max(0, 1 - whole._lower_loss)
        probability = whole._probs[first:]
        return cls(
            grid * (whole._lower_loss + first + np.arange(len(probability))),
            np.append(np.cumsum(probability[::-1])[::-1], 0.0),
            np.append(lfilter([1.0], [1.0, -np.exp(-grid)], probability[::-1])[::-1], 0.0),
            float(whole._infinity_mass),
            float(rounding + TAIL),
        )

    def above(self, epsilon: Array) -> Array:
        """δ of these losses, rounded up, in the shape of `epsilon`, nats."""
        return np.clip(self._delta(epsilon) + self.rounding, 0.0, 1.0)

    def below(self, epsilon: Array) -> Array:
        """δ of these losses, rounded down, in the shape of `epsilon`, nats."""
        return np.clip(self._delta(epsilon) - self.rounding, 0.0, 1.0)

    def _delta(self, epsilon: Array) -> Array:
        """P(L = ∞) + Σ p (1 − e^{ε − l}) over the losses l above ε."""
        after = np.searchsorted(self.loss, epsilon, side="right")
        next_loss = np.append(self.loss, np.inf)[after]
        shift = np.exp(np.asarray(epsilon) - next_loss)
        return np.asarray(self.infinite + self.mass[after] - shift * self.discounted[after])
