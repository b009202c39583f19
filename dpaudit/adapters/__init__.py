"""Mechanisms that are not of the form `mech(data, size, *, rng)`, and draws in files.

`one_draw` takes a function that gives one output a call, `values` and `records` a package's own
function of values or of records. `estimator` takes an object with `fit` like those of scikit-learn,
`transformer` one with `transform`, `synthesizer` encodes synthetic tables without the order of
their records, and `command` takes a program in any language. `texts` counts the words of a
mechanism's texts, `limited` limits the time of a call, and `global_seeds` sets the global random
generators that a mechanism draws from. `read_draws` reads a file. What they return goes to
`dpaudit.audit` and `dpaudit.audit_samples`, which take outputs of any type (`dpaudit.outcomes`).
Each of these functions raises `InvalidInput` for an argument that is not as it describes it. The
room knows outcomes, pairs of databases, threads, processes and files; it knows neither laws nor
scores.
"""

from dpaudit.adapters.commands import Command, command
from dpaudit.adapters.draw_files import read_draws
from dpaudit.adapters.functions import Limited, OneDraw, limited, one_draw
from dpaudit.adapters.global_seeds import GloballySeeded, global_seeds
from dpaudit.adapters.models import Fit, estimator, transformer
from dpaudit.adapters.synthesizers import Synthesized, synthesizer
from dpaudit.adapters.tables import records, values
from dpaudit.adapters.texts import Texts, texts

__all__ = [
    "Command",
    "Fit",
    "GloballySeeded",
    "Limited",
    "OneDraw",
    "Synthesized",
    "Texts",
    "command",
    "estimator",
    "global_seeds",
    "limited",
    "one_draw",
    "read_draws",
    "records",
    "synthesizer",
    "texts",
    "transformer",
    "values",
]
