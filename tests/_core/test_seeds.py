"""Seeds: whatever numpy makes a generator of, one seed gives one result, and it is recorded."""

import numpy as np
import pytest

import dpaudit as dp

pytestmark = pytest.mark.quick

P, Q = np.random.default_rng(0).normal(size=(2, 200))


def audited(rng):
    record = dp.audit_samples(P, Q, classifier="qda", rng=rng).to_dict()
    return record["empirical"]["interval"], record["seed"]


def test_a_generator_is_advanced_and_a_bit_generator_is_one():
    rng = np.random.default_rng(1)
    first, second = audited(rng), audited(rng)
    assert first != second
    assert audited(np.random.default_rng(1)) == audited(np.random.PCG64(1)) == first


def test_no_seed_is_a_fresh_one_that_can_be_given_again():
    interval, seed = audited(None)
    assert audited(None)[1] != seed
    assert audited(int(seed))[0] == interval


@pytest.mark.parametrize("rng", ["seed", -1, 1.5, {}, [1, -2]])
def test_what_is_no_seed_is_refused(rng):
    with pytest.raises(
        dp.InvalidInput,
        match="rng must be None, a non-negative integer, a SeedSequence or a Generator",
    ):
        audited(rng)


def test_a_seed_that_json_would_round_is_text():
    assert audited(2**53 + 1)[1] == "9007199254740993"
    child = audited(np.random.SeedSequence(5).spawn(3)[2])[1]
    assert "5" in child
    assert "2" in child
