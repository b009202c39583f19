"""The base class of mechanisms whose output law is known: a database is mapped to a law."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import fail
from dpaudit._core.seeds import as_generator
from dpaudit._core.types import Adjustable, Array, ArrayLike, RngLike, Sampler
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput, NoExactSpectrum
from dpaudit.laws import Law, ZeroedRows
from dpaudit.mechanisms.parameters import check_fields
from dpaudit.neighbours import NeighbourPair


class LawMechanism:
    """A mechanism whose output law is known.

    Subclasses are dataclasses of their parameters. They give `law` and, for a zeroed row,
    `zeroed_rows`. Making one raises `InvalidInput` for a parameter that is not as described; a call
    does so for data that are not, and raises `DegenerateData` for data that leave the law
    undefined.

    Attributes
    ----------
    summary : str
        One line for lists and reports.
    claimed : str
        What the source claims, in words.
    regression : bool
        Whether it fits the last column by the others. A scenario then names that column and puts a
        column of ones before the others.
    no_added_row : str
        Why there is no worst added row, as the error says it after "M has".
    adjustable : tuple of Adjustable
        The parameters that `dpaudit.exact.calibrate` may set, its default first.
    zero_rows_matter : bool
        Whether a row of zeros changes the law. Where it does not, a removed row is a zeroed one.
    """

    summary: ClassVar[str] = ""
    claimed: ClassVar[str] = ""
    regression: ClassVar[bool] = False
    zero_rows_matter: bool = True
    no_added_row: ClassVar[str] = "no closed form for the worst row within a bound"

    # The worst-case δ must be monotone in an adjustable parameter. It is monotone where the more
    # private release can be made from the other one (post-processing). That holds for more Gaussian
    # noise, more padding, more rows of Wishart noise (rows are added one by one), a larger scale of
    # Wishart noise (`dpaudit.exact.zeroed_rows.families`), and fewer rows of a sketch or degrees of
    # freedom of a draw. One case is RELIED ON, not proved; the tests of calibration check it at
    # random settings: the rows of ALS and RPLS, that δ grows with the rows at given leverage and
    # residual share.
    adjustable: ClassVar[tuple[Adjustable, ...]] = ()

    def __post_init__(self) -> None:
        check_fields(self)

    def law(self, data: Array) -> Law:
        """The law of one output on `data` (n, d)."""
        raise NotImplementedError

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        """The pairs (M(D), M(D with row i zeroed)) for all rows i."""
        raise NotImplementedError

    def replaced_rows(self, data: Array, candidates: Array) -> ZeroedRows:
        """The pairs (M(D), M(D with row i replaced by candidates[j])), as entry i·m + j.

        The database has shape (n, d), the candidates (m, d). Raises `NoExactSpectrum` where there
        is no closed form.
        """
        raise NoExactSpectrum(
            f"{self.name} has no closed form for all replacements at once; "
            "use dpaudit.exact.spectrum on one pair where one is known "
            "(neighbours.replace_row), else dpaudit.audit"
        )

    def added_row(self, data: Array, row_bound: float) -> ZeroedRows:
        """The worst pair (M(D with one more row), M(D)) over all rows of norm ≤ row_bound.

        It is a family of one entry. Raises `NoExactSpectrum` where there is no closed form.
        """
        raise NoExactSpectrum(
            f"{self.name} has {self.no_added_row}; "
            "use dpaudit.exact.spectrum on the pair of one added row"
        )

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        """Rows that `zeroed_rows` does not describe, as zeroing them changes more than the row."""
        return ()

    def prepare(self, data: Array) -> Sampler:
        """A function (size, rng) → (size, k) draws, after the work that all draws share."""
        return self.law(data).sample

    def __call__(self, data: ArrayLike, size: int, *, rng: RngLike = None) -> Array:
        """Independent outputs.

        Parameters
        ----------
        data : array of shape (n, d)
            The database.
        size : int
            Number of outputs.
        rng : seed or Generator, optional
            As `numpy.random.default_rng` takes it.

        Returns
        -------
        array of shape (size, k)
        """
        data = check.matrix("data", data)
        return self.prepare(data)(check.integer("size", size, 1), as_generator(rng))

    def adjustable_parameter(self, name: str | None) -> Adjustable:
        """The adjustable parameter of that name; the default for None. Raises `InvalidInput`."""
        if not self.adjustable:
            raise InvalidInput(
                "mechanism must be one with a parameter in which δ is monotone, "
                f"got {self.name}, which has none"
            )
        known = {parameter.name: parameter for parameter in self.adjustable}
        chosen = self.adjustable[0].name if name is None else name
        if chosen not in known:
            choices = " or ".join(map(repr, known))
            fail("parameter", name, f"{choices}, in which δ of {self.name} is monotone")
        return known[chosen]

    def adjusted(self, parameter: str, value: float) -> Self:
        """A copy with another value of one parameter."""
        return dataclasses.replace(self, **{parameter: value})  # type: ignore[type-var]

    @property
    def claim(self) -> Claim | None:
        """The privacy that the mechanism's source claims for it, if any."""
        return None

    @property
    def name(self) -> str:
        """The name of the class, by which scenarios and reports know the mechanism."""
        return type(self).__name__

    def parameters(self) -> dict[str, Any]:
        """Parameters by name; those that are None are left out."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {f.name: getattr(self, f.name) for f in fields if getattr(self, f.name) is not None}


class PrintedMechanism(LawMechanism):
    """A mechanism whose sampler is an algorithm as printed, step by step, with its claim.

    Subclasses give `pair`, and `run` where the algorithm is more than a draw of its law.
    """

    epsilon: float
    delta: float

    @property
    def claim(self) -> Claim:
        """(ε, δ)-DP at the parameters `epsilon` and `delta`, unless a subclass claims otherwise."""
        return Claim(self.epsilon, self.delta)

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """The algorithm: (size, k) independent draws."""
        return self.law(data).sample(size, rng)

    def prepare(self, data: Array) -> Sampler:
        """A function (size, rng) → draws of the algorithm itself, not of `law`."""
        data = check.matrix("data", data)
        return lambda size, rng: self.run(data, size, rng)

    def pair(self) -> NeighbourPair:
        """Two neighbouring databases that use up the claim, or break it where it does not hold.

        A scenario with `relation = "pair"` audits the mechanism on them.
        """
        raise NotImplementedError
