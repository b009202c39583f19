"""Models of the tables [data], [claim] and [audit] of a scenario."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from joblib import cpu_count, effective_n_jobs, parallel_config
from pydantic import (
    AliasChoices,
    Field,
    PlainValidator,
    PrivateAttr,
    WithJsonSchema,
    model_validator,
)

from dpaudit import datasets, scoring
from dpaudit._core import check
from dpaudit._core.user_code import without_current_folder
from dpaudit.auditing.api import audit
from dpaudit.auditing.settings import LARGEST_EPSILON, MOST_DRAWS, MOST_EPSILON, UNITS, Settings
from dpaudit.certify.sets import FOCUS
from dpaudit.curves.claims import DISTANCES, Claim, MetricClaim
from dpaudit.errors import InvalidInput, ScenarioError
from dpaudit.run.scenario.section import (
    FLAG,
    LINE,
    TEXT,
    Checked,
    ScenarioPath,
    Section,
    integer,
    items,
    number,
    numbers,
    one_of,
    text,
)
from dpaudit.run.scenario.target import TARGET, imported, is_target


def _data_set(key: str, value: Any) -> str:
    if Path(text(key, value)).suffix or len(Path(value).parts) > 1:
        known = ", ".join(datasets.names())
        check.fail(key, value, f"the name of a data set ({known}); a file goes under path")
    return str(value)


IGNORE = Checked(
    lambda key, value: items(text, key, value, "a list of names of columns"),
    {"type": "array", "items": {"type": "string"}, "minItems": 1},
)


class Data(Section):
    """The database: a data set that comes with dpaudit, or a CSV file."""

    path: ScenarioPath = None
    """A CSV file, from the scenario's folder. Give either this or name."""
    name: Annotated[str | None, Checked(_data_set, LINE)] = None
    """A data set of `dpaudit list datasets`. Give either this or path."""
    target: Annotated[str | None, TEXT] = None
    """The column to predict, which is put last."""
    constant: Annotated[bool | None, FLAG] = None
    """A column of ones comes first; by default in dpaudit's regressions only."""
    row_bound: Annotated[float | None, number(0.0, open_=True)] = None
    """Longer rows, label included, are shrunk to this norm."""
    ignore: Annotated[tuple[str, ...] | None, IGNORE] = None
    """Columns to leave out, such as an identifier of people."""

    _texts: Mapping[str, Any] | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _either(self) -> Data:
        if (self.name is None) == (self.path is None):
            raise InvalidInput("must have either name or path")
        return self

    def seen_by(self, mechanism: Any) -> Data:
        """The table with `constant` set, by default to true for dpaudit's regressions. A mechanism
        that takes texts (`takes_texts`) gets columns of texts, and may list the texts.
        """
        fits = bool(getattr(mechanism, "regression", False))
        constant = fits if self.constant is None else self.constant
        seen = self.model_copy(update={"constant": constant})
        if self.path is not None and getattr(mechanism, "takes_texts", False):
            types = getattr(mechanism, "columns", None)
            named = types if isinstance(types, Mapping) else {}
            seen._texts = {name: kind for name, kind in named.items() if isinstance(kind, list)}
        return seen

    def load(self) -> datasets.Table:
        """The rows as the mechanism sees them. Raises `DataNotFound`, `InvalidInput`. Without
        `target`, a data set's target is its last column, and a file keeps its column order.
        """
        place = self.path or self.name
        assert place is not None
        table = datasets.read_table(place, ignore=self.ignore or (), texts=self._texts)
        target = table.columns[-1] if self.path is None and self.target is None else self.target
        table = table if target is None else table.predicting(target)
        table = table.with_constant() if self.constant else table
        return table if self.row_bound is None else table.shrunk(self.row_bound)


CLAIMS: dict[tuple[str, ...], Callable[..., Claim]] = {
    ("epsilon",): Claim,
    ("epsilon", "delta"): Claim,
    ("advantage",): Claim.advantage,
    ("gdp",): Claim.gdp,
    ("rho",): Claim.zcdp,
    ("rho", "omega"): Claim.tcdp,
    ("rows", "gamma"): Claim.gaussmix,
}
ONE_KIND = (
    "must be of one kind: epsilon (and delta), advantage, gdp, rho (and omega), rows and gamma, or "
    "printed"
)
PRINTED, PER, GROUP = "printed", "per", "group"
ABOVE_1, AT_LEAST_0 = number(1.0, open_=True), number(0.0)


