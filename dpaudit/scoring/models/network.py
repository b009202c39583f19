"""A small neural network: smooth interactions of many columns, which trees cut into steps.

Where the loss depends on two of ten coordinates after a rotation, neighbours and trees need these
two: among ten, a neighbour is far away and a tree cuts across. A network finds them, since its
gradients lie in their span (the active subspace of Constantine, Dow & Wang 2014).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpaudit._core.seeds import Purpose, generator
from dpaudit._core.types import Array
from dpaudit._core.value import value_class
from dpaudit.scoring import constants
from dpaudit.scoring.base import Score, Sides, evaluate, log_loss, zero
from dpaudit.scoring.models.boosted import fit_boosted
from dpaudit.scoring.models.nearest import fit_nearest
from dpaudit.scoring.whiten import Whitener

Layers = tuple[tuple[Array, Array], ...]  # matrix (inputs, units) and bias (units,) of each layer


@value_class
class Network:
    """A network with layers of rectified linear units, of which the last is linear."""

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


def fit_network(train: Sides, choose: Sides, seed: np.random.SeedSequence, base: Score) -> Score:
    """Fit log-odds by a network whose inputs are the columns and the score `base`.

    It is trained by Adam (scikit-learn's), pass by pass, and stays as it was after the pass with
    the least loss on the choosing draws. If it depends on few directions, it is averaged with
    neighbours and trees in these.
    """
    train = train.head(constants.NETWORK_DRAWS)
    choose = choose.head(constants.STOPPING_DRAWS)
    whiten, scores = Whitener.fit(train.P, train.Q), evaluate(base, train.stacked()[0])
    mean, spread = float(scores.mean()), float(scores.std()) or 1.0

    def inputs(x: Array) -> Array:
        """Whitened coordinates and the standardised score `base`, (m, f)."""
        columns = np.column_stack([whiten(x), (base(x) - mean) / spread])
        return np.clip(columns, -constants.FARTHEST_INPUT, constants.FARTHEST_INPUT)

    seen, checked = (Sides(inputs(part.P), inputs(part.Q)) for part in (train, choose))
    network = _train(seen, checked, int(generator(seed, Purpose.SCORE).integers(2**31 - 1)))

    def alone(x: Array) -> Array:
        return network(inputs(x))

    # the last input is the base
    axes = active_directions(network.gradients(seen.stacked()[0])[:, :-1])
    if axes is None:
        return alone
    plane = replace(whiten, matrix=whiten.matrix @ axes)
    return fit_in_plane(plane, alone, train, choose, seed) or alone


def _train(train: Sides, choose: Sides, state: int) -> Network:
    """The network after the pass with the least loss; passes end once none improves for long."""
    from sklearn.neural_network import MLPClassifier

    x, label = train.stacked()
    x = x.astype(np.float32)
    model = MLPClassifier(
        constants.HIDDEN_UNITS,
        batch_size=min(constants.BATCH, len(x)),
        learning_rate_init=constants.NETWORK_RATE,
        alpha=constants.NETWORK_PENALTY,
        random_state=state,
    )
    best, least, since = None, np.inf, 0
    for _ in range(constants.PASSES):
        model.partial_fit(x, label, classes=[0, 1])
        # copies, which further training leaves unchanged
        layers = zip(model.coefs_, model.intercepts_, strict=True)
        network = Network(
            tuple((matrix.astype(float), bias.astype(float)) for matrix, bias in layers)
        )
        loss = log_loss(network, choose)
        best, least, since = (network, loss, 0) if loss < least else (best, least, since + 1)
        if since > constants.PASSES_WITHOUT_GAIN:
            break
    assert best is not None
    return best


def active_directions(gradients: Array) -> Array | None:
    """Orthonormal columns (f, d) that span the gradients (m, f) of a score.

    None if the gradients span all directions, or more than `constants.MOST_ACTIVE`.
    """
    value, axes = np.linalg.eigh(gradients.T @ gradients)
    active = value > constants.ACTIVE_SHARE * value[-1]
    return axes[:, active] if active.sum() <= min(constants.MOST_ACTIVE, len(value) - 1) else None


def fit_in_plane(
    coordinates: Score, whole: Score, train: Sides, choose: Sides, seed: np.random.SeedSequence
) -> Score | None:
    """Fit neighbours and trees in the plane of a score `whole`, and average them with it.

    coordinates : rows (m, k) → (m, d), in the plane. The result is None if the average is no better
    on the choosing draws than `whole` alone.
    """
    seen, checked = (Sides(coordinates(p.P), coordinates(p.Q)) for p in (train, choose))
    nearest, boosted = fit_nearest(seen, checked), fit_boosted(seen, checked, seed, zero)

    def average(x: Array) -> Array:
        z = coordinates(x)
        return np.mean([whole(x), nearest(z), boosted(z)], axis=0)

    return average if log_loss(average, choose) < log_loss(whole, choose) else None
