"""The exact spectrum of a mechanism on one pair of databases, and its privacy loss there."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from dpaudit._core import check
from dpaudit._core.types import Adjustable, Array, ArrayLike, Mechanism, describe
from dpaudit.curves.accountant import ComposedCurves, SampledGaussian
from dpaudit.curves.spectrum import Curve, Spectrum
from dpaudit.errors import NoExactSpectrum
from dpaudit.exact.composition import PrivacyLoss, compose
from dpaudit.exact.pairs.dispatch import curve_of_laws, limit
from dpaudit.exact.zeroed_rows import families
from dpaudit.laws import Law, StudentRows, ZeroedRows
from dpaudit.neighbours import NeighbourPair

LAWS = ("finite", "asymptotic")


@runtime_checkable
class KnownMechanism(Mechanism, Protocol):
    """A mechanism whose output law is known.

    `dpaudit.mechanisms.LawMechanism` describes each method.
    """

    def law(self, data: Array) -> Law: ...
    def zeroed_rows(self, data: Array) -> ZeroedRows: ...
    def replaced_rows(self, data: Array, candidates: Array) -> ZeroedRows: ...
    def added_row(self, data: Array, row_bound: float) -> ZeroedRows: ...
    def exceptional_rows(self, data: Array) -> tuple[int, ...]: ...
    def adjustable_parameter(self, name: str | None) -> Adjustable: ...
    def adjusted(self, parameter: str, value: float) -> Self: ...


@runtime_checkable
class BoundedMechanism(Mechanism, Protocol):
    """A mechanism of which an accountant bounds δ(ε), such as `dpaudit.mechanisms.DPSGD`."""

    def upper_curve(self, pair: NeighbourPair) -> SampledGaussian: ...


@runtime_checkable
class ComposedMechanism(Mechanism, Protocol):
    """Several releases of one database, such as `dpaudit.mechanisms.Composition`."""

    @property
    def mechanisms(self) -> tuple[KnownMechanism, ...]: ...
    @property
    def times(self) -> tuple[int, ...]: ...


def spectrum(
    mechanism: Mechanism, pair: NeighbourPair, epsilon: ArrayLike, *, law: str = "finite"
) -> Spectrum:
    """Exact δ(ε) of `mechanism` on a pair of databases; else, where there is one, an upper bound.

    Parameters
    ----------
    mechanism : mechanism
        One with a known output law (`dpaudit list mechanisms`), a `dpaudit.mechanisms.Composition`
        of such, or `dpaudit.mechanisms.DPSGD`.
    pair : NeighbourPair
        Forward is left against right.
    epsilon : float or array of shape (m,), nats
        ε ≥ 0.
    law : {"finite", "asymptotic"}, default "finite"
        "asymptotic" for the large-rows approximation of ALS and RPLS.

    Returns
    -------
    Spectrum
        With `forward`, `backward`, `law`, the `curve` itself, and `asymptotic` where both laws are
        known. The laws are those of real numbers: floats may leak more by their bits. Where `low`
        is set, `delta` is an upper bound and `low` a lower one: of δ(ε) itself for a composition of
        unlike releases, of the worst case (all noisy sums released, worst gradients) for DP-SGD.

    Raises
    ------
    ImportError
        For a bound without dp-accounting (``pip install "dpaudit[accountant]"``).
    NoExactSpectrum
        When none is known. Use `dpaudit.audit`, which needs none.
    DegenerateData
        When the data leave the law undefined.

    Examples
    --------
    >>> import dpaudit as dp
    >>> pair = dp.neighbours.zero_row([[1.0, 0.5], [1.0, -0.5], [1.0, 2.0]], 2)
    >>> curve = dp.exact.spectrum(dp.mechanisms.GaussMix(rows=5, sigma=4.0), pair, [0.0, 1.0])
    >>> print(curve.forward, curve.backward)
    [0.1580278  0.01350408] [0.1580278 0.       ]
    """
    epsilon, law = check.epsilon(epsilon), check.choice("law", law, LAWS)
    bound: SampledGaussian | ComposedCurves
    if isinstance(mechanism, BoundedMechanism):
        bound = mechanism.upper_curve(pair)
    else:
        try:
            return exact_spectrum(mechanism, pair, epsilon, law)
        except NoExactSpectrum:
            if not isinstance(mechanism, ComposedMechanism):
                raise
            bound = _composed(mechanism, pair, law)
    return spectrum_of(bound, bound.law, epsilon).replace(low=bound.low(epsilon))


def exact_spectrum(
    mechanism: Mechanism, pair: NeighbourPair, epsilon: Array, law: str = "finite"
) -> Spectrum:
    """The spectrum where it is exact, arguments and errors as of `spectrum`."""
    curve, name = curve_on_pair(mechanism, pair, law)
    result = spectrum_of(curve, name, epsilon)
    if law == "asymptotic" or not isinstance(
        _family(known_mechanism(mechanism), pair), StudentRows
    ):
        return result
    try:
        limit = curve_on_pair(mechanism, pair, "asymptotic")[0].delta(epsilon)
    except NoExactSpectrum:  # it is not known to checked accuracy
        return result
    return result.replace(asymptotic=np.maximum(*limit))


def _composed(mechanism: ComposedMechanism, pair: NeighbourPair, law: str) -> ComposedCurves:
    """The bounds of unlike releases; those with moment functions are composed first."""
    parts = [
        (*curve_on_pair(part, pair, law), times)
        for part, times in zip(mechanism.mechanisms, mechanism.times, strict=True)
    ]
    known = [(curve, k) for curve, _, k in parts if isinstance(curve, PrivacyLoss)]
    rest = [(curve, k) for curve, _, k in parts if not isinstance(curve, PrivacyLoss)]
    if known:
        rest.append((compose(*zip(*known, strict=True)), 1))
    name = " + ".join(f"{k} × {name}" if k > 1 else name for _, name, k in parts)
    return ComposedCurves(tuple(rest), name)


def privacy_loss(mechanism: Mechanism, pair: NeighbourPair, *, law: str = "finite") -> PrivacyLoss:
    """The privacy loss of `mechanism` on a pair, to be composed with others.

    Arguments and errors are those of `spectrum`. It also raises `NoExactSpectrum` where the loss
    has no moment function to compose, as that of Laplace noise, and of ALS and RPLS at finite rows.
    """
    curve, name = curve_on_pair(mechanism, pair, law)
    if not isinstance(curve, PrivacyLoss):
        use = "dpaudit.exact.spectrum on a dpaudit.mechanisms.Composition"
        if law == "finite" and isinstance(
            curve_on_pair(mechanism, pair, "asymptotic")[0], PrivacyLoss
        ):
            use = "law='asymptotic'"
        raise NoExactSpectrum(
            f"{name} has no moment function to compose; use {use}, or dpaudit.audit"
        )
    return curve


def curve_on_pair(mechanism: Mechanism, pair: NeighbourPair, law: str) -> tuple[Curve, str]:
    """The curve of a mechanism on a pair and the name of its law; errors as of `spectrum`."""
    check.choice("law", law, LAWS)
    known = known_mechanism(mechanism)
    family = _family(known, pair)
    if family is not None:
        assert pair.index is not None
        return families.curve(family, pair.index, law)
    left, right = known.law(pair.left), known.law(pair.right)
    if law == "asymptotic":
        left, right = limit(left), limit(right)
    return curve_of_laws(left, right)


def spectrum_of(curve: Curve, name: str, epsilon: Array) -> Spectrum:
    return Spectrum.of_directions(epsilon, *curve.delta(epsilon), name).replace(curve=curve)


def known_mechanism(mechanism: Any) -> KnownMechanism:
    """The mechanism, which must know its output law. Raises `NoExactSpectrum`."""
    if not isinstance(mechanism, KnownMechanism):
        name = describe(mechanism)[0]
        raise NoExactSpectrum(
            f"{name} has no known output law; use dpaudit.audit, which needs only its draws"
        )
    return mechanism


def _family(known: KnownMechanism, pair: NeighbourPair) -> ZeroedRows | None:
    """The mechanism's family of zeroed rows where the pair is one of its entries, else None."""
    if pair.relation != "zero-out" or pair.index in known.exceptional_rows(pair.left):
        return None
    return zeroed_rows(known, pair.left)


def zeroed_rows(known: KnownMechanism, data: Array) -> ZeroedRows | None:
    """The mechanism's family of zeroed rows, None where it does not say what they change."""
    try:
        return known.zeroed_rows(data)
    except NoExactSpectrum:
        raise
    except NotImplementedError:
        return None
