"""What a run's folder says of it: its state, its draws, rate and time left; and the lock."""

import json
import os

import pytest

import dpaudit as dp
from dpaudit.cli import main
from dpaudit.run import Scenario, run
from dpaudit.run.store.draws import DrawStore
from dpaudit.run.store.progress import Watch, state_of
from tests.run.held_runs import held_run, held_scenario

pytestmark = pytest.mark.usefixtures("no_figures")

ROW = 'rule = "row"\nindex = 4'


@pytest.mark.slow
def test_a_run_from_begin_to_end(write_scenario, tmp_path, capsys):
    """16 blocks of 256 a side: under way, killed, resumed."""
    scenario = held_scenario(write_scenario, audit='draws = 4000\nclassifier = "qda"')
    out = tmp_path / "out"
    with held_run(scenario, out) as process:
        assert main(["status", str(out)]) == 0
        said = capsys.readouterr().out
        assert f"running, process {process.pid}" in said
        assert "drawing M(D)" in said
        found = state_of(out)
        assert (found.state, found.process, found.wanted, found.scenario) == (
            "running",
            process.pid,
            4000,
            "held",
        )
        with pytest.raises(
            dp.InvalidInput,
            match=f"another run is under way in .*out .process {process.pid}.;",
        ):
            run(Scenario.load(scenario), out)
    assert main(["status", str(out), "--json"]) == 3
    one = json.loads(capsys.readouterr().out)[0]
    assert (one["state"], one["process"]) == ("interrupted", None)
    assert sum(one["made"]) == sum(
        256 if "-000015" not in path.name else 160 for path in out.glob("draws/*.npy")
    )
    run(Scenario.load(scenario), out, resume=True)
    assert main(["status", str(tmp_path)]) == 0
    assert "done: not violated" in capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "result.json"]


def test_an_interrupted_run_says_with_what_it_ended(write_scenario, tmp_path, capsys):
    (tmp_path / "ends.py").write_text(
        "def release(data, size, *, rng):\n    raise KeyError('midway')\n"
    )
    scenario = Scenario.load(
        write_scenario("ends", mechanism='call = "ends:release"', neighbour=ROW)
    )
    with pytest.raises(dp.MechanismError):
        run(scenario, tmp_path / "out")
    assert main(["status", str(tmp_path / "out")]) == 3
    assert "by MechanismError: the mechanism raised " in capsys.readouterr().out


def test_a_run_that_never_began_leaves_nothing(write_scenario, tmp_path, capsys):
    with pytest.raises(dp.InvalidInput, match="index must be"):
        run(Scenario.load(write_scenario(neighbour='rule = "row"\nindex = 99')), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert main(["status", str(tmp_path / "out")]) == 2
    assert "must be the folder of a run" in capsys.readouterr().err


def test_rate_and_time_left_count_what_this_process_has_drawn(tmp_path, monkeypatch):
    """100 draws are kept by an earlier process; this one makes them again and 200 more in 6 s.

    So 50 a second, and 1700 of 2 × 1000 to go.
    """
    now = [100.0]
    monkeypatch.setattr("dpaudit.run.store.progress.time.monotonic", lambda: now[0])
    first = DrawStore(tmp_path / "draws", {"samples": 1000, "stop": None})
    first.put(0, 0, dp.outcomes.rows([0.5] * 100))
    with pytest.raises(RuntimeError), Watch(tmp_path / "draws", "counted") as watch:  # noqa: PT012
        watch("choosing the neighbour", 0, 1)
        now[0] += 50.0
        watch.begin(DrawStore(tmp_path / "draws", {"samples": 1000, "stop": None}, resume=True))
        watch("drawing M(D)", 100, 1000)
        for side, block in ((0, 0), (0, 1), (1, 1)):
            now[0] += 2.0
            watch.store.put(side, block, dp.outcomes.rows([0.5] * 100))
            watch("drawing M(D)", 100 + 100 * (side + block), 1000)
        raise RuntimeError
    found = state_of(tmp_path)
    assert (found.made, found.wanted, found.rate, found.left_s) == ((200, 100), 1000, 50.0, 34.0)
    assert (found.step, found.ended, found.stops) == ("drawing M(D)", "RuntimeError", False)


@pytest.mark.parametrize("content", ["", "{", "[]"])
def test_a_damaged_progress_file_says_nothing(tmp_path, content):
    DrawStore(tmp_path / "draws", {"samples": "many"})
    (tmp_path / "draws" / "progress.json").write_text(content)
    found = state_of(tmp_path)
    assert (found.state, found.rate, found.step, found.wanted) == ("interrupted", None, None, None)


def test_one_run_has_a_folder_until_it_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("dpaudit.run.store.progress.PATIENCE", 0.01)
    draws = tmp_path / "draws"
    with Watch(draws, "first"):
        state = state_of(tmp_path)
        assert (state.state, state.process) == ("running", os.getpid())
        with pytest.raises(dp.InvalidInput, match=f"process {os.getpid()}"), Watch(draws, "second"):
            pass
    assert state_of(tmp_path) is None
    with Watch(draws, "third"):
        pass


def test_a_folder_of_runs_tells_of_each(write_scenario, tmp_path, capsys):
    for name in ("one", "two"):
        run(Scenario.load(write_scenario(name)), tmp_path / "all" / name)
    assert main(["status", str(tmp_path / "all")]) == 0
    assert capsys.readouterr().out.count("done: not violated") == 2
