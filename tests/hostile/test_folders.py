"""Folders that hold more than the scenario: modules that pose as others, files that are wrong.

Each module that must not run leaves a mark if it does.
"""

import os
import subprocess
import sys

import pytest

from dpaudit.cli import main
from dpaudit.errors import ScenarioError
from dpaudit.run import Scenario, run

pytestmark = pytest.mark.usefixtures("in_tmp_path")

POSING = (
    *("lightgbm", "matplotlib", "numpy", "sklearn", "joblib", "pandas"),
    *("typing", "dataclasses", "wave"),
)
LEAVES_A_MARK = "open({mark!r}, 'a').write(__name__ + '\\n')\nraise SystemExit(7)\n"
ROW = 'rule = "row"\nindex = 4'
AUDIT = 'draws = 600\nclassifier = "qda"\nepsilon = [0.0, 1.0]'
CALL = 'call = "first_call:release"'
OWN = """
import numpy as np

def release(data, size, *, rng):
    return data.mean() + rng.normal(size=size)
"""


@pytest.fixture
def marked(tmp_path):
    """marked(*names): modules beside the scenarios, each of which leaves a mark if it runs."""
    mark = tmp_path / "ran"

    def write(*names):
        for name in names:
            text = LEAVES_A_MARK.format(mark=str(mark))
            (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return mark

    return write


@pytest.fixture
def late(tmp_path):
    """The key of a call that imports a helper, a module of Python and a package when it is called.
    The helper and the package are beside the scenario.
    """
    imports = (
        "    from late_helper import SHIFT\n    import wave\n    from parts.more import ZERO\n"
    )
    text = OWN.replace("rng):\n", f"rng):\n{imports}").replace("normal(", "normal(SHIFT + ZERO, ")
    (tmp_path / "calls_late.py").write_text(text)
    (tmp_path / "late_helper.py").write_text("SHIFT = 1.0\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "more.py").write_text("ZERO = 0.0\n")
    return 'call = "calls_late:release"'


def command(*arguments, **options):
    """`python -m dpaudit` in the folder where the test works."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONSAFEPATH"}
    return subprocess.run(
        [sys.executable, "-m", "dpaudit", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        **options,
    )


WORKERS = 'draws = 600\nclassifier = "lightgbm"\nepsilon = [0.0, 1.0]\nbackend = "loky"'


@pytest.mark.slow
@pytest.mark.parametrize(("audit", "jobs"), [(AUDIT, "1"), (WORKERS, "2")], ids=["here", "workers"])
def test_nothing_beside_a_scenario_without_a_call_runs(write_scenario, marked, audit, jobs):
    """The score loads scikit-learn or lightgbm, and the report matplotlib, as they are installed.
    Worker processes of Python start in the current folder, and look for modules there.
    """
    mark = marked(*POSING)
    done = command("run", str(write_scenario(audit=audit)), "--jobs", jobs)
    assert not mark.exists(), mark.read_text()
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr


@pytest.mark.usefixtures("no_figures")
def test_a_call_imports_installed_modules_before_those_beside_it(
    write_scenario, marked, late, monkeypatch
):
    """A module that is only beside the scenario is found, whenever the call imports it."""
    mark = marked("wave", "sklearn")
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    path = write_scenario(mechanism=late, neighbour=ROW, audit=AUDIT)
    before = list(sys.path)
    assert main(["run", str(path), "--jobs", "2"]) == 0
    assert not mark.exists(), mark.read_text()
    assert sys.path == before
    assert not {"calls_late", "late_helper", "parts", "parts.more"} & set(sys.modules)


@pytest.mark.parametrize("key", ["mechanism", "outputs", "rank"])
def test_a_target_that_another_module_hides_is_refused(write_scenario, marked, key, tmp_path):
    """The module `wave` of Python would be audited in place of the one that is meant."""
    mark = marked("wave")
    (tmp_path / "own_fit.py").write_text(OWN)
    mechanism, neighbour = 'call = "own_fit:release"', ROW
    if key == "mechanism":
        mechanism = 'call = "wave:open"'
    elif key == "outputs":
        mechanism = 'call = "own_fit:release"\nkind = "estimator"\noutputs = "wave:open"'
    else:
        neighbour = 'rule = "search"\nrank = "wave:open"'
    path = write_scenario(mechanism=mechanism, neighbour=neighbour, audit=AUDIT)
    with pytest.raises(ScenarioError, match=r"'wave' is also the name .*wave\.py.*rename the one"):
        run(Scenario.load(path), tmp_path / "out")
    assert not mark.exists()


@pytest.mark.slow
def test_what_is_beside_a_scenario_is_found_in_workers_when_it_is_asked_for(
    write_scenario, marked, late
):
    """Helpers, and packages with modules of their own, after all that is installed."""
    mark = marked("wave", "sklearn", "numpy")
    audit = f'{AUDIT}\nbackend = "loky"'
    path = write_scenario(mechanism=late, neighbour=ROW, audit=audit)
    done = command("run", str(path), "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert not mark.exists(), mark.read_text()


@pytest.mark.slow
def test_a_program_of_its_own_finds_what_is_beside_it(write_scenario, tmp_path):
    """The variable that keeps workers apart from the current folder does not reach programs."""
    (tmp_path / "beside_it.py").write_text("SHIFT = 0.0\n")
    (tmp_path / "prints.py").write_text(
        "import random, sys\nfrom beside_it import SHIFT\n"
        "for _ in range(int(sys.argv[2])): print(SHIFT + random.gauss(0.0, 1.0))\n"
    )
    path = write_scenario(
        mechanism='command = ["{python}", "prints.py", "{data}", "{size}"]',
        neighbour=ROW,
        audit='draws = 200\nclassifier = "qda"\nepsilon = [0.0]\nbackend = "loky"',
    )
    assert run(Scenario.load(path), tmp_path / "out", n_jobs=1).verdict == "not violated"


WRONG = {
    "data": ({"data": 'path = "absent.csv"\ntarget = "y"'}, "[data]: cannot read"),
    "row": ({"neighbour": 'rule = "row"\nindex = 99'}, "[neighbour] index: must be a row number"),
    "bounds": (
        {"neighbour": 'rule = "search"\nrelations = ["add"]\nbounds = [[0, 1], [0, 1]]'},
        "[neighbour] bounds: must be one pair [least, largest], or 4",
    ),
    "points": (
        {"audit": "epsilon = { start = 0, stop = 1, num = 100_000_000 }"},
        "[audit.epsilon] num: must be at most 10,000 points",
    ),
    "rows": ({"mechanism": 'name = "ALS"\nrows = 3'}, "[mechanism] rows: must be at least"),
    "stop": (
        {
            "mechanism": 'command = ["true", "{data}"]',
            "neighbour": ROW,
            "claim": None,
            "audit": f'{AUDIT}\nstop = "verdict"',
        },
        "[audit] stop: needs a claim",
    ),
    "worst": ({"mechanism": 'command = ["true", "{data}"]'}, '[neighbour] rule: give "search"'),
    "samples": ({"audit": "draws = 5"}, "[audit] draws: must be at least 20 a side"),
}


def test_all_files_are_checked_before_the_first_one_is_imported(
    write_scenario, marked, tmp_path, capsys
):
    """A line for each fault of each file, and the status 2; nothing is imported or written."""
    mark = marked("first_call", "a_study")
    first = write_scenario("first", mechanism=CALL, neighbour=ROW)
    study = tmp_path / "study.toml"
    study.write_text('[study]\ncall = "a_study:Figure"\n')
    wrong = [write_scenario(name, **changes) for name, (changes, _) in WRONG.items()]
    assert main(["run", str(first), str(study), *map(str, wrong), "--out", "out"]) == 2
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == len(WRONG)
    for line, (name, (_, message)) in zip(lines, WRONG.items(), strict=True):
        assert line.startswith(f"dpaudit: error: {name}.toml: {message}"), line
    assert not mark.exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [["--draws", "4"], ["--seed", "-1"], ["--stop", "verdict"]])
def test_options_are_checked_with_every_file_before_the_first_import(
    write_scenario, marked, options, capsys
):
    mark = marked("first_call")
    first = write_scenario("first", mechanism=CALL, neighbour=ROW)
    last = write_scenario(
        "last", mechanism='command = ["true", "{data}"]', neighbour=ROW, claim=None
    )
    assert main(["run", str(first), str(last), *options]) == 2
    assert f"last.toml: {options[0][2:]}: " in capsys.readouterr().err
    assert not mark.exists()
