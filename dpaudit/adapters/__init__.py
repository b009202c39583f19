"""Adapters that turn other code into a mechanism `mech(data, size, *, rng)`, and a reader of draws.

`one_draw` adapts a function that returns one output per call; `values` and `records` adapt a
package's function of values or of records. `estimator` adapts an object with `fit` as in
scikit-learn, and `transformer` an object with `transform`. `synthesizer` encodes synthetic tables
without the order of their records, and `command` runs a program in any language. `limited` limits
the time of a call, and `global_seeds` seeds the global random generators that a mechanism draws
from. `read_draws` reads draws from a file. The results go to `dpaudit.audit` or
`dpaudit.audit_samples`, which accept outputs of any type (`dpaudit.outcomes`). Each function raises
`InvalidInput` for an invalid argument.
"""

from dpaudit.adapters.commands import Command, command
from dpaudit.adapters.draw_files import read_draws
from dpaudit.adapters.functions import (
    GloballySeeded,
    Limited,
    OneDraw,
    global_seeds,
    limited,
    one_draw,
)
from dpaudit.adapters.models import Fit, estimator, transformer
from dpaudit.adapters.synthesizers import Synthesized, synthesizer
from dpaudit.adapters.tables import records, values

__all__ = [
    "Command",
    "Fit",
    "GloballySeeded",
    "Limited",
    "OneDraw",
    "Synthesized",
    "command",
    "estimator",
    "global_seeds",
    "limited",
    "one_draw",
    "read_draws",
    "records",
    "synthesizer",
    "transformer",
    "values",
]
