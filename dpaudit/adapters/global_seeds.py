"""Seeds global random generators from the draw's own generator in each call, and restores them.

They are those of NumPy (`numpy.random.seed`), Python (`random.seed`), and torch if it is loaded.
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

WORDS = 4  # 32-bit words in a seed, so many that no two draws of an audit have the same seed
LOCK = RLock()  # held during a call, since all threads share the global generators


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
    """The names of the global generators in this process."""
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
