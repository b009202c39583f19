"""Suites: outcomes of all kinds, JUnit XML, the index page, what moved between two runs."""

import json
import os
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli import main
from dpaudit.cli.running import run_all
from dpaudit.errors import MechanismError
from dpaudit.report.comparison import moved
from dpaudit.run.suite.outputs import Outputs, job_summary, junit, sarif
from dpaudit.run.suite.suite import Before, ScenarioOutcome, redraw_suite, write_index
from dpaudit.verdict import number
from tests.cases import shifted
from tests.run.records import record_of

pytestmark = pytest.mark.usefixtures("in_tmp_path", "no_figures")

HOSTILE = "</td><script>alert(1)</script>\x1b&\x00"
VIOLATED = "epsilon = 0.0\ndelta = 0.001"
BROKEN = """
import sys
import numpy as np

def raises(data, size, *, rng):
    raise RuntimeError("a leak in the pipe")

def leaves(data, size, *, rng):
    sys.exit(0)
"""
QUICK = {"jobs": None, "seed": None}


@pytest.fixture
def suite(write_scenario, tmp_path):
    """Scenarios: one that holds, one violated, one whose code raises."""
    (tmp_path / "broken_release.py").write_text(BROKEN)
    row = 'rule = "row"\nindex = 4'
    return [
        str(write_scenario("holds")),
        str(write_scenario("raises", mechanism='call = "broken_release:raises"', neighbour=row)),
        str(write_scenario("leaks", claim=VIOLATED)),
    ]


def test_an_error_stops_none_of_the_others(suite, tmp_path, capsys):
    assert main(["run", *suite, "--out", "out", "--junit", "ci/junit.xml"]) == 2
    out, err = capsys.readouterr()
    assert "\nVIOLATED: " in out
    assert out.startswith("NOT VIOLATED: ")
    assert "raises: ERROR: the mechanism raised " in out
    assert "3 scenarios: 1 not violated, 1 violated, 1 error\nIndex: out/index.html" in out
    assert "dpaudit: raises: error: the mechanism raised" in err
    assert "Traceback" not in err
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert 'href="holds/report.html"' in page
    assert 'href="leaks/report.html"' in page
    assert 'href="raises' not in page
    assert "a leak in the pipe" in page
    top = ET.parse(tmp_path / "ci" / "junit.xml").getroot()
    counts = {key: top[0].get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    cases = {case.get("name"): case for case in top.iter("testcase")}
    assert [child.tag for child in cases["holds"]] == ["properties", "system-out"]
    shown = {one.get("name"): one.get("value") for one in cases["holds"].iter("property")}
    assert (shown["dpaudit.verdict"], shown["dpaudit.claim"]) == ("not violated", "(1, 0.9)-DP")
    assert 0.0 < float(shown["dpaudit.detectable"]) < 0.1
    words = cases["holds"].find("system-out").text
    assert words.startswith("not violated: δ = 0.9 allows a mechanism to publish its data in that ")
    assert "Claimed ε = 1 at δ = 0.9. Ruled out at 95 % confidence: no ε (row " in words
    assert "would have been shown with probability 0.8" in words
    message = cases["leaks"].find("failure").get("message")
    assert re.fullmatch(
        r"Claimed ε = 0 at δ = 0.001. At 95 % confidence at least \S+ \(row \d+ zeroed\)\.", message
    )
    assert cases["raises"].find("error").get("type") == "MechanismError"
    assert all(float(case.get("time")) > 0.0 for case in cases.values())


@pytest.mark.usefixtures("undrawn")
def test_a_suite_is_drawn_again_from_its_results(suite, tmp_path):
    main(["run", suite[2], "--out", "out/leaks"])
    (tmp_path / "out" / "a study").mkdir()
    content = {"title": "Figure 9", "source": "paper 5", "sentences": ["It is so."]}
    (tmp_path / "out" / "a study" / "content.json").write_text(json.dumps(content))
    report = tmp_path / "out" / "leaks" / "report.html"
    report.unlink()
    assert redraw_suite(tmp_path / "out") == [tmp_path / "out" / "leaks"]
    assert report.exists()
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    seconds = record_of(tmp_path / "out" / "leaks")["timings"]["total_s"]
    links = ('href="leaks/report.html"', 'href="a%20study/report.html"')
    for piece in (*links, "Claimed ε = 0", "It is so.", f"{number(seconds, 3)} s"):
        assert piece in page


def test_nothing_is_drawn_again_where_a_result_cannot_be_read(suite, tmp_path):
    with pytest.raises(dp.InvalidInput, match="must hold reports of a run"):
        redraw_suite(tmp_path)
    main(["run", suite[0], suite[2], "--out", "out"])
    (tmp_path / "out" / "index.html").unlink()
    (tmp_path / "out" / "holds" / "report.html").unlink()
    (tmp_path / "out" / "leaks" / "result.json").write_text("{")
    with pytest.raises(dp.InvalidInput, match="cannot be read"):
        redraw_suite(tmp_path / "out")
    assert not (tmp_path / "out" / "index.html").exists()
    assert not (tmp_path / "out" / "holds" / "report.html").exists()


def test_code_that_leaves_does_not_pass_for_a_verdict(write_scenario, suite, capsys):
    path = write_scenario(
        "leaves", mechanism='call = "broken_release:leaves"', neighbour='rule = "row"\nindex = 4'
    )
    assert main(["run", str(path)]) == 2
    assert "code of the scenario called sys.exit(0)" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_named_before_anything_runs(suite, tmp_path, capsys):
    (tmp_path / "taken").mkdir()
    assert main(["run", suite[0], "--junit", "taken"]) == 2
    assert "junit must be a file to write, got 'taken', a folder" in capsys.readouterr().err
    os.mkfifo("pipe")  # as /dev/null, it would become a file
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        assert main(["run", suite[0], "--summary", name]) == 2
        assert f"got '{name}', a pipe or a device" in capsys.readouterr().err
    assert not (tmp_path / "dpaudit-out").exists()


def test_files_through_links_and_the_page_of_a_job_stay(suite, tmp_path, monkeypatch):
    """Only the file of an earlier run is replaced."""
    (tmp_path / "link.md").symlink_to("summary.md")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "page.md")
    for _ in range(2):
        for name in ("link.md", "page.md"):
            assert main(["run", suite[0], "--summary", name]) == 0
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").count("## Privacy audits") == 1
    assert (tmp_path / "page.md").read_text(encoding="utf-8").count("## Privacy audits") == 2


