"""Mechanisms made of functions that return one output per call: seeds, time limits, names, source.

`global_seeds` seeds the global random generators from the draw's own generator in each call, and
restores them: those of NumPy (`numpy.random.seed`), Python (`random.seed`), and torch if it is
loaded.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import RLock, Thread
from typing import Any, ClassVar, TypeVar

import numpy as np

from dpaudit._core import check
from dpaudit._core.form import (
    FRAME,
    NAME,
    check_mechanism,
    gives_one,
    takes_frame,
    takes_rng,
    with_advice,
)
from dpaudit._core.raised import Raised, with_cause
from dpaudit._core.seeds import as_generator
from dpaudit._core.ticks import tick
from dpaudit._core.types import (
    Array,
    ArrayLike,
    Described,
    Mechanism,
    RngLike,
    Wrapped,
    describe,
    most_calls,
)
from dpaudit._core.value import brief, value_class
from dpaudit.adapters.trial import QUIET
from dpaudit.errors import InvalidInput, MechanismError

Value = TypeVar("Value")
SEED_KEYWORDS = ("rng", "random_state", "seed")
LARGEST_SEED = 2**31 - 1
WORDS = 4  # 32-bit words in a seed, so many that no two draws of an audit have the same seed
# attributes in which adapters and partial functions store the user's own function
WITHIN = ("function", "factory", "func", "mechanism", "fit")
OWN = Path(__file__).parents[1]  # dpaudit's own files, which the version identifies
LOCK = RLock()  # held during a call, since all threads share the global generators


class OfFunction:
    """The description, for reports, of an object made of a function or of a functools.partial."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        """The name of the function, or of the function inside the partial."""
        return describe(getattr(self.function, "func", self.function))[0]

    def parameters(self) -> dict[str, Any]:
        """The parameters that the function describes, or else the partial's keywords, in short."""
        function = self.function
        if isinstance(function, Described) and not isinstance(function, type):
            return function.parameters()
        return {
            name: value if isinstance(value, (bool, int, float, str)) else brief(value)
            for name, value in (getattr(function, "keywords", None) or {}).items()
        }

    @property
    def about(self) -> str:
        """The first line of the function's summary or docstring; "" if it has neither."""
        inner = getattr(self.function, "func", self.function)
        text = str(getattr(inner, "summary", "") or inspect.getdoc(inner) or "").strip()
        return text.partition("\n")[0]


@value_class(show_numbers=True)
class OneDraw(OfFunction):
    """A mechanism that calls f(data, rng=...) once for each output; `one_draw` makes it."""

    function: Callable[..., Any]
    timeout: float | None = None

    most_calls: ClassVar[None] = None  # each draw is made by itself

    def __call__(self, data: ArrayLike, size: int, *, rng: RngLike = None) -> list[Any]:
        """`size` outputs, each from a generator spawned from `rng`. Raises `MechanismError`."""
        __tracebackhide__ = True
        seeds = as_generator(rng).bit_generator.seed_seq.spawn(size)  # type: ignore[attr-defined]
        outputs = []
        with QUIET:
            for number, seed in enumerate(seeds):
                outputs.append(self._draw(data, number, seed))
                if size > 1:  # a call of one draw is counted by its caller
                    tick()
        return outputs

    def _draw(self, data: ArrayLike, number: int, seed: np.random.SeedSequence) -> Any:
        """Output `number` of a block. Raises `MechanismError`, which names the generator."""
        __tracebackhide__ = True
        rng = np.random.default_rng(seed)
        try:
            output = within(self.timeout, lambda: self.function(data, rng=rng))
            if isinstance(output, (np.ndarray, list, tuple, dict, set)):
                with suppress(Exception):  # `dpaudit.outcomes` refuses what cannot be copied
                    return copy.deepcopy(output)  # the function may reuse it in a later call
            return output
        except Exception as error:
            raised = Raised.of(error, data)
        sequence = f"SeedSequence({seed.entropy}, spawn_key={seed.spawn_key})"
        generator = f"numpy.random.default_rng(numpy.random.{sequence})"
        where = f"draw {number} of the block, rng = {generator}"
        raise with_cause(MechanismError(f"{with_advice(raised.line)} ({where})", raised=raised))

    @property
    def summary(self) -> str:
        return str(getattr(self.function, "summary", "") or inspect.getdoc(self.function) or "")


