"""Every finding still shows what it says, and its corrected form holds; evidence and sweeps."""

import math
from dataclasses import replace

import pytest

from dpaudit.errors import InvalidInput
from reports.make.findings import (
    FINDINGS,
    Evidence,
    Finding,
    asked,
    claimed,
    of_finding,
    stated,
    sweep,
)
from reports.make.findings.finding import (
    CERTIFIED,
    EXACT,
    HOLDS,
    LOOSE,
    SLIP,
    TIGHT,
    UNDEFINED,
    WRONG,
)
from reports.make.findings.measures import sketch
from tests.sparse import one_in

HOLD = {
    "1-figure-4-c2",
    "1-lemma-3",
    "1-eureka",
    "4-theorem-b-3",
    "4-theorem-b-3-replace",
    *(key for key in FINDINGS if "-loose-" in key or key.endswith("-loose")),
}
EVERY = pytest.mark.parametrize("finding", FINDINGS.values(), ids=list(FINDINGS))


@pytest.mark.parametrize("finding", one_in(2, FINDINGS.values()), ids=list(FINDINGS))
def test_evidence_shows_what_the_finding_says(finding):
    for _, evidence in finding.checks():
        assert evidence.violated == (finding.key not in HOLD)
        assert (evidence.kind == HOLDS) == (finding.key in HOLD)
        assert evidence.factor is None or evidence.factor >= 1.0
        if evidence.verdict == WRONG and evidence.quantity == "δ":
            assert evidence.printed < evidence.found <= 1.0


@EVERY
def test_a_finding_is_complete(finding):
    assert finding.key == finding.key.lower()
    assert finding.key.startswith(f"{finding.paper}-")
    assert all((finding.place, finding.claim, finding.formula, finding.fault))
    assert bool(finding.corrected) or finding.key in HOLD
    assert set(finding.grid) <= set(finding.setting)
    assert all(set(one) == set(finding.setting) for one in finding.more)
    for text in (finding.place, finding.claim, finding.formula, finding.fault, finding.corrected):
        assert not text.endswith(".")


@pytest.mark.parametrize(
    "key", one_in(2, [key for key, one in FINDINGS.items() if one.fixed is not None])
)
def test_the_corrected_form_holds_at_the_setting(key):
    assert not FINDINGS[key].check_fixed().violated


@pytest.mark.slow
@pytest.mark.parametrize("key", [key for key, one in FINDINGS.items() if one.fixed is not None])
def test_the_corrected_form_holds_at_the_setting_and_over_the_grid(key):
    assert not FINDINGS[key].check_fixed().violated
    over = of_finding(FINDINGS[key], corrected=True)
    if over is not None:
        assert over.failed == 0, over.worst


@pytest.mark.slow
@pytest.mark.parametrize(
    "key", [key for key, one in FINDINGS.items() if one.grid and key in HOLD - {"1-eureka"}]
)
def test_what_holds_holds_over_its_grid(key):
    """Eureka's radius is below 1 in few dimensions."""
    assert of_finding(FINDINGS[key]).failed == 0


# The engine


def test_claimed_says_which_is_larger():
    assert claimed(0.1, 0.3) == Evidence("δ", 0.1, 0.3, EXACT, WRONG, pytest.approx(3.0))
    assert claimed(0.1, 0.3, kind=CERTIFIED).kind == CERTIFIED
    assert claimed(0.1, 0.3, quantity="P").verdict == SLIP
    held = claimed(0.3, 0.1, kind=CERTIFIED)
    assert (held.kind, held.verdict, held.violated) == (HOLDS, LOOSE, False)
    assert claimed(-0.1, 0.2).factor is None
    assert claimed(0.2, 0.0).factor is None
    assert claimed(math.nan, 0.2).verdict == UNDEFINED


def test_asked_says_whether_it_is_enough():
    assert asked("σ", 1.0, 2.0) == Evidence("σ", 1.0, 2.0, EXACT, WRONG, 2.0)
    assert asked("σ", 3.0, 2.0) == Evidence("σ", 3.0, 2.0, HOLDS, LOOSE, 1.5)
    assert asked("σ", math.nan, 2.0) == Evidence("σ", None, 2.0, EXACT, UNDEFINED, None)
    assert not asked("σ", 1.0, 0.0).violated


def test_stated_compares_two_values():
    assert not stated("x", 2.0, 2.0 + 1e-12).violated
    assert stated("x", 2.0, 2.0).verdict == TIGHT
    assert stated("x", 2.0, 1.0) == Evidence("x", 2.0, 1.0, EXACT, SLIP, 2.0)
    assert stated("x", math.inf, 1.0).factor is None
    assert stated("x", 0.0, 1.0).factor is None


def test_a_sweep_finds_the_worst_setting_and_leaves_out_what_the_statement_excludes():
    def test(a, b):
        if a == 3:
            raise InvalidInput("a must be other than 3")
        return claimed(0.1, 0.01 * a * b)

    found = sweep(test, {"a": (1, 2, 3, 8), "b": (1, 5)})
    assert (found.cases, found.failed, found.worst) == (6, 1, {"a": 8, "b": 5})
    assert found.evidence.factor == pytest.approx(4.0)
    assert found.loosest == pytest.approx(10.0)
    assert sweep(test, {"a": (1, 2)}, {"b": 1}).worst == {"a": 2, "b": 1}
    with pytest.raises(ValueError, match="admits no setting"):
        sweep(test, {"a": (3,)}, {"b": 1})


def test_a_finding_takes_a_dozen_lines():
    mine = Finding(
        key="4-mine",
        paper=4,
        place="lemma 0",
        claim="a sketch hides any row",
        formula="δ = 10⁻³",
        fault="it does not",
        corrected="",
        setting={"leverage": 0.1, "rows": 10, "epsilon": 0.5},
        test=lambda leverage, rows, epsilon: claimed(1e-3, sketch(leverage, rows, epsilon)),
    )
    assert mine.check().violated
    assert mine.at() == "q = 0.1, r = 10, ε = 0.5"
    assert mine.check_fixed() is None
    assert of_finding(mine) is None
    assert of_finding(replace(mine, grid={"leverage": (0.001, 0.1)})).failed == 1
