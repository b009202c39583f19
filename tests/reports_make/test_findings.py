"""Every statement shows what it says of itself, its corrected line holds, and how it is tested."""

import math
from dataclasses import replace

import pytest

from dpaudit.errors import InvalidInput
from dpaudit.testing import reals
from reports.make.findings import PAPERS, STATEMENTS, Statement
from reports.make.findings.evidence import (
    CERTIFIED,
    EXACT,
    HOLDS,
    LOOSE,
    SLIP,
    TIGHT,
    UNDEFINED,
    WRONG,
    Evidence,
    claimed,
)
from reports.make.findings.outcome import at, cases, outcome, sweep
from reports.make.findings.statement import SORTS, Searched, Swept, read_paper
from reports.make.findings.words import row
from tests.sparse import one_in

TESTED = {key: one for key, one in STATEMENTS.items() if one.test is not None}
FIXED = {key: one for key, one in STATEMENTS.items() if one.fixed is not None}


# The statements


def test_every_statement_is_complete():
    assert len(STATEMENTS) == sum(len(paper.statements) for paper in PAPERS)
    for key, one in STATEMENTS.items():
        assert key == one.key.lower(), key
        assert key.startswith(f"{one.paper}-"), key
        assert all((one.place, one.printed)), key
        assert one.fails in ("", *SORTS), key
        assert bool(one.fails) + one.aside <= bool(one.fault), key
        assert bool(one.fixed) <= bool(one.corrected), key
        reasons = [bool(one.untested), bool(one.study)]
        assert one.test is not None or one.fails or sum(reasons) == 1, key
        assert not (one.test is not None and any(reasons)), key
        assert not one.aside or one.test is not None, key
        assert not any(text.endswith(".") for text in (one.place, one.fault, one.corrected)), key


def test_the_corrected_line_is_tested_as_the_printed_one_was():
    for key, one in FIXED.items():
        assert type(one.test) is type(one.fixed), key
        if isinstance(one.test, Searched):
            assert dict(one.fixed.domain) == dict(one.test.domain), key
            assert one.fixed.tries >= one.test.tries, key
        else:
            assert dict(one.fixed.grid) == dict(one.test.grid), key


def test_a_test_without_a_statement_is_refused(tmp_path):
    path = tmp_path / "statements.toml"
    path.write_text("number = 1\n[statements.1-a]\nwhere = ['a', 'b']\nprinted = 'c'\n")
    with pytest.raises(ValueError, match="has no statement '1-b', which is tested"):
        read_paper(path, {"1-b": FALSE})


@pytest.mark.parametrize("key", one_in(4, TESTED))
def test_the_settings_that_a_statement_names_show_what_it_says(key):
    statement = STATEMENTS[key]
    evidence = [one.evidence for one in cases(statement.test)]
    if statement.fails or statement.aside:
        searched = isinstance(statement.test, Searched)
        grid = isinstance(statement.test, Swept) and statement.test.grid
        assert not evidence or grid or searched or any(one.violated for one in evidence)
    else:
        assert not any(one.violated for one in evidence)
    for one in evidence:
        assert one.factor is None or one.factor >= 1.0
        if one.verdict == WRONG and one.quantity == "δ":
            assert one.printed < one.found <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("key", TESTED)
def test_the_test_of_a_statement_shows_what_it_says_and_its_corrected_line_holds(key):
    """All together about five minutes."""
    found = row(STATEMENTS[key])
    assert found.agrees
    assert found.fixed is None or found.fixed.holds


# How they are tested

TRUE = Searched(lambda x, y: x + y, lambda x, y: 2 * math.sqrt(x * y), {"x": (0.0, 9.0), "y": 1.0})
FALSE = Searched(lambda x: x, lambda x: x * x, {"x": (0.0, 4.0)}, quantity="E", tries=200)


def test_a_search_becomes_an_outcome():
    held, failed = outcome(replace(TRUE, tries=200), 1), outcome(FALSE, 1)
    assert held.holds
    assert held.tried == 200
    assert held.closest.evidence.factor == pytest.approx(1.0, abs=1e-3)
    assert held.first is held.closest
    assert held.ranges == "x 0 to 9, y = 1"
    assert not failed.holds
    assert failed.simplest.setting == {"x": 2.0}
    assert failed.simplest.evidence == Evidence("E", 2.0, 4.0, EXACT, WRONG, pytest.approx(2.0))
    assert failed.worst.evidence.factor == pytest.approx(4.0)
    assert failed.first is failed.simplest


