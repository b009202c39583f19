"""The user's own mechanisms, as a scenario names them: a callable of some kind, or a program.

No code of the user's runs before `load`.
"""

from __future__ import annotations

from typing import Any

from dpaudit.run.scenario.user_mechanism.call import Called, Function, Imported, Source
from dpaudit.run.scenario.user_mechanism.kinds import KINDS, Estimator, Synthesizer
from dpaudit.run.scenario.user_mechanism.program import Program

__all__ = [
    "KINDS",
    "Call",
    "Called",
    "Function",
    "Program",
    "Source",
    "is_synthesizer",
    "lawless",
    "predicts",
]


Call = Imported | Program  # a mechanism of the user's own


def lawless(mechanism: Any) -> bool:
    """Whether a mechanism has no law that dpaudit could know: a program, or of some kind."""
    return isinstance(mechanism, (Program, *KINDS.values()))


def predicts(mechanism: Any) -> bool:
    """Whether a mechanism, or what will be loaded, fits the last column by the others."""
    return isinstance(mechanism, Estimator) or bool(getattr(mechanism, "regression", False))


def is_synthesizer(mechanism: Any) -> bool:
    """Whether a scenario names a synthesizer of the user's."""
    return isinstance(mechanism, Synthesizer)
