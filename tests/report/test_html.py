"""The pages: what they say, and what they must not let through."""

import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.errors import InvalidInput
from dpaudit.report import in_notebook, one_run, read_curves, render_html
from dpaudit.report.tables import spectrum_table, tradeoff_table
from tests.report.examples import make_result
from tests.sparse import one_in

HOSTILE = '</script><img src=x onerror="alert(1)">\'&amp;<!--{{ 7*7 }}\u2028'


class Page(HTMLParser):
    """Elements, attributes and texts of a page, scripts apart."""

    def __init__(self, source: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.text, self.script, self._inside = "", "", ""
        self.feed(source)
        self.close()
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside == "script":
            self.script += data
        elif self._inside != "style":
            self.text += data

    def all(self, tag: str) -> list[dict]:
        return [attrs for name, attrs in self.tags if name == tag]


def words(source: str) -> str:
    """The words of a page, those of neighbouring cells apart."""
    body = source[source.index("<body>") : source.index('<script type="application/json"')]
    return " ".join(unescape(re.sub("<[^>]*>", " ", body)).split())


def poison(value, name=""):
    """A result whose texts are replaced by a hostile one, except words and times of the format."""
    if isinstance(value, dict):
        return {key if name in ("", "exact", "claim") else _poisoned_key(key, name): poison(v, key)
                for key, v in value.items()}  # fmt: skip
    if isinstance(value, list):
        return [poison(item, name) for item in value]
    return HOSTILE if isinstance(value, str) and name not in ("verdict", "started") else value


def _poisoned_key(key, name):
    return key + HOSTILE if name in ("parameters", "dropped", "portfolio", "versions") else key


def test_hostile_names_stay_text():
    result = poison(make_result())
    result["classifier"]["note"] = result["neighbour"]["relation"] = HOSTILE
    result["reason"] = 2 * HOSTILE  # more than the headline
    page, clean = Page(render_html(result)), Page(render_html(make_result()))
    clean_note = [*clean.tags, ("p", {}), ("b", {})]
    assert sorted(tag for tag, _ in page.tags) == sorted(tag for tag, _ in clean_note)
    assert all(not name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert all(attrs["src"].startswith("data:") for attrs in page.all("img"))
    assert page.text.count("<img src=x onerror=") > 15
    assert "49" not in re.findall(r"<!--(.*?)\s", page.text)
    assert json.loads(page.script) == result
    assert not re.search(r"[<>&]", page.script)
    assert {"type": "application/json", "id": "result"} in page.all("script")


@pytest.mark.quick
@pytest.mark.parametrize(
    ("verdict", "symbol", "says"),
    [
        ("violated", "✕", "Where the fault lies."),
        ("not violated", "○", "That the mechanism is private."),
        ("inconclusive", "?", "That the mechanism is private."),
    ],
)
def test_verdict_is_in_words_and_symbol(result, verdict, symbol, says):
    result["verdict"] = verdict
    text = Page(render_html(result)).text
    assert f"{symbol} {verdict.capitalize()}" in text
    assert f"{verdict.capitalize()} means:" in text
    assert result["reason"] in text
    assert says in text


def test_what_a_reviewer_asks_for_is_there():
    result = make_result(c=0.15)
    text = Page(render_html(result)).text
    for piece in (
        "327,346; 9430 left out (missing value), not audited",
        "3: constant, dep_delay, arr_delay",
        "a column of ones added first",
        "rows = 1200, sampler = student",
        "zero-out: row 7008 zeroed (counted from 0); the worst of 48",
        "0.00316",
        "2.2×10⁻⁵",
        "An excess of 0.0012 over the allowed δ at ε = 1 "
        "would have been shown with probability 0.8",
        "Scenario flight-als, run at 2026-11-23 06:30 UTC",
        "SHA-256 9f86d081884c…",
        '[data] name = "flight"',
        "80,000 trained the classifiers, 20,000 chose among them and their thresholds, "
        "100,000 were kept",
        "qda 0.683, logistic 0.6841, lightgbm 0.6829",
        "dpaudit 0.1.0, python 3.11.7",
        "812 MB",
        "dpaudit report DIR",
    ):
        assert piece in text


def parsed(text):
    """A printed number."""
    text = text.replace(",", "").replace("×10", "e")
    text = text.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(re.sub(r"^10(?=-\d+$)", "1e", text))


def test_every_curve_stands_in_the_tables_as_numbers(result):
    curves, empirical = read_curves(result), result["empirical"]
    full = spectrum_table(curves, range(41), full=True)
    rows = [cells for cells, _ in full["rows"]]
    columns = {head: [cells[at] for cells in rows] for at, head in enumerate(full["heads"])}
    for head, values in {
        "ε (nats)": result["epsilon"],
        "Exact δ": result["exact"]["delta"],
        "Asymptotic δ": result["exact"]["asymptotic"],
        "Estimated δ": empirical["delta"],
        "Certified lower bound": empirical["low"],
        "Bound, D against D′": empirical["forward"]["low"],
        "Bound, D′ against D": empirical["backward"]["low"],
        "Claimed δ": result["claim"]["delta"],
    }.items():
        assert list(map(parsed, columns[head])) == pytest.approx(values, rel=1e-3, abs=1e-12), head
    for cells, _ in tradeoff_table(curves)["rows"]:
        alpha, exact, _, above, _, perfect = map(parsed, cells)
        assert exact - 1e-3 <= above <= perfect == pytest.approx(1.0 - alpha, abs=1e-4)


def test_four_tiles_and_the_headline_say_how_bad_it_is_about_whom_and_how_sure(result):
    text = words(render_html(result))
    certified = f"{result['headline']['certified']:g}"
    for piece in (
        "Claimed ε = 1 at δ = 0.05",
        f"Certified at least ε = {certified} at δ = 0.05, at 95 % confidence",
        "Draws a side 200,000 100,000 of them certify",
        "Worst neighbour row 7008 zeroed worst of 48 tried, of 327,346 in all",
        f"{result['headline']['text']} At ε = ",
        "What now? Do not release with this claim: a true one would say at least "
        f"ε = {certified} at δ = 0.05. Look at how the output moves with row 7008 zeroed",
    ):
        assert piece in text
    assert text.index("What now?") < text.index("Privacy spectrum") < text.index("Seed")


def test_other_parameters_and_bets_have_tiles_of_their_own(result):
    result["headline"] |= {"symbol": "μ", "delta": None, "claimed": 0.5, "certified": 0.50002}
    result["claim"]["text"] = "0.5-GDP"
    text = words(render_html(result))
    assert "Claimed μ = 0.5 0.5-GDP" in text
    assert "at least μ = 0.50002 at 95 % confidence" in text  # more than the claimed
    result["headline"]["certified"] = 0.4
    assert "more than μ = 0.5 at 95 % confidence" in words(render_html(result))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {},
            "no proof of privacy: an excess below 0.0012, or about another pair, may go unseen",
        ),
        ({"verdict": "inconclusive"}, "Do not read this as a pass"),
        ({"verdict": "inconclusive", "claim": None, "exact": None}, "Say what the mechanism is"),
        ({"verdict": "violated", "claim": None}, "it leaks more than its exact spectrum"),
    ],
)
def test_what_now_depends_on_the_verdict(change, says):
    assert says in Page(render_html(make_result(c=0.15) | change)).text


