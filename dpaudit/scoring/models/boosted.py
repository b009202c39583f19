"""Gradient boosting that starts from another score: trees learn only what that score missed."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np

from dpaudit._core.seeds import Purpose, generator
from dpaudit._core.types import Array
from dpaudit.scoring import constants
from dpaudit.scoring.base import Score, Sides, evaluate
from dpaudit.scoring.models.screen import Screen, strongest, surplus
from dpaudit.scoring.whiten import Whitener

FALLBACK = "LightGBM could not be loaded ({}); scikit-learn's histogram boosting was used instead"


@cache
def boosting() -> tuple[Any, str, tuple[str, ...]]:
    """LightGBM and its name; or None, the name of what takes its place, and a note that says why it
    could not be loaded: its wheel needs the system's libgomp.
    """
    try:
        import lightgbm
    except (ImportError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return None, "histogram boosting", (FALLBACK.format(reason),)
    return lightgbm, "lightgbm", ()


def fit_boosted(
    train: Sides,
    choose: Sides,
    seed: np.random.SeedSequence,
    base: Score,
    draws: int = constants.TREE_DRAWS,
    screen: Screen = surplus,
) -> Score:
    """Fit log-odds by trees that start from the score `base`, until `choose` gains no more.

    draws : how many draws a side train. screen : judges the columns of wide rows.

    Trees see whitened coordinates, their squared norm, and unwhitened columns if there are few.
    """
    train, choose = train.head(draws), choose.head(min(constants.STOPPING_DRAWS, draws))
    wide = train.P.shape[1] > constants.TREE_COLUMNS
    columns: Any = strongest(screen(train), constants.FEWER_TREE_COLUMNS) if wide else slice(None)
    whiten = Whitener.fit(train.P[:, columns], train.Q[:, columns])

    def features(x: Array) -> Array:
        x = x[:, columns]
        white = whiten(x)
        norm = np.einsum("ij,ij->i", white, white)
        raw = [x] if 1 < x.shape[1] <= constants.RAW_COLUMNS else []
        return np.column_stack([white, norm, *raw])

    x, label = features(train.stacked()[0]), train.stacked()[1]
    start = evaluate(base, train.stacked()[0])
    state = int(generator(seed, Purpose.SCORE).integers(2**31 - 1))
    leaf_draws = min(constants.LEAF_DRAWS, max(20, len(x) // constants.LEAVES_AT_MOST))
    library = boosting()[0]
    if library is None:
        # scikit-learn's boosting takes no starting score: the base is one more feature
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        model = HistGradientBoostingClassifier(
            max_iter=constants.TREE_ROUNDS // 2,
            learning_rate=constants.TREE_RATE,
            max_leaf_nodes=constants.TREE_LEAVES,
            min_samples_leaf=leaf_draws,
            early_stopping=False,
            random_state=state,
        )
        with warnings.catch_warnings(), threadpool_limits(1, "openmp"):
            warnings.simplefilter("ignore", category=UserWarning)
            model.fit(np.column_stack([x, start]), label)
        return lambda x: np.asarray(
            model.decision_function(np.column_stack([features(x), base(x)]))
        )
    check_x, check_label = features(choose.stacked()[0]), choose.stacked()[1]
    check_start = evaluate(base, choose.stacked()[0])
    table = library.Dataset(x, label, init_score=start)
    check = library.Dataset(check_x, check_label, init_score=check_start, reference=table)
    parameters = constants.LIGHTGBM | {
        "learning_rate": constants.TREE_RATE,
        "num_leaves": constants.TREE_LEAVES,
        "min_data_in_leaf": leaf_draws,
        "seed": state,
    }
    booster = library.train(
        parameters,
        table,
        num_boost_round=constants.TREE_ROUNDS,
        valid_sets=[check],
        callbacks=[library.early_stopping(constants.TREE_PATIENCE, verbose=False)],
    )
    how = {"raw_score": True, "num_iteration": booster.best_iteration, "num_threads": 1}
    return lambda x: base(x) + np.asarray(booster.predict(features(x), **how))
