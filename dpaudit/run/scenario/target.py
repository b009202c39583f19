"""A target "package.module:callable" of a scenario: its form, and its import, which executes the
user's code.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from dpaudit._core.check import fail
from dpaudit._core.keywords import did_you_mean
from dpaudit._core.user_code import beside, elsewhere
from dpaudit.errors import ScenarioError

NAMES = r"[^\W\d]\w*(\.[^\W\d]\w*)*"  # identifiers, with dots between
TARGET = {"type": "string", "pattern": f"^{NAMES}:{NAMES}$"}


def is_target(value: Any) -> bool:
    """Whether a value has the form; nothing is imported."""
    module, colon, path = value.partition(":") if isinstance(value, str) else ("", "", "")
    return bool(colon) and all(
        step.isidentifier() for part in (module, path) for step in part.split(".")
    )


def target_text(key: str, value: Any, expected: str = '"package.module:callable"') -> str:
    """The value, which must have the form; nothing is imported. Raises `InvalidInput`."""
    return str(value) if is_target(value) else fail(key, value, expected)


def imported(target: str, place: str = "") -> Any:
    """The object that a target names. Raises `ScenarioError`, with `place` ("[table] key")."""
    module, _, path = target.partition(":")
    if kept := elsewhere(module):
        top = module.partition(".")[0]
        reason = (
            f"{top!r} is also the name of another module, {kept}, which is imported instead: "
            "rename the one beside the scenario"
        )
        raise ScenarioError(f"{_prefix(place)}{target}: {reason}")
    try:
        found: Any = importlib.import_module(module)
        for step in path.split("."):
            found = _named(found, step)
    except ModuleNotFoundError as error:
        raise ScenarioError(f"{failed(target, place, error)}{_sought(module, error)}") from error
    except Exception as error:
        raise ScenarioError(failed(target, place, error)) from error
    return found


def missing(target: str, place: str, folder: Path) -> str:
    """A line that says that the target's module is nowhere; "" where it is. Nothing is imported."""
    module = target.partition(":")[0]
    top = module.partition(".")[0]
    with beside(folder):
        try:
            known = top in sys.modules or importlib.util.find_spec(top) is not None
        except (ImportError, ValueError):
            known = True  # the import will say what is wrong
    if known:
        return ""
    error = ModuleNotFoundError(f"No module named {top!r}", name=top)
    return f"{failed(target, place, error)}{_sought(module, error)}"


def _sought(module: str, error: ModuleNotFoundError) -> str:
    """Where the module was looked for; "" where it was found, and misses another one."""
    if module.endswith(".py"):
        return f"; name the module without .py: {module.removesuffix('.py')}"
    if error.name != module.partition(".")[0]:
        return ""
    return "; it is not installed, nor in the scenario's folder (dpaudit audit: the current folder)"


def _named(owner: Any, name: str) -> Any:
    """An attribute. Raises AttributeError, with the nearest name that there is."""
    if not hasattr(owner, name):
        where = getattr(owner, "__name__", type(owner).__name__)
        hint = did_you_mean(name, (one for one in dir(owner) if one[0] != "_"))
        raise AttributeError("; ".join(filter(None, (f"{where} has no attribute {name!r}", hint))))
    return getattr(owner, name)


def failed(target: str, place: str, error: Exception) -> str:
    """A line on what the user's code raised."""
    said = " ".join(str(error).split())
    return f"{_prefix(place)}{target}: {type(error).__name__}: {said}"


def _prefix(place: str) -> str:
    return f"{place}: " if place else ""
