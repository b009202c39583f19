"""How many threads linear algebra uses."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread.

    In products with a few dozen columns a second thread costs twice the time that it saves.
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    """The controller of loaded libraries, made once because finding them takes milliseconds."""
    return ThreadpoolController()
