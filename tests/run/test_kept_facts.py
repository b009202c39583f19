"""What result.json keeps of a run beside the audit: text, code, start; and what a rerun says."""

import hashlib
import re
from datetime import UTC, datetime

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.run import Scenario, run
from dpaudit.run.execute import describe_source, origin_of
from dpaudit.run.scenario.files import recorded_text
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


@pytest.mark.quick
def test_a_module_that_is_imported_counts_as_the_mechanisms_own(scenario, tmp_path):
    def source():
        return describe_source(origin_of(scenario, scenario.mechanism)["files"])

    (tmp_path / "kept_release.py").write_text("import kept_helper\n" + OWN)
    found = []
    for text in ("SCALE = 1\n", "SCALE = 2\n"):
        (tmp_path / "kept_helper.py").write_text(text)
        found.append(source()["sha256"])
    texts = ("import kept_helper\n" + OWN, "SCALE = 2\n")
    sums = sorted(hashlib.sha256(one.encode()).hexdigest() for one in texts)
    whole = "".join(f"{one}\n" for one in sums)
    assert found[1] == hashlib.sha256(whole.encode()).hexdigest()
    assert found[0] != found[1]


def test_a_built_in_mechanism_is_told_by_the_version(write_scenario, tmp_path):
    assert run(Scenario.load(write_scenario(audit=FEW)), tmp_path / "out").subject.source is None


@pytest.mark.quick
@pytest.mark.parametrize(
    "row",
    [
        "row = [73.125, 0.5, -41]",
        "row=[73.125,\n  0.5, # the ] of a comment\n  -41,\n]",
        '"row" = [ 73.125, 0.5, -41 ]',
        "'row' =\t[73.125, 0.5, -41]",
    ],
)
def test_a_row_that_is_spelled_out_is_left_out_of_the_text(write_scenario, row):
    data = 'path = "small.csv"\ntarget = "y"\nconstant = false'
    path = write_scenario(data=data, neighbour=f'rule = "replace"\nindex = 2\n{row}')
    text = Scenario.load(path).text
    shown = recorded_text(text)
    assert "73.125" in text
    assert re.search(r"row['\"]?\s*=\s*\[…\]\n", shown)
    assert not re.search("73|41", shown)
    assert shown.count("\n[") == text.count("\n[")


@pytest.mark.quick
def test_a_text_whose_row_cannot_be_told_apart_is_not_kept():
    assert recorded_text('[neighbour]\n"\\u0072ow" = [73.125]\n') is None
    assert recorded_text('neighbour = { rule = "replace", row = [73.125], index = 3 }\n') == (
        'neighbour = { rule = "replace", row = […], index = 3 }\n'
    )
    assert recorded_text("[audit]\nepsilon = [0, 1]\nthrow = [2]\n").count("…") == 0


@pytest.mark.quick
def test_workers_are_left_out_of_the_text_since_they_change_no_result():
    alone = "[audit]\ndraws = 400\nseed = 1\n"
    workers = '[audit]\ndraws = 400\nbackend = "dask"\n  address = "tcp://x:1"\nseed = 1'
    assert recorded_text(workers) == recorded_text(alone) == alone
    assert recorded_text('audit = { draws = 400, backend = "dask" }\n') is None


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
    said = []

    def notice(text):
        said.append((text, sum(path.exists() for path in blocks)))

    with pytest.raises(dp.MechanismError):
        run(scenario, tmp_path / "out", resume=True, notice=notice)
    with pytest.raises(dp.InvalidInput, match="made with other settings"):
        run(scenario, tmp_path / "out", resume=True, seed=1, notice=notice)
    assert said == []
    kept = sum(len(np.load(path)) for path in blocks)
    (tmp_path / "stop").unlink()
    run(scenario, tmp_path / "out", notice=notice, keep_draws=True)
    expected = (
        f"{kept:,} draws of an interrupted run in {tmp_path / 'out'} are discarded; "
        "--resume would continue from them"
    )
    assert said == [(expected, len(blocks))]
    run(scenario, tmp_path / "out", notice=notice)
    assert len(said) == 1  # a run that came to its end was not interrupted


def test_without_a_notice_there_is_a_warning(scenario, tmp_path):
    (tmp_path / "stop").touch()
    with pytest.raises(dp.MechanismError):
        run(scenario, tmp_path / "out", n_jobs=1)
    (tmp_path / "stop").unlink()
    with pytest.warns(UserWarning, match="draws of an interrupted run in .* are discarded"):
        run(scenario, tmp_path / "out")
