"""Counts of groups are kept as draws are: complete or absent, and never those of another score."""

import numpy as np
import pytest

from dpaudit.errors import InvalidInput
from dpaudit.run.store import DrawStore, state_of
from dpaudit.sampling import Counted, Counts

pytestmark = pytest.mark.quick

MADE_BY = {"seed": 0, "samples": 100, "stop": None}
KEY, OTHER = "0123456789abcdef", "fedcba9876543210"


def group(seed=0):
    rng = np.random.default_rng(seed)
    cells = np.array([[20, 0, 30], [10, 15, 25]], dtype=np.uint8)
    first = rng.normal(size=(2, 50)).astype(np.float32)
    sums = rng.integers(0, 256, (2, 32)).astype(np.uint8)
    return Counted(Counts(cells, first), sums, np.array([3, 3]))


def assert_same(one, other):
    for name in ("cells", "first"):
        np.testing.assert_array_equal(getattr(one.counts, name), getattr(other.counts, name))
    np.testing.assert_array_equal(one.sums, other.sums)
    np.testing.assert_array_equal(one.columns, other.columns)


@pytest.fixture
def store(tmp_path):
    """A store with groups 2 and 3."""
    store = DrawStore(tmp_path / "draws", MADE_BY)
    kept = store.counts(KEY)
    for number in (2, 3):
        kept.put(number, group(number))
    return store


def resumed(store, **more):
    return DrawStore(store.path, MADE_BY, resume=True, **more)


def test_a_group_comes_back(store):
    assert not DrawStore(store.path.parent / "new", MADE_BY).counts(KEY)
    kept = resumed(store).counts(KEY)
    assert kept
    assert kept.get(1) is None
    assert_same(kept.get(3), group(3))


def test_the_first_group_is_made_again_and_has_to_be_the_same(store):
    kept = resumed(store).counts(KEY)
    assert kept.get(2) is None
    kept.put(5, group(5))
    assert not list(store.path.glob("*000005*"))
    kept.put(2, group(2))
    assert_same(kept.get(2), group(2))
    assert_same(kept.get(5), group(5))
    again = resumed(store).counts(KEY)
    with pytest.raises(InvalidInput, match=r"group 2 of the blocks .* is drawn differently now"):
        again.put(2, group(4))


def test_a_damaged_group_is_not_there(store):
    path = store.path / f"counts-{KEY}-000003.npz"
    path.write_bytes(path.read_bytes()[:-9])
    assert resumed(store).counts(KEY).get(3) is None


@pytest.mark.parametrize(("key", "all_draws"), [(OTHER, False), (KEY, True)])
def test_counts_that_are_of_no_use_go(store, key, all_draws):
    """Those of another score, and all of them where the draws are to be kept."""
    again = resumed(store, all_draws=all_draws)
    assert not again.counts(key)
    assert not list(store.path.glob("*.npz"))
    assert not resumed(store).counts(KEY)


def test_counted_draws_are_draws(store):
    store.put(0, 0, np.zeros((7, 3)))
    assert store.fresh == 7 + 2 * 2 * 50
    assert state_of(store.path.parent).made == (107, 100)


def test_the_same_counts_have_the_same_bytes(store, tmp_path):
    other = DrawStore(tmp_path / "other", MADE_BY)
    other.counts(KEY).put(2, group(2))
    name = f"counts-{KEY}-000002.npz"
    assert (other.path / name).read_bytes() == (store.path / name).read_bytes()


def test_remove_takes_counts_too(store):
    store.remove()
    assert not store.path.exists()
