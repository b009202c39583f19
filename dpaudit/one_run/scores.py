"""Scores of canaries: score(output, rows) → (m,), larger where a canary seems to be in.

An audit is valid for any score that sees the output and the canaries, but not the coins. What it
shows depends on how well the score tells a canary that is in from one that is out.

| output | score |
| --- | --- |
| coefficients of a linear or logistic model | `GradientAlignment`, "gradient" |
| a model with `predict_proba` or `predict` | `LossDifference`, "loss" |
| a synthetic table | `NearestRecord`, "nearest" |
| a noisy sum over the rows | `SumAlignment` |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.types import Array, ArrayLike
from dpaudit._core.value import value_class
from dpaudit.adapters.table_rows import TableForm, distances, spreads
from dpaudit.outcomes import NotOutcomes

Score = Callable[[Any, Array], ArrayLike]
NAMES = ("gradient", "loss", "nearest")
LOSSES = ("squared", "logistic")
LARGEST = 3000  # if both m and k are larger, the score is each canary's own projection
NOISE = np.geomspace(1e-9, 1e9, 181)  # σ² in units of the mean of the spread of the parts
RANK = 1e-12  # eigenvalues below this share of the largest are zero


@value_class(show_numbers=True)
class SumAlignment:
    """A score for noisy sums Σ t(row) with a known t, such as noisy counts and moments.

    The score is the best linear estimate of the coin from the output without what is expected of
    data and canaries (`estimated_coins`). Scale t so that all its noise is alike.

    Parameters
    ----------
    statistic : callable
        t(rows) → (m, k) of rows (m, b).
    data : array of shape (n, b), optional
        The database without canaries; None for a sum to which other rows add nothing that is known.
    inclusion : float or array of shape (m,), default 0.5
        P(in).
    """

    statistic: Callable[[Array], ArrayLike]
    data: ArrayLike | None = None
    inclusion: ArrayLike = 0.5

    def __call__(self, output: Any, rows: Array) -> Array:
        """Scores, (m,), of an output of k numbers. Raises `InvalidInput`."""
        own = check.matrix("statistic(rows)", self.statistic(rows))
        total = _numbers(output, (own.shape[1],))
        if self.data is not None:
            total = total - check.matrix(
                "statistic(data)", self.statistic(check.matrix("data", self.data))
            ).sum(0)
        chance = np.broadcast_to(np.asarray(self.inclusion, dtype=float), len(own))
        return estimated_coins(own, total - chance @ own, chance)


@value_class(show_numbers=True)
class GradientAlignment:
    """A score for coefficients θ of a linear or logistic model that minimise a sum of losses.

    Output: (p,), or (p + 1,) with the intercept last, or a fitted model with ``coef_``.

    Parameters
    ----------
    loss : {"squared", "logistic"}, default "squared"
        "squared", (y − xᵀθ)²/2, or "logistic", ln(1 + exp(−y xᵀθ)) with labels −1, 1 or 0, 1.
    data : array of shape (n, p + 1), optional
        The database without canaries, label last.
    ridge : float, optional
        λ of the penalty λ‖θ‖²/2.
    inclusion : float or array of shape (m,), default 0.5
        P(in).

    Notes
    -----
    At the minimum the gradients of all losses and of the penalty add up to zero, but for the noise.
    So the gradient of the data's losses and the penalty is a noisy sum over the canaries that are
    in, of their −gᵢ(θ), and the score is as in `SumAlignment`. Without data it is the inner product
    −gᵢ(0)ᵀθ, weaker where features depend on each other.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 0.0, 5.0], [0.0, 1.0, 5.0]])  # two canaries, label last
    >>> GradientAlignment("squared")(np.array([4.0, 0.1]), rows).tolist()
    [20.0, 0.5]
    """

    loss: str = "squared"
    data: ArrayLike | None = None
    ridge: float | None = None
    inclusion: ArrayLike = 0.5

    def __post_init__(self) -> None:
        check.choice("loss", self.loss, LOSSES)
        if self.ridge is not None:
            check.real("ridge", self.ridge, 0.0)

    def __call__(self, output: Any, rows: Array) -> Array:
        """Scores, (m,). Raises `InvalidInput` for an output other than a vector of coefficients."""
        width = rows.shape[1] - 1
        if hasattr(output, "coef_"):  # a fitted model: its coefficients, the intercept last
            intercept = np.ravel(getattr(output, "intercept_", ()))
            output = np.concatenate([np.ravel(output.coef_), intercept])
        theta = _numbers(output, (width,), (width + 1,))
        if self.data is None:
            return np.asarray(-self._gradients(rows, np.zeros(len(theta))) @ theta)
        own = -self._gradients(rows, theta)
        chance = np.broadcast_to(np.asarray(self.inclusion, dtype=float), len(own))
        left = self._gradients(check.matrix("data", self.data), theta).sum(axis=0) - chance @ own
        shrunk = np.where(np.arange(len(theta)) < width, theta, 0.0)  # not the intercept
        ridge, size = self.ridge, float(shrunk @ shrunk)
        if ridge is None:  # the one that leaves least
            ridge = max(-float(left @ shrunk), 0.0) / size if size > 0.0 else 0.0
        return estimated_coins(own, left + ridge * shrunk, chance)

    def _gradients(self, rows: Array, theta: Array) -> Array:
        """The gradients at θ of the losses of the rows, (m, p) or (m, p + 1) with the intercept."""
        x, y = rows[:, :-1], rows[:, -1]
        x = np.column_stack([x, np.ones(len(x))]) if len(theta) > x.shape[1] else x
        if self.loss == "squared":
            return np.asarray((x @ theta - y)[:, None] * x)
        sign = 2.0 * y - 1.0 if np.all((y == 0.0) | (y == 1.0)) else y
        return np.asarray((-sign * expit(-sign * (x @ theta)))[:, None] * x)


@value_class(show_numbers=True)
class LossDifference:
    """A score for fitted models: the loss of a canary by a model without canaries, minus its loss.

    The last column is y. The loss is −ln of the probability of y where the model has
    `predict_proba` and ``classes_``, else (y − predict(X))².

    Parameters
    ----------
    reference : fitted model, optional
        Fitted without canaries, of the same kind. Without it the score is −loss, which cannot tell
        an easy canary from one that was learned.

    Notes
    -----
    Use it for models that are not fitted by a known convex loss (trees, networks); for linear
    models `GradientAlignment` tells more.

    References
    ----------
    Yeom et al. 2018 (loss); Carlini et al. 2022 (difficulty calibrated by a model without the
    example).
    """

    reference: Any = None

    def __call__(self, output: Any, rows: Array) -> Array:
        """Scores, (m,), of a fitted model. Raises `InvalidInput` for another output."""
        own = _losses(output, rows)
        return -own if self.reference is None else _losses(self.reference, rows) - own


@value_class(show_numbers=True)
class NearestRecord:
    """A score for synthetic tables: minus the distance of a canary to the nearest record.

    The distance is the mean over the columns.

    Parameters
    ----------
    spread : array of shape (b,), optional
        The unit of distance of each column; 0 in a column of categories, where two values are at
        distance 0 or 1. If not given, that of the canaries (`NearestRecord.of(data)` is better).

    Notes
    -----
    It detects copies and near copies, but nothing in a table whose records are all far from the
    records that it was made from.

    References
    ----------
    The attacks by distance of Stadler, Oprisanu & Troncoso 2022 ("Synthetic Data: Anonymisation
    Groundhog Day").
    """

    spread: Array | None = None

    @classmethod
    def of(cls, data: ArrayLike) -> NearestRecord:
        """Take the standard deviations of a database, (n, b), as units.

        Columns of whole numbers up to 20 are columns of categories.
        """
        return cls(spreads(check.matrix("data", data)))

    def __call__(self, output: Any, rows: Array) -> Array:
        """Scores, (m,), of a table of b columns in any form that `adapters.synthesizer` takes.

        Raises `InvalidInput`.
        """
        try:
            table = TableForm(rows.shape[1], None, {})(output)
        except NotOutcomes as error:
            fail("the mechanism's output", Words(error.got), error.expected)
        unit = spreads(rows) if self.spread is None else self.spread
        nearest = [distances(table, row, unit).min(initial=np.inf) for row in rows]
        return -np.minimum(nearest, np.finfo(float).max)  # an empty table is far from all


def named(score: str | Score, data: Array, rows: Array, inclusion: ArrayLike) -> Score:
    """The score that a name stands for, made with the data without canaries; a callable as it is.

    Raises `InvalidInput`.
    """
    if not isinstance(score, str):
        check.function("score", score, f"a callable score(output, rows), or one of {NAMES}")
        return score
    if check.choice("score", score, NAMES) == "loss":
        return LossDifference()
    if score == "nearest":
        return NearestRecord.of(data)
    two = len(np.unique(rows[:, -1])) <= 2 and np.all(np.isin(data[:, -1], (-1.0, 0.0, 1.0)))
    return GradientAlignment("logistic" if two else "squared", data, inclusion=inclusion)


def estimated_coins(parts: Array, left: Array, inclusion: Array) -> Array:
    """Estimate the coins of canaries from a noisy sum of their parts: S − q, (m,).

    Let t_i, a row of T = `parts`, (m, k), be what canary i adds if it is in, S_i its coin, P(S_i =
    1) = q_i = `inclusion`, (m,), and r = Σ (S_i − q_i) t_i + N(0, σ²I) = `left`, (k,), what is left
    of an output when all that is known and expected is taken off. Where the t_i are not orthogonal,
    the projection t_iᵀr is disturbed by the other canaries. With Q = diag(q_i(1 − q_i)), the linear
    estimate of S − q with the least mean square error is

        Q T (TᵀQT + σ²I)⁻¹ r,

    which takes the disturbance off as far as the noise allows (Kay 1993, "Estimation Theory",
    theorem 12.1). Where σ is not known, the σ of the largest likelihood of r ~ N(0, TᵀQT + σ²I)
    stands for it. A poor estimate costs power and no validity: it sees no coin.
    """
    deviation = np.sqrt(inclusion * (1.0 - inclusion))
    scaled = deviation[:, None] * parts
    if min(scaled.shape) > LARGEST:
        return np.asarray(deviation * (scaled @ left))
    spread, seen, directions = _axes(scaled, left)
    if not len(spread):
        return np.zeros(len(parts))
    rest = max(float(left @ left - seen @ seen), 0.0)
    noise = _noise(spread, seen, rest, len(left) - len(spread))
    return np.asarray(deviation * (directions @ (np.sqrt(spread) * seen / (spread + noise))))


def _axes(scaled: Array, left: Array) -> tuple[Array, Array, Array]:
    """The decomposition A = UDVᵀ, (m, k), by the smaller Gram matrix.

    Returns D² > 0, (l,), Vᵀr, (l,), and U, (m, l).
    """
    wide = scaled.shape[0] <= scaled.shape[1]
    value, vector = np.linalg.eigh(scaled @ scaled.T if wide else scaled.T @ scaled)
    spanned = value > max(RANK * value[-1], 0.0)
    value, vector = value[spanned], vector[:, spanned]
    size = np.sqrt(value)
    if wide:
        return value, (vector.T @ (scaled @ left)) / size, vector
    return value, vector.T @ left, (scaled @ vector) / size


def _noise(spread: Array, seen: Array, rest: float, others: int) -> float:
    """The σ² of the largest likelihood, among multiples `NOISE` of the mean of `spread`.

    spread, seen : the variances that the coins give to coordinates of r, and these coordinates.
    rest, others : the squared norm of r in the other coordinates, and how many there are.
    """
    tried = spread.mean() * NOISE
    variance = spread[:, None] + tried
    cost = np.sum(np.log(variance) + seen[:, None] ** 2 / variance, axis=0)
    return float(tried[np.argmin(cost + others * np.log(tried) + rest / tried)])


def _losses(model: Any, rows: Array) -> Array:
    """The loss of each row by a fitted model, (m,)."""
    x, y = rows[:, :-1], rows[:, -1]
    if hasattr(model, "predict_proba") and hasattr(model, "classes_"):
        chance = np.asarray(model.predict_proba(x), dtype=np.float64)
        seen = (np.asarray(model.classes_)[None, :] == y[:, None]) * chance
        return np.asarray(-np.log(np.maximum(seen.sum(axis=1), np.finfo(float).tiny)))
    if not hasattr(model, "predict"):
        fail("the mechanism's output", model, "a fitted model with predict, for the score 'loss'")
    return np.asarray((np.asarray(model.predict(x), dtype=np.float64).ravel() - y) ** 2)


def _numbers(output: Any, *shapes: tuple[int, ...]) -> Array:
    """A vector of one of the shapes. Raises `InvalidInput`."""
    expected = " or ".join(f"{shape[0]} numbers" for shape in shapes)
    name = "the mechanism's output"
    vector = np.asarray(check.array_of_numbers(name, output, expected), dtype=np.float64).ravel()
    if vector.shape not in shapes:
        words = Words(f"{vector.size} numbers")
        fail(name, words, expected, "give a score for it, score(output, rows)")
    return vector
