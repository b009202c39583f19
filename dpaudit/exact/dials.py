"""What can be turned on a mechanism to make it more private: the fields in which the exact worst case is monotone."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from dpaudit._check import Array, fail
from dpaudit.errors import InvalidInput, NoExactSpectrum
from dpaudit.mechanisms import (
    ALS,
    RPLS,
    AdditiveWishart,
    AnalyzeGauss,
    GaussianInverse,
    GaussianLS,
    GaussMix,
    InverseWishartDraw,
    RandomProjection,
    SufficientStatistics,
    WishartDraw,
)
from dpaudit.mechanisms.base import LawMechanism, describe


@dataclass(frozen=True)
class Dial:
    """A field of a mechanism in which the exact worst case is monotone.

    private : +1 where more of it is more private (noise), −1 where less is (sketch rows).
    whole : an integer. by_columns : its least value is the number of columns of the data, else 1.
    zero : 0 is allowed.
    """

    name: str
    private: int = 1
    whole: bool = False
    by_columns: bool = False
    zero: bool = False

    def least(self, data: Array) -> float | None:
        """The smallest value that there is; None if there is none above 0."""
        if self.whole:
            return data.shape[1] if self.by_columns else 1
        return 0.0 if self.zero else None


# Gaussian noise, padding and rows of noise or sketch: the more private release is the other one post-processed. The
# scale of Wishart noise and the rows of ALS and RPLS are RELIED ON: δ grows with vᵀV⁻¹v, and with the rows at given
# leverage and residual share (tests/exact/test_calibrate.py: random settings).
# The first of each is the default.
DIALS: dict[type[LawMechanism], tuple[Dial, ...]] = {
    ALS: (Dial("rows", -1, whole=True, by_columns=True),),
    RPLS: (Dial("rows", -1, whole=True, by_columns=True),),
    GaussianLS: (Dial("sigma"),),
    RandomProjection: (Dial("padding", zero=True), Dial("rows", -1, whole=True)),
    GaussMix: (Dial("sigma"), Dial("rows", -1, whole=True)),
    WishartDraw: (Dial("padding", zero=True), Dial("dof", -1, whole=True)),
    InverseWishartDraw: (Dial("padding", zero=True), Dial("dof", -1, whole=True, by_columns=True)),
    AdditiveWishart: (Dial("scale"), Dial("dof", 1, whole=True, by_columns=True)),
    AnalyzeGauss: (Dial("sigma"),),
    GaussianInverse: (Dial("sigma"),),
    SufficientStatistics: (Dial("sigma_gram"), Dial("sigma_cross")),
}
NOT_MONOTONE = (
    "δ of padded least squares is not monotone in the padding (it shrinks leverages, but a row may come to explain "
    "more of the residuals): calibrate its rows at a padding of your choice"
)


def turned(mechanism: Any, dial: Dial, value: float) -> Any:
    """The mechanism with the dial at `value`; `GaussianLS` forgets the proposition that its noise came from."""
    rest = dict.fromkeys(("epsilon", "delta", "sensitivity")) if isinstance(mechanism, GaussianLS) else {}
    return dataclasses.replace(mechanism, **rest, **{dial.name: value})


def find(mechanism: Any, parameter: str | None) -> Dial:
    """The dial of that name, or the class's first. Raises `InvalidInput`, `NoExactSpectrum`."""
    name = describe(mechanism)[0]
    if not isinstance(mechanism, LawMechanism):
        raise NoExactSpectrum(f"{name} has no known output law to calibrate; use dpaudit.audit, which needs only draws")
    dials = next((DIALS[kind] for kind in type(mechanism).__mro__ if kind in DIALS), ())
    if isinstance(mechanism, RPLS):
        if parameter in ("padding", "epsilon", "delta", "row_bound"):
            raise InvalidInput(f"parameter must be 'rows' for {name}, got {parameter!r}: {NOT_MONOTONE}")
        if mechanism.padding is None:
            fail("mechanism", mechanism, "an RPLS with `padding`, which by epsilon and delta would grow with the rows")
    known = {dial.name: dial for dial in dials}
    chosen = parameter if parameter is not None or not known else dials[0].name
    if chosen not in known:
        if not known:
            raise InvalidInput(f"mechanism must be one with a dial in which δ is monotone, got {name}, which has none")
        fail("parameter", parameter, f"{' or '.join(map(repr, known))}, in which δ of {name} is monotone")
    return known[chosen]
