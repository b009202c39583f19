"""Paper 3, figures 3 and 5: the accuracy of private logistic regression against ε.

On tabular data in place of the paper's images.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit import datasets
from dpaudit._core import check
from dpaudit._core.seeds import generator
from dpaudit._core.types import Array
from dpaudit.papers import LogisticMixing, ObjectivePerturbation
from dpaudit.report.study import Content, Panel, Progress, Study, Table
from dpaudit.verdict.numbers import number
from studies.confidence import interval, with_band
from studies.populations import logistic_fit
from studies.repeats import positive

MIXING, OBJECTIVE = "mixing (section 5.2)", "objective perturbation (algorithm 6)"
SIGN, BASELINE = "objective perturbation, loss of the printed sign", "not private"
RATIOS = tuple(1.5 + 0.5 * step for step in range(13))  # k/d of appendix J.2, 1.5 to 7.5
TEST = 0.2  # share of the rows
PENALTY = 1e-6  # of the sum of losses, without privacy

Accuracies = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class LabelledSplit:
    """A training set with norms of at most 1 and labels ±1, and its test set."""

    train: Array
    test: Array

    @classmethod
    def of(cls, name: str, rng: np.random.Generator) -> LabelledSplit:
        """A random split of a data set. Raises `DataNotFound`."""
        found = datasets.load(name)
        label = np.where(found.y > np.mean([found.y.min(), found.y.max()]), 1.0, -1.0)
        data = np.column_stack([found.X, label])[rng.permutation(len(label))]
        tests = round(TEST * len(data))
        data[:, :-1] /= np.linalg.norm(data[tests:, :-1], axis=1).max()
        return cls(data[tests:], data[:tests])

    @property
    def delta(self) -> float:
        """δ = 1/n²."""
        return len(self.train) ** -2.0

    def accuracy(self, solutions: Array) -> Array:
        """(m,) from (m, p)."""
        right = (self.test[:, :-1] @ solutions.T) * self.test[:, -1:] > 0.0
        return np.asarray(right.mean(axis=0))

    def mixed(
        self, epsilon: float, rows: int, radius: float, draws: int, rng: np.random.Generator
    ) -> Array:
        """Accuracies of LogisticMixing with k = `rows`, (draws,)."""
        algorithm = LogisticMixing(rows, epsilon, self.delta, radius=radius, variant="corrected")
        return self.accuracy(algorithm(self.train, draws, rng=rng))

    def baseline(self) -> float:
        """The accuracy without noise, and almost without a penalty."""
        features, label = self.train[:, :-1], (self.train[:, -1] > 0.0).astype(float)
        solution = logistic_fit(features, label, PENALTY / len(label))
        return float(self.accuracy(solution[None])[0])


@dataclass(frozen=True)
class MixingLogistic(Study):
    """Figures 3 and 5 on tabular data, by name, with a constant column.

    Settings: data, epsilons, radius Q of the quadratic loss, splits (random training sets), draws
    of each algorithm on each.
    """

    data: tuple[str, ...] = ("banknote",)
    epsilons: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0, 10.0)
    radius: float = 4.0
    splits: int = 8
    draws: int = 20
    title: ClassVar[str] = "Logistic regression by Gaussian mixing and by objective perturbation"
    source: ClassVar[str] = "paper 3, figures 3 and 5"

    def __post_init__(self) -> None:
        positive("epsilons", self.epsilons)
        check.real("radius", self.radius, 0.0, open_=True)
        check.integer("splits", self.splits, 2)
        check.integer("draws", self.draws, 1)

    def make(self, seed: int, progress: Progress | None = None) -> Content:
        """A panel for each data set. Raises `DataNotFound`."""
        panels, sentences, rows = [], list[str](), list[Any]()
        for i, name in enumerate(self.data):
            if progress is not None:
                progress("figure 3", i, len(self.data))
            ratio, found = self._accuracies(name, np.random.SeedSequence(seed, spawn_key=(i,)))
            lines = [with_band(label, self.epsilons, values) for label, values in found.items()]
            panels.append(Panel(name, "ε (nats)", "test accuracy", lines))
            sentences.append(self._sentence(name, ratio, found))
            for label, values in found.items():
                rows += [
                    (name, e, label, *interval(one))
                    for e, one in zip(self.epsilons, values, strict=True)
                ]
        heads = ("data", "ε", "method", "test accuracy", "lower", "upper")
        return Content(
            title=self.title,
            source=self.source,
            sentences=[*sentences, *self._remarks()],
            figures={"figure-3": panels},
            tables=(Table("Test accuracies and 95 % intervals of the mean", heads, rows),),
            settings=self.parameters() | {"seed": seed},
        )

    def _accuracies(
        self, name: str, seed: np.random.SeedSequence
    ) -> tuple[float, dict[str, list[Array]]]:
        """k/d as appendix J.2 chooses it; for each method, (splits, draws) at each ε."""
        parts = [LabelledSplit.of(name, generator(seed, k)) for k in range(self.splits)]
        ratio = self._tuned(parts, seed)
        found = {label: list[Array]() for label in (MIXING, OBJECTIVE, SIGN, BASELINE)}
        for j, epsilon in enumerate(self.epsilons):
            each = [
                self._errors(part, epsilon, ratio, generator(seed, k, j))
                for k, part in enumerate(parts)
            ]
            for label, values in found.items():
                values.append(np.array([one[label] for one in each]))
        return ratio, found

    def _errors(
        self, part: LabelledSplit, epsilon: float, ratio: float, rng: np.random.Generator
    ) -> Accuracies:
        def perturbed(variant: str) -> Array:
            algorithm = ObjectivePerturbation(epsilon, part.delta, variant=variant)
            return part.accuracy(algorithm(part.train, self.draws, rng=rng))

        return {
            MIXING: part.mixed(epsilon, self._rows(part, ratio), self.radius, self.draws, rng),
            OBJECTIVE: perturbed("corrected"),
            SIGN: perturbed("printed"),
            BASELINE: np.full(self.draws, part.baseline()),
        }

    def _tuned(self, parts: list[LabelledSplit], seed: np.random.SeedSequence) -> float:
        """The k/d of the best mean test accuracy at the largest ε."""
        rng, epsilon = generator(seed, self.splits), max(self.epsilons)

        def score(ratio: float) -> float:
            mixed = [
                part.mixed(epsilon, self._rows(part, ratio), self.radius, self.draws, rng)
                for part in parts
            ]
            return float(np.mean(mixed))

        return RATIOS[int(np.argmax([score(ratio) for ratio in RATIOS]))]

    def _rows(self, part: LabelledSplit, ratio: float) -> int:
        return int(np.ceil(ratio * (part.train.shape[1] - 1)))

    def _sentence(self, name: str, ratio: float, found: dict[str, list[Array]]) -> str:
        first, last = int(np.argmin(self.epsilons)), int(np.argmax(self.epsilons))

        def listed(j: int) -> str:
            return ", ".join(
                f"{label} {number(float(values[j].mean()), 3)}" for label, values in found.items()
            )

        low, high = self.epsilons[first], self.epsilons[last]
        end = ", an end of it." if ratio in (RATIOS[0], RATIOS[-1]) else "."
        return (
            f"{name}, test accuracy at ε = {low:g}: {listed(first)}; at ε = {high:g}: "
            f"{listed(last)}; k = {ratio:g}·d was the best of the grid at ε = {high:g}{end}"
        )

    def _remarks(self) -> list[str]:
        return [
            "The paper's images and their network, trained with privacy of its own, are not "
            "redone: the features are the table's columns and a constant, divided by the largest "
            "training norm.",
            "That norm, and k by the test accuracy, are read off the data as in appendix J.2, "
            "and no budget pays for either.",
            f"{self.splits} random splits, {self.draws} draws of each algorithm on each; δ = "
            "1/n², n training rows. Execution times are not compared: they are the machine's.",
            "With the loss's sign as algorithm 6 prints it the classifier errs where it can.",
        ]
