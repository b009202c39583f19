"""Eureka, the black-box estimator that paper 1 uses (Lu, Magdon-Ismail, Wei and Zikas 2022).

A draw of P is kept with probability e^−ε and replaced by a symbol ⊥ otherwise. The least error of a
classifier that separates this mixture from Q is R = ½(1 − TV), where TV = 1 − e^−ε + e^−ε sup_S
[P(S) − e^ε Q(S)], because ⊥ is never a draw of Q. Hence δ(ε) = 1 − 2e^ε R. Among the draws that
are not ⊥ the classes are as e^−ε to 1, so P has the prior 1/(1 + e^ε). The classifier is k nearest
neighbours, k = 10⌈√n⌉, on the outputs as they are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpaudit._core import check
from dpaudit._core.seeds import as_generator
from dpaudit._core.types import Array, ArrayLike, RngLike
from dpaudit._core.value import value_class
from dpaudit.scoring import Sides

GAMMA = 0.05
LOOKED_UP = 1 << 20  # neighbours to look up at a time


@value_class
class EurekaEstimate:
    """The result of `eureka`.

    Attributes
    ----------
    epsilon : array of shape (m,) or (), nats
        Where δ is estimated.
    delta : array of the same shape
        Plug-in estimates of δ at epsilon, in the direction from P to Q.
    radius : array of the same shape
        How far δ is from the estimate at most, as the method states at confidence 1 − gamma.
    gamma : float in (0, 1)
        1 − the confidence of `radius`.
    """

    epsilon: Array
    delta: Array
    radius: Array
    gamma: float


def eureka_bound(
    n_train: int, n_test: int, dim: int, epsilon: ArrayLike, gamma: float = GAMMA
) -> float | Array:
    """The radius of δ̂ around δ that Eureka states at confidence 1 − γ.

    Parameters
    ----------
    n_train, n_test : int
        The numbers of draws that train and that estimate the error, both sides together.
    dim : int
        d, the numbers in a draw.
    epsilon : float or array of shape (m,), nats
        ε, at which δ is estimated.
    gamma : float in (0, 1)
        γ = 1 − the confidence.

    Returns
    -------
    float or array of the shape of `epsilon`
        2e^ε [12 c_d √(ln(4/γ) / 2n_train) + √(ln(4/γ) / 2n_test)],
        c_d = (1 + 2/√(2 − √3))^d − 1. Infinite where it overflows.

    Notes
    -----
    The formula is as printed, for the nearest-neighbour classifier in d dimensions. The first term
    is a worst case over all laws: at γ = 0.05 and ε = 0 it is below 1 from 18,840 draws on in one
    dimension, from 7e16 in ten.

    References
    ----------
    ePrint 2022/1250.

    Examples
    --------
    >>> import dpaudit as dp
    >>> round(float(dp.eureka_bound(1_000_000, 1_000_000, dim=1, epsilon=0.0)), 6)
    0.140218
    """
    n_train, n_test = check.integer("n_train", n_train, 1), check.integer("n_test", n_test, 1)
    dim = check.integer("dim", dim, 1)
    gamma = check.real("gamma", gamma, 0.0, 1.0, open_=True)
    grid = check.epsilon(epsilon)
    with np.errstate(over="ignore"):
        cones = np.float64(1.0 + 2.0 / np.sqrt(2.0 - np.sqrt(3.0))) ** dim - 1.0
        tail = np.log(4.0 / gamma) / 2.0
        radius = (
            2.0 * np.exp(grid) * (12.0 * cones * np.sqrt(tail / n_train) + np.sqrt(tail / n_test))
        )
    return radius if grid.ndim else float(radius)


def eureka(
    P: ArrayLike,
    Q: ArrayLike,
    epsilon: ArrayLike,
    *,
    gamma: float = GAMMA,
    train_share: float = 0.5,
    rng: RngLike = None,
) -> EurekaEstimate:
    """Paper 1's estimator as its authors run it: one training per ε, on draws thinned to the prior.

    It estimates sup_S P(S) − e^ε Q(S), clipped to [0, 1].

    Parameters
    ----------
    P, Q : arrays of shape (n, k) or (n,)
        Draws of M(D) and of M(D').
    epsilon : float or array of shape (m,), nats
        ε, at which δ is estimated.
    gamma : float in (0, 1)
        1 − the confidence of the radius.
    train_share : float in (0, 1), default 0.5
        The share of the draws that train; the other draws estimate the error.
    rng : seed or Generator, optional
        As `numpy.random.default_rng` takes it.

    Returns
    -------
    EurekaEstimate

    Notes
    -----
    Its only guarantee is `radius`, which is vacuous beyond one dimension; `audit_samples` certifies
    lower bounds.
    """
    grid = check.epsilon(epsilon)
    share = check.real("train_share", train_share, 0.0, 1.0, open_=True)
    P, Q = (
        check.matrix(name, side[:, None] if side.ndim == 1 else side)
        for name, side in (("P", np.asarray(P)), ("Q", np.asarray(Q)))
    )
    if P.shape[1] != Q.shape[1]:
        check.fail("Q", check.Words(f"{Q.shape[1]} columns"), f"as many columns as P, {P.shape[1]}")
    size = min(len(P), len(Q))
    train = int(size * share)
    if min(train, size - train) < 1:
        check.fail("P", check.Words(f"{size} draws a side"), "enough draws to train and to test")
    generator = as_generator(rng)
    delta = []
    for nats in np.atleast_1d(grid):
        # the draws of P that became ⊥ are all classified correctly
        thinned, tested = (
            side[generator.random(len(side)) < np.exp(-nats)] for side in (P[:train], P[train:size])
        )
        k, won = votes_of(Sides(thinned, Q[:train]))
        missed = sum(2 * won(tested) <= k) + sum(2 * won(Q[train:size]) > k)
        error = missed / (2 * (size - train))
        delta.append(float(np.clip(1.0 - 2.0 * np.exp(nats) * error, 0.0, 1.0)))
    radius = np.asarray(eureka_bound(2 * train, 2 * (size - train), P.shape[1], grid, gamma))
    return EurekaEstimate(grid, np.array(delta).reshape(grid.shape), radius, gamma)


def votes_of(train: Sides) -> tuple[int, Callable[[Array], np.ndarray]]:
    """k = 10⌈√n⌉, or all n training draws, and how many of a row's k votes are for P.

    The latter maps rows (m, d) to (m,): the nearest training draws vote for their side.
    """
    from scipy.spatial import cKDTree  # here: slow to import

    points, label = train.stacked()
    k = min(int(10 * np.ceil(np.sqrt(len(points)))), len(points))
    if points.shape[1] == 1:
        order = np.argsort(points[:, 0], kind="stable")
        return k, lambda x: votes_on_a_line(points[order, 0], label[order], k, x[:, 0])
    tree, neighbours = cKDTree(points), np.arange(1, k + 1)

    def won(x: Array) -> np.ndarray:
        step = max(1, LOOKED_UP // k)
        parts = (x[start : start + step] for start in range(0, len(x), step))
        votes = [label[tree.query(part, k=neighbours)[1]].sum(axis=1) for part in parts]
        return np.concatenate([np.zeros(0, dtype=np.intp), *votes])

    return k, won


def votes_on_a_line(line: Array, label: np.ndarray, k: int, x: Array) -> np.ndarray:
    """In one dimension the k nearest of the ascending points `line` are consecutive.

    Bisection finds them. A start is too far left where its point is farther from x than the first
    point after the k.
    """
    total = np.concatenate([[0], np.cumsum(label)])
    low, high = np.zeros(len(x), dtype=np.intp), np.full(len(x), len(line) - k)
    while np.any(low < high):
        middle = (low + high) // 2
        beyond = np.minimum(middle + k, len(line) - 1)
        right = (x - line[middle] > line[beyond] - x) & (low < high)
        low, high = (
            np.where(right, middle + 1, low),
            np.where(right, high, np.minimum(middle, high)),
        )
    return np.asarray(total[low + k] - total[low])
