"""Packages that dpaudit does not need, of an extra that a measurement needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dpaudit.errors import DpauditError


def package(module: str, extra: str) -> Any:
    """A module of another package. Raises `DpauditError` that says what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise DpauditError(
            f"this measurement needs {module}, of the extra `{extra}`: "
            f'pip install "dpaudit[{extra}]"'
        ) from error