def test_sarif_and_summary_have_what_is_not_green_first(suite, tmp_path, capsys):
    assert main(["run", *suite, "--sarif", "ci/found.sarif", "--summary", "ci/table.md"]) == 2
    content = json.loads((tmp_path / "ci" / "found.sarif").read_text(encoding="utf-8"))
    assert content["version"] == "2.1.0"
    (run,) = content["runs"]
    assert [one["ruleId"] for one in run["results"]] == ["error", "violated"]
    known = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    for rule in run["tool"]["driver"]["rules"]:  # what code scanning of GitHub requires
        assert all(rule[key]["text"] for key in ("shortDescription", "fullDescription", "help"))
    for result in run["results"]:
        assert result["level"] == "error"
        physical = result["locations"][0]["physicalLocation"]
        assert not physical["artifactLocation"]["uri"].startswith(("/", "file:"))
        assert physical["region"]["startLine"] >= 1
    place = run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert known == {"violated", "inconclusive", "error"}
    assert place == Path(suite[2]).name
    assert run["results"][1]["message"]["text"].startswith("leaks: Claimed ε = 0 at δ = 0.001.")
    lines = (tmp_path / "ci" / "table.md").read_text(encoding="utf-8").splitlines()
    assert [line.split(" | ")[0] for line in lines[4:]] == ["| raises", "| leaks", "| holds"]
    assert " | **violated** | ε = 0 at δ = 0.001 | ε = " in lines[5]


