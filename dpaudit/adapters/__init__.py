"""Mechanisms that are not of the form `mech(data, size, *, rng)`, and draws in files.

`one_draw` takes a function that gives one output a call, `estimator` takes an object with `fit`
like those of scikit-learn, and `command` a program in any language. `synthesizer` encodes synthetic
tables without the order of their records, and `texts` counts the words of a mechanism's texts.
`limited` limits the time of a call of any mechanism. `read_draws` reads a file. What they return
goes to `dpaudit.audit` and `dpaudit.audit_samples`, which take outputs of any type
(`dpaudit.outcomes`). The room knows outcomes, pairs of databases, threads, processes and files; it
knows neither laws nor scores.
"""

from dpaudit.adapters.commands import Command, command
from dpaudit.adapters.estimators import Fit, estimator
from dpaudit.adapters.files import read_draws
from dpaudit.adapters.single import OneDraw, one_draw
from dpaudit.adapters.synthesizer import Synthesized, synthesizer
from dpaudit.adapters.texts import Texts, texts
from dpaudit.adapters.waiting import Limited, limited

__all__ = [
    "Command",
    "Fit",
    "Limited",
    "OneDraw",
    "Synthesized",
    "Texts",
    "command",
    "estimator",
    "limited",
    "one_draw",
    "read_draws",
    "synthesizer",
    "texts",
]