def test_a_claim_that_the_exact_spectrum_breaks_is_not_released_though_no_draw_shows_it(result):
    result["verdict"] = "not violated"
    text = words(render_html(result))
    assert "Do not release with this claim: the exact spectrum breaks it." in text


def test_neighbours_tried_are_explained_and_the_many_are_folded(result):
    source = render_html(result)
    text = words(source)
    assert "Neighbour Estimated δ(1) ± its error Draws Last round Rank score" in text
    assert "Worst first. Rank score:" in text
    assert "row 7007 zeroed 0.19 0.004 30,000 3 0.5" in text
    folded = source[source.index("All 48 neighbours tried") :]
    assert (source.count("row 6961 zeroed"), folded.count("row 6961 zeroed")) == (1, 1)
    assert "the mechanism raised" in folded
    del result["search"]
    assert "Neighbours tried" not in words(render_html(result))


def test_values_of_the_row_are_shown_where_the_record_has_them(result):
    assert "The row that differs, in values" not in words(render_html(result))
    result["neighbour"]["row_taken_out"] = [1.0, 853.0, 846.5]
    text = words(render_html(result))
    assert "constant dep_delay arr_delay before 1 853 846.5 after 0 0 0" in text


OPTIONAL = (
    "scenario mechanism dataset neighbour exact claim detectable samples classifier seed "
    "versions search source scenario_text"
)


@pytest.mark.parametrize("key", [*OPTIONAL.split(), "timings", "peak_memory_mb"])
@pytest.mark.parametrize("verdict", one_in(3, ["violated", "not violated"]))
def test_any_optional_part_may_be_null_or_absent(result, key, verdict):
    result |= {key: None, "verdict": verdict}
    text = Page(render_html(result)).text
    assert "None" not in text
    del result[key]
    assert Page(render_html(result)).text == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
def test_what_json_cannot_hold_is_refused(result, value):
    result["peak_memory_mb"] = value
    with pytest.raises(InvalidInput, match="result"):
        render_html(result)


def test_a_notebook_shows_verdict_table_and_figure_and_text_stays_text():
    shown = in_notebook(make_result())
    assert "<b>VIOLATED: Claimed ε = 1 at δ = 0.05." in shown
    assert "<th>Certified lower bound</th>" in shown
    assert shown.count("<img ") == 1
    assert "<script" not in in_notebook(poison(make_result()))


def test_a_score_that_was_given_was_not_trained(result):
    result["samples"] = {"train": 0, "choose": 2_000, "test": 18_000}
    text = Page(render_html(result)).text
    assert (
        "none trained the score, which was given; 2,000 chose its thresholds, 18,000 were kept"
        in text
    )


def test_absent_parts_leave_no_trace(samples_result):
    text = Page(render_html(samples_result)).text
    assert "None" not in text
    assert "two sets of draws made elsewhere" in text
    assert "Draws or canary scores of one run are not independent" in text
    assert "Cost of the run" not in text


# The page of one run: tiles of each verdict, facts of a scenario, names that break nothing.

SCRIPT = "</script><script>alert(1)</script>\x1b&"


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
    result = dp.audit_one_run(np.ones(30), coins, claim=(1.0, 1e-5), method="f-dp").to_dict()
    assert one_run.tiles(result)[3].value == "none made"
    assert "All scores are equal" in Page(one_run.render_page(result)).text


def test_what_a_scenario_says_is_shown_and_escaped():
    found = record(claim=(1.0, 1e-5)) | {
        "scenario": SCRIPT,
        "mechanism": {"name": SCRIPT, "parameters": {"epsilon": 1.0}},
        "dataset": {"name": SCRIPT},
        "inserted": {"kind": "rare", "relation": "add"},
        "score": SCRIPT,
        "seed": 7,
    }
    source = one_run.render_page(found)
    shown = Page(source)
    assert [attrs.get("type") for attrs in shown.all("script")] == ["application/json"]
    assert "\x1b" not in source
    for piece in ("Kind of canaries", "rare", "epsilon = 1", "Seed", "alert(1)"):
        assert piece in shown.text