@dataclass(frozen=True)
class Distance:
    """A distance that the user defines, "package.module:callable", imported at its first call."""

    name: str

    @property
    def __name__(self) -> str:
        return self.name.rpartition(":")[2]

    def __call__(self, x: Any, y: Any) -> Any:
        return imported(self.name, f"[claim] {PER}")(x, y)


def _distance(key: str, value: Any) -> str | Distance:
    if is_target(value):
        return Distance(value)
    if not isinstance(value, str) or value not in DISTANCES:
        check.fail(key, value, f'one of {", ".join(DISTANCES)}, or "package.module:callable"')
    return value


class RowClaim(Section):
    """A claim about one row, of one kind."""

    epsilon: Annotated[float | None, number(0.0, LARGEST_EPSILON)] = None
    """ε of (ε, δ)-DP, nats."""
    delta: Annotated[float | None, number(0.0, 1.0)] = None
    """δ of (ε, δ)-DP; 0 without it."""
    advantage: Annotated[float | None, number(0.0, 1.0)] = None
    """The largest advantage of an attacker, TPR − FPR, below 1."""
    gdp: Annotated[float | None, AT_LEAST_0] = None
    """μ of Gaussian DP."""
    rho: Annotated[float | None, AT_LEAST_0] = None
    """ρ of zero-concentrated DP."""
    omega: Annotated[float | None, ABOVE_1] = None
    """ω of truncated concentrated DP."""
    rows: Annotated[int | None, integer(1)] = None
    """Rows of the sketch of Gaussian mixing."""
    gamma: Annotated[float | None, ABOVE_1] = None
    """γ of Gaussian mixing."""
    printed: Annotated[bool, FLAG] = False
    """true for the claim that the source of the mechanism itself makes."""

    def claim(self, mechanism: Any) -> Claim | MetricClaim:
        """The claim of this table; with `printed`, the mechanism's. Raises `InvalidInput`."""
        values = self.values_set(PER, GROUP)
        if tuple(values) in CLAIMS:
            return CLAIMS[tuple(values)](*values.values())
        if tuple(values) != (PRINTED,):
            raise InvalidInput(ONE_KIND)
        if not self.printed:
            raise InvalidInput("must be true, or be left out", argument=PRINTED)
        claim = getattr(mechanism, "claim", None)
        if not isinstance(claim, Claim):
            name = getattr(mechanism, "name", "a callable")
            message = f"{name} claims nothing with these parameters"
            raise InvalidInput(message, argument=PRINTED)
        return claim


class PairClaim(RowClaim):
    """The privacy claim, of one kind. Without the table there is no claim."""

    per: Annotated[
        str | Distance | None, Checked(_distance, {"anyOf": [{"enum": list(DISTANCES)}, TARGET]})
    ] = None
    """ε is per unit of this distance between the two records; not with [one_run]."""
    group: Annotated[int, integer(1)] = 1
    """The claim is converted to one about this number of changed rows; not with [one_run]."""

    def claim(self, mechanism: Any) -> Claim | MetricClaim:
        """The claim for neighbours that differ in `group` rows, or by the distance `per`."""
        claim = super().claim(mechanism)
        assert isinstance(claim, Claim)
        if self.per is None:
            return claim.group(self.group)
        if claim.epsilon is None or self.model_fields_set & {PRINTED, GROUP}:
            message = "goes with epsilon (and delta) alone: the distances of rows add up"
            raise InvalidInput(message, argument=PER)
        return Claim.metric(claim.epsilon, self.per, claim.delta)


LOKY, DASK = "loky", "dask"
BACKENDS = ("threading", LOKY, DASK)
NO_DASK = '[audit] backend: "dask" needs the package distributed, pip install "dpaudit[dask]"'


@dataclass(frozen=True)
class Workers:
    """Threads or processes of this machine, or a Dask cluster, that make the draws; no effect on
    results.

    backend : of `joblib.parallel_config`; None leaves the choice to the caller. address : of a Dask
    scheduler; without it Dask starts processes on this machine, until the run ends.
    """

    backend: str | None = None
    address: str | None = None

    @contextmanager
    def at_work(self, n_jobs: int | None) -> Iterator[None]:
        """A context in which `n_jobs` workers make the draws; None: all cores of a named backend,
        or the workers of the cluster. Raises `ScenarioError` without Dask, OSError where no
        scheduler answers.
        """
        if self.backend is None:
            yield
        elif self.backend == DASK:
            with (
                without_current_folder(),
                _cluster(self.address, n_jobs) as client,
                parallel_config(backend=DASK, client=client),
            ):
                yield
        else:
            with parallel_config(backend=self.backend, n_jobs=-1 if n_jobs is None else n_jobs):
                processes = self.backend == LOKY and effective_n_jobs(None) > 1
                with without_current_folder() if processes else nullcontext():
                    yield


