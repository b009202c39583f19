"""Functions that take a database in a form of their own, and are told nothing else but a seed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpaudit._core import check
from dpaudit._core.shown.short_repr import short_repr
from dpaudit._core.types import Array, ArrayLike
from dpaudit.adapters.described import first_line, fixed, name_of
from dpaudit.adapters.seeding import seed_keywords, seeds
from dpaudit.adapters.tables.outputs import of_record, plain, unordered


class Form(Protocol):
    """How a database, (n, d) float64, is handed over."""

    def whole(self, data: Array) -> tuple[Any, ...]:
        """The positional arguments of one call."""
        ...

    def single(self, data: Array, number: int) -> tuple[Any, ...]:
        """Those of a call for one record."""
        ...

    @property
    def words(self) -> str:
        """What the function takes, for reports: "a list of float"."""
        ...


@dataclass(frozen=True, eq=False)
class Handed:
    """f(data, rng=...) → what a function returns for the database in another form.

    function, each, record : as in `values`. order : as in `records`. seeded : its keywords that
        take a seed.
    """

    function: Callable[..., Any]
    form: Form
    each: bool = False
    record: int | None = None
    order: bool = True
    seeded: tuple[str, ...] = ()

    __repr__ = short_repr

    def __call__(self, data: ArrayLike, *, rng: np.random.Generator) -> Any:
        """One output."""
        table = np.asarray(data, dtype=np.float64)
        if self.record is not None and self.record >= len(table):
            raise IndexError(f"record {self.record} of a database with {len(table)} records")
        if self.each:
            return self._separately(table, rng)
        output = plain(self._called(self.form.whole(table), rng))
        if self.record is not None:
            return of_record(output, self.record)
        return output if self.order else unordered(output)

    def _separately(self, table: Array, rng: np.random.Generator) -> Any:
        wanted = range(len(table)) if self.record is None else (self.record,)
        outputs = [plain(self._called(self.form.single(table, one), rng)) for one in wanted]
        if self.record is not None:
            return outputs[0]
        return outputs if self.order else unordered(outputs)

    def _called(self, arguments: tuple[Any, ...], rng: np.random.Generator) -> Any:
        return self.function(*arguments, **seeds(self.seeded, rng))

    @property
    def name(self) -> str:
        """The name of the function."""
        return name_of(self.function)

    @property
    def summary(self) -> str:
        """One line for reports: what goes in, and what is released."""
        calls = "called for each record" if self.each else f"takes {self.form.words}"
        only = "" if self.record is None else f"; audited is the output of record {self.record}"
        said = first_line(self.function)
        return f"{calls}{only}: {said}" if said else f"{calls}{only}"

    def parameters(self) -> dict[str, Any]:
        """The arguments that are fixed, as text where they are not numbers."""
        return fixed(self.function)


def handed(
    function: Callable[..., Any], form: Form, each: bool, record: int | None, order: bool = True
) -> Handed:
    """`Handed`, its arguments checked. Raises `InvalidInput`."""
    check.function("function", function, "a callable that takes the values or records")
    number = None if record is None else check.integer("record", record, 0)
    alone, ordered = check.boolean("each", each), check.boolean("order", order)
    return Handed(function, form, alone, number, ordered, seed_keywords(function))


def pandas() -> Any:
    """pandas, loaded when a function asks for it: it is no dependency. Raises ImportError."""
    return importlib.import_module("pandas")
