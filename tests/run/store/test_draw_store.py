"""Kept draws, and counts of groups of them, are complete or absent, and never those of another run
or another score; and what a run's folder tells of it.
"""

import json
import os

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli import main
from dpaudit.errors import InvalidInput
from dpaudit.run import Scenario, run
from dpaudit.run.store.draws import DrawStore, SearchStore
from dpaudit.run.store.folder import remove_store
from dpaudit.run.store.progress import Watch, state_of
from dpaudit.sampling import Counts, GroupCounts
from tests.run.held_runs import held_run, held_scenario

pytestmark = pytest.mark.usefixtures("no_figures")

MADE_BY = {"seed": 0, "samples": 100, "stop": None}


@pytest.fixture
def block():
    return np.random.default_rng(0).normal(size=(50, 3))


@pytest.fixture
def store(tmp_path, block):
    store = DrawStore(tmp_path / "draws", MADE_BY)
    store.put(0, 2, block)
    return store


@pytest.mark.quick
def test_resume_finds_what_it_draws_again(store, block):
    """The first block of each side is to be drawn again, and has to be the same."""
    store.put(0, 3, block + 1.0)
    store.put(1, 2, block - 1.0)
    again = DrawStore(store.path, MADE_BY, resume=True)
    assert again.get(0, 2) is None
    np.testing.assert_array_equal(again.get(0, 3), block + 1.0)
    again.put(0, 2, block)
    np.testing.assert_array_equal(again.get(0, 2), block)
    assert again.get(1, 2) is None
    with pytest.raises(InvalidInput, match=r"block 2 of M\(D'\) is drawn differently now"):
        again.put(1, 2, block)
    np.testing.assert_array_equal(store.get(1, 2), block - 1.0)


@pytest.mark.quick
def test_other_settings_are_named(store, block):
    with pytest.raises(
        InvalidInput,
        match=r"other settings \(seed 0, now 1\); run without --resume to start afresh",
    ):
        DrawStore(store.path, {**MADE_BY, "seed": 1}, resume=True)
    np.testing.assert_array_equal(store.get(0, 2), block)


@pytest.mark.quick
@pytest.mark.parametrize(
    "damage",
    [lambda file: file[:-40], lambda file: file[:300] + b"?" + file[301:]],
    ids=["cut", "changed"],
)
def test_a_damaged_block_is_not_there(store, damage):
    path = store.path / "0-000002.npy"
    path.write_bytes(damage(path.read_bytes()))
    assert store.get(0, 2) is None


@pytest.mark.quick
@pytest.mark.parametrize("content", ["[]", "[" * 100_000])
def test_draws_without_a_manifest_stay_until_they_are_discarded(store, content):
    (store.path / "manifest.json").write_text(content)
    before = {path.name: path.read_bytes() for path in store.path.iterdir()}
    with pytest.raises(InvalidInput, match=r"draws \(files: 1\), but manifest.json cannot be"):
        DrawStore(store.path, MADE_BY, resume=True)
    assert {path.name: path.read_bytes() for path in store.path.iterdir()} == before
    DrawStore(store.path, MADE_BY)
    assert {path.name for path in store.path.iterdir()} == {"manifest.json", "parts.jsonl"}
    assert json.loads((store.path / "manifest.json").read_text()) == MADE_BY


@pytest.mark.quick
def test_outcomes_that_an_earlier_version_left_go_with_the_search(tmp_path):
    """It kept a file for each, which this one does not read."""
    kept = tmp_path / "search"
    SearchStore(kept, MADE_BY)
    (kept / "outcome-0123.json").write_text("[16, 0.5]")
    resumed = SearchStore(kept, MADE_BY, resume=True)
    assert resumed.outcome("0123") is None
    remove_store(kept)
    assert not kept.exists()


