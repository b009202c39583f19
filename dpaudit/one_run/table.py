"""Audit a finished table, such as synthetic data, against the records that it was made from."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit._core import check
from dpaudit._core.check import Words, fail
from dpaudit._core.keywords import known_keywords
from dpaudit._core.seeds import Purpose, generator, root
from dpaudit._core.types import Array, RngLike
from dpaudit.adapters.table_rows import distances, spreads
from dpaudit.curves.claims import ClaimLike
from dpaudit.one_run.api import audit_one_run
from dpaudit.one_run.result import OneRunResult
from dpaudit.outcomes import numbered
from dpaudit.sampling.independence import examine_shared
from dpaudit.verdict.one_run import REVERSED

MOST = 2000  # records, at most, that an attack is aimed at: enough for ε of about ln(MOST/3)
CATEGORIES = 20  # a column of numbers with at most so many different values holds categories
RESOLUTION = 1e-3  # of the median distance between real records: shorter ones count as copies
UNLIKELY = 1e-6  # p-value below which train and hold-out are not from one random split
FEWEST = 50  # records a side
ATTEMPTS = 100_000  # queries, at most, that are tried: each must single out a synthetic record
ATTACKS = 500  # attacks of each kind on either group, as in anonymeter
GUESSED_FROM = 3  # columns of a singling-out query, as in anonymeter
SWAPPED = (
    "That is far fewer than by chance: the synthetic table is nearer to hold-out than to train. "
    "Are the two swapped?"
)
STRANGE = (
    "Most synthetic values of {columns} do not occur in train and hold-out, or lie outside of "
    "their range: where units or codes differ, this attack sees nothing."
)


@known_keywords()
def audit_table(
    synthetic: Any,
    train: Any,
    holdout: Any,
    *,
    claim: ClaimLike = None,
    secrets: Sequence[str] = (),
    level: float = 0.95,
    delta: float = 0.0,
    rng: RngLike = None,
) -> OneRunResult:
    """Audit a finished synthetic table, without running again what made it.

    Two questions are answered. How well does the table tell which records it was made from? This
    membership attack gives a certified lower bound on ε. And do attacks through the table succeed
    more often on records of `train` than on records of `holdout`, which it never saw? These are the
    three risks of the Article 29 Working Party: singling out, linkability and attribute inference,
    as the package anonymeter measures them (``pip install "dpaudit[table]"``).

    Parameters
    ----------
    synthetic : table of c columns
        A DataFrame, a dict of columns, or an array of numbers. Text and missing values are allowed.
    train : table of c columns
        The records that it was made from, at least 50.
    holdout : table of c columns
        Records of the same population which it was not made from, at least 50. The bound on ε holds
        if a random split decided which records went to `train` and which to `holdout`.
    claim : Claim, (ε, δ) or None
        The claim, about one record replaced by another.
    secrets : sequence of str, default ()
        Columns that an attacker wants to infer from all others, one attack each.
    level : float in (0, 1), default 0.95
        The confidence of the bound, and of each interval by itself.
    delta : float in [0, 1), default 0
        The δ at which ε is bounded if the claim is not (ε, δ).
    rng : seed or Generator, optional
        Decides which records are attacked.

    Returns
    -------
    OneRunResult
        Its canaries are records of `train` and `holdout`. ``to_dict()["table"]`` has the attacks:
        rates of success on `train`, on `holdout` and of guessing at random, and the risk
        (train − holdout)/(1 − holdout) with its interval.

    Raises
    ------
    InvalidInput
        When the tables have different columns or too few records, or when a column of `train` and
        `holdout` differs so much that no random split can have made them.

    Notes
    -----
    Let a uniformly random order of all records decide that the first n are `train`. Of m ≤ n
    records, B ~ Binomial(m, 1/2) are drawn from `train` and m − B from `holdout`. Given which m
    records these are and the order of the others, each is in `train` by a fair coin of its own, and
    the first n − B of the others fill the rest of `train`. To turn one coin is therefore to replace
    one record of `train` by another, and `dpaudit.audit_one_run` bounds the ε of that change. If
    adding or removing one record is ε-DP, replacing one is 2ε-DP.

    A membership score is the distance to the nearest other real record over the distance to the
    nearest synthetic record, on a log scale: a record that the table has a near copy of, in a
    region where real records are sparse, was probably in `train`.

    References
    ----------
    Steinke, Nasr & Jagielski 2023 (the bound). Giomi, Boenisch, Wehmeyer & Tasnádi 2023 ("A Unified
    Framework for Quantifying Privacy Risk in Synthetic Data": attacks with a control group).

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit as dp
    >>> people = np.random.default_rng(0).normal(size=(400, 5))
    >>> train, holdout = people[:200], people[200:]
    >>> dp.audit_table(train + 0.01, train, holdout, claim=(1.0, 0.0), rng=0).verdict
    'violated'
    """
    level = check.real("level", level, 0.0, 1.0)
    tables = {"synthetic": synthetic, "train": train, "holdout": holdout}
    columns = {name: _columns(name, table) for name, table in tables.items()}
    names = tuple(columns["train"])
    for name, those in columns.items():
        if differing := sorted(set(those) ^ set(names)):
            fail(name, Words(f"columns that differ in {differing[:3]}"), "the columns of train")
    for secret in secrets:
        check.choice("secrets", secret, names)
    codes, categories = _numbers(columns, names)
    for name, least in (("synthetic", 1), ("train", FEWEST), ("holdout", FEWEST)):
        if (size := len(codes[name])) < least:
            fail(name, Words(f"{size} records"), f"at least {least} records")
    seed = root(rng)
    _refuse_two_populations(codes["train"], codes["holdout"])
    if examine_shared(*numbered(codes["train"], codes["holdout"]), level=UNLIKELY):
        expected = "records that train does not have, chosen by a random split"
        fail("holdout", Words("records that train has, too"), expected)

    draw = generator(seed, Purpose.COIN)
    count = min(len(codes["train"]), len(codes["holdout"]), MOST)
    count -= 1 - count % 2  # of an odd number never half are in, which `audit_one_run` would doubt
    inside = int(draw.binomial(count, 0.5))
    included = np.arange(count) < inside
    inner = draw.choice(len(codes["train"]), inside, replace=False)
    outer = draw.choice(len(codes["holdout"]), count - inside, replace=False)
    real = np.vstack([codes["train"], codes["holdout"]])
    targets = np.concatenate([inner, len(codes["train"]) + outer])
    complete = real[~np.isnan(real).any(axis=1)]
    unit = spreads(complete if len(complete) > 1 else np.nan_to_num(real), categories)
    scores, copied = _membership(codes["synthetic"], real, targets, unit)
    result = audit_one_run(scores, included, claim=claim, level=level, delta=delta)
    reason = result.reason.replace(REVERSED, SWAPPED)
    if strange := _strange(codes["synthetic"], real, categories):
        columns_there = ", ".join(names[column] for column in strange)
        reason = f"{STRANGE.format(columns=columns_there)} {reason}"
    result = replace(result, judged=replace(result.judged, reason=reason))

    note = (
        "The canaries are records of train and hold-out, and ε is that of one record replaced by "
        "another, if a random split made the two. This is what one table shows by this attack: it "
        "can refute a claim of differential privacy, and cannot prove one."
    )
    attacks = None
    if importlib.util.find_spec("anonymeter") is None:
        note = (
            "Singling out, linkability and attribute inference were not attempted, since anonymeter"
            f' is not installed: pip install "dpaudit[table]". {note}'
        )
    else:
        attacks = list(_attacks(columns, secrets, level, seed))
    groups = {"train": included, "holdout": ~included}
    section = {
        "records": {name: len(table) for name, table in codes.items()},
        "copies": {
            name: float(copied[group].mean()) if group.any() else None
            for name, group in groups.items()
        },
        "attacks": attacks,
    }
    return replace(result, note=note, subject={"table": section})


def _columns(name: str, table: Any) -> dict[str, np.ndarray]:
    """The columns of a table by name; those of an array are "0", "1", …."""
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        return {str(column): np.asarray(table[column]) for column in table.columns}
    if isinstance(table, Mapping):
        return {str(column): np.asarray(values) for column, values in table.items()}
    matrix = check.matrix(name, table)
    return {str(number): column for number, column in enumerate(matrix.T)}


def _numbers(
    columns: Mapping[str, Mapping[str, np.ndarray]], names: Sequence[str]
) -> tuple[dict[str, Array], list[int]]:
    """The tables as numbers, (n, c) each, and which columns hold categories.

    A column of numbers stays as it is; values of others, and missing ones among them, are numbered.
    """
    coded: dict[str, list[Array]] = {table: [] for table in columns}
    categories = []
    for number, name in enumerate(names):
        parts = {table: np.ravel(columns[table][name]) for table in columns}
        if all(part.dtype.kind in "biuf" for part in parts.values()):
            real = np.concatenate([parts["train"], parts["holdout"]])
            if len(np.unique(real[~np.isnan(real.astype(float))])) <= CATEGORIES:
                categories.append(number)
            for table, part in parts.items():
                coded[table].append(part.astype(np.float64))
            continue
        categories.append(number)
        texts = {table: np.array([str(value) for value in part]) for table, part in parts.items()}
        values = np.unique(np.concatenate(list(texts.values())))
        for table, text in texts.items():
            coded[table].append(np.searchsorted(values, text).astype(np.float64))
    lengths = {table: {len(part) for part in parts} for table, parts in coded.items()}
    for table, sizes in lengths.items():
        if len(sizes) != 1:
            fail(table, Words("columns of different lengths"), "columns of one length")
    return {table: np.column_stack(parts) for table, parts in coded.items()}, categories


def _refuse_two_populations(train: Array, holdout: Array) -> None:
    """Raise `InvalidInput` if a column differs between the two tables more than by a random split.

    Each column has a Kolmogorov-Smirnov test of its own; together they err with `UNLIKELY`.
    """
    from scipy.stats import ks_2samp  # here: slow to import

    tables = (np.nan_to_num(table, nan=-np.inf, neginf=-np.inf).T for table in (train, holdout))
    least = min(ks_2samp(*pair).pvalue for pair in zip(*tables, strict=True))
    if least * train.shape[1] < UNLIKELY:
        fail(
            "holdout",
            Words("records with other distributions than those of train"),
            "records of the same population, chosen by a random split",
        )


def _strange(synthetic: Array, real: Array, categories: Sequence[int]) -> list[int]:
    """The columns in which most synthetic values are unlike all real ones, in kind or in size."""
    strange = []
    for column, (made, known) in enumerate(zip(synthetic.T, real.T, strict=True)):
        made, known = made[~np.isnan(made)], known[~np.isnan(known)]
        alike = np.isin(made, known)
        if column not in categories and len(known):
            alike = (known.min() <= made) & (made <= known.max())
        if 2 * np.count_nonzero(alike) < len(made):
            strange.append(column)
    return strange


def _membership(
    synthetic: Array, real: Array, targets: np.ndarray, unit: Array
) -> tuple[Array, np.ndarray]:
    """The score of each target, a row number of `real`, and whether the table has a copy of it."""
    made, others = np.unique(synthetic, axis=0), np.empty(len(targets))
    nearest = np.empty(len(targets))
    for place, target in enumerate(targets):
        nearest[place] = distances(made, real[target], unit).min()
        apart = distances(real, real[target], unit)
        apart[target] = np.inf
        others[place] = apart.min()
    smallest = max(RESOLUTION * float(np.median(others)), np.finfo(float).tiny)
    score = np.log(np.maximum(others, smallest)) - np.log(np.maximum(nearest, smallest))
    return score, nearest <= smallest


def _attacks(
    columns: Mapping[str, Mapping[str, np.ndarray]],
    secrets: Sequence[str],
    level: float,
    seed: np.random.SeedSequence,
) -> Iterator[dict[str, Any]]:
    """What anonymeter measures: of each attack its name, its number, and its rates of success."""
    import pandas as pd
    from anonymeter.evaluators import (
        InferenceEvaluator,
        LinkabilityEvaluator,
        SinglingOutEvaluator,
    )

    draw = generator(seed, Purpose.CHECK)
    frames = {name: pd.DataFrame(dict(table)) for name, table in columns.items()}
    size = min(ATTACKS, len(frames["train"]), len(frames["holdout"]))
    ori, control = (
        frames[name]
        .iloc[draw.choice(len(frames[name]), size, replace=False)]
        .reset_index(drop=True)
        for name in ("train", "holdout")
    )
    common = {"ori": ori, "syn": frames["synthetic"], "control": control, "n_attacks": size}
    names = list(ori.columns)
    width = min(GUESSED_FROM, len(names))
    number = int(draw.integers(2**31))
    singling = SinglingOutEvaluator(**common, n_cols=width, max_attempts=ATTEMPTS, seed=number)
    planned: list[tuple[str, Any, dict[str, int]]] = [("singling out", singling, {})]
    if len(names) > 1:
        halves = names[::2], names[1::2]
        planned.append(
            ("linkability", LinkabilityEvaluator(**common, aux_cols=halves), {"n_jobs": 1})
        )
    for secret in secrets:
        known = [name for name in names if name != secret]
        real = ori[secret].dtype.kind in "iuf" and ori[secret].nunique() > CATEGORIES
        attack = InferenceEvaluator(**common, aux_cols=known, secret=secret, regression=real)
        planned.append((f"inference of {secret}", attack, {"n_jobs": 1}))
    for name, attack, options in planned:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the rates say what it warns of
            results = attack.evaluate(**options).results(confidence_level=level)
        risk = results.risk()
        yield {
            "name": name,
            "attacks": size,
            "train": results.n_success / size,
            "holdout": results.n_control / size,
            "random": results.n_baseline / size,
            "risk": risk.value,
            "interval": list(risk.ci),
        }
