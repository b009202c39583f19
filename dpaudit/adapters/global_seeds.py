"""Global random generators, set from the draw's own generator for each call and restored after it.

NumPy's (`numpy.random.seed`), Python's (`random.seed`), and torch's where torch is loaded.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.seeds import as_generator
from dpaudit._core.types import RngLike, Wrapped
from dpaudit._core.value import value_class
from dpaudit.adapters.functions import OfFunction, OneDraw, seed_keywords, seeds

WORDS = 4  # 32-bit words of a seed: so many that no two draws of an audit share one
LOCK = RLock()  # the global generators belong to all threads together


@value_class(show_numbers=True)
class GloballySeeded(OfFunction):
    """What `function` returns, with global generators seeded from `rng` in each call.

    seeded : the function's own keywords for seeds.
    """

    function: Callable[..., Any]
    seeded: tuple[str, ...] = ()

    def __call__(self, *arguments: Any, rng: RngLike = None) -> Any:
        """The output. Raises what the function raises, with the generators restored."""
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
                # The first call loaded torch, whose seed had not been set, so the same call would
                # give another output later: it is made again.
                generator.bit_generator.state = state

    @property
    def summary(self) -> str:
        """The function's summary or docstring, and which generators are set."""
        seeded = f"global seeds of {', '.join(_present())} set for each call"
        return f"{self.about} ({seeded})" if self.about else seeded


def global_seeds(function: Callable[..., Any]) -> Any:
    """A function or mechanism whose use of global random generators follows the audit's seed.

    Parameters
    ----------
    function : callable
        f(data, rng=...) or f(data) with one output a call, for `one_draw`; a mechanism
        `mech(data, size, *, rng)`; a function for `values` or `records`; or what an adapter made.
        In the last case the seeds are set for each draw, else for each call.

    Returns
    -------
    callable
        A callable of the same form as `function`.

    Notes
    -----
    For each call the states of `numpy.random`, `random` and, if it is loaded, `torch` are saved,
    set from the generator that the call gets, and restored when it ends, by an error too. Calls
    wait for each other in one process, because its threads share the generators, so that `n_jobs`
    changes no draw; workers in processes (`joblib.parallel_config(backend="loky")`) draw in
    parallel. What the function starts in other processes is not reached, and other threads of
    yours must not use these generators meanwhile. A call that outlives its timeout keeps them. The
    summary, and with it the report, says so.

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
    """The module torch where it is loaded and has a generator, else None."""
    module = sys.modules.get("torch")
    return module if hasattr(module, "manual_seed") else None


@contextmanager
def _seeded(words: list[int]) -> Iterator[None]:
    """Set the generators of this process to a seed of 32-bit words, and restore them at the end.

    Only NumPy's legacy functions reach its global generator.
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
