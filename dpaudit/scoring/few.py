"""The score for few draws: closed forms and a regression on ranks, weighted by cross-validated
loss.

Choosing one of them would follow the noise of the losses: kinds of score that certify very
different bounds differ in loss by less than its standard error. So the probabilities of the kinds
are averaged, each weighted by how likely it makes the draws that it was not fitted to
(pseudo-Bayesian model averaging, Yao, Vehtari, Simpson & Gelman 2018). The simplest kind, few
columns that differ, has the larger prior weight.

Ranks among the pooled draws do not depend on the scale and bound the effect of an outlier. The
Legendre polynomials of a rank are the components of Neyman's smooth test. The log-odds are those of
the posterior mean of the class probability, so few draws give small log-odds, and a bet on them is
small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.special import expit, log_expit, logit, logsumexp, softmax

from dpaudit._core.linalg import medians
from dpaudit._core.types import Array
from dpaudit.scoring import constants
from dpaudit.scoring.base import Fitted, Score, Sides, logistic_loss
from dpaudit.scoring.encode import Encoder, most_different
from dpaudit.scoring.models.closed import STRUCTURES, fit_quadratic
from dpaudit.scoring.models.logistic import newton
from dpaudit.scoring.views import views_of

RANKS, SPARSE = "rank regression", "few columns"


def mixture(scores: Sequence[Score], weight: Array) -> Score:
    """The log-odds of the weighted mean of several scores' probabilities.

    weight : (k,), of sum 1. The mean is computed in log space, so that scores far from 0 stay
    apart.
    """

    def log_odds(x: Array) -> Array:
        odds = np.stack([score(x) for score in scores])
        p = logsumexp(log_expit(odds), axis=0, b=weight[:, None])
        q = logsumexp(log_expit(-odds), axis=0, b=weight[:, None])
        return np.asarray(p - q)

    return log_odds


def fit_few(past: Sides) -> Fitted:
    """The score fitted to `past`: outputs (n, k) of any scale, at least five draws a side.

    Each kind is fitted to four fifths of the draws and judged on the rest, five times; then the
    kinds with enough weight are fitted to all draws. The name lists these, the heaviest first.
    Ranks and few columns are also fitted to the views of the rows (`views`).
    """
    kinds: dict[str, tuple[Callable[[Sides], Score], Score, Sides]] = {}
    for view, to_view in [("", lambda x: x), *views_of(past, _of_parts)]:
        to_rows = _encoded(past, to_view)
        rows = Sides(to_rows(past.P), to_rows(past.Q))
        fits: dict[str, Callable[[Sides], Score]] = {RANKS: fit_few_draws, SPARSE: fit_sparse}
        if not view and rows.P.shape[1] <= constants.FEW_COLUMNS:
            for name, structure in STRUCTURES.items():
                fits[name] = partial(fit_quadratic, structure=structure)
        for name, fit in fits.items():
            kinds[f"{name} of {view}" if view else name] = fit, to_rows, rows
    losses = {name: held_out_losses(rows, fit) for name, (fit, _, rows) in kinds.items()}
    weights = weights_of(losses)
    scores = [_of_rows(*kinds[name]) for name in weights]
    score = scores[0] if len(scores) == 1 else mixture(scores, np.array(list(weights.values())))
    mean = {name: float(loss.mean()) for name, loss in losses.items()}
    return Fitted(", ".join(weights), score, mean)


def _of_parts(train: Sides, choose: Sides) -> Fitted:
    """The score of single parts of bags."""
    encoder = Encoder.fit(train)
    return Fitted("qda", _of_rows(fit_quadratic, encoder, encoder.sides(train)))


def _encoded(past: Sides, view: Score) -> Score:
    """The view of a row, made finite."""
    encoder = Encoder.fit(Sides(view(past.P), view(past.Q)))
    return lambda x: encoder(view(x))


def _of_rows(fit: Callable[[Sides], Score], to_rows: Score, rows: Sides) -> Score:
    """The score of plain rows, fitted to their view."""
    score = fit(rows)
    return lambda x: np.asarray(score(to_rows(x)))


def weights_of(losses: dict[str, Array]) -> dict[str, float]:
    """The weight of each kind with at least `LEAST_WEIGHT`, the largest first; their sum is 1."""
    evidence = [
        constants.SPARSE_PREFERENCE * (name == SPARSE) - loss.sum() for name, loss in losses.items()
    ]
    weights = dict(zip(losses, softmax(evidence), strict=True))
    names = [name for name in weights if weights[name] >= constants.LEAST_WEIGHT]
    names.sort(key=lambda name: -weights[name])
    total = sum(weights[name] for name in names)
    return {name: float(weights[name] / total) for name in names}


def held_out_losses(past: Sides, fit: Callable[[Sides], Score]) -> Array:
    """The log loss of each draw, (2n,), nats, under the score that the other folds train.

    A draw gets `constants.UNFITTED_LOSS` where no score can be fitted, or the score is NaN.
    """
    fold = np.arange(len(past.P)) % constants.FOLDS
    odds = np.full((2, len(past.P)), np.nan)
    for number in range(constants.FOLDS):
        out = fold == number
        with suppress(np.linalg.LinAlgError):
            score = fit(Sides(past.P[~out], past.Q[~out]))
            odds[:, out] = score(past.P[out]), score(past.Q[out])
    worst = [[-constants.UNFITTED_LOSS], [constants.UNFITTED_LOSS]]
    clipped = np.clip(odds, -constants.MOST_FEW_ODDS, constants.MOST_FEW_ODDS)
    p, q = np.where(np.isnan(odds), worst, clipped)
    return logistic_loss(p, q)


def fit_sparse(train: Sides) -> Score:
    """Fit independent columns of which few differ, by a spike-and-slab prior on each difference.

    The score is Σ over columns of gap·z + ½·excess·(z² − 1), with z a column in units of its pooled
    spread: to first order the log-ratio of normal laws with these differences of means and
    variances.
    """
    n = len(train.P)
    centre = 0.5 * (train.P.mean(axis=0) + train.Q.mean(axis=0))
    spread = np.sqrt(0.5 * (train.P.var(axis=0) + train.Q.var(axis=0)))
    spread = np.where(spread > 0.0, spread, 1.0)
    p, q = ((side - centre) / spread for side in (train.P, train.Q))
    prior = np.log(constants.EXPECTED_COLUMNS / max(len(spread) - constants.EXPECTED_COLUMNS, 1.0))

    def posterior_mean(estimate: Array, variance: float) -> Array:
        """The mean of numbers that are 0 or normal, (k,), each seen with an error of `variance`."""
        total = variance + constants.SLAB**2
        evidence = 0.5 * estimate**2 * (1.0 / variance - 1.0 / total)
        evidence -= 0.5 * np.log(total / variance)
        return np.asarray(expit(evidence + prior) * estimate * constants.SLAB**2 / total)

    gap = posterior_mean(p.mean(axis=0) - q.mean(axis=0), 2.0 / n)
    excess = posterior_mean(p.var(axis=0) - q.var(axis=0), 4.0 / n)

    def log_odds(x: Array) -> Array:
        z = (x - centre) / spread
        return np.asarray(z @ gap + 0.5 * (z**2 - 1.0) @ excess)

    return log_odds


def legendre_ranks(x: Array, ordered: Array, degree: int) -> Array:
    """Legendre polynomials of each column's rank among sorted draws (n, k), (m, k) → (m, k·degree).

    They are ordered by degree, then by column. Polynomials of uniform ranks have mean 0 and
    variance 1. A number that equals training draws has the middle of their ranks; any other number
    has a rank between those of its neighbours, by linear interpolation.
    """
    n, rank = len(ordered), np.empty(x.shape)
    for column, (draws, values) in enumerate(zip(ordered.T, x.T, strict=True)):
        left = np.searchsorted(draws, values, "left")
        right = np.searchsorted(draws, values, "right")
        low, high = draws[np.maximum(left - 1, 0)], draws[np.minimum(left, n - 1)]
        gap = np.where(high > low, high - low, 1.0)
        share = np.clip((values - low) / gap, 0.0, 1.0)
        between = left + np.where((left > 0) & (left < n), share, 0.5)
        middle = np.where(left == right, between, 0.5 * (left + right + 1))
        rank[:, column] = 2.0 * middle / (n + 1) - 1.0
    terms = legvander(rank, degree)[:, :, 1:] * np.sqrt(2.0 * np.arange(1, degree + 1) + 1.0)
    return np.asarray(terms.swapaxes(1, 2).reshape(len(x), -1))


def rank_features(pooled: Array, columns: np.ndarray) -> tuple[Score, Array]:
    """Polynomials of the ranks of chosen columns and of the distance from the pooled median, as a
    function from rows (m, k) to features (m, f); and the prior precision, (f,), of each one's
    weight for a prior scale of 1.

    The precision is k² for degree k, times the number of columns for their own polynomials, which
    share the variance. The distance is in units of each column's median absolute deviation; a
    single column has none. pooled : draws (n, k).
    """
    x, size = pooled[:, columns], len(columns)
    centre = medians(x)
    spread = medians(np.abs(x - centre))
    spread = np.where(spread > 0.0, spread, 1.0)
    degree = next(degree for most, degree in constants.RANK_DEGREES if size <= most)
    precision = np.repeat(np.arange(1, degree + 1) ** 2.0, size) * size
    ordered = np.sort(x, axis=0)
    if size == 1:
        return lambda x: legendre_ranks(x[:, columns], ordered, degree), precision

    def distance(x: Array) -> Array:
        """The sum of squared standardised columns, (m, 1), at most the largest float."""
        with np.errstate(over="ignore"):
            squares = (((x - centre) / spread) ** 2).sum(axis=1, keepdims=True)
            return np.minimum(squares, np.finfo(float).max)

    distances, radial = np.sort(distance(x), axis=0), constants.RADIAL_DEGREE

    def features(x: Array) -> Array:
        x = x[:, columns]
        own = legendre_ranks(x, ordered, degree)
        return np.hstack([own, legendre_ranks(distance(x), distances, radial)])

    return features, np.append(precision, np.arange(1, radial + 1) ** 2.0)


def fit_few_draws(train: Sides, bits: bool = False) -> Score:
    """The regression on ranks, fitted to outputs (n, k) of any scale, at least two draws a side.

    Its log-odds are those of the mean probability of P over the posteriors of the weights for
    several prior scales, by Laplace's approximation. bits : as in `Encoder.fit`.
    """
    encoder = Encoder.fit(train, bits)
    train = encoder.sides(train)
    (pooled, label), size = train.stacked(), train.P.shape[1]
    many = size > constants.RANK_COLUMNS
    columns = most_different(train, constants.RANK_COLUMNS) if many else np.arange(size)
    features, prior = rank_features(pooled, columns)
    table, modes, roots, evidence = features(pooled), [], [], np.log(constants.SCALE_PRIOR)
    for number, scale in enumerate(constants.PRIOR_SCALES):
        precision = prior / scale**2
        fitted = newton(table, label, 1 - label, precision, gain=constants.SETTLED_FIT)
        root = np.linalg.inv(np.linalg.cholesky(fitted.hessian)).T
        modes.append(fitted.weights)
        roots.append(root)
        # the log marginal likelihood, nats
        evidence[number] += 0.5 * np.log(precision).sum() + np.log(np.diag(root)).sum()
        evidence[number] -= fitted.objective
    shares, least = softmax(evidence), constants.LEAST_PROBABILITY

    def log_odds(x: Array) -> Array:
        table, p = features(encoder(x)), np.zeros(len(x))
        for share, mode, root in zip(shares, modes, roots, strict=True):
            variance = ((table @ root) ** 2).sum(axis=1)
            # the posterior mean of the probability of P, by MacKay's approximation
            p += share * expit(table @ mode / np.sqrt(1.0 + np.pi / 8.0 * variance))
        return np.asarray(logit(np.clip(p, least, 1.0 - least)))

    return log_odds
