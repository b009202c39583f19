"""The largest ε that a number of draws can certify, and the page."""

import math

import numpy as np
import pytest

from dpaudit import mechanisms
from dpaudit.certify import lower, upper
from reports.make.audits import sniper

pytestmark = pytest.mark.quick


def test_the_best_set_of_two_answers_is_one_of_them():
    """Randomised response: P(S)/Q(S) of an answer is known.

    Its limit lies between two Clopper–Pearson limits.
    """
    mechanism = mechanisms.ZOO["RandomisedResponse"]
    pair, n = mechanism.pair(), 10_000
    found, true = (
        of(mechanism, pair, n) for of in (sniper.attainable, lambda *each: sniper.truth(*each[:2]))
    )
    p = math.exp(true) / (1.0 + math.exp(true))
    wide = math.log(lower(round(n * p), n, 0.05) / upper(round(n * (1 - p)), n, 0.05))
    narrow = math.log(lower(round(n * p), n, 0.25) / upper(round(n * (1 - p)), n, 0.25))
    assert wide < found < narrow < true


@pytest.mark.parametrize("name", ["Laplace", "SparseVector4", "OneTimeRappor"])
def test_more_draws_show_more_but_never_the_truth(name):
    mechanism = mechanisms.ZOO[name]
    pair = sniper.PAIRS.get(name, mechanism.pair())
    shown = [
        sniper.attainable(mechanism, pair, n) for n in (10_000, 100_000, 1_000_000, 100_000_000)
    ]
    assert np.all(np.diff(shown) > 0.0)
    assert shown[-1] < sniper.truth(mechanism, pair) < shown[-1] + 0.01


@pytest.mark.slow
def test_the_page_has_a_cell_for_each_heading(monkeypatch, capsys):
    monkeypatch.setattr(sniper, "MORE", sniper.SEEDS)
    row = sniper.row("NaturalLogGeometric", 20_000)
    table = sniper.render([row], 20_000).splitlines()
    assert {line.count("|") for line in table if line.startswith("|")} == {len(row) + 1}
    assert capsys.readouterr().out.split() == " ".join(row).split()
