"""Targets "package.module:callable" of a scenario: checks of the form, and the import."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from dpaudit._core.check import fail
from dpaudit._core.keywords import did_you_mean
from dpaudit._core.user_code import importable_from, other_place_of
from dpaudit.errors import ScenarioError

NAMES = r"[^\W\d]\w*(\.[^\W\d]\w*)*"  # identifiers, with dots between
TARGET = {"type": "string", "pattern": f"^{NAMES}:{NAMES}$"}


def is_target(value: Any) -> bool:
    """Whether a value has the form "package.module:callable"; nothing is imported."""
    module, colon, path = value.partition(":") if isinstance(value, str) else ("", "", "")
    return bool(colon) and all(
        step.isidentifier() for part in (module, path) for step in part.split(".")
    )


def target_text(key: str, value: Any, expected: str = '"package.module:callable"') -> str:
    return str(value) if is_target(value) else fail(key, value, expected)


def imported(target: str, place: str = "") -> Any:
    """The object that a target names. The import executes the user's code.

    Raises `ScenarioError`, whose message begins with `place` ("[table] key").
    """
    module, _, path = target.partition(":")
    if other := other_place_of(module):
        top = module.partition(".")[0]
        reason = (
            f"{top!r} is also the name of another module, {other}, which is imported instead: "
            "rename the one beside the scenario"
        )
        raise ScenarioError(f"{place}: {target}: {reason}" if place else f"{target}: {reason}")
    try:
        value: Any = importlib.import_module(module)
        for name in path.split("."):
            if not hasattr(value, name):
                owner = getattr(value, "__name__", type(value).__name__)
                hint = did_you_mean(name, (known for known in dir(value) if known[0] != "_"))
                message = f"{owner} has no attribute {name!r}"
                raise AttributeError(f"{message}; {hint}" if hint else message)
            value = getattr(value, name)
    except Exception as error:
        raise ScenarioError(failed(target, place, error)) from error
    return value


def missing(target: str, place: str, folder: Path) -> str:
    """An error message if the target's module does not exist, else "". Nothing is imported."""
    top = target.partition(":")[0].partition(".")[0]
    with importable_from(folder):
        try:
            known = top in sys.modules or importlib.util.find_spec(top) is not None
        except (ImportError, ValueError):
            known = True  # the import will say what is wrong
    error = ModuleNotFoundError(f"No module named {top!r}", name=top)
    return "" if known else failed(target, place, error)


def failed(target: str, place: str, error: Exception) -> str:
    """A message with the error that the user's code raised; for a missing module, with the
    folders that were searched.
    """
    module = target.partition(":")[0]
    words = [f"{type(error).__name__}: {' '.join(str(error).split())}"]
    if isinstance(error, ModuleNotFoundError):
        if module.endswith(".py"):
            words.append(f"name the module without .py: {module.removesuffix('.py')}")
        elif error.name == module.partition(".")[0]:
            words.append(
                "it is not installed, nor in the scenario's folder (dpaudit audit: the current "
                "folder)"
            )
    return f"{place}: {target}: {'; '.join(words)}" if place else f"{target}: {'; '.join(words)}"
