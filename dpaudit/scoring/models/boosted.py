"""Gradient boosting from the best closed form's log-odds: trees need to learn only what it missed."""

from __future__ import annotations

import warnings
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from dpaudit._core.check import Array
from dpaudit._core.seeds import Purpose, generator
from dpaudit.scoring.base import Score, Sides, evaluate
from dpaudit.scoring.whiten import Whitener

DRAWS = 100_000  # a side: more change the certificate by less than its own width
PROBE = 20_000  # a side: what these cannot clearly improve is left as it is
# columns up to which trees see them as they came, too: flags and counts are told apart there
RAW = 16
VALIDATION = 50_000
ROUNDS, PATIENCE = 200, 10
RATE, LEAVES, LEAF_DRAWS = 0.1, 15, 200
PARAMETERS: dict[str, Any] = {
    "objective": "binary",
    "learning_rate": RATE,
    "num_leaves": LEAVES,
    # with row-wise histograms: the same trees whatever the number of threads
    "deterministic": True,
    "force_row_wise": True,
    # threads that spin on a busy core cost small tables far more than they save large ones
    "num_threads": 1,
    "verbosity": -1,
}
FALLBACK = "LightGBM could not be loaded ({}); scikit-learn's histogram boosting was used instead"


@cache
def lightgbm() -> tuple[ModuleType | None, str | None]:
    """The module, or None and one line that says why not (its wheel needs the system's libgomp)."""
    try:
        import lightgbm as module
    except (ImportError, OSError) as error:
        return None, FALLBACK.format(
            str(error).splitlines()[0] if str(error) else type(error).__name__
        )
    return module, None


def fit_boosted(
    train: Sides, choose: Sides, seed: np.random.SeedSequence, base: Score, draws: int = DRAWS
) -> tuple[Score, str | None]:
    """(score, note). `base` gives the log-odds to start from; so many `draws` a side train."""
    module, note = lightgbm()
    fit = _fit_lightgbm if module is not None else _fit_histogram
    return fit(train.head(draws), choose.head(min(VALIDATION, draws)), base, _state(seed)), note


def _state(seed: np.random.SeedSequence) -> int:
    return int(generator(seed, Purpose.SCORE).integers(2**31 - 1))


class _Features:
    """Whitened coordinates and their square norm, the columns as they came; the base score beside
    them.
    """

    def __init__(self, train: Sides, base: Score) -> None:
        self.whiten, self.base = Whitener.fit(train.P, train.Q), base

    def __call__(self, x: Array) -> Array:
        white = self.whiten(x)
        norm = np.einsum("ij,ij->i", white, white)
        return np.column_stack([white, norm, x] if 1 < x.shape[1] <= RAW else [white, norm])

    def table(self, sides: Sides) -> tuple[Array, np.ndarray, Array]:
        x, label = sides.stacked()
        return self(x), label, evaluate(self.base, x)


def _fit_lightgbm(train: Sides, choose: Sides, base: Score, state: int) -> Score:
    module: Any = lightgbm()[0]
    features = _Features(train, base)
    x, label, start = features.table(train)
    check_x, check_label, check_start = features.table(choose)
    fit = module.Dataset(x, label, init_score=start)
    booster = module.train(
        {**PARAMETERS, "min_data_in_leaf": _leaf_draws(len(x)), "seed": state},
        fit,
        num_boost_round=ROUNDS,
        valid_sets=[module.Dataset(check_x, check_label, init_score=check_start, reference=fit)],
        callbacks=[module.early_stopping(PATIENCE, verbose=False)],
    )
    best = booster.best_iteration
    return lambda x: (
        base(x)
        + np.asarray(
            booster.predict(features(x), raw_score=True, num_iteration=best, num_threads=1)
        )
    )


def _leaf_draws(size: int) -> int:
    return min(LEAF_DRAWS, max(20, size // 100))


def _fit_histogram(train: Sides, choose: Sides, base: Score, state: int) -> Score:
    """scikit-learn's boosting takes no starting score, so the base is one more feature."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    features = _Features(train, base)
    x, label, start = features.table(train)
    model = HistGradientBoostingClassifier(
        max_iter=ROUNDS // 2,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=_leaf_draws(len(x)),
        early_stopping=False,
        random_state=state,
    )
    with warnings.catch_warnings(), threadpool_limits(1, "openmp"):
        warnings.simplefilter("ignore", category=UserWarning)
        model.fit(np.column_stack([x, start]), label)
    return lambda x: np.asarray(model.decision_function(np.column_stack([features(x), base(x)])))
