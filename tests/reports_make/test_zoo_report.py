"""The zoo's report, on a few of its mechanisms and few seeds."""

import dataclasses

import pytest

from dpaudit.mechanisms import ZOO
from reports.make import page
from reports.make.audits import zoo

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zoo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "REPORTS", folder)
        names = ["Laplace", "NoisyHistogram2", "FloatLaplace", "NaturalLogGeometric"]
        rows = zoo.report(names, budgets=(6_000, 1_000), sound_budget=1_000, seeds=2)
    return rows, (folder / "zoo.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_gross_breach_is_caught_and_a_faint_one_is_not(found):
    """δ = 0.99, and 0.03 that a right mechanism never shows, against 0.009.

    Far from the thresholds either way.
    """
    sound, gross, leak, faint = found[0]
    assert (gross.needed, leak.needed) == (1_000, 6_000)
    assert faint.needed is None
    assert list(faint.tried) == [6_000]  # the first seed showed that 1,000 are too few
    assert [row.rightly_judged for row in (gross, leak, faint)] == [True, True, False]
    assert sound.tried == {1_000: (0, 2)}
    assert sound.rightly_judged


@pytest.mark.slow
def test_the_table_says_what_was_found(found):
    rows, text = found
    assert all(page.row(row.cells()) in text for row in rows)
    assert "Broken: 2 of 3 caught. Sound: 1 of 1 left alone" in text
    assert "| 10 | 0.993 | 2 of 2 at 1,000 | 1,000 |" in text
    assert "| – | – |" in text  # FloatLaplace has no exact spectrum
    assert text.endswith("|\n")
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1


def test_no_seed_may_be_wrong_of_a_sound_one():
    row = zoo.Row("Laplace", ZOO["Laplace"], ZOO["Laplace"].pair(), {1_000: (0, 20)})
    assert row.rightly_judged
    assert not dataclasses.replace(row, tried={1_000: (1, 20)}).rightly_judged
