"""`dpaudit audit`: what a scenario file would give, without one."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from dpaudit.cli import main
from tests.run.records import record_without_clock
from tests.sparse import one_in

pytestmark = pytest.mark.usefixtures("in_tmp_path", "no_figures")

RELEASE = """
def noisy_mean(data, size, *, rng):
    return data[:, -1].mean() + rng.laplace(scale=1.0 / len(data), size=(size, 1))

def one(data, *, rng):
    return data[:, -1].mean() + rng.laplace(scale=1.0 / len(data))

def local_scale(data, size, *, rng):
    return data[:, -1:].mean() + rng.laplace(scale=data[:, -1].max() / 8, size=(size, 1))

def with_noise(scale):
    return lambda data, size, *, rng: data[:, -1:].mean() + rng.laplace(scale=scale, size=(size, 1))
"""


@pytest.fixture(autouse=True)
def files(tmp_path):
    """Twelve rows in [0, 1], of which row 7 is the largest, and three mechanisms."""
    rows = np.column_stack([np.arange(12), np.full(12, 0.1)])
    rows[7, 1] = 1.0
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="age,score", comments="")
    (tmp_path / "audited_release.py").write_text(RELEASE)


def audit(*options, call="noisy_mean", claim="0.5,0", draws="5e3", relations="zero-out"):
    given = ["--data", "rows.csv", "--claim", claim, "--draws", draws, "--out", "out"]
    named = [] if "--neighbours" in options or relations is None else ["--neighbours", relations]
    return main(["audit", f"audited_release:{call}", *given, *named, *options])


@pytest.mark.slow
def test_the_result_is_that_of_the_scenario_whose_text_it_keeps(tmp_path, capsys):
    with (tmp_path / "rows.csv").open("a") as rows:
        rows.write(",0.2\n")
    assert audit("--neighbours", "zero-out,replace", "--row-bound", "1") == 1
    output = capsys.readouterr().out
    assert output.startswith("VIOLATED: Claimed ε = 0.5 at δ = 0. At 95 % confidence at least ")
    assert "rows: 12 rows × 2 columns (age, score); 1 row left out (missing value)" in output
    assert "row numbers do not count these" in output
    record = record_without_clock(tmp_path / "out")
    (tmp_path / "saved.toml").write_text(record["scenario_text"], encoding="utf-8")
    assert main(["run", "saved.toml", "--out", "again"]) == 1
    assert record_without_clock(tmp_path / "again") == record


def test_the_rows_are_as_they_are_and_row_7_is_found(tmp_path):
    assert audit() == 1
    record = record_without_clock(tmp_path / "out")
    assert (record["dataset"]["columns"], record["dataset"]["shape"]) == (["age", "score"], [12, 2])
    assert (record["neighbour"]["relation"], record["neighbour"]["index"]) == ("zero-out", 7)
    assert 0.5 < record["headline"]["certified"] <= 1.0
    assert (record["seed"], sum(record["samples"].values())) == (0, 5000)


@pytest.mark.parametrize(
    ("call", "options", "status"),
    one_in(
        4,
        [
            ("one", ["--one-draw"], 0),
            ("with_noise", ["--parameters", "scale=0.2"], 0),
            ("with_noise", ["--parameters", "scale=0.02"], 1),
            ("noisy_mean", ["--stop", "verdict", "--seed", "3"], 0),
        ],
    ),
)
def test_options_are_keys_of_the_scenario(call, options, status, tmp_path):
    assert audit(*options, "--target", "score", call=call, claim="1,0.01", draws="1000") == status
    text = record_without_clock(tmp_path / "out")["scenario_text"]
    assert 'target = "score"' in text


@pytest.mark.parametrize(
    ("call", "options", "message"),
    [
        ("noisy_mean", ["--neighbours", "zeroed"], "--neighbours[0]: must be one of 'zero-out'"),
        ("noisy_mean", ["--row-bound", "2"], "--row-bound: goes with the relations 'replace' and"),
        ("noisy_mean", ["--bounds", "0:1:2"], "is not of the form 0:1,0:100"),
        ("noisy_mean", ["--neighbours", "add", "--bounds", "0:1,0:1,0:1"], "--bounds: must be one"),
        ("noisy_mean", ["--level", "2"], "error: --level: must be a finite number in (0, 1)"),
        ("noisy_mean", ["--target", "scor"], "error: --target: must be the name of a column"),
        ("noisy_mean", ["--parameters", "scale"], "is not of the form A=1,B="),
        ("noisy_men", [], "error: MODULE:CALLABLE: audited_release:noisy_men: AttributeError"),
    ],
)
def test_errors_name_the_option_and_what_to_do(call, options, message, capsys):
    assert audit(*options, call=call) == 2
    err = capsys.readouterr().err
    assert message in err
    assert ".toml" not in err


@pytest.mark.parametrize(
    ("claim", "message"),
    [("1e-5,1", "ε and δ look swapped"), ("1", "for pure ε-DP give 1,0"), ("a,b", "EPS,DELTA")],
)
def test_claims_that_are_none(claim, message, capsys):
    assert audit(claim=claim) == 2
    assert message in capsys.readouterr().err


def test_values_of_the_data_only_where_they_are_asked_for(tmp_path, capsys):
    values, scales = [], []
    for options in ([], ["--show-data"]):
        assert audit(*options, call="local_scale", draws="2000") in (0, 1)
        record = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
        values.append(record["neighbour"]["row_taken_out"])
        scales.append(record["replay"]["difference"].get("values"))
        assert (
            "\nHint: The scale of noise call 1, laplace at audited_release.py:"
            in capsys.readouterr().out
        )
    assert (values[0], scales[0]) == (None, None)
    assert len(values[1]) == 2
    assert scales[1] == [0.125, 0.0125]


def test_an_error_of_the_mechanism_is_shown_with_its_own_place(tmp_path, capsys):
    broken = "def broken(data, size, *, rng):\n    return missing\n"
    (tmp_path / "audited_broken.py").write_text(broken)
    given = ["--data", "rows.csv", "--claim", "1,0", "--draws", "5e3"]
    assert main(["audit", "audited_broken:broken", *given]) == 2
    output = capsys.readouterr().err.splitlines()
    where = tmp_path / "audited_broken.py"
    assert output[-1] == f"dpaudit: at broken ({where}, line 2)"
    assert "NameError: name 'missing' is not defined" in output[-2]


TABLES = '''
def by_region(people, rng, epsilon=1.0):
    """Incomes by region; a region of fewer than five people is left out."""
    groups = people.groupby("region").income
    sums = groups.sum() + rng.laplace(scale=1.0 / epsilon, size=groups.ngroups)
    return sums[groups.size() >= 5]

def annotated(people: "pd.DataFrame", rng):
    return people.income.sum() + rng.laplace()

def total(people, rng):
    return sum(one["income"] for one in people if one["region"] != "west") + rng.laplace()

def regions(values, rng):
    return sorted(set(values.tolist()))[0] if rng.random() < 0.9 else "none"
'''


@pytest.fixture
def people(tmp_path):
    (tmp_path / "audited_tables.py").write_text(TABLES)
    regions = np.repeat(["north", "south", "west"], [8, 7, 5])
    lines = [f"P{at},{region},0.5" for at, region in enumerate(regions)]
    (tmp_path / "people.csv").write_text("\n".join(["id,region,income", *lines, "P99,south,"]))


def audit_table(call, *options):
    given = ["--data", "people.csv", "--ignore", "id", "--neighbours", "remove", "--out", "out"]
    claim = ["--claim", "1,0", "--draws", "200"]
    return main(["audit", f"audited_tables:{call}", *given, *claim, *options])


@pytest.mark.parametrize(
    ("call", "options", "status"),
    one_in(
        2,
        [
            ("annotated", [], 0),
            ("by_region", ["--kind", "frame", "--parameters", "epsilon=0.5"], 1),
            ("total", ["--kind", "records"], 0),
            ("regions", ["--kind", "values"], 3),
        ],
    ),
)
def test_texts_stay_texts_for_functions_of_a_table(people, tmp_path, call, options, status):
    pytest.importorskip("pandas")
    assert audit_table(call, *options) == status
    text = (tmp_path / "out" / "result.json").read_text(encoding="utf-8")
    assert json.loads(text)["dataset"]["dropped"] == {"missing value": 1}
    assert "south" not in text
    assert "north" not in text


def test_a_function_of_an_array_is_told_how_to_get_texts(people, capsys):
    assert audit_table("by_region") == 2
    output = capsys.readouterr().err
    assert "people has texts in 'region'; a function of a data frame needs --kind frame" in output
    assert "--ignore" in output


def test_parameters_go_beside_the_data_or_make_the_mechanism(tmp_path):
    source = (
        RELEASE + "\ndef placed(data, scale, rng):\n    return with_noise(scale)(data, 1, rng=rng)"
    )
    (tmp_path / "audited_release.py").write_text(source)
    options = ("--parameters", "scale=0.3")
    assert audit("--seed", "4", *options, call="with_noise", draws="200") in (0, 3)
    assert audit("--seed", "4", *options, call="placed", draws="200") in (0, 3)
    assert audit(*options, call="one") == 2


SLOW = """
import time

