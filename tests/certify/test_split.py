"""The draws that train, those that choose and those that certify."""

import re

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.certify import Split, constants, samples_for
from dpaudit.certify import split as splitting

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("samples", [100, 12_345])
@pytest.mark.parametrize("shares", [(0.4, 0.1), (0.1, 0.7)])
def test_parts_are_disjoint_and_use_every_draw(samples, shares):
    sizes = splitting.split(samples, *shares)
    draws = np.arange(samples)[:, None]
    parts = sizes.parts(draws)
    assert [len(part) for part in parts] == [sizes.train, sizes.choose, sizes.certify]
    np.testing.assert_array_equal(np.concatenate(parts), draws)
    assert all(np.shares_memory(part, draws) for part in parts)


@pytest.mark.parametrize(
    ("samples", "shares"),
    [(99, ()), (1000, (0.0,)), (1000, (0.005, 0.1)), (1000, (0.4, 0.0)), (1000, (0.5, 0.495))],
)
def test_too_few_draws_are_refused(samples, shares):
    with pytest.raises(
        dp.InvalidInput,
        match=f"draws must leave at least {constants.SMALLEST} a side .* got {samples}",
    ):
        splitting.split(samples, *shares)


@pytest.mark.parametrize("shares", [(), (0.4, 0.02), (0.05,)])
def test_draws_too_few_to_split_are_told_how_many_suffice(shares):
    with pytest.raises(dp.InvalidInput, match="take") as raised:
        splitting.split(20, *shares)
    enough = int(re.search(r"take ([\d,]+) draws", str(raised.value))[1].replace(",", ""))
    assert splitting.split(enough, *shares).total == enough
    with pytest.raises(dp.InvalidInput):
        splitting.split(int(0.9 * enough), *shares)


def test_many_draws_mostly_certify():
    """By default 100√n train and 50√n choose once that is less than 0.4 and 0.1 of them."""
    assert splitting.split(62_500) == splitting.split(62_500, 0.4, 0.1)
    assert splitting.split(1_000_000) == Split(100_000, 50_000, 850_000)


@pytest.mark.parametrize(("columns", "train"), [(1, 200), (2, 300), (3, 400), (30, 400)])
def test_outputs_of_one_or_two_numbers_train_on_less(columns, train):
    assert splitting.split(1000, columns=columns) == Split(train, 100, 900 - train)
    assert splitting.split(1000, 0.4, 0.1, columns) == splitting.split(1000, 0.4, 0.1)


@pytest.mark.parametrize(
    ("samples", "columns", "train"),
    [(5000, 100, 2000), (5000, 101, 2500), (1_000_000, 1000, 100_000), (20_000, 1000, 10_000)],
)
def test_outputs_of_more_than_a_hundred_and_root_samples_numbers_train_on_more(
    samples, columns, train
):
    assert splitting.split(samples, columns=columns).train == train


@pytest.mark.parametrize("columns", [None, 1, 2, 30])
def test_a_known_score_trains_on_nothing(columns):
    assert splitting.split(1000, columns=columns, trained=False) == Split(0, 100, 900)
    assert splitting.split(1000, 0.2, columns=columns, trained=False) == Split(200, 100, 700)


@pytest.mark.parametrize("certify", [10, 500, 125_000, 125_001, 750_000, 10**9])
def test_samples_for_is_the_fewest(certify):
    samples = samples_for(certify)
    assert splitting.split(max(samples, 100)).certify >= certify
    assert samples - 1 < 100 or splitting.split(samples - 1).certify < certify
