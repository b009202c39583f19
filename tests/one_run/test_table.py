"""Audits of a finished table: what they find, what they refuse, and how often they are wrong."""

import warnings

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli import main

RNG = np.random.default_rng(5)
PEOPLE = RNG.normal(size=(400, 5)) @ RNG.normal(size=(5, 5))
TRAIN, HOLDOUT = PEOPLE[:200], PEOPLE[200:]


def fresh(size):
    """Records of the normal law of TRAIN, which copy none of its records."""
    return RNG.multivariate_normal(TRAIN.mean(0), np.cov(TRAIN.T), size)


def test_near_copies_are_found_and_a_fitted_law_is_not_accused():
    near = TRAIN + 0.01 * RNG.normal(size=TRAIN.shape)
    copied = dp.audit_table(near, TRAIN, HOLDOUT, claim=(1.0, 0.0), rng=1)
    assert copied.verdict == "violated"
    assert copied.epsilon_at(0.0) > 2.5
    assert "another, if a random split made the two" in copied.reason
    fitted = dp.audit_table(fresh(300), TRAIN, HOLDOUT, claim=(1.0, 0.0), rng=1)
    assert fitted.verdict == "not violated"
    assert fitted.to_dict()["table"]["copies"] == {"train": 0.0, "holdout": 0.0}


def test_texts_missing_values_and_an_outlier_are_read_from_files(tmp_path, capsys):
    """Rare combinations of texts are copied; a comma, an empty field and the order are harmless."""
    jobs = np.array(["baker", "cook, chief", "nurse", ""])
    texts = jobs[RNG.integers(4, size=(400, 5))]
    ages = RNG.integers(20, 70, size=400).astype(str)
    ages[::9] = ""
    rows = [
        ",".join(f'"{text}"' for text in line) + f",{age}"
        for line, age in zip(texts, ages, strict=True)
    ]
    head = "a,b,c,d,e,age"
    for name, part in (("train", rows[:200]), ("holdout", rows[200:]), ("made", rows[:200][::-1])):
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *part]) + "\n", encoding="utf-8")
    files = [str(tmp_path / f"{name}.csv") for name in ("made", "train", "holdout")]
    out = tmp_path / "out"
    assert main(["table", *files, "--claim", "1,0", "--secret", "age", "--out", str(out)]) == 1
    loaded = dp.OneRunResult.load(out)
    assert loaded.verdict == "violated"
    assert loaded.to_dict()["table"]["copies"]["train"] == 1.0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "a random split decided which" in page
    assert "cook" not in page
    assert "Records of synthetic" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ((TRAIN, TRAIN, HOLDOUT[:, :4]), "holdout must be the columns of train, got columns that"),
        ((TRAIN, TRAIN[:20], HOLDOUT), "train must be at least 50 records"),
        ((TRAIN[:0], TRAIN, HOLDOUT), "synthetic must"),
        ((TRAIN, TRAIN, HOLDOUT + 2.0), "holdout must be records of the same population"),
    ],
)
def test_tables_that_cannot_be_compared_are_refused(tables, message):
    with pytest.raises(dp.InvalidInput, match=message):
        dp.audit_table(*tables)


def test_attacks_with_a_control_group():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("anonymeter")
    train, holdout = (pandas.DataFrame(table, columns=list("abcde")) for table in (TRAIN, HOLDOUT))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = dp.audit_table(train + 0.01, train, holdout, secrets=["e"], rng=1)
    attacks = {attack["name"]: attack for attack in result.to_dict()["table"]["attacks"]}
    assert list(attacks) == ["singling out", "linkability", "inference of e"]
    assert attacks["linkability"]["train"] > 0.9 > 0.2 > attacks["linkability"]["holdout"]
    assert attacks["inference of e"]["interval"][0] > 0.5


@pytest.mark.slow
def test_the_bound_is_false_in_at_most_five_percent_of_tables():
    """Each person is listed with probability .8 if they are in train, else .2: ε is at most ln 4.

    A list tells of each coin no more than its own entry does. Of 100 audits 11 may be wrong.
    """
    rng = np.random.default_rng(8)
    wrong, shown = 0, []
    for seed in range(100):
        people = rng.normal(size=(300, 2))
        included = np.isin(np.arange(300), rng.choice(300, 150, replace=False))
        listed = rng.random(300) < np.where(included, 0.8, 0.2)
        result = dp.audit_table(people[listed], people[included], people[~included], rng=seed)
        shown.append(result.epsilon_at(0.0))
        wrong += shown[-1] > np.log(4.0)
    assert wrong <= 11
    assert np.median(shown) > 0.7
