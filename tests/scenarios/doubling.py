"""A study that takes no time."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit._core import check
from dpaudit.report import study


@dataclass(frozen=True)
class Doubling(study.Study):
    points: tuple[float, ...] = (1.0, 2.0)
    factor: float = 2.0
    title: ClassVar[str] = "Numbers <doubled>"
    source: ClassVar[str] = "nobody, figure 0"

    def __post_init__(self):
        check.real("factor", self.factor, 0.0)

    def make(self, seed, progress=None):
        noise = float(np.random.default_rng(seed).normal())
        y = [self.factor * x for x in self.points]
        lines = [
            study.Line("doubled", self.points, y, y, [one + 1.0 for one in y]),
            study.Line("noise", self.points, [noise] * len(y), role="markers"),
        ]
        table = study.Table(
            "What came out.",
            ("x", "y"),
            (*zip(self.points, y, strict=True), (0.0, np.inf)),
            marked=(0,),
        )
        panels = {
            "lines": [
                study.Panel("a", "x", "y", lines),
                study.Panel("b", "x", "y", lines[:1], "log", "log"),
            ]
        }
        sentences = [f"The noise is {noise:.3f}.", "<script>nothing</script>"]
        return study.Content(self.title, self.source, sentences, panels, [table], self.parameters())
