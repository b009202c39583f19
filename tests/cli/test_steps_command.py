"""dpaudit steps: recorded steps of DP-SGD in a file, a verdict, a report."""

import json
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli import main
from tests.run.records import record_of

pytestmark = pytest.mark.usefixtures("in_tmp_path", "no_figures")

CLAIM = ["--sample-rate", "0.5", "--noise-multiplier", "1"]
NAMES = ("projection", "included", "known", "shift", "noise")


def recorded(size, steps=60, canaries=3):
    """Arrays of steps with noise multiplier 1, in which a canary adds `size`."""
    rng = np.random.default_rng(2)
    included = rng.random((steps, canaries)) < 0.5
    noise, known = rng.normal(size=(2, steps, canaries))
    projection = known + size * included + noise
    values = projection, included, known, np.full_like(noise, size), noise
    return dict(zip(NAMES, values, strict=True))


def as_csv(arrays, path):
    """Write them as a line for each step and canary."""
    steps, canaries = arrays["included"].shape
    columns = {"step": np.repeat(np.arange(steps), canaries)}
    columns |= {name: values.ravel() for name, values in arrays.items()}
    lines = [",".join(map(str, line)) for line in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *lines]))


@pytest.mark.parametrize(
    ("size", "steps", "status", "verdict", "tag"),
    [
        (1.0, 60, 0, "not violated", None),
        pytest.param(4.0, 60, 1, "violated", "failure", marks=pytest.mark.slow),
        pytest.param(1.0, 2, 3, "inconclusive", "skipped", marks=pytest.mark.slow),
    ],
)
def test_status_result_and_files_for_ci_agree(tmp_path, capsys, size, steps, status, verdict, tag):
    arrays = recorded(size, steps)
    np.savez("steps.npz", **arrays)
    files = ["--junit", "j.xml", "--sarif", "s.json", "--summary", "s.md"]
    assert main(["steps", "steps.npz", *CLAIM, "--orthogonal", *files]) == status
    audit = dp.StepAudit(sample_rate=0.5, noise_multiplier=1.0, orthogonal=True)
    for values in zip(*arrays.values(), strict=True):
        audit.update(**dict(zip(NAMES, values, strict=True)))
    record = record_of(tmp_path / "dpaudit-out" / "steps")
    assert (record["verdict"], record["reason"]) == (verdict, audit.result().reason)
    headline = record["headline"]["text"]
    assert f"{verdict.upper()}: {headline}" in " ".join(capsys.readouterr().out.split())
    case = ET.parse(tmp_path / "j.xml").getroot()[0][0]
    shown = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert (shown["dpaudit.verdict"], shown["dpaudit.headline"]) == (verdict, headline)
    assert [child.tag for child in case if child.tag in ("failure", "skipped")] == [tag] * bool(tag)
    (run,) = json.loads((tmp_path / "s.json").read_text())["runs"]
    assert [one["ruleId"] for one in run["results"]] == [verdict] * bool(tag)
    assert verdict in (tmp_path / "s.md").read_text()


@pytest.mark.slow
def test_a_csv_file_says_the_same_and_the_report_is_drawn_again(tmp_path):
    arrays = recorded(1.0, 20)
    np.savez("steps.npz", **arrays)
    as_csv(arrays, tmp_path / "steps.csv")
    options = ["--orthogonal", "--delta", "1e-3", "--level", "0.9"]
    statuses = [
        main(["steps", f"steps.{kind}", *CLAIM, *options, "--out", kind]) for kind in ("npz", "csv")
    ]
    record = record_of(tmp_path / "csv")
    assert statuses == [0, 0]
    assert record == record_of(tmp_path / "npz")
    assert (record["claim"]["delta"], record["level"], record["steps"]["canaries"]) == (
        1e-3,
        0.9,
        3,
    )
    (tmp_path / "csv" / "report.html").unlink()
    assert main(["report", "csv"]) == 0
    assert (tmp_path / "csv" / "report.html").exists()


def test_sizes_of_batches_are_bet_on(tmp_path):
    """Batches of one size, which Poisson sampling does not give."""
    arrays = recorded(1.0)
    names = ("projection", "included", "known")
    lines = {name: arrays[name][:, :1] for name in names} | {"batch_size": np.full((60, 1), 50)}
    as_csv(lines, tmp_path / "steps.csv")
    assert main(["steps", "steps.csv", *CLAIM, "--rows", "100"]) == 1
    record = record_of(tmp_path / "dpaudit-out" / "steps")
    assert max(record["steps"]["e_values"].items(), key=lambda pair: pair[1])[0] == "sampling"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("projection,included\n1.5,1\nhigh,0\n", "line 3: projection must be a finite number"),
        ("step,projection,included\n1,1,1\n1,0,1\n2,0,1\n", "as many lines of each step"),
        ("projection,included,noise\n1,1,1\n", "steps.csv, step 1: noise must be given with shift"),
        ("projection,included,batch_size\n1,1,5\n", "rows must be given where the file has batch"),
        (None, "there is no file steps.csv"),
    ],
)
def test_faults_of_a_csv_file_have_their_place(tmp_path, capsys, content, message):
    if content is not None:
        (tmp_path / "steps.csv").write_text(content)
    assert main(["steps", "steps.csv", *CLAIM]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "dpaudit-out").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"included": np.array([0.0, 1.0, 2.0])}, "step 3: included must be True or False"),
        (
            {"projection": np.array([0.0, np.nan, 2.0])},
            "step 2: projection must be a finite number",
        ),
        ({"known": np.zeros(2)}, "known must have an entry for each step, as included has, got"),
        ({"known": np.zeros((3, 2))}, "step 1: known must be a finite number for each canary"),
        ({"included": np.float64(1.0)}, "must have an entry for each step"),
        ({"projection": np.array([None] * 3)}, "must be a .npz file of numbers"),
    ],
)
def test_faults_of_arrays_have_their_place(capsys, change, message):
    np.savez("steps.npz", **{"projection": np.zeros(3), "included": np.zeros(3)} | change)
    assert main(["steps", "steps.npz", *CLAIM]) == 2
    assert message in capsys.readouterr().err


def test_other_files_are_refused(tmp_path, capsys):
    (tmp_path / "text.npz").write_text("projection")
    np.save("one.npy", np.zeros(3))
    np.savez("none.npz", rows=np.zeros(3))
    for name, message in {
        "text.npz": "text.npz must be a .npz file of numbers",
        "one.npy": "one.npy must be a .npz file of numbers",
        "none.npz": "none.npz must have the arrays projection and included",
        "missing.npz": "there is no file missing.npz",
    }.items():
        assert main(["steps", name, *CLAIM]) == 2
        assert message in capsys.readouterr().err


def test_a_missing_accountant_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
    np.savez("steps.npz", **recorded(1.0, 2))
    assert main(["steps", "steps.npz", *CLAIM]) == 2
    assert "dpaudit[accountant]" in capsys.readouterr().err


def test_an_error_is_in_the_files_for_ci(tmp_path):
    assert main(["steps", "missing.npz", *CLAIM, "--junit", "j.xml"]) == 2
    case = ET.parse(tmp_path / "j.xml").getroot()[0][0]
    assert "there is no file missing.npz" in case.find("error").get("message")