def one_draw(function: Callable[..., Any], *, timeout: float | None = None) -> OneDraw:
    """Make a mechanism from a function that returns one output per call.

    Parameters
    ----------
    function : callable
        f(data, rng=...) → one output, of any type (`dpaudit.outcomes`); data is (n, d) with the
        label last, rng a numpy Generator. The generator of draw i of a block is seeded by the
        block's key followed by i, so the outputs do not depend on `n_jobs`. Threads draw in
        parallel only while the function releases the interpreter lock; processes always draw in
        parallel (`joblib.parallel_config(backend="loky")`).
    timeout : float, seconds, optional
        The time that a call may take; None for no limit.

    Notes
    -----
    An exception of the function becomes a `MechanismError` that names the generator with which the
    call can be repeated. Warnings are not raised: each is logged once (logger "dpaudit.adapters"),
    without values of the data.

    Examples
    --------
    >>> import numpy as np
    >>> mechanism = one_draw(lambda data, *, rng: float(data.sum() + rng.laplace()))
    >>> len(mechanism(np.ones((3, 2)), 5, rng=1))
    5
    """
    check.function("function", function, "a callable f(data, rng=...)")
    return OneDraw(function, None if timeout is None else seconds("timeout", timeout))


# --- time limits


@value_class(show_numbers=True)
class Limited(Wrapped):
    """A mechanism, each call of which must end within `timeout` seconds; `limited` makes it."""

    timeout: float

    def __call__(self, data: Array, size: int, *, rng: RngLike = None) -> Any:
        return within(self.timeout, lambda: self.mechanism(data, size, rng=rng))


def limited(mechanism: Mechanism, timeout: float) -> Limited:
    """Limit the time of each call of a mechanism.

    A call that takes longer raises TimeoutError; an audit turns this into a `MechanismError` that
    names the block and the key of its seed. The hanging thread stays until the process ends,
    because Python cannot stop a thread.

    Parameters
    ----------
    mechanism : callable
        Any `mech(data, size, *, rng)`.
    timeout : float, seconds
        The time that a call may take. An audit with n draws from each database makes 256 calls on
        each, of n/256 draws or of one.
    """
    check.function("mechanism", mechanism, "a callable mechanism(data, size, *, rng)")
    return Limited(mechanism, seconds("timeout", timeout))


def seconds(name: str, value: object) -> float:
    """Check that an argument is a number of seconds above 0. Raises `InvalidInput`."""
    return check.real(name, value, 0.0, open_=True)


def within(timeout: float | None, work: Callable[[], Value]) -> Value:
    """Return work(). Raises TimeoutError if it takes more than `timeout` seconds (None: no limit).

    The work runs in a daemon thread, which goes on after a timeout. A thread of concurrent.futures
    would keep Python from exiting.
    """
    if timeout is None:
        return work()
    results: list[Value] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run, daemon=True, name="dpaudit-mechanism")
    thread.start()
    thread.join(timeout)
    if thread.is_alive():
        raise TimeoutError(f"no output within {timeout:g} s")
    if errors:
        raise errors[0]
    return results[0]


# --- the seeds that a function accepts, and the global generators


def seed_keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names in `SEED_KEYWORDS` that are parameters of the function.

    The result is () for a function without a signature, such as a compiled one.

    >>> seed_keywords(lambda values, epsilon=1.0, random_state=None: None)
    ('random_state',)
    >>> seed_keywords(sum)
    ()
    """
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()
    names = [value.name for value in parameters.values() if value.kind is not value.POSITIONAL_ONLY]
    return tuple(name for name in SEED_KEYWORDS if name in names)


def seeds(names: Iterable[str], rng: np.random.Generator) -> dict[str, Any]:
    """Keyword arguments for a function's seeds: `rng` itself, and integers drawn from it."""
    return {name: rng if name == "rng" else int(rng.integers(LARGEST_SEED)) for name in names}


@value_class(show_numbers=True)
class GloballySeeded(OfFunction):
    """A callable that seeds the global generators from `rng` and then calls `function`.

    seeded : the function's own keywords for seeds.
    """

    function: Callable[..., Any]
    seeded: tuple[str, ...] = ()

    def __call__(self, *arguments: Any, rng: RngLike = None) -> Any:
        """The function's output; the generators are restored afterwards, also after an error."""
        generator = as_generator(rng)
        words = [int(word) for word in generator.integers(1 << 32, size=WORDS)]
        keywords = seeds(self.seeded, generator)
        with LOCK:
            while True:
                before, state = _present(), generator.bit_generator.state
                with _seeded(words):
                    output = self.function(*arguments, **keywords)
                if _present() == before:
                    return output
                # This call loaded torch, whose generator had not been seeded. A later call with the
                # same seed would give another output, so the call is repeated.
                generator.bit_generator.state = state

    @property
    def most_calls(self) -> int | None:
        return most_calls(self.function)

    @property
    def summary(self) -> str:
        """The first line of the function's summary or docstring, and the generators seeded."""
        seeded = f"global seeds of {', '.join(_present())} set for each call"
        return f"{self.about} ({seeded})" if self.about else seeded