def slow(data, rng):
    time.sleep(0.002)
    return data[:, -1].mean() + rng.laplace(scale=1.0 / len(data))
"""


def test_a_time_decides_the_draws_and_what_it_costs_is_told_first(tmp_path, capsys, monkeypatch):
    """Only the mechanism's waiting lets this clock go on, so that other load changes nothing."""
    clock = SimpleNamespace(seconds=0.0, perf_counter=lambda: clock.seconds)

    def wait(seconds):
        clock.seconds += seconds

    monkeypatch.setattr("dpaudit.auditing.clock.time", clock)
    monkeypatch.setattr("time.sleep", wait)
    (tmp_path / "audited_release.py").write_text(SLOW)
    given = ["audited_release:slow", "--data", "rows.csv", "--claim", "4,0", "--out", "out"]
    assert main(["audit", *given, "--neighbours", "remove", "--time", "12s"]) in (0, 3)
    err = capsys.readouterr().err
    cost = err.index("draws, search included. They show an excess of")
    assert "note: About 5." in err[:cost]
    assert cost < err.index("drawing")
    sizes = json.loads((tmp_path / "out" / "result.json").read_text())["samples"]
    assert 800 < sum(sizes.values()) < 1_200
    assert 4.0 < clock.seconds < 6.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--time", "1m", "--draws", "100"], "--time and --draws exclude each other"),
        (["--time", "1m", "--resume"], "--time and --resume exclude each other"),
        (["--time", "soon"], "'soon' is not of the form 60s, 5m or 2h"),
        (["--time", "1s"], r"--time\) must be at least 5\.1 s, got 1 s"),
    ],
)
def test_a_time_that_cannot_be_planned(capsys, options, message):
    given = ["audited_release:noisy_mean", "--data", "rows.csv", "--claim", "1,0"]
    assert main(["audit", *given, "--neighbours", "remove", *options]) == 2
    assert re.search(message, capsys.readouterr().err)


HIDDEN = """
def hidden(data, size, *, rng):
    scale = 1.0 + 0.01 * data[:, 1].max()
    return data[:, 0].sum() + rng.laplace(scale=scale, size=(size, 1))
"""


def test_the_hint_is_asked_for_other_neighbours_that_were_tried(tmp_path):
    """Row 5 leaks most, but the width of the noise follows row 11 alone."""
    (tmp_path / "audited_release.py").write_text(HIDDEN)
    rows = np.full((12, 2), 0.5)
    rows[:, 0] += np.arange(12) / 100.0
    rows[5, 0], rows[11, 1] = 9.0, 30.0
    np.savetxt("rows.csv", rows, delimiter=",", header="a,b", comments="")
    assert audit("--neighbours", "remove", call="hidden", draws="8e3") == 1
    record = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert record["neighbour"]["index"] == 5
    assert record["replay"]["text"].startswith(
        "On another neighbour (row 11 removed): The scale of"
    )
    assert record["replay"]["difference"]["place"] == "audited_release.py:4"
