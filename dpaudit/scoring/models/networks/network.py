"""A small neural network: smooth interactions of many columns, which trees cut into steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit._core.seeds import Purpose, generator
from dpaudit._core.types import Array
from dpaudit.scoring.base import Score, Sides, evaluate, log_loss
from dpaudit.scoring.models.networks.plane import InPlane, active_directions, fit_in_plane
from dpaudit.scoring.whiten import Whitener

DRAWS = 40_000  # a side; a network of so many takes some ten CPU seconds
VALIDATION = 50_000  # choosing draws a side, for early stopping
HIDDEN = (64, 64)  # units of the hidden layers
NETWORKS = 5  # whose log-odds are averaged: each starts elsewhere and errs elsewhere
BATCH, RATE, PENALTY = 500, 3e-3, 0.02
PASSES, PATIENCE = 60, 12  # over the training draws; a network may gain nothing in the first ten
WORTH = 0.003  # nats that the first network must gain; four more take minutes of wide rows
LARGEST = 8.0  # standard deviations at which inputs are clipped: no outlier decides a weight

Layers = tuple[tuple[Array, Array], ...]  # matrix (inputs, units) and bias (units,) of each layer


@dataclass(frozen=True, eq=False, repr=False)
class Inputs:
    """What a network sees of a row: whitened coordinates and the standardised score `base`."""

    whiten: Whitener
    base: Score
    mean: float
    scale: float

    @classmethod
    def fit(cls, train: Sides, base: Score) -> Inputs:
        """From training draws."""
        score = evaluate(base, train.stacked()[0])
        return cls(
            Whitener.fit(train.P, train.Q), base, float(score.mean()), float(score.std()) or 1.0
        )

    def __call__(self, x: Array) -> Array:
        """Rows (m, k) → inputs (m, f)."""
        base = (self.base(x) - self.mean) / self.scale
        return np.clip(np.column_stack([self.whiten(x), base]), -LARGEST, LARGEST)


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """Layers of rectified linear units, the last one linear."""

    layers: Layers

    def __call__(self, x: Array) -> Array:
        """Log-odds of inputs (m, f)."""
        values = x
        for matrix, bias in self.layers[:-1]:
            values = np.maximum(values @ matrix + bias, 0.0)
        matrix, bias = self.layers[-1]
        return np.asarray((values @ matrix + bias)[:, 0])

    def gradients(self, x: Array) -> Array:
        """Gradients of the log-odds in each input, (m, f)."""
        values, switches = x, []
        for matrix, bias in self.layers[:-1]:
            values = np.maximum(values @ matrix + bias, 0.0)
            switches.append(values > 0.0)
        slopes = np.broadcast_to(self.layers[-1][0][:, 0], values.shape)
        for (matrix, _), on in zip(self.layers[-2::-1], reversed(switches), strict=True):
            slopes = (slopes * on) @ matrix.T
        return np.asarray(slopes)


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble:
    """The mean log-odds of several networks."""

    inputs: Inputs
    networks: tuple[Network, ...]

    def __call__(self, x: Array) -> Array:
        """Log-odds of rows (m, k)."""
        inputs = self.inputs(x)
        return np.mean([network(inputs) for network in self.networks], axis=0)


def fit_network(
    train: Sides, choose: Sides, seed: np.random.SeedSequence, base: Score, best: Score
) -> Ensemble | InPlane:
    """Log-odds by networks that see the score `base` beside the columns.

    Each is trained by Adam (scikit-learn's), pass by pass, and kept as it was after the pass with
    the least loss on the choosing draws. If the first depends on few directions, neighbours and
    trees in these are cheaper than more networks, and better. If it gains little on the score
    `best`, there are no more.
    """
    train, choose = train.head(DRAWS), choose.head(VALIDATION)
    inputs = Inputs.fit(train, base)
    seen, checked = (Sides(inputs(part.P), inputs(part.Q)) for part in (train, choose))
    states = generator(seed, Purpose.SCORE).integers(2**31 - 1, size=NETWORKS)
    first = _train(seen, checked, int(states[0]))
    axes = active_directions(first.gradients(seen.stacked()[0])[:, :-1])  # the last one is the base
    if axes is not None:
        plane = replace(inputs.whiten, matrix=inputs.whiten.matrix @ axes)
        found = fit_in_plane(plane, Ensemble(inputs, (first,)), train, choose, seed)
        if found is not None:
            return found
    if log_loss(first, checked) > log_loss(best, choose) - WORTH:
        return Ensemble(inputs, (first,))
    rest = (_train(seen, checked, int(state)) for state in states[1:])
    return Ensemble(inputs, (first, *rest))


def _train(train: Sides, choose: Sides, state: int) -> Network:
    """The network of the pass after which `PATIENCE` passes brought nothing better."""
    from sklearn.neural_network import MLPClassifier

    x, label = train.stacked()
    x = x.astype(np.float32)
    model = MLPClassifier(
        HIDDEN,
        batch_size=min(BATCH, len(x)),
        learning_rate_init=RATE,
        alpha=PENALTY,
        random_state=state,
    )
    best, least, since = None, np.inf, 0
    for _ in range(PASSES):
        model.partial_fit(x, label, classes=[0, 1])
        network = weights_of(model)
        loss = log_loss(network, choose)
        best, least, since = (network, loss, 0) if loss < least else (best, least, since + 1)
        if since > PATIENCE:
            break
    assert best is not None
    return best


def weights_of(model: Any) -> Network:
    """The weights as they are now; training goes on with the model's own."""
    pairs = zip(model.coefs_, model.intercepts_, strict=True)
    return Network(tuple((matrix.astype(float), bias.astype(float)) for matrix, bias in pairs))
