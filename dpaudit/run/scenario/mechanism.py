"""The [mechanism] table: the name of a mechanism of dpaudit, or the user's callable or program.

None of the user's code runs before `load`.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

from pydantic import Field, PrivateAttr, create_model, model_validator

from dpaudit import adapters
from dpaudit._core import check
from dpaudit._core.check import choice, nearest_float
from dpaudit._core.form import FRAME, check_mechanism, gives_one, takes_data, takes_frame, takes_rng
from dpaudit._core.text import with_article
from dpaudit._core.types import CALLS, most_calls
from dpaudit._core.value import value_class
from dpaudit.adapters import tables
from dpaudit.adapters.commands import arguments
from dpaudit.adapters.functions import seconds, seed_keywords
from dpaudit.adapters.models import FITTED
from dpaudit.adapters.tables import DTYPE_NAMES, coding
from dpaudit.datasets import Table
from dpaudit.errors import InvalidInput, ScenarioError
from dpaudit.neighbours import NeighbourPair
from dpaudit.run.scenario.section import (
    FLAG,
    NUMBERS,
    TABLE,
    Checked,
    Reader,
    Section,
    integer,
    items,
    numbers,
    one_of,
    text,
)
from dpaudit.run.scenario.source import Source, code_of, imported_names, installed_digests
from dpaudit.run.scenario.target import TARGET, failed, imported, is_target, target_text
from dpaudit.sampling.block import Preparable

GLOBAL = "global"
SECONDS = Checked(seconds, {"type": "number", "exclusiveMinimum": 0.0})
Timeout = Annotated[float | None, SECONDS]
Made = TypeVar("Made")


class Imported(Section):
    """A [mechanism] table whose `call` names a callable of the user, which `load` imports.

    `parameters` are keyword arguments of each call, for the kinds "values" and "records" and where
    they fit beside the data; otherwise the callable is called with them to make the mechanism.
    """

    call: Annotated[str, Checked(target_text, TARGET)]
    """Your callable, installed or in a module beside the file."""
    parameters: Annotated[dict[str, Any] | None, TABLE] = None
    """Keyword arguments of each call, or those from which the callable makes the mechanism."""
    timeout: Timeout = None
    """Seconds that a call or a program may take."""
    seeds: Annotated[str | None, one_of(GLOBAL)] = None
    """With "global", the generators of numpy.random, random and torch are set for each call."""

    @property
    def target(self) -> str:
        return self.call

    @property
    def options(self) -> dict[str, Any]:
        return self.values_set(*Function.model_fields, "kind")

    def load(self, table: Table) -> Any:
        """Import the callable, which executes the user's code, and make the mechanism for data of
        this form. Raises `ScenarioError`.
        """
        function = imported(self.call, "[mechanism] call")
        function = partial(function, **self.parameters) if self.parameters else function
        return self.called(function, table)

    def called(self, function: Any, table: Table) -> Called:
        return Called(self, self.seeded(self.adapted(function, table)))

    def adapted(self, function: Any, table: Table) -> Any:
        """The mechanism, with one draw in each call, that the adapter of this kind makes."""
        adapter = getattr(adapters, self.kind)  # type: ignore[attr-defined]
        return adapter(function, **self.options, timeout=self.timeout)

    def from_parameters(self) -> Any:
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
        return mechanism if self.seeds is None else adapters.global_seeds(mechanism)

    def source(self, folder: Path, loaded: Collection[str] = ()) -> Source:
        """The files and packages of the callable, of all that it imports, and of the modules
        `loaded`.
        """
        targets = (self.call, getattr(self, "outputs", None))
        modules = [str(target).partition(":")[0] for target in targets if is_target(target)]
        own, packages = code_of([*modules, *loaded], folder)
        return Source(own, packages, installed_digests(modules, folder))


class Function(Imported):
    """A callable f(data, size, *, rng) or f(data, rng), or with `parameters` one that makes it."""

    takes_texts: ClassVar = True  # its annotation may say that it takes a data frame

    batched: Annotated[bool, FLAG] = True
    """false if the callable gives one output a call."""

    def load(self, table: Table) -> Any:
        """Import the callable, as in `Imported`.

        Parameters that fit beside the data are keyword arguments of each call. A function without
        `size` gets `batched` = false, and one without `size` and `rng` also `seeds` = "global"; the
        record of the run has these values. A function of a data frame is of the kind "records".
        """
        mechanism = imported(self.call, "[mechanism] call")
        if self.parameters is not None:
            fits = takes_data(mechanism, self.parameters)
            mechanism = partial(mechanism, **self.parameters) if fits else self.from_parameters()
        if gives_one(mechanism) and takes_frame(mechanism):
            records = Records(**self.values_set("batched"), kind="records")
            return records.called(mechanism, table)
        if table.texts:
            named = ", ".join(map(repr, table.texts))
            raise ScenarioError(
                f"[mechanism] call: {self.call} takes an array of numbers, but {table.name} "
                f"has texts in {named}; {FRAME}; --ignore, or ignore in [data], leaves columns "
                "out"
            )
        if not callable(mechanism):
            raise ScenarioError(
                f"[mechanism] call: {self.call} must be callable, got {type(mechanism).__name__}"
            )
        if isinstance(mechanism, Preparable):
            return mechanism
        call = self
        if self.batched and gives_one(mechanism):
            seeds = self.seeds if takes_rng(mechanism) else GLOBAL
            call = self.model_copy(update={"batched": False, "seeds": seeds})
        if not call.batched:
            return Called(call, call.seeded(adapters.one_draw(mechanism, timeout=call.timeout)))
        mechanism = call.seeded(mechanism)
        check_mechanism(mechanism)
        limit = call.timeout
        return Called(call, mechanism if limit is None else adapters.limited(mechanism, limit))


@value_class(show_numbers=True, eq=True)
class Called:
    """A mechanism of the user, with the name and parameters that the scenario states.

    call : the [mechanism] table. function : the mechanism f(data, size, *, rng) itself.
    """

    call: Imported
    function: Any

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        return self.function(data, size, rng=rng)

    @property
    def most_calls(self) -> int:
        """What the user's class asks for, otherwise as many as of any mechanism."""
        return most_calls(self.function) or CALLS

    def on(self, pair: NeighbourPair) -> Called:
        """The mechanism to audit on a pair; for a synthesizer, one that returns features of its
        output that concern the records in which the pair differs.
        """
        if getattr(self.call, "kind", None) != "synthesizer":
            return self
        model = self.function
        known = {name: getattr(model, name, None) for name in ("columns", "categories")}
        timeout = self.call.timeout
        adapted = adapters.synthesizer(model.fit, model.sample, pair, timeout=timeout, **known)
        return dataclasses.replace(self, function=self.call.seeded(adapted))

    @property
    def name(self) -> str:
        return self.call.target

    @property
    def summary(self) -> str:
        own = getattr(self.function, "summary", getattr(self.function, "__doc__", None))
        return (own or "the user's own callable").strip()

    def parameters(self) -> dict[str, Any]:
        """The parameters in the scenario, and the other keys of the table that differ from their
        defaults. The timeout is left out, since it changes no draw.
        """
        call, batched = self.call, None if getattr(self.call, "batched", True) else False
        own = {"batched": batched, "kind": getattr(call, "kind", None), "seeds": call.seeds}
        own = {name: value for name, value in own.items() if value is not None}
        return {**(call.parameters or {}), **own, **call.options}


TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True}
DTYPE = {"anyOf": [{"enum": list(DTYPE_NAMES)}, TEXTS]}
DTYPES = {"type": "object", "minProperties": 1, "additionalProperties": DTYPE}
INTEGER = {"type": "integer"}
ATTRIBUTE = {"type": "string", "pattern": r"^[^\W\d]\w*$"}
WORD = {"type": "string", "pattern": r"^[^:\n]*[^:\s][^:\n]*$"}


def _outputs(key: str, value: Any) -> tuple[str, ...] | str:
    if isinstance(value, str):
        return target_text(key, value) if ":" in value else (text(key, value),)
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(name, str) and name.isidentifier() for name in value)
    ):
        check.fail(key, value, 'a list of attributes, or "package.module:callable"')
    return tuple(value)


def _points(key: str, value: Any) -> tuple[tuple[float, ...], ...]:
    points = items(numbers, key, value, "a list of points, each a list of numbers")
    if len({len(point) for point in points}) > 1:
        check.fail(key, value, "points of equally many numbers")
    return points


def _as_it_stands(checks: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """A check like `checks` that returns the value unchanged, for an adapter that converts it."""
    return lambda key, value: (checks(key, value), value)[1]


OUTPUTS = {"anyOf": [WORD, TARGET, {"type": "array", "items": ATTRIBUTE, "minItems": 1}]}
POINTS = Checked(_points, {"type": "array", "items": NUMBERS.schema, "minItems": 1})
COLUMNS = {"anyOf": [TEXTS, DTYPES]}
COLUMN = {"anyOf": [INTEGER, {"type": "array", "items": INTEGER, "minItems": 1}]}
Each = Annotated[bool, FLAG]
Record = Annotated[int | None, integer(0)]


class Estimator(Imported):
    """A scikit-learn estimator: the output is its fitted attributes or its predictions."""

    kind: Literal["estimator"] = "estimator"
    """What the callable is; each kind gives one output a call."""
    outputs: Annotated[Any, Checked(_outputs, OUTPUTS)] = FITTED
    """Attributes of the fitted estimator, or a callable of it."""
    predict: Annotated[Any, POINTS] = None
    """Points at which the fitted estimator predicts, instead of outputs."""

    @model_validator(mode="after")
    def _read_once(self) -> Estimator:
        if {"outputs", "predict"} <= self.model_fields_set:
            raise InvalidInput("must be left out beside outputs", argument="predict")
        return self

    def adapted(self, function: Any, table: Table) -> Any:
        outputs = self.predict or self.outputs
        if isinstance(outputs, str):
            outputs = imported(outputs, "[mechanism] outputs")
        return adapters.estimator(function, outputs, timeout=self.timeout)


class Transformer(Imported):
    """A scikit-learn transformer: the output is the rows that it transforms after fitting."""

    kind: Literal["transformer"] = "transformer"
    points: Annotated[Any, POINTS] = None
    """Rows to transform; by default the rows on which the transformer was fitted."""


class Synthesizer(Imported):
    """A callable that makes a synthesizer: an object with fit(data, rng) and sample(model, rng)."""

    kind: Literal["synthesizer"] = "synthesizer"

    def load(self, table: Table) -> Any:
        model = self.from_parameters()
        if all(callable(getattr(model, name, None)) for name in ("fit", "sample")):
            return Called(self, model)
        rule = "must make an object with fit(data, rng) and sample(model, rng)"
        raise ScenarioError(
            f"[mechanism] call: {self.call} {rule}, got {with_article(type(model).__name__)}"
        )


class OfTable(Imported):
    """A function that gets the data in another form than an array of numbers."""

    takes_texts: ClassVar = True

    def called(self, function: Any, table: Table) -> Called:
        """The mechanism; the global generators are seeded if the function takes no seed."""
        own = self.seeds is not None or seed_keywords(function)
        call = self if own else self.model_copy(update={"seeds": GLOBAL})
        return Called(call, call.seeded(call.adapted(function, table)))


class Values(OfTable):
    """A function that gets the values of one or more columns."""

    kind: Literal["values"] = "values"
    column: Annotated[Any, Checked(_as_it_stands(tables.column_numbers), COLUMN)] = 0
    """The number of the column whose values the function gets, or a list of them."""
    dtype: Annotated[Any, Checked(_as_it_stands(coding), DTYPE)] = "float"
    """The type of the values, or the texts that stand for 0, 1, 2, …"""
    form: Annotated[str, one_of(*tables.VALUE_FORMS)] = "array"
    """The form in which the function gets its data."""
    each: Each = False
    """true calls the function for each record by itself."""
    record: Record = None
    """The number of the one record that the function gets."""

    def adapted(self, function: Any, table: Table) -> Any:
        """The mechanism; the file gives the type of the column if the scenario gives none. Raises
        `ScenarioError` if the data have no such column.
        """
        options, most = self.options, len(table.columns)
        columns = [self.column] if isinstance(self.column, int) else self.column
        if any(not -most <= column < most for column in columns):
            rule = f"must be below {most}, the number of columns in {table.name}"
            raise ScenarioError(f"[mechanism] column: {rule}, got {self.column}")
        if "dtype" not in options and isinstance(self.column, int):
            options["dtype"] = table.types.get(table.columns[self.column], "float")
        return adapters.values(function, **options, timeout=self.timeout)


class Records(OfTable):
    """A function that gets whole records."""

    kind: Literal["records"] = "records"
    columns: Annotated[Any, Checked(_as_it_stands(tables.codings), COLUMNS)] = None
    """Names of the columns, or a table of names and types; the file says what this leaves out."""
    form: Annotated[str, one_of(*tables.TABLE_FORMS)] = "frame"
    """The form in which the function gets its data."""
    each: Each = False
    """true calls the function for each record by itself."""
    record: Record = None
    """The number of the one record that the function gets."""

    def adapted(self, function: Any, table: Table) -> Any:
        """The mechanism, with the columns of the file, except where the scenario gives their types
        or new names. Raises `ScenarioError` for a column of texts that the scenario takes for
        another type.
        """
        types = self.columns
        if types is None or (isinstance(types, Mapping) and set(types) <= set(table.columns)):
            types = {name: table.types.get(name, "float") for name in table.columns}
            types |= dict(self.columns or {})
        elif not isinstance(types, Mapping) and len(types) == len(table.columns):
            known_texts = [table.texts.get(name, "float") for name in table.columns]
            types = dict(zip(types, known_texts, strict=True))
        for name in table.texts if isinstance(types, dict) else ():
            if isinstance(types.get(name), str):
                wrong = f"{name!r} is {types[name]}, but holds texts in {table.name}"
                raise ScenarioError(f"[mechanism] columns: {wrong}")
        options = {**self.options, "columns": types}
        return adapters.records(function, **options, timeout=self.timeout)


KINDS: Mapping[str, type[Imported]] = {
    str(model.model_fields["kind"].default): model
    for model in (Estimator, Transformer, Synthesizer, Values, Records)
}


DATA = {"type": "string", "pattern": r"\{data\}"}  # an argument that names the file of the rows
ARGUMENTS = {"type": "array", "items": {"type": "string"}, "contains": DATA}

SCRIPTS = (".py", ".R", ".jl", ".js", ".pl", ".rb", ".sh")  # files that interpreters run


class Program(Section):
    """A [mechanism] table with a command, which runs in the folder of the scenario."""

    command: Annotated[tuple[str, ...], Checked(arguments, ARGUMENTS)]
    """Program and arguments with {data}, {size}, {seed}; run in the file's folder."""
    timeout: Timeout = None
    """Seconds that a call or a program may take."""

    _folder: Path = PrivateAttr(Path())

    def model_post_init(self, context: Any) -> None:
        self._folder = (context or {}).get("folder", Path())

    @property
    def target(self) -> str:
        return shlex.join(self.command)

    def load(self, table: Table) -> Any:
        place = self._folder.resolve()
        return adapters.command(self.command, timeout=self.timeout, folder=place)

    def source(self, folder: Path, loaded: Collection[str] = ()) -> Source:
        """The program, the arguments that are files, and the modules that Python files among them
        import. An argument like --config=settings.ini may have a file after its equals sign.
        """
        place = folder.resolve()
        texts = [part for text in self.command[1:] for part in (text, text.partition("=")[2])]
        files = {place / text for text in texts if text and os.path.isfile(place / text)}
        own, packages = set(files), set()
        scripts = [
            (path.parent, imported_names(path, "")) for path in files if path.suffix == ".py"
        ]
        modules = [name for option, name in pairwise(self.command) if option == "-m"]
        for first, names in [(place, modules), *scripts]:
            more, distributions = code_of(names, first, folder_first=True)
            own |= more
            packages |= distributions
        return Source(own, packages, programs={self.command[0]: self._program(place)})

    def missing(self, folder: Path) -> str:
        """An error message if there is no such program, or no such script for it; else ""."""
        place, script = folder.resolve(), Path(*self.command[1:2])
        key = "[mechanism] command"
        if self._program(place) is None:
            return f"{key}: {self.command[0]!r} is neither on the PATH nor a file in {place}"
        if script.suffix in SCRIPTS and not (place / script).is_file():
            return f"{key}: {str(script)!r} is no file in {place}"
        return ""

    def _program(self, place: Path) -> Path | None:
        name = self.command[0].replace("{python}", sys.executable)
        if os.path.dirname(name):
            return place / name if os.path.isfile(place / name) else None
        # the program starts in `place`, where relative folders on the PATH begin too
        folders = os.pathsep.join(str(place / folder) for folder in os.get_exec_path())
        program = shutil.which(name, path=folders)
        return None if program is None else Path(program)


Call = Imported | Program  # a mechanism of the user


def lawless(mechanism: Any) -> bool:
    """Whether dpaudit cannot know the output law: a program, or a table with the key `kind`."""
    return isinstance(mechanism, (Program, *KINDS.values()))


def predicts(mechanism: Any) -> bool:
    """Whether a mechanism predicts the last column from the others, so that it needs a target."""
    return isinstance(mechanism, Estimator) or bool(getattr(mechanism, "regression", False))


def is_synthesizer(mechanism: Any) -> bool:
    return isinstance(mechanism, Synthesizer)


WORDS = {int: "an integer", float: "a number", str: "text", bool: "true or false", tuple: "a list"}
JSON = {int: "integer", float: "number", str: "string", bool: "boolean", tuple: "array"}
NAME = "The mechanism, one of `dpaudit list mechanisms`; its parameters are further keys."


def read_mechanism(reader: Reader) -> Any:
    """The mechanism of dpaudit, or a `Call`, which the run loads later; None after a fault."""
    table = reader.table("mechanism")
    ways = [way for way in ("name", "call", "command") if way in table]
    if "mechanism" not in reader or table is not reader.content["mechanism"]:
        return reader.read(Section, "mechanism", needed=True)
    try:
        if len(ways) != 1:
            raise InvalidInput("must have either name or call or command")
        if ways == ["name"]:
            from dpaudit.papers import REGISTRY  # here: of no use to a user's own mechanism

            cls = REGISTRY[choice("name", table["name"], tuple(REGISTRY))]
            return instance(cls, reader, "mechanism", named(cls.__name__))
        if ways == ["command"]:
            return reader.read(Program, "mechanism")
        if "kind" not in table:
            return reader.read(Function, "mechanism")
        return reader.read(KINDS[choice("kind", table["kind"], tuple(KINDS))], "mechanism")
    except InvalidInput as error:
        return reader.refuse("mechanism", error)


def named(name: str) -> type[Section]:
    own = Checked(partial(choice, allowed=(name,)), {"const": name})
    return create_model(
        name,
        __base__=Section,
        name=(Annotated[str, own], Field(description=NAME)),
    )


def with_fields(base: type[Section], cls: type[Any]) -> type[Section]:
    """A model with the keys of `base` and one for each field of a dataclass, checked for its type:
    float for `float | None`, a tuple for any tuple.
    """
    hints = get_type_hints(cls)
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        hint = hints[field.name]
        ways = (hint,) if get_origin(hint) is tuple else get_args(hint) or (hint,)
        first = next(way for way in ways if way is not type(None))
        kind = get_origin(first) or first
        schema = {"type": JSON[kind]} if kind in JSON else {}
        default = ... if field.default is dataclasses.MISSING else field.default
        checks = partial(typed, kind=kind if isinstance(kind, type) else object)
        fields[field.name] = (Annotated[Any, Checked(checks, schema)], default)
    return create_model(cls.__name__, __base__=base, **fields)


def instance(cls: type[Made], reader: Reader, place: str, base: type[Section]) -> Made | None:
    """An instance of the dataclass `cls`, which checks its values, from the table at `place`; None
    after a fault. base : a model of the other keys of the table.
    """
    table = reader.read(with_fields(base, cls), place)
    if table is None:
        return None
    try:
        return cls(**table.values_set(*base.model_fields))
    except InvalidInput as error:
        return reader.refuse(place, error)


def typed(key: str, value: Any, kind: type[Any]) -> Any:
    """The value, which must have the type of a field. Integers count as numbers, booleans do not; a
    list becomes a tuple.
    """
    accepted = {float: (int, float), tuple: (list,)}.get(kind, (kind,))
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind in (int, float)):
        check.fail(key, value, WORDS.get(kind, kind.__name__))
    if kind is float:
        return nearest_float(value)
    return tuple(value) if kind is tuple else value
