"""What a lower bound rules out is said from below: "no ε above 0.06" would sound like a proof."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli.answers.summary import summary
from dpaudit.report import render_html, render_index
from dpaudit.report.one_run import render_page
from dpaudit.run.suite.outputs import job_summary, junit, sarif
from dpaudit.run.suite.suite import ScenarioOutcome
from dpaudit.verdict import Headline
from dpaudit.verdict.sentences import one_line
from tests.sparse import one_in

ROOT = Path(__file__).parents[2]
FROM_ABOVE = re.compile(r"\bno (?:ε|μ|ρ|δ(?:\([^)]*\))?|\\u03b5|\\u03bc) above\b", re.IGNORECASE)
PAIR = dp.neighbours.zero_row([[1.0], [1.0]], 0)


def noisy(data, size, *, rng):
    return data.sum() + rng.laplace(size=(size, 1))


def first(rows):
    return rows[:, 0]


def one_run():
    rng = np.random.default_rng(1)
    coins = rng.random(200) < 0.5
    return dp.audit_one_run(coins + rng.normal(size=200), coins, claim=(9.0, 1e-5), method="f-dp")


def audit(claim, **options):
    return dp.audit(noisy, PAIR, draws=2000, classifier=first, claim=claim, rng=1, **options)


RESULTS = {
    "ε": (lambda: audit((2.0, 0.0)), "every ε below 0."),
    "stopped": (lambda: audit((2.0, 0.0), stop="verdict"), "every ε below "),
    "μ": (lambda: audit(dp.Claim.gdp(3.0)), "every μ below "),
    "ρ": (lambda: audit(dp.Claim.zcdp(2.0)), "every ρ below "),
    "nothing": (lambda: audit((2.0, 0.9)), "no ε"),
    "one run": (one_run, "every ε below "),
}


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(("made", "ruled_out"), one_in(2, RESULTS.values()), ids=RESULTS)
def test_every_output_says_what_is_ruled_out(made, ruled_out):
    result = made()
    record = result.to_dict()
    assert not record["headline"]["exceeded"]
    done = ScenarioOutcome(
        "x", Path("x.toml"), Path("x"), result.verdict, result.reason, 1.0, record
    )
    row = {"name": "x", "link": None, "seconds": 1.0, "record": record}
    row |= {"kind": result.verdict, "reason": result.reason}
    page = render_page(record) if "guesses" in record else render_html(record)
    outputs = {
        "reason": result.reason,
        "headline": record["headline"]["text"],
        "repr": repr(result),
        "notebook": result._repr_html_(),
        "terminal": summary(record),
        "quiet": one_line(record),
        "report": page,
        "index": render_index([row]),
        "JUnit": junit([done]).decode("utf-8"),
        "SARIF": json.dumps(sarif([done]), ensure_ascii=False)
        if result.verdict != "not violated"
        else ruled_out,
        "job summary": job_summary([done]),
    }
    for name, text in outputs.items():
        assert not FROM_ABOVE.search(text), name
        assert ruled_out in text, name
    assert "<dt>Ruled out</dt>" in page


def test_bets_rule_out_the_claimed_value_itself():
    bets = Headline("ε", 0.0, 1.0, 1.0, True, 1.0, 0.0, 0.0, 0.95)
    assert bets.ruled_out == "every ε up to 1"
    curve = Headline("ε", 0.0, 1.0, 0.5, True, 1.0, 0.0, 0.0, 0.95, claimant="A curve allows")
    assert curve.ruled_out == "the whole curve"


def test_no_page_and_no_report_says_it_from_above():
    places = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.py")]
    places += [
        path for end in ("md", "html", "json") for path in (ROOT / "reports").rglob(f"*.{end}")
    ]
    assert len(places) > 100
    wrong = [path for path in places if FROM_ABOVE.search(path.read_text(encoding="utf-8"))]
    assert wrong == []


def test_a_line_says_that_the_exact_spectrum_breaks_the_claim(result):
    assert "The exact spectrum" not in one_line(result)
    result["verdict"], result["claim"]["delta"] = "inconclusive", [0.0] * len(result["epsilon"])
    assert "INCONCLUSIVE: " in (text := one_line(result))
    assert "The exact spectrum breaks the claim, which these draws are too few to show." in text
