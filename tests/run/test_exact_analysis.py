"""Worst cases without a draw: other neighbours, candidates from a file, readings, calibration."""

import re

import numpy as np
import pytest
from scipy.special import erf, ndtr

import dpaudit as dp
from dpaudit.run import Scenario, analyse, calibrate

pytestmark = pytest.mark.quick

NOISE = 'name = "GaussianLS"\nsigma = 0.5'
GRAM = 'name = "AnalyzeGauss"\nsigma = 20.0'
CONSTANT = 'path = "small.csv"\ntarget = "y"\nconstant = true'


@pytest.fixture
def data(write_scenario):
    """small.csv with a column of ones."""
    return Scenario.load(write_scenario()).data.load()


@pytest.fixture
def candidates(tmp_path):
    """Three rows, the columns in another order and without the constant."""
    path = tmp_path / "rows.csv"
    path.write_text("y,b,a\n1,2,3\n-4,0,5\n0.5,0.25,-1\n")
    return path


def test_readings_of_a_gaussian_shift_have_closed_forms(write_scenario, data):
    found = analyse(
        Scenario.load(write_scenario(mechanism=NOISE, claim="epsilon = 0.4\ndelta = 0.02"))
    )
    mu = dp.neighbours.row_statistics(data.database).displacement.max() / 0.5
    readings = found.readings
    assert list(readings.epsilon_at) == [0.02, 1e-5, 1e-6]
    for delta, epsilon in readings.epsilon_at.items():
        left, right = ndtr(mu / 2 - epsilon / mu), np.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
        assert left - right == pytest.approx(delta, rel=1e-9)
    assert readings.total_variation == pytest.approx(erf(mu / np.sqrt(8)), rel=1e-12)
    assert list(readings.gdp_mu) == [0.4, 1.0]
    assert list(readings.gdp_mu.values()) == pytest.approx([mu, mu], rel=1e-9)
    assert readings.renyi_2 == pytest.approx(mu**2, rel=1e-9)
    assert (readings.pure_epsilon, readings.notes) == (np.inf, {})


def test_replaced_rows(write_scenario, data, candidates):
    found = analyse(
        Scenario.load(write_scenario(data=CONSTANT, mechanism=GRAM, claim=None)),
        relation="replace",
        candidates=candidates,
    )
    spectrum, mechanism = found.spectrum, dp.mechanisms.AnalyzeGauss(20.0)
    rows = [[1, 3, 2, 1], [1, 5, 0, -4], [1, -1, 0.25, 0.5]]
    pairs = [
        dp.neighbours.replace_row(data.database, i, row) for i in range(data.n) for row in rows
    ]
    every = np.array([dp.exact.spectrum(mechanism, pair, [0, 1, 2]).delta for pair in pairs])
    np.testing.assert_allclose(spectrum.delta, every.max(axis=0), rtol=1e-9)
    np.testing.assert_array_equal(3 * spectrum.index + spectrum.candidate, every.argmax(axis=0))
    assert spectrum.asymptotic is None


def test_a_claim_is_judged_against_the_neighbours_asked_for(write_scenario):
    scenario = Scenario.load(write_scenario(mechanism=GRAM, claim="gdp = 0.6"))
    broken = [
        len(analyse(scenario, relation="add", row_bound=bound).broken) for bound in (3.0, 4.0)
    ]
    assert broken == [0, 3]


@pytest.fixture
def taken(write_scenario, candidates):
    """taken(data): the candidates, as rows of data that a scenario names."""

    def rows(data=CONSTANT):
        scenario = Scenario.load(write_scenario(data=data, mechanism=GRAM, claim=None))
        analysis = analyse(scenario, relation="replace", candidates=candidates)
        return analysis.neighbours.candidates.tolist()

    return rows


def test_candidates_are_taken_by_name(taken):
    assert taken() == [[1, 3, 2, 1], [1, 5, 0, -4], [1, -1, 0.25, 0.5]]
    assert taken('path = "small.csv"\ntarget = "y"')[0] == [3, 2, 1]


def test_a_constant_of_the_data_that_is_not_one_must_be_given(tmp_path, taken):
    (tmp_path / "twos.csv").write_text("constant,a,b,y\n2,1,1,1\n2,3,4,5\n")
    with pytest.raises(dp.InvalidInput, match="header of rows"):
        taken('path = "twos.csv"\ntarget = "y"')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "the header of rows.csv must be the columns of small: a, b, y, got 'a, b'"),
        (
            "a,b,y,z\n1,2,3,4\n",
            "the header of rows.csv must be the columns of small: a, b, y, got 'a, b, y, z'",
        ),
        (
            "a,b,y\n1,2,3\n1,,3\n",
            "rows.csv must be a file without missing values, got 1 rows with a missing value",
        ),
    ],
)
def test_candidates_that_are_no_rows_of_the_data(taken, candidates, text, message):
    candidates.write_text(text)
    with pytest.raises(dp.InvalidInput, match=f"^{re.escape(message)}$"):
        taken()


def test_calibration_takes_a_parameter_and_a_relation(write_scenario, candidates):
    scenario = Scenario.load(write_scenario(mechanism='name = "GaussMix"\nrows = 5\nsigma = 9.0'))
    assert calibrate(scenario, 1.0, 1e-3, parameter="rows").calibration.parameter == "rows"
    assert calibrate(scenario, 1.0, 1e-3, relation="add", row_bound=2.0).calibration.index is None
    assert calibrate(
        scenario, 1.0, 1e-3, relation="replace", candidates=candidates
    ).calibration.candidate in (0, 1, 2)