def global_seeds(function: Callable[..., Any]) -> Any:
    """Make the global random generators that a function or mechanism uses follow the audit's seed.

    Parameters
    ----------
    function : callable
        f(data, rng=...) or f(data) with one output per call, for `one_draw`; a mechanism
        `mech(data, size, *, rng)`; a function for `values` or `records`; or a mechanism made by an
        adapter. The seeds are set once per draw in the last case, and once per call in the others.

    Returns
    -------
    callable
        A callable of the same form as `function`.

    Notes
    -----
    Each call saves the states of `numpy.random`, `random` and, if it is loaded, `torch`, seeds them
    from the generator that it gets, and restores them when it ends, also after an error. The
    threads of a process share the generators, so their calls wait for each other, and `n_jobs` does
    not change the draws; worker processes (`joblib.parallel_config(backend="loky")`) draw in
    parallel. Other processes that the function starts are not seeded, and other threads of yours
    must not use these generators during a call. A call that outlives its timeout keeps them. The
    summary, and so the report, names the seeded generators.

    Examples
    --------
    >>> import random
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> def release(data):
    ...     return data.sum() + np.random.laplace() + random.random()
    >>> mechanism = dp.adapters.one_draw(dp.adapters.global_seeds(release))
    >>> mechanism(np.ones((3, 2)), 2, rng=1) == mechanism(np.ones((3, 2)), 2, rng=1)
    True
    """
    check.function("function", function, "a function or mechanism")
    if isinstance(function, GloballySeeded):
        return function
    if isinstance(function, OneDraw):
        return replace(function, function=global_seeds(function.function))
    if isinstance(function, Wrapped):
        return replace(function, mechanism=global_seeds(function.mechanism))
    return GloballySeeded(function, seed_keywords(function))


def _present() -> tuple[str, ...]:
    return ("numpy.random", "random", *(("torch",) if _torch() is not None else ()))


def _torch() -> Any:
    """The module torch if it is loaded and has a generator, else None."""
    module = sys.modules.get("torch")
    return module if hasattr(module, "manual_seed") else None


@contextmanager
def _seeded(words: list[int]) -> Iterator[None]:
    """Seed the generators of this process by 32-bit words, and restore them at the end.

    NumPy's global generator can be reached only by its legacy functions.
    """
    torch = _torch()
    with ExitStack() as stack:
        stack.callback(np.random.set_state, np.random.get_state())  # noqa: NPY002
        stack.callback(random.setstate, random.getstate())
        if torch is not None:
            stack.enter_context(torch.random.fork_rng())
            torch.manual_seed(words[0] << 31 | words[1] >> 1)
        np.random.seed(words)  # noqa: NPY002
        random.seed(sum(word << (32 * place) for place, word in enumerate(words)))
        yield


def as_mechanism(function: Any) -> Mechanism:
    """The mechanism that a function of the user is, or becomes by `one_draw`.

    f(data, size, *, rng) is a mechanism as it is. f(data, rng) and f(data, *, rng) give one output
    a call; f(data) too, from the global generators, which are then seeded for each call. Raises
    `InvalidInput` for other forms, and for a function whose annotation says that it takes a data
    frame, since an array has no names of columns.
    """
    if not gives_one(function):
        check_mechanism(function)
        mechanism: Mechanism = function
        return mechanism
    if takes_frame(function):
        raise InvalidInput(f"{NAME} must take an array, got a function of a data frame; {FRAME}")
    return one_draw(function if takes_rng(function) else global_seeds(function))


def source_of(mechanism: Any) -> dict[str, str] | None:
    """{"sha256": …} of the file that defines a mechanism.

    None for code without a file, as in a notebook, and for dpaudit's own. The function raises
    nothing.
    """
    with suppress(Exception):
        for _ in range(8):  # from adapters, partial functions and decorators to the function inside
            inner = inspect.unwrap(mechanism)
            if isinstance(inner, partial) or type(inner).__module__.startswith("dpaudit."):
                within = (getattr(inner, name) for name in WITHIN if hasattr(inner, name))
                inner = next(within, inner)
            if inner is mechanism:
                break
            mechanism = inner
        known = inspect.isroutine(mechanism) or isinstance(mechanism, type)
        path = Path(inspect.getsourcefile(mechanism if known else type(mechanism)) or "").resolve()
        if path.is_file() and not path.is_relative_to(OWN):
            return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    return None
