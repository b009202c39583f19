"""The base classes of mechanisms that can state the law of their output on a given database.

A new mechanism is one class, decorated with `@value_class(show_numbers=True, eq=True)`, whose
parameters are annotated fields (`dpaudit.mechanisms.parameters`). Its base class says what it
defines: `LawMechanism` if its output law is all that there is, `ExampleMechanism` for the zoo, or
`dpaudit.papers.algorithm.Algorithm` for an algorithm of a paper. It is then listed: in `OWN` of
`dpaudit.mechanisms` or `PAPERS` of `dpaudit.papers`, by which a scenario finds it. The zoo lists
itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.seeds import as_generator
from dpaudit._core.types import Adjustable, Array, ArrayLike, RngLike, Sampler
from dpaudit._core.value import Class, value_class
from dpaudit.curves.claims import Claim
from dpaudit.errors import InvalidInput, NoExactSpectrum
from dpaudit.laws import Law, ZeroedRows
from dpaudit.mechanisms.parameters import Positive, check_fields
from dpaudit.neighbours import NeighbourPair


class LawMechanism:
    """A mechanism whose output law (its probability distribution) is known for every database.

    Subclasses are dataclasses of their parameters. They define `law` and, where one row may be set
    to zeros, `zeroed_rows`. The constructor raises `InvalidInput` for an invalid parameter. A call
    raises `InvalidInput` for invalid data, and `DegenerateData` for data on which the law is
    undefined.

    Attributes
    ----------
    summary, claimed : str
        One line for lists and reports (by default the docstring's first), and the source's claim.
    regression : bool
        Whether the mechanism regresses the last column on the others. A scenario file must then
        name the label column, and a column of ones is put before the features.
    no_added_row : str
        The reason why `added_row` has no answer. It ends the error message "{name} has …".
    adjustable : tuple of Adjustable
        The parameters that `dpaudit.exact.calibrate` may set; the first is its default.
    zero_rows_matter : bool
        Whether a row of zeros changes the law. Where it does not, removing a row has the same
        effect as replacing it by zeros.
    """

    summary: ClassVar[str] = ""
    claimed: ClassVar[str] = ""
    regression: ClassVar[bool] = False
    zero_rows_matter: bool = True
    no_added_row: ClassVar[str] = "no closed form for the worst row within a bound"

    # The worst-case δ must be monotone in an adjustable parameter. It is monotone where the more
    # private release can be computed from the less private one (post-processing). That holds for
    # more Gaussian noise, more padding, more rows of Wishart noise (rows are added one by one), a
    # larger scale of Wishart noise (`dpaudit.exact.zeroed_rows.families`), and fewer rows of a
    # sketch or degrees of freedom of a draw. One case is RELIED ON without a proof: for ALS and
    # RPLS, at fixed leverage and residual share, δ grows with the number of sketch rows. The tests
    # of calibration check this at random settings.
    adjustable: ClassVar[tuple[Adjustable, ...]] = ()

    def __init_subclass__(cls) -> None:
        if "summary" not in cls.__dict__ and cls.__doc__:
            cls.summary = cls.__doc__.partition("\n")[0]

    def __post_init__(self) -> None:
        check_fields(self)

    def law(self, data: Array) -> Law:
        """The probability law of one output on the database `data`, shape (n, d)."""
        raise NotImplementedError

    def zeroed_rows(self, data: Array) -> ZeroedRows:
        """The pairs of laws (M(D), M(D with row i set to zeros)), for all rows i at once."""
        raise NotImplementedError

    def replaced_rows(self, data: Array, candidates: Array) -> ZeroedRows:
        """The pairs of laws (M(D), M(D with row i replaced by candidates[j])), for all i and j.

        The database has shape (n, d) and the candidates (m, d); entry i·m + j is the pair for i and
        j. Raises `NoExactSpectrum` where no closed form is known.
        """
        raise NoExactSpectrum(
            f"{self.name} has no closed form for all replacements at once; "
            "use dpaudit.exact.spectrum on one pair where one is known "
            "(neighbours.replace_row), else dpaudit.audit"
        )

    def added_row(self, data: Array, row_bound: float) -> ZeroedRows:
        """The pair of laws (M(D with one more row), M(D)) of the least private row of norm ≤
        row_bound.

        The result has one entry. Raises `NoExactSpectrum` where no closed form is known.
        """
        raise NoExactSpectrum(
            f"{self.name} has {self.no_added_row}; "
            "use dpaudit.exact.spectrum on the pair of one added row"
        )

    def exceptional_rows(self, data: Array) -> tuple[int, ...]:
        """The rows for which `zeroed_rows` is wrong: one also changes a quantity such as a norm."""
        return ()

    def prepare(self, data: Array) -> Sampler:
        """A sampler (size, rng) → (size, k) of outputs on `data`; shared work is done only once."""
        return self.law(data).sample

    def __call__(self, data: ArrayLike, size: int, *, rng: RngLike = None) -> Array:
        """Draw independent outputs (size, k) on `data` (n, d).

        rng : anything that `numpy.random.default_rng` accepts.
        """
        data = check.matrix("data", data)
        return self.prepare(data)(check.integer("size", size, 1), as_generator(rng))

    def adjustable_parameter(self, name: str | None) -> Adjustable:
        """The entry of `adjustable` called `name`, or the first for None. Raises `InvalidInput`."""
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
        """A copy of the mechanism in which the named parameter has the new value."""
        return dataclasses.replace(self, **{parameter: value})  # type: ignore[type-var]

    @property
    def claim(self) -> Claim | None:
        """The privacy that the mechanism's source claims, or None if it claims none."""
        return None

    @property
    def name(self) -> str:
        """The name of the class, by which scenarios and reports know the mechanism."""
        return type(self).__name__

    def parameters(self) -> dict[str, Any]:
        """The parameters by name, without those whose value is None."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {f.name: getattr(self, f.name) for f in fields if getattr(self, f.name) is not None}


class PrintedMechanism(LawMechanism):
    """A published algorithm: it is sampled by its printed steps, and has the printed claim.

    Subclasses define `pair`. They define `run` too, unless a draw from `law` is the algorithm.
    """

    epsilon: float

    @property
    def claim(self) -> Claim:
        """(ε, δ)-DP at the parameters `epsilon` and `delta`, or pure ε-DP where it has no `delta`,
        unless a subclass claims otherwise.
        """
        return Claim(self.epsilon, getattr(self, "delta", 0.0))

    def run(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Run the algorithm `size` times on `data`; returns independent outputs, (size, k)."""
        return self.law(data).sample(size, rng)

    def prepare(self, data: Array) -> Sampler:
        data = check.matrix("data", data)
        return lambda size, rng: self.run(data, size, rng)

    def pair(self) -> NeighbourPair:
        """Two neighbouring databases on which the mechanism is meant to lose the most privacy.

        A scenario with `relation = "pair"` audits the mechanism on them.
        """
        raise NotImplementedError


class ExampleMechanism(PrintedMechanism):
    """A mechanism of `ZOO`: its law is known, and it is known whether its claim is true.

    Subclasses define `law`, and either `databases` or `pair`. They define `run` too, unless a draw
    from `law` is the algorithm.

    Attributes
    ----------
    sound : bool
        Whether the claim is true.
    source : str
        Where the algorithm comes from.
    databases : tuple of two arrays
        The two databases of `pair`, if they depend on no parameter.
    published_databases : tuple of two arrays, or None
        The two databases of the published audits, or None if they are those of `pair`.
    """

    sound: ClassVar[bool] = True
    source: ClassVar[str]
    databases: ClassVar[tuple[ArrayLike, ArrayLike]]
    published_databases: ClassVar[tuple[ArrayLike, ArrayLike] | None] = None

    epsilon: Positive

    def view(self, x: Array) -> Array:
        """Map outputs (m, k) one-to-one to numbers whose law is `law`; the identity by default."""
        return x

    def pair(self) -> NeighbourPair:
        return pair_of(*self.databases)

    def published_pair(self) -> NeighbourPair:
        published = self.published_databases
        return self.pair() if published is None else pair_of(*published)


@dataclass_transform(frozen_default=True)
def example(source: str, *, sound: bool = True) -> Callable[[Class], Class]:
    """Make a class of parameters an example mechanism with this source; `sound` as above."""

    def make(cls: Class) -> Class:
        cls.source, cls.sound = source, sound
        return value_class(show_numbers=True, eq=True)(cls)

    return make


def column(data: ArrayLike) -> Array:
    """The values (n,) of a database with one column. Raises `InvalidInput` for more columns."""
    data = check.matrix("data", data)
    if data.shape[1] != 1:
        fail("data", Words(f"{data.shape[1]} columns"), "one column of numbers")
    return np.asarray(data[:, 0])


def pair_of(left: ArrayLike, right: ArrayLike) -> NeighbourPair:
    """The pair of two databases, each a list of numbers (one column) or of rows."""
    first, second = (np.asarray(side, dtype=np.float64) for side in (left, right))
    if first.ndim == 1:
        first, second = first[:, None], second[:, None]
    return NeighbourPair(first, second)
