"""The other commands, --help, and what is not imported."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli import dpaudit as dpaudit_commands
from dpaudit.cli import main

pytestmark = pytest.mark.usefixtures("in_tmp_path")

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
COMMANDS = re.findall(
    r"^dpaudit (\w+) (?:[A-Z]|\[)", PAGE.read_text(encoding="utf-8"), re.MULTILINE
)


@pytest.fixture
def draws(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "P.npy", rng.normal(size=(2000, 2)))
    np.save(tmp_path / "Q.npy", rng.normal(size=(2000, 2)) + 0.5)
    return ["P.npy", "Q.npy"]


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize(("claim", "status"), [("0.5,0.9", 0), ("0,0.01", 1), (None, 3)])
def test_samples(draws, tmp_path, capsys, claim, status):
    options = [] if claim is None else ["--claim", claim]
    options += ["--classifier", "qda", "--out", "there", "--junit", "j.xml", "--sarif", "s.json"]
    assert main(["samples", *draws, *options]) == status
    case = ET.parse(tmp_path / "j.xml").getroot()[0][0]
    assert case.get("name") == "P"
    assert [one.tag for one in case if one.tag in ("failure", "skipped")] == {
        0: [],
        1: ["failure"],
        3: ["skipped"],
    }[status]
    (sarif,) = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))["runs"]
    assert len(sarif["results"]) == bool(status)
    record = json.loads((tmp_path / "there" / "result.json").read_text(encoding="utf-8"))
    assert record["neighbour"]["rule"] == "P.npy against Q.npy"
    assert "P.npy against Q.npy" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"cannot read P\.npy: No such file or directory"),
        (b"hello", r"P\.npy must be a \.npy file of numbers or text, without pickle, got .*"),
    ],
)
def test_files_that_are_no_draws(draws, tmp_path, capsys, content, message):
    path = tmp_path / "P.npy"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert main(["samples", *draws]) == 2
    assert re.fullmatch(f"dpaudit: error: {message}\n", capsys.readouterr().err)


@pytest.mark.parametrize("others", [["P.npy"], ["copy.npy"]])
def test_the_same_draws_twice_are_refused(draws, tmp_path, capsys, others):
    (tmp_path / "copy.npy").write_bytes((tmp_path / "P.npy").read_bytes())
    assert main(["samples", "P.npy", *others, "--claim", "1,0"]) == 2
    output = capsys.readouterr().err
    assert "Q must be other draws than P" in output or "same draws stand on both sides" in output


@pytest.mark.parametrize("options", [["--claim", "1,2"], ["--level", "2"], ["--classifier", "rf"]])
def test_options_of_samples_are_checked(draws, options):
    assert main(["samples", *draws, *options]) == 2


def test_spectrum_breaks_a_claim(write_scenario, capsys):
    assert main(["spectrum", str(write_scenario(claim="epsilon = 0.0\ndelta = 0.001"))]) == 1
    assert "VIOLATED: the exact δ(0) is " in capsys.readouterr().out


def test_list(write_scenario, capsys):
    write_scenario().write_text("# The first line says it.\n# Not the second.\n")
    Path("scenarios").mkdir()
    Path("small.toml").rename("scenarios/small.toml")
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^\w+$", out, re.MULTILINE) == [
        "mechanisms",
        "datasets",
        "classifiers",
        "scenarios",
    ]
    for name in (*dp.mechanisms.REGISTRY, *dp.datasets.names(), *dp.scoring.ALIASES):
        assert re.search(rf"^  {name}\b", out, re.MULTILINE)
    assert re.search(r"^  scenarios/small\.toml +The first line says it\.$", out, re.MULTILINE)
    assert re.search(r"^  flight-als +ALS on the flights of 2013: ", out, re.MULTILINE)
    assert re.search(r"^  \.\.\. and \d+ more: dpaudit list scenarios$", out, re.MULTILINE)


def test_a_list_has_a_line_for_each_and_json_all_that_is_known(capsys):
    assert main(["list", "mechanisms"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert [line.split()[0] for line in lines] == list(dp.mechanisms.REGISTRY)
    assert main(["list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == {"mechanisms", "datasets", "classifiers", "scenarios"}
    als = next(one for one in found["mechanisms"] if one["name"] == "ALS")
    assert als["parameters"] == "rows, sampler='student'"
    assert als["exact spectrum"] == "zero-out, remove, replace; calibrates rows"
    assert "flight-als" in als["scenarios"]


def test_list_shows_all_that_is_known_of_one(capsys):
    assert main(["list", "mechanisms", "ALS"]) == 0
    output = capsys.readouterr().out
    assert "    parameters: rows, sampler='student'" in output
    assert "GaussMix" not in output
    assert main(["list", "scenarios", "flight-als"]) == 0
    assert re.search(r"^    file: .*flight-als\.toml$", capsys.readouterr().out, re.MULTILINE)
    assert main(["list", "mechanisms", "Gausmix"]) == 2
    assert "Gausmix is not among the mechanisms: GaussMix" in capsys.readouterr().err


@pytest.fixture
def exactly(capsys):
    """By mechanism, what `list --json` says of its exact spectrum."""
    main(["list", "mechanisms", "--json"])
    listed = json.loads(capsys.readouterr().out)["mechanisms"]
    return {item["name"]: item["exact spectrum"] for item in listed}


@pytest.mark.parametrize(
    "mechanism",
    [dp.mechanisms.ALS(20), dp.mechanisms.GaussianLS(1.0), dp.mechanisms.AdditiveWishart(20, 1.0)],
    ids=lambda mechanism: mechanism.name,
)
def test_the_relations_listed_are_those_of_worst_case(mechanism, exactly):
    listed = exactly[mechanism.name].partition(";")[0].split(", ")
    data = np.random.default_rng(0).normal(size=(30, 3))
    more = {
        "zero-out": {},
        "remove": {},
        "replace": {"candidates": data[:2]},
        "add": {"row_bound": 1.0},
    }
    for relation, options in more.items():
        try:
            dp.exact.worst_case(mechanism, data, [1.0], relation=relation, **options)
        except dp.NoExactSpectrum:
            assert relation not in listed
        else:
            assert relation in listed


def test_list_goes_into_folders_but_hidden_ones(write_scenario, tmp_path, capsys):
    for place in ("z.toml", "a/b/y.toml", "a/x.toml", ".venv/w.toml", "a/.git/v.toml"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("# A line.\n")
    assert main(["list", "scenarios", "."]) == 0
    names = re.findall(r"^  (\S+) +A line\.$", capsys.readouterr().out, re.MULTILINE)
    assert names == ["z.toml", "a/x.toml", "a/b/y.toml"]
    assert main(["list", "scenarios", str(tmp_path / "empty")]) == 2
    assert main(["list", "planets"]) == 2


@pytest.mark.parametrize(
    "content", [None, "{", "[]", '{"schema_version": 99}', '{"schema_version": 1}']
)
def test_report_without_a_result(tmp_path, capsys, content):
    if content is not None:
        (tmp_path / "result.json").write_text(content)
    assert main(["report", "."]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def statuses(command, capsys):
    """The table at the end of a help text."""
    assert main([*([command] if command else []), "--help"]) == 0
    end = capsys.readouterr().out.partition("Exit status:")[2]
    return dict(re.findall(r"^ +(\d+) +(.+)$", end, re.MULTILINE))


def test_every_command_has_exit_statuses_of_its_own(capsys):
    tables = {name: statuses(name, capsys) for name in dpaudit_commands.commands}
    assert all("not violated" not in tables[name]["0"] for name in ("list", "report", "plan"))
    assert len({json.dumps(table) for table in tables.values()}) == len(tables)


def test_the_page_lists_commands_that_there_are():
    assert (
        {"run", "samples", "spectrum", "list", "report", "audit", "init"}
        <= set(COMMANDS)
        <= set(dpaudit_commands.commands)
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_what_the_page_lists(capsys, command):
    synopsis = re.search(
        rf"^dpaudit {command}.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    ).group()
    assert main([command, "--help"]) == 0
    output = capsys.readouterr().out
    for word in re.findall(r"--[a-z]+(?:-[a-z]+)*|[A-Z]+\.\w+|SCENARIO|DIR", synopsis):
        assert word in output


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"dpaudit {dp.__version__}\n"


def test_python_m_and_quick_help():
    code = (
        "import sys; from dpaudit.cli import main; status = main(['run', '--help']);"
        "heavy = {'numpy', 'scipy', 'sklearn', 'matplotlib', 'lightgbm', 'jinja2', 'pydantic',"
        "'tqdm'};"
        "sys.exit(status or sorted(heavy & set(sys.modules)) or 0)"
    )
    for command in (["-c", code], ["-m", "dpaudit", "run", "--help"]):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("Usage: dpaudit run [OPTIONS] SCENARIO...")
