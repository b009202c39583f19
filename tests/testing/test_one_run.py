"""assert_private_one_run: what fails, what passes, and what is said of it."""

import numpy as np
import pytest

from dpaudit.testing import PrivacyFailure, assert_private_one_run

pytest_plugins = ["pytester"]
QUICK = {"method": "f-dp"}


def run(noise, canaries=150):
    """Scores and coins of one run, (canaries,) each."""
    rng = np.random.default_rng(1)
    coins = rng.random(canaries) < 0.5
    return coins + noise * rng.normal(size=canaries), coins


def failing(*arguments, **options):
    with pytest.raises(PrivacyFailure) as found:
        assert_private_one_run(*arguments, **options, **QUICK)
    return found.value


def test_a_run_that_told_little_passes():
    result = assert_private_one_run(*run(5.0), (1.0, 1e-5), **QUICK)
    assert (result.verdict, result.level) == ("not violated", 0.99)
    result = assert_private_one_run(*run(5.0), (1.0, 1e-5), level=0.9, **QUICK)
    assert result.level == pytest.approx(0.9)


def test_a_violation_has_what_is_needed_to_see_it_again():
    failure = failing(*run(0.1), (1.0, 1e-5))
    assert str(failure).startswith("VIOLATED: Claimed ε = 1 at δ = 10⁻⁵. At 99 % confidence")
    facts = failure.facts
    assert (facts["claim"], facts["by chance"].split(" tests")[0]) == ("(1, 1e-05)-DP", "1 in 100")
    assert facts["canaries"].startswith("150, ")
    assert facts["reason"].startswith("147 of 150 coins are guessed right")
    certified = float(facts["certified ε"].split()[0])
    assert 1.0 < certified <= failure.result.epsilon_at(1e-5)
    call = (
        "assert_private_one_run(scores, included, (1.0, 1e-05), false_failure=0.01, method='f-dp')"
    )
    assert facts["in Python"].endswith(call)


def test_too_few_canaries_are_a_failure_too():
    failure = failing(*run(0.1, 30), (8.0, 1e-5))
    assert str(failure).startswith("INCONCLUSIVE: Claimed ε = 8")
    assert "add canaries" in str(failure)
    assert failure.result.verdict == "inconclusive"


def test_the_summary_of_pytest_has_a_line_of_it(pytester):
    pytester.makepyfile(
        """
import numpy as np
import pytest
import dpaudit as dp

@pytest.mark.privacy
def test_run():
    rng = np.random.default_rng(1)
    coins = rng.random(150) < 0.5
    scores = coins + 5.0 * rng.normal(size=150)
    dp.testing.assert_private_one_run(scores, coins, (1.0, 1e-5), method="f-dp")
"""
    )
    done = pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--junitxml", "j.xml"
    )
    done.assert_outcomes(passed=1)
    output = " ".join(done.stdout.str().split())
    assert "::test_run: not violated: (1, 1e-05)-DP; ε ≥ 0 certified at δ = 10⁻⁵; " in output
    assert "150 canaries in one run" in output
    assert 'name="dpaudit.verdict" value="not violated"' in (pytester.path / "j.xml").read_text()
