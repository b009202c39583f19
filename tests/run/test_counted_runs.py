"""Runs whose workers count end in the bytes of a run alone, also when they are interrupted."""

import pytest

from dpaudit.run import Scenario, run
from dpaudit.run.store.draws import CountFiles
from tests.run.records import text_without_clock
from tests.run.test_workers import HELPER, OWN

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_figures")]

AUDIT = 'draws = 9000\nclassifier = "auto"\nepsilon = [0.0, 1.0]'
HALF_COUNTED = 7500  # draws a side; 4,500 learn
GROUPS = 18  # of 36 numbers of blocks, which begin after the 18th


@pytest.fixture
def scenario(write_scenario, tmp_path):
    """scenario(backend) of a mechanism beside it; the result of a run alone is in `alone`."""
    (tmp_path / "own_release.py").write_text(OWN)
    (tmp_path / "helper_of_own.py").write_text(HELPER)
    made = {"mechanism": 'call = "own_release:release"', "neighbour": 'rule = "row"\nindex = 4'}

    def scenario(backend=None):
        key = "" if backend is None else f'\nbackend = "{backend}"'
        return Scenario.load(write_scenario(audit=AUDIT + key, **made))

    run(scenario(), tmp_path / "alone")
    return scenario


def interrupt(step, done, wanted):
    if step.startswith("drawing") and done > HALF_COUNTED:
        raise KeyboardInterrupt


def files(folder):
    return sorted(path.suffix for path in (folder / "draws").glob("*.np?"))


def test_processes_that_count_change_no_byte(scenario, tmp_path):
    """A run of 36 blocks a side keeps what learns and counts, or all draws if it is to."""
    for keep, backend in ((False, "loky"), (True, "loky"), (False, "threading")):
        out = tmp_path / f"{backend}-{keep}"
        run(scenario(backend), out, n_jobs=2, keep_draws=keep)
        assert text_without_clock(out) == text_without_clock(tmp_path / "alone")
    assert files(tmp_path / "loky-True") == [".npy"] * 72


@pytest.mark.parametrize("first", ["loky", "threading"])
@pytest.mark.parametrize("then", ["loky", "threading", None])
def test_an_interrupted_run_goes_on_with_any_workers(scenario, tmp_path, monkeypatch, first, then):
    """Of the groups that are kept, the first one is made again."""
    out, numbers, put = tmp_path / "out", [], CountFiles.put
    monkeypatch.setattr(
        CountFiles,
        "put",
        lambda kept, number, made: numbers.append(number) or put(kept, number, made),
    )
    with pytest.raises(KeyboardInterrupt):
        run(scenario(first), out, n_jobs=2, progress=interrupt)
    before, numbers[:] = numbers.copy(), []
    assert before == list(range(len(before)))
    assert bool(before) is (first == "loky")
    run(scenario(then), out, resume=True, n_jobs=None if then is None else 2)
    assert text_without_clock(out) == text_without_clock(tmp_path / "alone")
    if before:
        assert numbers == [0, *range(len(before), GROUPS)]
