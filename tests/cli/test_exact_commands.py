"""`dpaudit spectrum` for other neighbours, the lines below its table, and `dpaudit calibrate`."""

import json
import re

import pytest

from dpaudit.cli import main

pytestmark = pytest.mark.quick

GRAM = 'name = "AnalyzeGauss"\nsigma = 20.0'


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,y\n3,2,1\n5,0,-4\n")
    return str(path)


def test_what_is_read_off_stands_below_the_table(write_scenario, capsys):
    assert main(["spectrum", str(write_scenario(mechanism=GRAM))]) == 0
    below = capsys.readouterr().out.partition("\n\n")[2].partition("\n\n")[2]
    heads = [re.split(r"  +", line)[0] for line in below.splitlines()]
    assert heads == [
        "ε at δ = 0.9",
        "ε at δ = 10⁻⁵",
        "ε at δ = 10⁻⁶",
        "total variation, δ(0)",
        "GDP μ at ε = 1",
        "Rényi divergence of order 2",
        "pure ε",
        "",
        "NOT VIOLATED: at no ε of the grid does the exact δ(ε) exceed the claim of (1, 0.9)-DP.",
    ]
    assert re.search(r"^ε at δ = 0\.9 +0$", below, re.MULTILINE)
    assert re.search(r"^pure ε +infinite$", below, re.MULTILINE)


