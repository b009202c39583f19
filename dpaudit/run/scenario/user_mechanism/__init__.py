"""The user's own mechanisms, as a scenario names them: a callable of some kind, or a program.

No code of the user's runs before `load`.
"""

from __future__ import annotations

from typing import Any

from dpaudit.run.scenario.user_mechanism.call import Call, Called, Source, read_call
from dpaudit.run.scenario.user_mechanism.program import Program, read_command

__all__ = [
    "Call",
    "Called",
    "Program",
    "Source",
    "is_estimator",
    "is_synthesizer",
    "lawless",
    "predicts",
    "read_call",
    "read_command",
]


def lawless(mechanism: Any) -> bool:
    """Whether a mechanism has no law that dpaudit could know: a program, or of some kind."""
    known = isinstance(mechanism, Call) and mechanism.form.kind is not None
    return isinstance(mechanism, Program) or known


def predicts(mechanism: Any) -> bool:
    """Whether a mechanism, or what will be loaded, fits the last column by the others."""
    return is_estimator(mechanism) or bool(getattr(mechanism, "regression", False))


def is_estimator(mechanism: Any) -> bool:
    """Whether a scenario names an estimator of the user's."""
    return isinstance(mechanism, Call) and mechanism.form.kind == "estimator"


def is_synthesizer(mechanism: Any) -> bool:
    """Whether a scenario names a synthesizer of the user's."""
    return isinstance(mechanism, Call) and mechanism.form.kind == "synthesizer"