@contextmanager
def _cluster(address: str | None, n_jobs: int | None) -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ScenarioError(NO_DASK) from None
    if address is not None:
        with Client(address, set_as_default=False) as client:
            yield client
        return
    jobs = cpu_count() if n_jobs is None or n_jobs < 0 else n_jobs
    with (
        LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


DEFAULTS = {name: each.default for name, each in inspect.signature(audit).parameters.items()}
SHARE = number(0.0, 1.0)
COUNT = Checked(
    partial(check.count, minimum=1), {"type": "integer", "minimum": 1, "maximum": MOST_DRAWS}
)
EPSILON = {"type": "number", "minimum": 0, "maximum": LARGEST_EPSILON}
END = Checked(partial(check.real, low=0.0), EPSILON)


def _points(key: str, value: Any) -> int:
    if check.integer(key, value, 1) > MOST_EPSILON:
        check.fail(key, value, f"at most {MOST_EPSILON:,} points")
    return int(value)


POINTS = Checked(_points, {"type": "integer", "minimum": 1, "maximum": MOST_EPSILON})


class Span(Section):
    start: Annotated[float, END]
    stop: Annotated[float, END]
    num: Annotated[int, POINTS]


def _grid(value: Any) -> Any:
    if isinstance(value, dict):
        span = Span.model_validate(value)
        return np.linspace(span.start, span.stop, span.num)
    return check.epsilon(numbers("", value), "")


GRID = {
    "anyOf": [
        {"type": "array", "items": EPSILON, "minItems": 1},
        {
            "type": "object",
            "properties": {"start": EPSILON, "stop": EPSILON, "num": POINTS.schema},
            "required": list(Span.model_fields),
            "additionalProperties": False,
        },
    ]
}


NAMES_OF_DRAWS = Field(validation_alias=AliasChoices("draws", "samples"))  # the second is of 0.1


class Audit(Section):
    """How many draws to make, and how to judge them."""

    tables: ClassVar = {"epsilon": Span}

    seed: Annotated[int, integer(0)] = 0
    """The seed of all that is random; dpaudit run --seed replaces it."""
    backend: Annotated[str | None, one_of(*BACKENDS)] = None
    """Where draws are made; it changes no result."""
    address: Annotated[str | None, TEXT] = None
    """The address of a Dask scheduler, with backend = "dask"."""
    level: Annotated[float, number(0.0, 1.0, open_=True)] = DEFAULTS["level"]
    """Confidence of the certified band, over all ε and both directions."""
    classifier: Annotated[str, one_of(*scoring.ALIASES)] = DEFAULTS["classifier"]
    """The score: an alias of `dpaudit list classifiers`."""
    detect: Annotated[float | None, SHARE] = None
    """The excess in δ that the audit must show, whatever its shape."""
    train_share: Annotated[float | None, SHARE] = None
    """Share of the draws that train the score."""
    choose_share: Annotated[float | None, SHARE] = None
    """Share of the draws that choose score and sets."""
    bits: Annotated[bool, FLAG] = DEFAULTS["bits"]
    """true lets the score read the bits of floats."""
    focus: Annotated[str, one_of(*FOCUS)] = DEFAULTS["focus"]
    """Which bound gets the confidence: the whole spectrum, or ε at δ = 0."""
    stop: Annotated[str | None, one_of("verdict")] = None
    """With "verdict", drawing stops once the claim is refuted."""
    unit: Annotated[str, one_of(*UNITS)] = DEFAULTS["unit"]
    """With "call" each call makes one draw, for a mechanism whose draws in a call share state."""
    draws: Annotated[int, COUNT, NAMES_OF_DRAWS] = DEFAULTS["draws"]
    """Draws a side, training included."""
    epsilon: Annotated[Any, PlainValidator(_grid), WithJsonSchema(GRID)] = None
    """ε, nats, at which δ is reported; by default 0 to 4, or as far as a claim goes."""

    @model_validator(mode="after")
    def _belong_together(self) -> Audit:
        if self.address is not None and self.backend != DASK:
            message = f'is of a Dask scheduler: it goes with backend = "{DASK}"'
            raise InvalidInput(message, argument="address")
        return self

    @property
    def workers(self) -> Workers:
        return Workers(self.backend, self.address)

    def settings(self, claim: Claim | MetricClaim | None) -> Settings:
        apart = ("seed", "backend", "address", "draws")
        options = {key: getattr(self, key) for key in type(self).model_fields if key not in apart}
        return Settings.of(self.draws, claim=claim, rng=self.seed, **options)
