"""Scenario files: what they become, and every fault at once with its place."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.run import Scenario, analyse
from tests.run.faults import faults

pytestmark = pytest.mark.quick

DEFAULT_EPSILON = np.linspace(0.0, 4.0, 41)


def test_a_valid_scenario(write_scenario):
    scenario = Scenario.load(write_scenario())
    assert scenario.name == "small"
    assert scenario.mechanism == dp.mechanisms.ALS(20)
    assert scenario.data.load().features == ("constant", "a", "b")
    assert (scenario.neighbour.rule, scenario.neighbour.at) == ("worst", 1.0)
    assert (scenario.claim.epsilon, scenario.claim.delta) == (1.0, 0.9)
    assert scenario.seed == 0
    assert (scenario.settings.draws, scenario.settings.level) == (2000, 0.95)
    np.testing.assert_array_equal(scenario.settings.epsilon, [0, 1, 2])


def test_only_data_and_mechanism_are_required(write_scenario):
    scenario = Scenario.load(write_scenario(neighbour=None, claim=None, audit=None))
    assert (scenario.neighbour.rule, scenario.neighbour.at, scenario.claim) == ("worst", 0.0, None)
    assert scenario.settings.draws == 1_000_000
    np.testing.assert_array_equal(scenario.settings.epsilon, DEFAULT_EPSILON)


def test_other_forms(write_scenario):
    path = write_scenario(
        head='name = "Other name"\n',
        data='name = "flight"\nconstant = false',
        mechanism='name = "GaussianLS"\nsigma = 1',
        neighbour='rule = "replace"\nindex = 3\nrow = [0, 1.5]',
        claim="gdp = 0.5",
        audit="epsilon = { start = 0, stop = 1, num = 5 }\nseed = 7\ndetect = 0.1",
    )
    scenario = Scenario.load(path)
    assert scenario.name == "Other name"
    assert scenario.data.constant is False
    assert scenario.mechanism.sigma == 1.0
    assert (scenario.neighbour.index, scenario.neighbour.row) == (3, (0.0, 1.5))
    assert (scenario.claim.text, scenario.seed, scenario.settings.detect) == ("0.5-GDP", 7, 0.1)
    np.testing.assert_allclose(scenario.settings.epsilon, [0, 0.25, 0.5, 0.75, 1])


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("epsilon = 1", dp.Claim(1.0)),
        ("epsilon = 1\ndelta = 0.01", dp.Claim(1.0, 0.01)),
        ("gdp = 0.5", dp.Claim.gdp(0.5)),
        ("rho = 0.1", dp.Claim.zcdp(0.1)),
        ("rho = 0.1\nomega = 8", dp.Claim.tcdp(0.1, 8.0)),
        ("rows = 20\ngamma = 9.5", dp.Claim.gaussmix(20, 9.5)),
    ],
)
def test_a_claim_of_each_kind(write_scenario, text, claim):
    found = Scenario.load(write_scenario(claim=text)).claim
    assert (found.text, found.epsilon, found.delta) == (claim.text, claim.epsilon, claim.delta)
    np.testing.assert_array_equal(found.delta_at([0.0, 0.5, 3.0]), claim.delta_at([0.0, 0.5, 3.0]))


@pytest.mark.parametrize("text", ["gdp = 0.5", "rows = 2000\ngamma = 300"])
def test_a_claim_on_a_curve_is_judged_to_where_it_vanishes(write_scenario, text):
    scenario = Scenario.load(write_scenario(claim=text, audit=None))
    epsilon = scenario.settings.epsilon
    assert (epsilon[0], len(epsilon)) == (0.0, 41)
    assert scenario.claim.delta_at(epsilon[-1]) == pytest.approx(1e-9)
    given = Scenario.load(write_scenario(claim=text)).settings.epsilon
    np.testing.assert_array_equal(given, [0, 1, 2])


def test_all_faults_at_once(write_scenario):
    path = write_scenario(
        head='name = "a/b"\ndta = 1\n',
        data='name = "x.csv"\nconstant = 1',
        mechanism='name = "RPLS"\nrows = 1\nrowz = 3\nepsilon = -1\ndelta = "z"',
        neighbour='rule = "row"\nat = 3',
        claim="gdp = -1\ndelta = 0.1",
        audit="epsilon = { start = -1, stop = nan, nim = 1 }\ndraws = 3\nlevel = 1\n"
        'classifier = "rf"\nseed = 1.5',
    )
    assert faults(path) == [
        "name: must be text that can name a folder, got 'a/b'",
        f"[data] name: must be the name of a data set ({', '.join(dp.datasets.names())}); "
        "a file goes under path, "
        "got 'x.csv'",
        "[data] constant: must be true or false, got 1",
        "[mechanism] delta: must be a number, got 'z'",
        "[mechanism] rowz: unknown key (known: name, rows, epsilon, delta, padding, row_bound); "
        "did you mean 'rows'?",
        "[claim] gdp: must be a finite number >= 0, got -1",
        "[neighbour] index: missing",
        "[neighbour] at: unknown key (known: rule, index)",
        "[audit] seed: must be an integer >= 0, got 1.5",
        "[audit] level: must be a finite number in (0, 1), got 1",
        f"[audit] classifier: must be one of {', '.join(map(repr, dp.scoring.ALIASES))}, got 'rf'",
        "[audit.epsilon] start: must be a finite number >= 0, got -1",
        "[audit.epsilon] stop: must be a finite number >= 0, got nan",
        "[audit.epsilon] num: missing",
        "[audit.epsilon] nim: unknown key (known: start, stop, num); did you mean 'num'?",
        "dta: unknown key (known: name, data, mechanism, claim, neighbour, audit); "
        "did you mean 'data'?",
    ]


def test_files_that_are_no_scenario(tmp_path):
    broken = tmp_path / "broken.toml"
    broken.write_text("[data\n")
    assert faults(broken)[0].startswith("not TOML: ")
    broken.write_bytes(b"name = '\xff'")
    assert faults(broken) == ["must be UTF-8 text, got byte 0xff"]
    assert faults(tmp_path / "no.toml") == [
        f"cannot read the scenario {tmp_path / 'no.toml'}: No such file or directory"
    ]


def test_samples_is_the_name_of_draws_in_dpaudit_0_1(write_scenario):
    assert Scenario.load(write_scenario(audit="samples = 700")).settings.draws == 700
    assert faults(write_scenario(audit="samples = 0")) == [
        "[audit] samples: must be an integer >= 1, got 0"
    ]
    both = faults(write_scenario(audit="draws = 700\nsamples = 700"))
    assert both[0].startswith("[audit] samples: unknown key")


def test_overrides_are_checked(write_scenario):
    scenario = Scenario.load(write_scenario())
    other = scenario.override(500, 3)
    assert (other.seed, other.settings.draws, scenario.settings.draws) == (3, 500, 2000)
    with pytest.raises(dp.InvalidInput, match="draws must leave at least 10"):
        scenario.override(5, None)
    with pytest.raises(dp.InvalidInput, match="seed must be an integer >= 0"):
        scenario.override(None, -1)


def test_a_split_that_leaves_nothing_to_certify_is_a_fault_of_its_table(write_scenario):
    path = write_scenario(audit='draws = 100000000\ntrain_share = 0.95\nfocus = "pure"')
    assert faults(path)[0].startswith("[audit] draws: must leave at least 10")


def test_a_claim_may_be_of_a_group_or_by_distance(write_scenario):
    row = 'rule = "row"\nindex = 2'
    group = Scenario.load(write_scenario(claim="gdp = 0.5\ngroup = 3", neighbour=row))
    assert (group.claim.text, group.claim.group_size) == ("1.5-GDP, group of 3 under 0.5-GDP", 3)
    near = write_scenario(claim='epsilon = 2.0\nper = "euclidean"', neighbour=row)
    scenario = Scenario.load(near)
    assert scenario.claim is None
    assert scenario.settings.metric == dp.Claim.metric(2.0, "euclidean")
    own = Scenario.load(write_scenario(claim='epsilon = 2.0\nper = "own:far"', neighbour=row))
    assert own.modules == own.folder
    with pytest.raises(dp.errors.ScenarioError, match="per: judged on one pair"):
        analyse(scenario)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ('gdp = 0.5\nper = "euclidean"', "[claim] per: goes with epsilon"),
        ('epsilon = 1.0\nper = "miles"', "[claim] per: must be one of euclidean"),
        ("epsilon = 1.0\ngroup = 0", "[claim] group: must be an integer >= 1"),
        ('epsilon = 1.0\nper = "euclidean"\ngroup = 2', "[claim] per: goes with epsilon"),
    ],
)
def test_other_claims_by_distance_are_refused(write_scenario, claim, message):
    assert any(message in line for line in faults(write_scenario(claim=claim)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"claim": "epsilon = 1e-5\ndelta = 1.0"},
            "[claim]: must be one that a mechanism can break, got (1e-05, 1)-DP, which allows "
            "δ = 1 and so any mechanism. ε and δ look swapped: did you mean (1, 1e-05)?",
        ),
        (
            {"claim": "epsilon = 300\ngroup = 3"},
            "[claim] epsilon: must be at most 500 nats: no number of draws refutes a larger one, "
            "got 900.0",
        ),
        (
            {"mechanism": f'name = "GaussianLS"\nsigma = 1{"0" * 400}'},
            "[mechanism] sigma: must be a finite number > 0, got inf",
        ),
    ],
    ids=["swapped", "group", "huge"],
)
def test_a_value_out_of_reach_is_a_fault_of_its_own_table(write_scenario, changes, message):
    assert faults(write_scenario(**changes)) == [message]


@pytest.mark.parametrize("text", ["epsilon = 1\ndelta = 0.1", "rho = 0"])
def test_other_claims_are_judged_on_the_usual_grid(write_scenario, text):
    scenario = Scenario.load(write_scenario(claim=text, audit=None))
    np.testing.assert_array_equal(scenario.settings.epsilon, DEFAULT_EPSILON)
