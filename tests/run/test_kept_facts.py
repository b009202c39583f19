"""What result.json keeps of a run beside the audit: text, code, start; and what a rerun says."""

import hashlib
from datetime import UTC, datetime

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.run import Scenario, run
from tests.run.records import record_of, text_without_clock

pytestmark = pytest.mark.usefixtures("no_figures")

ROW = 'rule = "row"\nindex = 4'
FEW = 'draws = 600\nclassifier = "qda"\nepsilon = [0.0, 1.0]'
OWN = '''
from pathlib import Path

def release(data, size, *, rng):
    """Stops while there is a file "stop" beside it, in the third block."""
    stop, key = Path(__file__).with_name("stop"), rng.bit_generator.seed_seq.spawn_key
    if key[2:3] == (2,) and stop.exists():
        raise RuntimeError("stopped")
    return data.mean(axis=0) + rng.normal(size=(size, data.shape[1]))
'''


@pytest.fixture
def scenario(write_scenario, tmp_path):
    (tmp_path / "kept_release.py").write_text(OWN)
    return Scenario.load(
        write_scenario(
            mechanism='call = "kept_release:release"',
            data='path = "small.csv"',
            neighbour=ROW,
            audit=FEW,
        )
    )


def test_the_text_and_the_code_and_the_start_are_kept(scenario, tmp_path):
    before = datetime.now(UTC).replace(microsecond=0)
    run(scenario, tmp_path / "out")
    record = record_of(tmp_path / "out")
    text = (tmp_path / "small.toml").read_text(encoding="utf-8")
    assert record["scenario_text"] == text.rstrip() + "\n"
    sha256 = hashlib.sha256(OWN.encode()).hexdigest()
    assert record["source"] == {"sha256": sha256}
    started = datetime.strptime(record["timings"]["started"], "%Y-%m-%dT%H:%M:%SZ")
    assert before <= started.replace(tzinfo=UTC) <= datetime.now(UTC)
    assert (record["neighbour"]["change"], record["search"]) == ("row 4 zeroed", None)
    run(scenario, tmp_path / "again")
    assert text_without_clock(tmp_path / "again") == text_without_clock(tmp_path / "out")


def test_values_are_kept_only_where_they_are_asked_for(write_scenario, tmp_path):
    data = 'path = "small.csv"\ntarget = "y"\nconstant = false'
    rule = 'rule = "replace"\nindex = 2\nrow = [73.125, 0.5, -41.0]'
    scenario = Scenario.load(write_scenario(data=data, neighbour=rule, audit=FEW))
    old = scenario.data.load().values[2].tolist()
    for asked in (False, True):
        run(scenario, tmp_path / str(asked), show_data=asked)
    silent, shown = (record_of(tmp_path / str(asked))["neighbour"] for asked in (False, True))
    assert (silent["row_put_in"], silent["row_taken_out"]) == ({"from": "user"}, None)
    assert (shown["row_put_in"]["values"], shown["row_taken_out"]) == ([73.125, 0.5, -41.0], old)
    assert "73.125" not in (tmp_path / "False" / "result.json").read_text(encoding="utf-8")


def test_a_pair_is_made_again_from_what_a_run_has_left(write_scenario, tmp_path):
    scenario = Scenario.load(write_scenario(neighbour='rule = "search"\nshortlist = 2', audit=FEW))
    pair = run(scenario, tmp_path / "out").subject.pair
    again = dp.neighbours.from_record(scenario.data.load().database, tmp_path / "out")
    np.testing.assert_array_equal(again.left, pair.left)
    np.testing.assert_array_equal(again.right, pair.right)


def test_a_rerun_says_that_it_discards_the_draws_of_an_interrupted_run(scenario, tmp_path):
    (tmp_path / "stop").touch()
    with pytest.raises(dp.MechanismError, match="stopped"):
        run(scenario, tmp_path / "out", n_jobs=1)
    blocks = list((tmp_path / "out" / "draws").glob("*.npy"))
    kept = sum(len(np.load(path)) for path in blocks)
    assert kept > 0
    notices = []

    def notice(text):
        notices.append((text, sum(path.exists() for path in blocks)))

    with pytest.raises(dp.MechanismError):
        run(scenario, tmp_path / "out", resume=True, notice=notice)
    with pytest.raises(dp.InvalidInput, match="made with other settings"):
        run(scenario, tmp_path / "out", resume=True, seed=1, notice=notice)
    assert notices == []
    kept = sum(len(np.load(path)) for path in blocks)
    (tmp_path / "stop").unlink()
    run(scenario, tmp_path / "out", notice=notice, keep_draws=True)
    expected = (
        f"{kept:,} draws of an interrupted run in {tmp_path / 'out'} are discarded; "
        "--resume would continue from them"
    )
    assert notices == [(expected, len(blocks))]
    run(scenario, tmp_path / "out", notice=notice)
    assert len(notices) == 1  # a run that came to its end was not interrupted


def test_without_a_notice_there_is_a_warning(scenario, tmp_path):
    (tmp_path / "stop").touch()
    with pytest.raises(dp.MechanismError):
        run(scenario, tmp_path / "out", n_jobs=1)
    (tmp_path / "stop").unlink()
    with pytest.warns(UserWarning, match="draws of an interrupted run in .* are discarded"):
        run(scenario, tmp_path / "out")
