"""Callables of the user's, as a scenario names them. No code of theirs runs before `load`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit import adapters
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.adapters.models import FITTED
from dpaudit.errors import ScenarioError
from dpaudit.mechanisms import LawMechanism
from dpaudit.neighbours import NeighbourPair
from dpaudit.run.imports import Imports
from dpaudit.run.scenario.table import Table, mapping
from dpaudit.run.scenario.target import failed, imported, target_text
from dpaudit.run.scenario.user_mechanism.form import SEEDS, Form, read_form
from dpaudit.sampling.form import check_mechanism, gives_one, takes_rng


@dataclass(frozen=True)
class Source:
    """What a user's mechanism is made of, as far as it can be found without running it.

    files : its own. packages : the installed distributions that it imports. own : digests of those
    that hold the mechanism itself.
    programs : the file of a program by its name, None where there is none.
    """

    files: set[Path] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)
    programs: Mapping[str, Path | None] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A mechanism "package.module:callable".

    With parameters the callable makes one of them; of the kinds "values" and "records" they are its
    keyword arguments.
    """

    target: str
    parameters: Mapping[str, Any] | None
    form: Form = field(default_factory=Form)

    __repr__ = short_repr

    def load(self) -> Any:
        """Import it, which executes the user's code. Raises `ScenarioError`."""
        found, kind = imported(self.target, "[mechanism] call"), self.form.kind
        if kind not in (None, "synthesizer"):
            function = partial(found, **self.parameters) if self.parameters else found
            return Called(self, self.form.seeded(self._adapted(function)))
        try:
            plain = self.parameters is None and kind is None
            made = found if plain else found(**(self.parameters or {}))
        except Exception as error:
            said = failed(self.target, "[mechanism] call", error)
            raise ScenarioError(f"{said}{_makes(self.parameters or {})}") from error
        if kind == "synthesizer":
            return Called(self, self._checked(made))
        if not callable(made):
            raise ScenarioError(
                f"[mechanism] call: {self.target} must be callable, got {type(made).__name__}"
            )
        if isinstance(made, LawMechanism):
            return made
        call = self._as_it_is(made)
        return Called(call, call._limited(made))

    def _as_it_is(self, made: Any) -> Call:
        """With batched = false where the signature says f(data, *, rng) or f(data), and then with
        seeds = "global" where it takes no generator; so it is in the record too.
        """
        form = self.form
        if form.batched and gives_one(made):
            form = dataclasses.replace(form, batched=False)
            if not takes_rng(made):
                form = dataclasses.replace(form, seeds=SEEDS[0])
        return dataclasses.replace(self, form=form)

    def source(self, folder: Path, loaded: Iterable[str] = ()) -> Source:
        """The files and packages of the target and of all that it imports.

        folder : of the scenario. loaded : further modules, that were loaded from there with it.
        """
        outputs = self.form.options.get("outputs")
        named = (self.target, outputs if isinstance(outputs, str) else "")
        targets = [one.partition(":")[0] for one in named if ":" in one]
        found = Imports(folder)
        found.follow([*targets, *loaded])
        return Source(found.files, found.packages, own=found.own(targets))

    def _checked(self, made: Any) -> Any:
        if all(callable(getattr(made, name, None)) for name in ("fit", "sample")):
            return made
        wanted = "must make an object with fit(data, rng) and sample(model, rng)"
        raise ScenarioError(f"[mechanism] call: {self.target} {wanted}, got {type(made).__name__}")

    def _limited(self, made: Any) -> Any:
        timeout = self.form.timeout
        if not self.form.batched:
            return self.form.seeded(adapters.one_draw(made, timeout=timeout))
        mechanism = self.form.seeded(made)
        check_mechanism(mechanism)
        return mechanism if timeout is None else adapters.limited(mechanism, timeout)

    def _adapted(self, function: Any) -> Any:
        """A mechanism of one draw a call, of any other kind than a synthesizer."""
        options, kind = dict(self.form.options), str(self.form.kind)
        if kind == "estimator":
            outputs = options.pop("predict", None) or options.pop("outputs", FITTED)
            if isinstance(outputs, str):
                outputs = imported(outputs, "[mechanism] outputs")
            options = {"outputs": outputs}
        return getattr(adapters, kind)(function, **options, timeout=self.form.timeout)


def _makes(parameters: Mapping[str, Any]) -> str:
    """What a callable with parameters is for: the step after it could not be called with them."""
    names = ", ".join(f"{name}=..." for name in parameters)
    return f"; with parameters it is called as f({names}), without data, and returns the mechanism"


@dataclass(frozen=True)
class Called:
    """A user's mechanism under the name and parameters that the scenario gives it."""

    call: Call
    function: Any

    __repr__ = short_repr

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        return self.function(data, size, rng=rng)

    def on(self, pair: NeighbourPair) -> Called:
        """What is audited on a pair: a synthesizer's features are about its differing records."""
        if self.call.form.kind != "synthesizer":
            return self
        made = self.function
        given = {name: getattr(made, name, None) for name in ("columns", "categories")}
        timeout = self.call.form.timeout
        adapted = adapters.synthesizer(made.fit, made.sample, pair, timeout=timeout, **given)
        return dataclasses.replace(self, function=self.call.form.seeded(adapted))

    @property
    def name(self) -> str:
        """The target, as the scenario writes it."""
        return self.call.target

    @property
    def summary(self) -> str:
        """The function's own summary or docstring, for reports."""
        own = getattr(self.function, "summary", getattr(self.function, "__doc__", None))
        return (own or "the user's own callable").strip()

    def parameters(self) -> dict[str, Any]:
        """The scenario's parameters, and the keys of `Form` that differ from their defaults."""
        return {**(self.call.parameters or {}), **self.call.form.given()}


def read_call(table: Table) -> Call:
    """`call` and the keys that go with it. Faults are noted in the table."""
    target, parameters = table.get("call", target_text), table.get("parameters", mapping, None)
    form = read_form(table)
    table.close()
    return Call(target, parameters, form)
