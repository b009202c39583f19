"""What trasgodp releases of a column, as mechanisms to audit: imported when one is called.

The column is one of a data frame with several records. Every call releases all of it; the noise is
numpy's, whose global generator is seeded from the audit's, so an audit comes again digit by digit.
Numbers in a column of categories stand for words, in the order of WORDS.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

WORDS = np.array(["farm", "school", "state", "trade"])


class Column:
    """`size` releases of the column, one by one.

    function : its module and name: "numerical:dp_clip_laplace". settings : its other arguments.
    words : the column is one of WORDS. frame : the function takes a data frame, else an array.
    """

    def __init__(
        self, function: str, settings: dict[str, Any], words: bool = False, frame: bool = True
    ) -> None:
        self.name, self.settings, self.words, self.frame = function, settings, words, frame

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        import pandas as pd

        np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002 - the package draws from it
        values = WORDS[data[:, 0].astype(int)] if self.words else data[:, 0]
        if not self.frame:
            return np.array([self._function()(values, **self.settings) for _ in range(size)])
        frame = pd.DataFrame({"x": values})
        made = [self._function()(frame, "x", **self.settings) for _ in range(size)]
        return np.array([one["x"].to_numpy() for one in made])

    def _function(self) -> Callable[..., Any]:
        module, name = self.name.split(":")
        return getattr(import_module(f"trasgodp.{module}"), name)  # type: ignore[no-any-return]


class Place:
    """`size` releases of the places of a data frame by metric_privacy.

    drawn : each call gets a seed of its own. radius : the column radius_m of the released frame is
    seen too.
    """

    def __init__(self, epsilon: float, drawn: bool, radius: bool) -> None:
        self.epsilon, self.drawn, self.radius = epsilon, drawn, radius

    def __call__(self, data: Any, size: int, *, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        import pandas as pd
        from trasgodp.geoindis import metric_privacy

        frame = pd.DataFrame(data, columns=["lat", "lon"])
        columns = ["lat", "lon", "radius_m"] if self.radius else ["lat", "lon"]
        made = []
        for _ in range(size):
            seed = {"seed": int(rng.integers(2**32))} if self.drawn else {}
            released = metric_privacy(frame, "lat", "lon", self.epsilon, **seed)
            made.append(released[columns].to_numpy().ravel())
        return np.array(made)
