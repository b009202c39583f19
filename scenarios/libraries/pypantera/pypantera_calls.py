"""What pypantera puts in the place of a word, as mechanisms to audit.

The package installs its modules under the name `src`. The database is one row, the number of a
word of a file of embeddings in two dimensions; each draw is a text of this one word, as a row of
the data frame that obfuscateText takes. The noise is numpy's, whose global generator is seeded from
the audit's, so an audit comes again digit by digit. The claim of a scenario is ε times the distance
of its two words.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np


class Word:
    """`size` words in the place of one.

    mechanism : its module and class: "EmbeddingPerturbationMechanism.cmp:CMP". words : the file of
    embeddings, beside this one. settings : its other arguments.
    """

    def __init__(self, mechanism: str, words: str, settings: Mapping[str, Any]) -> None:
        self.name, self.settings = mechanism, dict(settings)
        self.path = Path(__file__).with_name(words)
        self.made: Any = None

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> list[str]:
        import pandas as pd

        if self.made is None:
            module, name = self.name.split(":")
            mechanism = getattr(import_module(f"src.{module}"), name)
            self.made = mechanism({"embPath": str(self.path), **self.settings})
        word = self.path.read_text(encoding="utf-8").splitlines()[int(data[0, 0])].split()[0]
        np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002 - the package draws from it
        texts = pd.DataFrame({"id": range(size), "text": [word] * size})
        return [one[0] for one in self.made.obfuscateText(texts, 1)["obfuscatedText"]]
