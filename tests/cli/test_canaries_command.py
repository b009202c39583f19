"""dpaudit canaries: scores of one run in a file, a verdict, a report."""

import numpy as np
import pytest

from dpaudit.cli import main
from tests.run.records import record_of

pytestmark = pytest.mark.usefixtures("in_tmp_path", "no_figures")

QUICK = ["--method", "f-dp"]


@pytest.fixture
def scores(tmp_path):
    """scores(noise, inclusion=None): scores.csv of 150 canaries, coins told up to noise."""

    def write(noise, inclusion=None):
        rng = np.random.default_rng(1)
        coins = rng.random(150) < (inclusion or 0.5)
        head = "id,score,included" + (",inclusion" if inclusion else "")
        tail = f",{inclusion}" if inclusion else ""
        values = coins + noise * rng.normal(size=150)
        lines = [
            f"{k},{v:.6f},{int(c)}{tail}"
            for k, (v, c) in enumerate(zip(values, coins, strict=True))
        ]
        (tmp_path / "scores.csv").write_text("\n".join([head, *lines]))
        return "scores.csv"

    return write


@pytest.mark.parametrize(
    ("noise", "options", "status", "message"),
    [
        (0.1, ["--claim", "1,1e-5"], 1, "VIOLATED: Claimed ε = 1 at δ = 10⁻⁵. At 95 % confidence"),
        (5.0, ["--claim", "1,1e-5"], 0, "NOT VIOLATED: Claimed ε = 1 at δ = 10⁻⁵."),
        (0.1, ["--claim", "9,1e-5"], 3, "That does not refute the claim: add canaries."),
        (0.1, ["--delta", "1e-5"], 3, "There is no claim to judge by."),
        (0.1, ["--mu", "0.5"], 1, "VIOLATED: Claimed μ = 0.5. At 95 % confidence at least"),
        (0.1, ["--claim", "1,0", "--level", "0.99"], 1, "At 99 % confidence"),
        pytest.param(
            *(0.8, ["--mu", "0.5", "--independent"], 1, "own coin and on noise of its own"),
            marks=pytest.mark.slow,
        ),
        (0.8, ["--delta", "1e-5", "--family", "gaussian"], 3, "is of the family: Gaussian"),
    ],
)
def test_the_status_is_that_of_the_verdict(scores, capsys, noise, options, status, message):
    assert main(["canaries", scores(noise), *options, *QUICK]) == status
    assert message in " ".join(capsys.readouterr().out.split())


def test_a_report_is_written_without_a_single_score_and_drawn_again(scores, tmp_path, capsys):
    options = ["--claim", "1,1e-5", *QUICK, "--out", "there", "--junit", "j.xml"]
    main(["canaries", scores(0.1), *options])
    assert 'failures="1"' in (tmp_path / "j.xml").read_text()
    record = record_of(tmp_path / "there")
    assert (record["kind"], record["canaries"]["count"]) == ("one run", 150)
    assert record["method"] == {"requested": "f-dp", "shares": {"f-dp": 1.0}}
    assert "Report: there/report.html" in capsys.readouterr().out
    first = (tmp_path / "scores.csv").read_text().splitlines()[1].split(",")[1]
    assert first not in (tmp_path / "there" / "result.json").read_text()
    page = tmp_path / "there" / "report.html"
    page.unlink()
    assert main(["report", "there"]) == 0
    assert page.exists()
    capsys.readouterr()
    assert main(["status", "there", "--quiet"]) == 0
    assert capsys.readouterr().out == "there: done: violated\n"
    assert main(["status", "there"]) == 0
    assert capsys.readouterr().out.split() == ["Run", "there", "State", "done:", "violated"]


def test_coins_of_another_probability_are_named_once(scores, tmp_path, capsys):
    path = scores(0.1, inclusion=0.25)
    assert main(["canaries", path, "--claim", "1,1e-5", *QUICK]) == 1
    assert record_of(tmp_path / "dpaudit-out" / "canaries")["canaries"]["inclusion"] == [0.25, 0.25]
    capsys.readouterr()
    assert main(["canaries", path, "--inclusion", "0.25"]) == 2
    assert "inclusion must be left out: scores.csv has a column" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("score,included\n1.5,1\nhigh,0\n", "scores.csv, line 3: score must be a finite number"),
        ("score,included\n1.5,1\n\nhigh,0\n", "scores.csv, line 4: score must be a finite number"),
        ("score,included\n1.5,yes\n", "scores.csv, line 2: included must be 1, 0, true or false"),
        (
            "score,included,inclusion\n1,1,\n",
            "scores.csv, line 2: inclusion must be a finite number",
        ),
        ("score,in\n1,1\n", "must have the columns score and included in its first line"),
        ("score,included\n", "must have lines below its first one, but it has none"),
        (None, "scores.csv"),
    ],
)
def test_faults_of_the_file_have_their_place(tmp_path, capsys, content, message):
    if content is not None:
        (tmp_path / "scores.csv").write_text(content)
    assert main(["canaries", "scores.csv", "--claim", "1,1e-5"]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "dpaudit-out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--claim", "1,1e-5", "--mu", "1"], "give one of --claim and --mu"),
        (["--claim", "1,1e-5", "--inclusion", "0.01"], "the probability with which"),
        (["--mu", "1", "--method", "likelihood"], "'f-dp' for a claim that is a curve"),
        (["--delta", "1e-5", "--family", "0.1,20"], "unless canaries are assumed independent"),
        (["--delta", "1e-5", "--family", "laplace"], "is not of the form gaussian or Q,T"),
    ],
)
def test_options_that_do_not_go_together_are_refused(scores, capsys, options, message):
    assert main(["canaries", scores(0.1), *options]) == 2
    assert message in capsys.readouterr().err