def test_an_interruption_leaves_what_was_done(suite, tmp_path, monkeypatch):
    def stopped(scenario, *arguments, **options):
        raise KeyboardInterrupt

    real = dp.run.run
    steps = iter([real, stopped])
    monkeypatch.setattr(
        "dpaudit.cli.running.execute", lambda *given, **options: next(steps)(*given, **options)
    )
    with pytest.raises(KeyboardInterrupt):
        run_all([Path(suite[0]), Path(suite[2])], Path("out"), junit=Path("j.xml"), **QUICK)
    assert ET.parse(tmp_path / "j.xml").getroot().get("tests") == "1"
    assert "holds" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_a_fault_that_nobody_meant_is_shown_whole(suite, monkeypatch, capsys):
    def wrong(*arguments, **options):
        raise ZeroDivisionError("an oversight")

    monkeypatch.setattr("dpaudit.cli.running.execute", wrong)
    assert main(["run", suite[0], suite[2]]) == 2
    out, err = capsys.readouterr()
    assert out.count("ERROR: ZeroDivisionError: an oversight") == 2
    assert err.count("Traceback") == 2


def test_against_itself_nothing_moved(suite, tmp_path, capsys):
    both = [suite[0], suite[2]]
    main(["run", *both])
    assert main(["run", *both, "--against", "dpaudit-out"]) == 1
    assert "Compared with dpaudit-out: 0 of 2 audits changed" in capsys.readouterr().out
    page = (tmp_path / "dpaudit-out" / "index.html").read_text(encoding="utf-8")
    assert "2 of 2 audits did not change: they have" in page


def test_what_moved_is_printed_and_on_the_page(suite, write_scenario, tmp_path, capsys):
    """ALS with 20 rows against 6: exact curve and draws are far apart.

    A single run may be compared by its folder.
    """
    main(["run", suite[0], "--out", "old/holds"])
    write_scenario("holds", mechanism='name = "ALS"\nrows = 6', claim=VIOLATED)
    assert (
        main(["run", suite[0], str(write_scenario("new")), "--out", "out", "--against", "old"]) == 1
    )
    out = capsys.readouterr().out
    assert "Compared with old: 1 of 1 audit changed" in out
    assert "  holds: verdict: not violated, now violated\n" in out
    assert "  holds: exact δ(" in out
    assert "  holds: parameters: " in out
    assert "  holds: claim: (1, 0.9)-DP, now (0, 0.001)-DP" in out
    assert "  new: not in the earlier run" in out
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "verdict: not violated, now violated" in page
    assert main(["run", suite[0], "--against", "old/holds/result.json"]) == 1
    assert "holds: verdict" in capsys.readouterr().out


def test_a_folder_without_results_is_an_error_before_anything_runs(suite, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["run", suite[0], "--against", "empty"]) == 2
    assert "against: empty must hold results of an earlier run" in capsys.readouterr().err
    assert not (tmp_path / "dpaudit-out").exists()


def record(mu, draws=2000, seed=1, **changes):
    """result.json of a Gaussian shift."""
    pair = dp.neighbours.zero_row([[1.0], [1.0]], 0)

    epsilon = np.linspace(0.0, 2.0, 9)
    return (
        dp.audit(
            shifted(mu), pair, draws=draws, epsilon=epsilon, classifier="qda", rng=seed
        ).to_dict()
        | changes
    )


def test_a_curve_that_rises_and_falls_shows_the_rise_first():
    """N(0, 1) | N(0.7, 1) against noise that hides all but 0.15 of δ, which no ε covers."""

    def uniform(data, size, *, rng):
        return data[:1] * 0.15 + rng.random((size, 1))

    pair = dp.NeighbourPair(np.array([[1.0]]), np.array([[0.0]]))
    new = dp.audit(uniform, pair, draws=2000, epsilon=np.linspace(0.0, 2.0, 9), rng=0).to_dict()
    moves = [one for one in moved(record(0.7, seed=2), new) if one.what.startswith("certified")]
    sizes = [[float(one.split()[0]) for one in (move.old, move.new)] for move in moves]
    assert [old < now for old, now in sizes] == [True, False]


@pytest.mark.slow
def test_runs_of_one_audit_seldom_differ():
    """Consecutive seeds, and few draws on purpose: sets are chosen by 60 of them."""
    found = [record(0.7, 600, seed) for seed in range(101)]
    count = sum(bool(moved(old, new)) for old, new in pairwise(found))
    assert count <= 7