def test_what_is_read_off_as_json(write_scenario, capsys):
    assert main(["spectrum", str(write_scenario()), "--json", "--epsilon", "0,0.5"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["epsilon"] == [0, 0.5, 1]
    assert list(found["epsilon_at"]) == ["0.9", "1e-05", "1e-06"]
    assert found["total_variation"] == pytest.approx(found["delta"][0], rel=1e-14)
    assert found["gdp_mu"].keys() == {"1"}
    assert 0 < found["renyi_2"] < found["pure_epsilon"]
    assert (found["notes"], found["candidate"]) == ({}, None)
    assert found["neighbour"] == {"relation": "zero-out", "candidates": None, "row_bound": None}


def test_infinities_and_what_is_not_known_as_json(write_scenario, capsys):
    assert main(["spectrum", str(write_scenario(mechanism=GRAM)), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pure_epsilon"] == "inf"
    path = write_scenario(mechanism='name = "RPLS"\nrows = 20\nepsilon = 1.0\ndelta = 0.1')
    assert main(["spectrum", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["renyi_2"] is None
    assert found["notes"]["renyi_2"].startswith("no closed form for the Rényi divergence")


def test_the_rows_and_columns_are_those_that_the_mechanism_sees(tmp_path, capsys):
    (tmp_path / "rows.csv").write_text("a,y\n1,2\n,3\n4,1\n5,0\n2,2\n")
    (tmp_path / "one.toml").write_text(
        '[data]\npath = "rows.csv"\ntarget = "y"\n[mechanism]\nname = "GaussianLS"\nsigma = 1.0\n'
    )
    assert main(["spectrum", str(tmp_path / "one.toml")]) == 0
    seen = (
        "rows: 4 rows × 3 columns (constant, a, y); 1 row left out (missing value); "
        "row numbers do not count these; a column of ones added first"
    )
    assert seen in capsys.readouterr().out


def test_a_replaced_row(write_scenario, rows, capsys):
    options = ["--relation", "replace", "--candidates", rows]
    assert main(["spectrum", str(write_scenario(mechanism=GRAM)), *options]) == 0
    out = capsys.readouterr().out
    assert (
        "the worst of all rows and 2 candidates for its place (rows.csv); either direction" in out
    )
    assert re.search(r"^ +ε +D to D′ +D′ to D +δ +row +candidate +claim$", out, re.MULTILINE)
    assert main(["spectrum", str(write_scenario(mechanism=GRAM)), *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["candidate"]) == {1}
    assert found["neighbour"]["candidates"] == 2


def test_the_longer_database_of_an_added_row_is_d_prime(write_scenario, capsys):
    """Some outputs of the database without the row are impossible with it. The reverse is false, so
    δ from D to D′, which is forward, is the larger one.
    """
    path = write_scenario(mechanism='name = "AdditiveWishart"\ndof = 6\nscale = 4.0', claim=None)
    command = f"spectrum {path} --relation add --row-bound 4 --epsilon 3".split()
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["forward"][0] > found["backward"][0]
    assert found["row"] is None
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "one more row, the worst of norm at most 4; either direction" in out
    head, line = out.split("\n\n")[1].splitlines()
    columns = dict(
        zip(re.split(r"   +", head.strip()), re.split(r"   +", line.strip()), strict=True)
    )
    assert columns.keys() == {"ε", "D to D′", "D′ to D", "δ"}
    assert columns["D to D′"] == columns["δ"] != columns["D′ to D"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--relation", "add"], "Error: --relation add needs --row-bound"),
        (["--relation", "replace"], "Error: --relation replace needs --candidates"),
        (["--row-bound", "2"], "Error: --row-bound goes with --relation add"),
        (["--candidates", "rows.csv"], "Error: --candidates goes with --relation replace"),
        (["--relation", "swap"], "Error: Invalid value for '--relation': 'swap' is not one of"),
        (
            ["--relation", "add", "--row-bound", "1"],
            "dpaudit: error: ALS has no worst row within a bound that is proved",
        ),
    ],
)
def test_neighbours_that_cannot_be_had(write_scenario, capsys, options, message):
    assert main(["spectrum", str(write_scenario()), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith(message)
    assert len(err.splitlines()) == (4 if "Usage" in err else 1)


@pytest.mark.parametrize("epsilon", ["a", "1000"])
def test_epsilon_that_is_none(write_scenario, epsilon, capsys):
    assert main(["spectrum", str(write_scenario()), "--epsilon", epsilon]) == 2
    assert "epsilon" in capsys.readouterr().err.splitlines()[-1]


def test_calibrate(write_scenario, capsys):
    path = write_scenario(mechanism=GRAM)
    assert main(["calibrate", str(path), "--epsilon", "1", "--delta", "1e-3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["parameter"], found["epsilon"], found["delta"]) == ("sigma", 1, 1e-3)
    assert found["mechanism"] == {"name": "AnalyzeGauss", "parameters": {"sigma": found["value"]}}
    assert 0.000999 < found["attained"] <= 1e-3
    assert main(["calibrate", str(path), "--epsilon", "1", "--delta", "1e-3"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^Mechanism +AnalyzeGauss \(sigma = 20\)$", out, re.MULTILINE)
    assert re.search(r"^Target +δ\(1\) ≤ 0\.001$", out, re.MULTILINE)
    assert re.search(rf"^sigma +{re.escape(repr(found['value']))}$", out, re.MULTILINE)
    assert re.search(rf"^worst row +{found['row']}$", out, re.MULTILINE)
    again = write_scenario(
        mechanism=f'name = "AnalyzeGauss"\nsigma = {found["value"]!r}',
        claim="epsilon = 1\ndelta = 1e-3",
    )
    assert main(["spectrum", str(again)]) == 0


def test_calibrate_says_where_the_value_tells_of_the_data(write_scenario, capsys):
    noise, sketch = (
        write_scenario("noise", mechanism=GRAM),
        write_scenario("sketch", mechanism='name = "GaussMix"\nrows = 5\nsigma = 9'),
    )
    target, bound = ["--epsilon", "1", "--delta", "1e-6"], ["--relation", "add", "--row-bound", "3"]
    notes = {}
    for path in (noise, sketch):
        for options in ([], bound):
            assert main(["calibrate", str(path), *target, *options]) == 0
            notes[path.stem, len(options)] = "a function of these data" in capsys.readouterr().out
    assert notes == {
        ("noise", 0): True,
        ("noise", 4): False,
        ("sketch", 0): True,
        ("sketch", 4): True,
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--delta", "0.1"], "Error: Missing option '--epsilon'."),
        (["--epsilon", "1", "--delta", "0.1", "--relation", "add"], "Error: --relation add needs"),
        (
            ["--epsilon", "0", "--delta", "1e-3"],
            "dpaudit: error: delta must be within reach: even rows = 4 gives",
        ),
        (
            ["--epsilon", "1", "--delta", "0.1", "--parameter", "sigma"],
            "dpaudit: error: parameter must be 'rows'",
        ),
    ],
)
def test_calibrations_that_cannot_be_had(write_scenario, capsys, options, message):
    assert main(["calibrate", str(write_scenario()), *options]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(message)
