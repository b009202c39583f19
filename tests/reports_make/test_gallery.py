"""The gallery: numbers that agree, figures that show what they say, a page that stands alone."""

import json
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import mechanisms
from reports.make import command as make
from reports.make.findings.evidence import (
    CERTIFIED,
    claimed,
    stated,
)
from reports.make.findings.outcome import Case
from reports.make.gallery import build, compositions, mixing
from reports.make.gallery.report import render
from reports.make.gallery.settings import Settings
from tests.report.test_html import Page

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def settings():
    rng = np.random.default_rng(4)
    data = np.column_stack([np.ones(80), rng.standard_normal((80, 2))]) * [1.0, 3.0, 5.0]
    shown = (
        ("a", mechanisms.AdditiveWishart(6, 12.0)),
        ("b", mechanisms.AnalyzeGauss(100.0)),
        ("c", mechanisms.RandomProjection(20, "gram", 9.0)),
    )
    return Settings(
        data, "made <up>", shown, 13, 4, (50,), targets=(0.5, 2.0), rows=6, releases=(1, 10)
    )


@pytest.fixture(scope="module")
def content(settings):
    return build.numbers(settings)


@pytest.fixture(scope="module")
def rows():
    return build.formulas()


# Numbers


@pytest.mark.slow
def test_spectra_are_those_of_the_worst_row(settings, content):
    for (_, mechanism), one in zip(settings.mechanisms, content["spectra"], strict=True):
        worst = dp.exact.worst_case(mechanism, settings.database, np.array(one["epsilon"]))
        np.testing.assert_allclose(
            np.maximum(one["forward"], one["backward"]), worst.delta, rtol=1e-6, atol=1e-300
        )
        assert one["inverses"]["total_variation"] == pytest.approx(float(worst.delta[0]), rel=1e-7)
        assert one["inverses"]["delta_at_1"] == pytest.approx(float(worst.delta_at(1.0)), rel=1e-7)


def test_required_noise_keeps_the_target_and_no_less_does():
    found = mixing.figure_1_gammas(100, 1.0, 1e-6)

    def sketch(gamma):
        return float(max(dp.exact.gaussian_sketch(1.0 / gamma, 100, 1.0)))

    assert sketch(found["exact"]) == pytest.approx(1e-6, rel=1e-8)
    assert dp.exact.printed.gaussmix_epsilon(100, found["lemma_1"], 1e-6) == pytest.approx(
        1.0, rel=1e-8
    )
    assert dp.exact.printed.sheffet_2019(100, found["sheffet_2019"], 1e-6) == pytest.approx(
        1.0, rel=1e-12
    )
    assert found["exact"] < found["lemma_1"] < found["sheffet_2019"]


def test_composition_from_parts_takes_the_better_theorem():
    """n = 100 with δ(ε) = e^{−100ε}: advanced at ε = 2.5, basic at ε = 50.

    By the formulas on a fine grid.
    """

    def one(epsilon):
        return np.exp(-100.0 * epsilon)

    part = np.linspace(1e-3, 1.0, 200_000)
    room = 2.5 - 100 * part * np.expm1(part)
    advanced = np.where(
        room > 0.0, 100 * one(part) + np.exp(-(room**2) / (200 * part**2)), 1.0
    ).min()
    found = compositions.from_parts(one, 100, np.array([2.5, 50.0]))
    assert found[0] == pytest.approx(min(advanced, 1.0), rel=0.1)
    assert found[1] <= 100 * np.exp(-50.0)


def test_a_row_is_a_statement_at_a_setting_with_its_evidence():
    evidence = claimed(1e-5, 1e-3, at="so σ = 2")
    row = build.row("theorem 3.1", 4, Case({"rows": 1000, "epsilon": 1.0}, evidence))
    assert (row["formula"], row["source"]) == ("theorem 3.1", "paper 4")
    assert row["setting"] == "r = 1000, ε = 1, so σ = 2"
    values = row["printed"], row["exact"], row["factor"]
    assert values == (1e-5, 1e-3, pytest.approx(100.0))
    assert build.shown(evidence)
    assert not build.shown(stated("E‖x‖", 1.0, 2.0))  # no exact privacy
    assert not build.shown(claimed(1e-5, 1e-3, kind=CERTIFIED))


# Figures


# The page and the folder


@pytest.mark.slow
def test_the_page_stands_alone_and_shows_every_number_table(content):
    page = Page(
        render(
            content, dict.fromkeys(("spectra", "mixing", "calibrations", "compositions"), b"png")
        )
    )
    kinds = [tag for tag, _ in page.tags]
    assert "script" not in kinds
    links = [
        value for _, attrs in page.tags for key, value in attrs.items() if key in ("src", "href")
    ]
    assert all(link.startswith("data:") for link in links)
    assert kinds.count("img") == 4
    assert all(attrs["alt"] for tag, attrs in page.tags if tag == "img")
    assert kinds.count("table") == 4 + len(content["calibrations"]["mechanisms"])
    assert all(row["setting"] in page.text for row in content["formulas"])
    assert "<up>" not in render(
        content, dict.fromkeys(("spectra", "mixing", "calibrations", "compositions"), b"")
    )
    assert "an analysis of this data set, not a mechanism" in page.text


def test_the_command_builds_what_scenarios_name(settings, tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(Settings, "of_scenarios", classmethod(lambda cls, paths: (settings, paths)))
    monkeypatch.setattr(build, "build", lambda *given: asked.append(given))
    shipped = ROOT / "scenarios" / "exact"
    assert build.main(["--scenarios", str(shipped), "--out", str(tmp_path / "out")]) == 0
    ((_, paths), folder) = asked[0]
    assert (sorted(paths), folder) == (sorted(shipped.glob("*.toml")), tmp_path / "out")
    assert capsys.readouterr().out == f"{tmp_path / 'out' / 'report.html'}\n"


def test_the_command_says_in_one_line_what_is_missing(tmp_path, capsys):
    given = ["gallery", "--scenarios", str(tmp_path), "--out", str(tmp_path / "out")]
    assert make.main(given) == 2
    assert "scenarios must be files that share one data set, got 0 files" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_committed_numbers_are_those_of_this_code(rows):
    """The parts without data; to six digits, as other machines round otherwise."""
    kept = json.loads((ROOT / "reports" / "exact" / "numbers.json").read_text(encoding="utf-8"))
    for old, new in zip(kept["formulas"], rows, strict=True):
        for key, value in new.items():
            assert old[key] == (
                pytest.approx(value, rel=1e-6) if isinstance(value, float) else value
            )
    for k, table in kept["mixing"]["table"].items():
        for at, epsilon in enumerate(table["epsilon"]):
            gammas = mixing.figure_1_gammas(int(k), epsilon, kept["mixing"]["delta"])
            for name, value in gammas.items():
                assert table[name][at] == pytest.approx(value, rel=1e-6)
