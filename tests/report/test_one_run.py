"""The page of one run: tiles of each verdict, facts of a scenario, names that break nothing."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.report import one_run, render_index
from tests.report.test_html import Page

HOSTILE = "</script><script>alert(1)</script>\x1b&"


@pytest.fixture(autouse=True)
def without_figure(monkeypatch):
    monkeypatch.setattr("dpaudit.report.style.as_svg", lambda figure: b"")


def record(noise=0.1, **asked):
    """result.json of 150 canaries."""
    rng = np.random.default_rng(1)
    coins = rng.random(150) < 0.5
    scores = coins + noise * rng.normal(size=150)
    return dp.audit_one_run(scores, coins, method="f-dp", **asked).to_dict()


@pytest.mark.parametrize(
    ("noise", "asked", "claimed", "certified", "advice"),
    [
        (0.1, {"claim": (1.0, 1e-5)}, "ε\u00a0=\u00a01", "at least ε", "Do not release"),
        (5.0, {"claim": (1.0, 1e-5)}, "ε\u00a0=\u00a01", "no ε", "no proof of privacy"),
        (0.1, {"claim": (9.0, 1e-5)}, "ε\u00a0=\u00a09", "every ε below", "Do not read this as"),
        (0.1, {}, "none", "at least ε", "Do not read this as a pass"),
        (0.1, {"claim": dp.Claim.gdp(0.5)}, "μ\u00a0=\u00a00.5", "at least μ", "Do not release"),
    ],
)
def test_the_tiles_say_what_is_claimed_and_certified(noise, asked, claimed, certified, advice):
    found = record(noise, **asked)
    tiles = one_run.tiles(found)
    second = "Certified" if certified.startswith("at least") else "Ruled out"
    assert [tile.name for tile in tiles] == ["Claimed", second, "Canaries", "Right guesses"]
    assert tiles[0].value == claimed
    assert tiles[1].value.startswith(certified)
    assert tiles[2].value == "150"
    text = Page(one_run.render_page(found)).text
    assert advice in text
    assert found["verdict"].capitalize() in text
    assert "None" not in text


def test_equal_scores_make_no_guesses():
    coins = np.arange(30) % 3 == 0
    found = dp.audit_one_run(np.ones(30), coins, claim=(1.0, 1e-5), method="f-dp").to_dict()
    assert one_run.tiles(found)[3].value == "none made"
    assert "All scores are equal" in Page(one_run.render_page(found)).text


def test_what_a_scenario_says_is_shown_and_escaped():
    found = record(claim=(1.0, 1e-5)) | {
        "scenario": HOSTILE,
        "mechanism": {"name": HOSTILE, "parameters": {"epsilon": 1.0}},
        "dataset": {"name": HOSTILE},
        "inserted": {"kind": "rare", "relation": "add"},
        "score": HOSTILE,
        "seed": 7,
    }
    source = one_run.render_page(found)
    shown = Page(source)
    assert [attrs.get("type") for attrs in shown.all("script")] == ["application/json"]
    assert "\x1b" not in source
    for piece in ("Kind of canaries", "rare", "epsilon = 1", "Seed", "alert(1)"):
        assert piece in shown.text


def test_the_index_has_a_row_of_it():
    found = record(claim=(1.0, 1e-5)) | {"mechanism": {"name": "<b>Ridge", "parameters": {}}}
    row = {
        "name": "once",
        "kind": "violated",
        "reason": found["reason"],
        "seconds": 1.0,
        "record": found,
        "link": ("once", "report.html"),
    }
    text = Page(render_index([row])).text
    assert "<b>Ridge" in text
    assert "150 canaries" in text
    assert "ε\u00a0=\u00a01" in text or "ε = 1" in text
