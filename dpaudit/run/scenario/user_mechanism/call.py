"""Callables of the user's, as a scenario names them. No code of theirs runs before `load`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from dpaudit import adapters
from dpaudit._core.shown.short_repr import short_repr
from dpaudit.adapters.functions import seconds
from dpaudit.errors import ScenarioError
from dpaudit.mechanisms import LawMechanism
from dpaudit.neighbours import NeighbourPair
from dpaudit.run.imports import Imports
from dpaudit.run.scenario.section import FLAG, TABLE, Checked, Section, one_of
from dpaudit.run.scenario.target import TARGET, failed, imported, target_text
from dpaudit.sampling.form import check_mechanism, gives_one, takes_rng

GLOBAL = "global"
SECONDS = Checked(seconds, {"type": "number", "exclusiveMinimum": 0.0})
Timeout = Annotated[float | None, SECONDS]


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


class Imported(Section):
    """A callable of the user's, which is imported.

    With parameters the callable makes a mechanism; of the kinds "values" and "records" they are its
    keyword arguments.
    """

    call: Annotated[str, Checked(target_text, TARGET)]
    """Your callable, installed or in a module beside the file."""
    parameters: Annotated[dict[str, Any] | None, TABLE] = None
    """The mechanism is made from these; with a kind, keyword arguments."""
    timeout: Timeout = None
    """Seconds that a call or a program may take."""
    seeds: Annotated[str | None, one_of(GLOBAL)] = None
    """With "global", the generators of numpy.random, random and torch are set for each call."""

    @property
    def target(self) -> str:
        """The callable, as the scenario names it."""
        return self.call

    @property
    def options(self) -> dict[str, Any]:
        """The keys that go with the kind and stand in the scenario."""
        return self.values_set(*Function.model_fields, "kind")

    def load(self) -> Any:
        """Import it, which executes the user's code. Raises `ScenarioError`."""
        function = imported(self.call, "[mechanism] call")
        function = partial(function, **self.parameters) if self.parameters else function
        return Called(self, self.seeded(self.adapted(function)))

    def adapted(self, function: Any) -> Any:
        """A mechanism of one draw a call."""
        adapter = getattr(adapters, self.kind)  # type: ignore[attr-defined]
        return adapter(function, **self.options, timeout=self.timeout)

    def made(self) -> Any:
        """What the callable makes of the parameters. Raises `ScenarioError`."""
        function, parameters = imported(self.call, "[mechanism] call"), self.parameters or {}
        try:
            return function(**parameters)
        except Exception as error:
            names = ", ".join(f"{name}=..." for name in parameters)
            raise ScenarioError(
                f"{failed(self.call, '[mechanism] call', error)}; with parameters it is called as "
                f"f({names}), without data, and returns the mechanism"
            ) from error

    def seeded(self, mechanism: Any) -> Any:
        """The mechanism, with global generators set where the scenario asks for it."""
        return mechanism if self.seeds is None else adapters.global_seeds(mechanism)

    def source(self, folder: Path, loaded: Iterable[str] = ()) -> Source:
        """The files and packages of the target and of all that it imports.

        folder : of the scenario. loaded : further modules, that were loaded from there with it.
        """
        targets = [name.partition(":")[0] for name in self._targets()]
        imports = Imports(folder)
        imports.follow([*targets, *loaded])
        return Source(imports.files, imports.packages, own=imports.own(targets))

    def _targets(self) -> list[str]:
        return [self.call]


class Function(Imported):
    """A function f(data, size, *, rng), or what makes one."""

    batched: Annotated[bool, FLAG] = True
    """false if the callable gives one output a call."""

    def load(self) -> Any:
        """Import it, which executes the user's code. Raises `ScenarioError`."""
        plain = self.parameters is None
        made = imported(self.call, "[mechanism] call") if plain else self.made()
        if not callable(made):
            raise ScenarioError(
                f"[mechanism] call: {self.call} must be callable, got {type(made).__name__}"
            )
        if isinstance(made, LawMechanism):
            return made
        call = self._as_it_is(made)
        return Called(call, call._limited(made))

    def _as_it_is(self, made: Any) -> Function:
        """With batched = false where the signature says f(data, *, rng) or f(data), and then with
        seeds = "global" where it takes no generator; so it is in the record too.
        """
        if not self.batched or not gives_one(made):
            return self
        seeds = self.seeds if takes_rng(made) else GLOBAL
        return self.model_copy(update={"batched": False, "seeds": seeds})

    def _limited(self, made: Any) -> Any:
        if not self.batched:
            return self.seeded(adapters.one_draw(made, timeout=self.timeout))
        mechanism = self.seeded(made)
        check_mechanism(mechanism)
        return mechanism if self.timeout is None else adapters.limited(mechanism, self.timeout)


@dataclass(frozen=True)
class Called:
    """A user's mechanism under the name and parameters that the scenario gives it."""

    call: Imported
    function: Any

    __repr__ = short_repr

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        return self.function(data, size, rng=rng)

    def on(self, pair: NeighbourPair) -> Called:
        """What is audited on a pair: a synthesizer's features are about its differing records."""
        if getattr(self.call, "kind", None) != "synthesizer":
            return self
        made = self.function
        known = {name: getattr(made, name, None) for name in ("columns", "categories")}
        timeout = self.call.timeout
        adapted = adapters.synthesizer(made.fit, made.sample, pair, timeout=timeout, **known)
        return dataclasses.replace(self, function=self.call.seeded(adapted))

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
        """The scenario's parameters, and the keys that are not at their defaults, except the
        timeout, which changes no draw.
        """
        call, batched = self.call, None if getattr(self.call, "batched", True) else False
        own = {"batched": batched, "kind": getattr(call, "kind", None), "seeds": call.seeds}
        own = {name: value for name, value in own.items() if value is not None}
        return {**(call.parameters or {}), **own, **call.options}