@pytest.mark.quick
def test_every_change_is_named(store):
    kept = {
        "files": {"a.py": "1", "b.py": "2"},
        "programs": {"sh": "3"},
        "packages": {"numpy": "1.0"},
    }
    now = {
        "files": {"a.py": "4", "c.py": "2"},
        "programs": {"sh": "5"},
        "packages": {"numpy": "2.0"},
    }
    DrawStore(store.path, kept)
    with pytest.raises(InvalidInput) as caught:
        DrawStore(store.path, now, resume=True)
    for change in (
        "a.py has changed; c.py was not used; b.py is no longer used",
        "sh has changed",
        "package numpy 1.0, now 2.0",
    ):
        assert change in str(caught.value)


# --- counts of groups

KEY, OTHER = "0123456789abcdef", "fedcba9876543210"


def group(seed=0):
    rng = np.random.default_rng(seed)
    cells = np.array([[20, 0, 30], [10, 15, 25]], dtype=np.uint8)
    first = rng.normal(size=(2, 50)).astype(np.float32)
    sums = rng.integers(0, 256, (2, 32)).astype(np.uint8)
    return GroupCounts(Counts(cells, first), sums, np.array([3, 3]))


def assert_same(one, other):
    for name in ("cells", "first"):
        np.testing.assert_array_equal(getattr(one.counts, name), getattr(other.counts, name))
    np.testing.assert_array_equal(one.sums, other.sums)
    np.testing.assert_array_equal(one.columns, other.columns)


@pytest.fixture
def counts(tmp_path):
    """A store with the counts of groups 2 and 3."""
    store = DrawStore(tmp_path / "draws", MADE_BY)
    kept = store.counts(KEY)
    for number in (2, 3):
        kept.put(number, group(number))
    return store


def resumed(counts, **more):
    return DrawStore(counts.path, MADE_BY, resume=True, **more)


@pytest.mark.quick
def test_the_first_group_is_made_again_and_has_to_be_the_same(counts):
    kept = resumed(counts).counts(KEY)
    assert kept.get(2) is None
    kept.put(5, group(5))
    assert not list(counts.path.glob("*000005*"))
    kept.put(2, group(2))
    assert_same(kept.get(2), group(2))
    assert_same(kept.get(5), group(5))
    again = resumed(counts).counts(KEY)
    with pytest.raises(InvalidInput, match=r"group 2 of the blocks .* is drawn differently now"):
        again.put(2, group(4))


@pytest.mark.quick
def test_a_damaged_group_is_not_there(counts):
    path = counts.path / f"counts-{KEY}-000003.npz"
    path.write_bytes(path.read_bytes()[:-9])
    assert resumed(counts).counts(KEY).get(3) is None


@pytest.mark.quick
@pytest.mark.parametrize(("key", "all_draws"), [(OTHER, False), (KEY, True)])
def test_counts_that_are_of_no_use_go(counts, key, all_draws):
    """Those of another score, and all of them where the draws are to be kept."""
    again = resumed(counts, all_draws=all_draws)
    assert not again.counts(key)
    assert not list(counts.path.glob("*.npz"))
    assert not resumed(counts).counts(KEY)


@pytest.mark.quick
def test_counted_draws_are_draws(counts):
    counts.put(0, 0, np.zeros((7, 3)))
    assert counts.fresh == 7 + 2 * 2 * 50
    assert state_of(counts.path.parent).made == (107, 100)


# --- state, rate, time left and the lock

ROW = 'rule = "row"\nindex = 4'


@pytest.mark.slow
def test_a_run_from_begin_to_end(write_scenario, tmp_path, capsys):
    """16 blocks of 256 a side: under way, killed, resumed."""
    scenario = held_scenario(write_scenario, audit='draws = 4000\nclassifier = "qda"')
    out = tmp_path / "out"
    with held_run(scenario, out) as process:
        assert main(["status", str(out)]) == 0
        output = capsys.readouterr().out
        assert f"running, process {process.pid}" in output
        assert "drawing M(D)" in output
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