def test_a_setting_that_is_named_is_shown_first_and_what_follows_from_it_is_said():
    found = outcome(replace(FALSE, at={"x": 3.0}, also=lambda x: f"so y = {2 * x:g}"), 1)
    assert [one.setting for one in found.named] == [{"x": 3.0}]
    assert found.first.evidence.at == "so y = 6"
    assert at(FALSE, {"x": 3.0}).factor == pytest.approx(3.0)
    assert at(replace(TRUE, tries=1), {"x": 4.0}).found == 4.0  # y is fixed
    with pytest.raises(InvalidInput):
        at(replace(FALSE, hypotheses=lambda x: x < 1.0), {"x": 3.0})


def test_sides_values_and_certified_bounds_give_their_verdicts():
    domain = {"x": reals(1.0, 2.0)}
    equal = Searched(lambda x: x, lambda x: x, domain, side="both", tries=20)
    assert outcome(equal, 1).closest.evidence.verdict == TIGHT
    assert outcome(replace(equal, printed=lambda x: 2 * x), 1).worst.evidence.verdict == SLIP
    assert outcome(replace(equal, exact=lambda x: 2 * x, side="lower"), 1).holds
    nothing = outcome(replace(equal, printed=lambda x: math.nan), 1).worst.evidence
    assert (nothing.printed, nothing.verdict, nothing.factor) == (None, UNDEFINED, None)
    certified = replace(equal, exact=lambda x: 3 * x, side="upper", kind=CERTIFIED)
    assert outcome(certified, 1).worst.evidence.kind == CERTIFIED
    assert outcome(replace(certified, printed=lambda x: 9 * x), 1).closest.evidence.kind == HOLDS


def product(a, b):
    """Evidence that is admitted but for a = 3."""
    if a == 3:
        raise InvalidInput("a must be other than 3")
    return claimed(0.1, 0.01 * a * b)


def test_a_sweep_becomes_an_outcome():
    one = Swept(product, {"a": 1, "b": 1})
    assert outcome(one, 1).holds
    assert (outcome(one, 1).tried, outcome(one, 1).failed) == (1, 0)
    over = outcome(replace(one, grid={"a": (1, 2, 3, 8), "b": (1, 5)}), 1)
    assert (over.holds, over.tried, over.failed, over.excluded) == (False, 6, 1, 2)
    assert over.worst.setting == {"a": 8, "b": 5}
    assert over.worst.evidence.factor == pytest.approx(4.0)
    assert over.ranges == "a 1 to 8, b 1 to 5"
    named = outcome(replace(one, more=({"a": 20, "b": 1},)), 1)
    assert not named.holds
    assert named.first.setting == {"a": 20, "b": 1}


def test_a_statement_without_a_test_is_untested_or_fails_by_what_it_says():
    mine = Statement("1-mine", 1, "lemma 0", "section 1", "x ≤ x²", untested="a definition")
    assert (row(mine).verdict, row(mine).agrees) == ("not tested", True)
    misprint = replace(mine, untested="", fails="C", fault="a letter is missing")
    assert (row(misprint).verdict, row(misprint).agrees) == ("fails", True)
    simulated = replace(mine, untested="", study="it was seen again")
    assert (row(simulated).verdict, row(simulated).agrees) == ("simulated", True)
    aside = replace(mine, untested="", test=FALSE, aside=True)
    assert (row(aside).verdict, row(aside).agrees) == ("a note", True)
    assert not row(replace(aside, test=replace(TRUE, tries=20))).agrees
    assert not row(replace(mine, untested="", test=FALSE)).agrees
    assert not row(replace(mine, untested="", test=replace(TRUE, tries=20), fails="A")).agrees


# Evidence


def test_claimed_says_which_is_larger():
    assert claimed(0.1, 0.3) == Evidence("δ", 0.1, 0.3, EXACT, WRONG, pytest.approx(3.0))
    assert claimed(0.1, 0.3, kind=CERTIFIED).kind == CERTIFIED
    assert claimed(0.1, 0.3, quantity="P").verdict == SLIP
    held = claimed(0.3, 0.1, kind=CERTIFIED)
    assert (held.kind, held.verdict, held.violated) == (HOLDS, LOOSE, False)
    assert claimed(-0.1, 0.2).factor is None
    assert claimed(0.2, 0.0).factor is None
    assert claimed(math.nan, 0.2).verdict == UNDEFINED


def test_a_sweep_needs_a_setting_that_the_statement_admits():
    assert sweep(product, {"a": (1, 2)}, {"b": 1}).worst.setting == {"a": 2, "b": 1}
    with pytest.raises(ValueError, match="admits no setting"):
        sweep(product, {"a": (3,)}, {"b": 1})