def outcomes(folder, name="small", reason="why"):
    found = record(0.5) | {"scenario": name, "reason": reason}
    return [
        ScenarioOutcome(
            name,
            Path("a b/s.toml"),
            folder / name.replace("/", "_"),
            "inconclusive",
            reason,
            1.0,
            found,
        ),
        ScenarioOutcome(
            "other",
            Path("o.toml"),
            folder / "other",
            "error",
            reason,
            1.0,
            error=MechanismError(reason),
        ),
    ]


def test_hostile_text_stays_text(tmp_path):
    tree = ET.fromstring(junit(outcomes(tmp_path, HOSTILE, HOSTILE)))
    case = next(tree.iter("testcase"))
    assert case.get("name") == HOSTILE.replace("\x1b", r"\u001b").replace("\x00", r"\u0000")
    assert case.find("skipped").get("message") == f"inconclusive: {case.get('name')}"
    assert next(tree.iter("error")).text == case.get("name")
    (row, _) = job_summary(outcomes(tmp_path, "bad", f"{HOSTILE} | a\nb")).splitlines()[4:]
    assert "<" not in row
    assert "\\|" in row
    found = json.dumps(sarif(outcomes(tmp_path, HOSTILE, HOSTILE)), ensure_ascii=False)
    assert not {"\x1b", "\x00"} & set(found)
    before = Before(
        Path(HOSTILE.replace("\x00", "")), {HOSTILE: record(2.0) | {"verdict": "violated"}}
    )
    page = write_index(tmp_path, outcomes(tmp_path, HOSTILE, HOSTILE), before).read_text(
        encoding="utf-8"
    )
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)") >= 4


def failed(name="bad", path="bad.toml", message="why"):
    return ScenarioOutcome(name, Path(path), Path("out"), "error", message, 1.0)


def test_a_summary_has_no_markup_of_others():
    message = "![x](https://evil) [y](z) @someone *a* `b` <c>"
    (row,) = job_summary([failed(message=message)]).splitlines()[4:]
    shown = row.split(" | ")[4]
    assert not re.search(r"(?<!\\)[\[\]!*`]|@|://|<", shown)
    assert row.startswith("| bad | **error** |")


def test_the_page_of_a_github_job_is_added_to(tmp_path, monkeypatch):
    page = tmp_path / "summary.md"
    page.write_text("before\n")
    Outputs(summary=page).write([failed()])
    assert page.read_text().startswith("## Privacy audits")
    page.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    Outputs(summary=page).write([failed()])
    assert page.read_text().startswith("before\n## Privacy audits")


def test_sarif_names_any_file_by_a_uri():
    one = failed("sc\udce9", "a b#c%\udce9.toml")
    (result,) = sarif([one])["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert place == "a%20b%23c%25%E9.toml"
    assert result["message"]["text"].encode("utf-8")


def test_sarif_names_files_from_the_top_of_the_repository(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "audits").mkdir()
    monkeypatch.chdir(tmp_path / "audits")
    (result,) = sarif([failed("one", "one.toml")])["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert place == "audits/one.toml"


def test_a_file_that_cannot_be_written_does_not_stop_the_others(tmp_path):
    outputs = Outputs(tmp_path / "no" / "j.xml", tmp_path / "f.sarif", tmp_path / "s.md")
    with pytest.raises(FileNotFoundError):
        outputs.write([failed()])
    assert (tmp_path / "f.sarif").exists()
    assert (tmp_path / "s.md").exists()


def test_a_name_is_no_command_of_a_ci_server(write_scenario, capsys):
    assert main(["run", str(write_scenario(head='name = "::error title=x::y"\n'))]) == 2
    assert "name: must be text that does not begin with ::" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["no-such-program", "{data}"], "'no-such-program' is neither on the PATH nor a file in "),
        (["{python}", "absent.py", "{data}"], "'absent.py' is no file in "),
    ],
)
def test_check_finds_a_program_that_is_nowhere(command, message, write_scenario, capsys):
    mechanism = f"command = {json.dumps(command)}"
    path = write_scenario(mechanism=mechanism, neighbour='rule = "row"\nindex = 0')
    assert main(["run", "--check", str(path)]) == 2
    assert f"small.toml: [mechanism] command: {message}" in capsys.readouterr().err
