"""Gradient boosting that starts from another score: trees learn only what that score missed."""

from __future__ import annotations

import warnings
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from dpaudit._core.seeds import Purpose, generator
from dpaudit._core.types import Array
from dpaudit.scoring.base import Score, Sides, evaluate
from dpaudit.scoring.models.screen import Screen, strongest, surplus
from dpaudit.scoring.whiten import Whitener

DRAWS = 100_000  # a side; more change the certified bound by less than its distance to δ
PROBE = 20_000  # a side; a score that these cannot clearly improve is not boosted on more
RAW = 16  # columns up to which trees also see them unwhitened, where flags and counts are separate
# columns at most that trees see: a first split finds what a column shows by itself
WIDEST = 256
FEWER = 64  # of wider rows, those that differ most
VALIDATION = 50_000  # choosing draws a side, for early stopping
ROUNDS, PATIENCE = 200, 10
RATE, LEAVES, LEAF_DRAWS = 0.1, 15, 200
PARAMETERS: dict[str, str | float | bool] = {
    "objective": "binary",
    "learning_rate": RATE,
    "num_leaves": LEAVES,
    # with row-wise histograms the trees do not depend on the number of threads
    "deterministic": True,
    "force_row_wise": True,
    # more threads cost small tables far more than they save large ones
    "num_threads": 1,
    "verbosity": -1,
}
FALLBACK = "LightGBM could not be loaded ({}); scikit-learn's histogram boosting was used instead"


@cache
def lightgbm() -> tuple[ModuleType | None, str | None]:
    """(LightGBM or None, why it could not be loaded): its wheel needs the system's libgomp."""
    try:
        import lightgbm as module
    except (ImportError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return None, FALLBACK.format(reason)
    return module, None


def fit_boosted(
    train: Sides,
    choose: Sides,
    seed: np.random.SeedSequence,
    base: Score,
    draws: int = DRAWS,
    screen: Screen = surplus,
) -> Score:
    """Log-odds by trees that start from the score `base`.

    draws : a side, that train. screen : of the columns of wide rows.
    """
    train, choose = train.head(draws), choose.head(min(VALIDATION, draws))
    fit = _fit_lightgbm if lightgbm()[0] is not None else _fit_histogram
    return fit(_TreeFeatures(train, base, screen), train, choose, _state(seed))


def boosting() -> tuple[str, tuple[str, ...]]:
    """The name of the library that `fit_boosted` uses, and a note if it is not LightGBM."""
    note = lightgbm()[1]
    return ("lightgbm", ()) if note is None else ("histogram boosting", (note,))


def _state(seed: np.random.SeedSequence) -> int:
    return int(generator(seed, Purpose.SCORE).integers(2**31 - 1))


class _TreeFeatures:
    """What trees see of a row: whitened coordinates, their squared norm, and few columns as is."""

    def __init__(self, train: Sides, base: Score, screen: Screen) -> None:
        wide = train.P.shape[1] > WIDEST
        self.columns = strongest(screen(train), FEWER) if wide else slice(None)
        self.whiten = Whitener.fit(train.P[:, self.columns], train.Q[:, self.columns])
        self.base = base

    def __call__(self, x: Array) -> Array:
        return self._of(x[:, self.columns])

    def _of(self, x: Array) -> Array:
        white = self.whiten(x)
        norm = np.einsum("ij,ij->i", white, white)
        return np.column_stack([white, norm, x] if 1 < x.shape[1] <= RAW else [white, norm])

    def table(self, sides: Sides) -> tuple[Array, np.ndarray, Array]:
        """(features, labels, base score) of all draws."""
        seen, label = Sides(sides.P[:, self.columns], sides.Q[:, self.columns]).stacked()
        start = np.concatenate([evaluate(self.base, side) for side in (sides.P, sides.Q)])
        return self._of(seen), label, start


def _fit_lightgbm(features: _TreeFeatures, train: Sides, choose: Sides, state: int) -> Score:
    module: Any = lightgbm()[0]
    base = features.base
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
    how = {"raw_score": True, "num_iteration": booster.best_iteration, "num_threads": 1}
    return lambda x: base(x) + np.asarray(booster.predict(features(x), **how))


def _leaf_draws(size: int) -> int:
    return min(LEAF_DRAWS, max(20, size // 100))


def _fit_histogram(features: _TreeFeatures, train: Sides, choose: Sides, state: int) -> Score:
    """By scikit-learn's boosting, which takes no starting score: the base is one more feature."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    base = features.base
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
