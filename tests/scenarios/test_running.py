"""A [study] table from the file to the folder of figures."""

import json
from pathlib import Path

import pytest

from dpaudit.cli import main
from dpaudit.errors import ScenarioError
from dpaudit.run import Scenario, StudyScenario, load_scenario

pytestmark = pytest.mark.quick

STUDY = '[study]\ncall = "tests.scenarios.doubling:Doubling"\npoints = [1.0, 10.0]\n'


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(content=STUDY, name="small"):
        path = tmp_path / f"{name}.toml"
        path.write_text(content, encoding="utf-8")
        return path

    return write


def test_files_of_a_study(write, capsys):
    assert main(["run", str(write())]) == 0
    folder = write().parent / "dpaudit-out" / "small"
    assert {path.name for path in folder.iterdir()} == {"report.html", "lines.png", "content.json"}
    content = json.loads((folder / "content.json").read_text())
    assert content["settings"] == {"points": [1.0, 10.0], "factor": 2.0}
    assert content["figures"]["lines"][0]["lines"][0]["y"] == [2.0, 20.0]
    assert content["tables"][0]["rows"][-1] == [0.0, "inf"]
    page = (folder / "report.html").read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "Numbers &lt;doubled&gt;" in page
    assert "dpaudit run small.toml" in page
    assert "Numbers <doubled>" in capsys.readouterr().out


def test_the_seed_decides_the_bytes(write, monkeypatch):
    monkeypatch.setattr("dpaudit.report.style.as_png", lambda figure, dpi: b"")
    main(["run", str(write(name="a")), str(write(name="b")), "--out", "out"])
    main(["run", str(write(name="a")), "--out", "again", "--seed", "1"])
    first, second, other = (
        Path(f"{place}/content.json").read_text() for place in ("out/a", "out/b", "again")
    )
    assert first == second != other


def test_faults_of_all_files_before_anything_runs(write, capsys):
    good, bad = (
        write(),
        write(
            '[study]\ncall = "tests.scenarios.doubling:Doubling"\n'
            "factor = -1.0\npoints = 3\nodd = 1\n",
            "bad",
        ),
    )
    none = write('[study]\ncall = "nothing:Nothing"\n', "none")
    assert main(["run", str(good), str(bad), str(none)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.removeprefix("dpaudit: error: ").split(":")[0] for line in lines] == [
        "bad.toml"
    ] * 2 + ["none.toml"]
    assert "[study] points: must be a list, got 3" in lines[0]
    assert not (good.parent / "dpaudit-out").exists()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("tests.scenarios.doubling:Tripling", "has no attribute 'Tripling'"),
        (
            "tests.scenarios.doubling:check",
            "must be a subclass of dpaudit.report.study.Study",
        ),
        ("nothing:Nothing", "No module named 'nothing'"),
        ("tests.scenarios.doubling", '"module:Name"'),
    ],
)
def test_a_call_that_is_no_study_is_one_line(write, capsys, call, message):
    assert main(["run", str(write(f'[study]\ncall = "{call}"\n'))]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("dpaudit: error: small.toml: [study] call: ")
    assert message in line


def test_a_relative_path_from_another_folder_finds_the_study_beside_the_file(write, monkeypatch):
    path = write()
    Path("beside.py").write_text(
        "from tests.scenarios.doubling import Doubling\n\n\nclass Beside(Doubling):\n    pass\n",
        encoding="utf-8",
    )
    path.write_text('[study]\ncall = "beside:Beside"\n', encoding="utf-8")
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert main(["run", "../small.toml", "--out", "out"]) == 0
    assert Path("out/content.json").exists()


def test_two_scenarios_of_one_name(write, tmp_path, capsys):
    (tmp_path / "other").mkdir()
    assert main(["run", str(write()), str(write(name="other/small"))]) == 2
    assert "small: the name of several scenarios" in capsys.readouterr().err


def test_a_study_is_no_audit(write):
    assert isinstance(load_scenario(write()), StudyScenario)
    with pytest.raises(ScenarioError, match="names a study"):
        Scenario.load(write())
    with pytest.raises(ScenarioError, match=r"\[study\] call: missing"):
        StudyScenario.load(write("name = 'x'\n"))
