"""Kept draws, and counts of groups of them, are complete or absent, and never those of another run
or another score.
"""

import json

import numpy as np
import pytest

from dpaudit.errors import InvalidInput
from dpaudit.run.store.draws import DrawStore
from dpaudit.run.store.progress import state_of
from dpaudit.sampling import Counted, Counts

pytestmark = pytest.mark.quick

MADE_BY = {"seed": 0, "samples": 100, "stop": None}


@pytest.fixture
def block():
    return np.random.default_rng(0).normal(size=(50, 3))


@pytest.fixture
def store(tmp_path, block):
    store = DrawStore(tmp_path / "draws", MADE_BY)
    store.put(0, 2, block)
    return store


def test_resume_finds_what_it_draws_again(store, block):
    """The first block of each side is to be drawn again, and has to be the same."""
    store.put(0, 3, block + 1.0)
    store.put(1, 2, block - 1.0)
    again = DrawStore(store.path, MADE_BY, resume=True)
    assert again.get(0, 2) is None
    np.testing.assert_array_equal(again.get(0, 3), block + 1.0)
    again.put(0, 2, block)
    np.testing.assert_array_equal(again.get(0, 2), block)
    assert again.get(1, 2) is None
    with pytest.raises(InvalidInput, match=r"block 2 of M\(D'\) is drawn differently now"):
        again.put(1, 2, block)
    np.testing.assert_array_equal(store.get(1, 2), block - 1.0)


def test_other_settings_are_named(store, block):
    with pytest.raises(
        InvalidInput,
        match=r"other settings \(seed 0, now 1\); run without --resume to start afresh",
    ):
        DrawStore(store.path, {**MADE_BY, "seed": 1}, resume=True)
    np.testing.assert_array_equal(store.get(0, 2), block)


@pytest.mark.parametrize(
    "damage",
    [lambda file: file[:-40], lambda file: file[:300] + b"?" + file[301:]],
    ids=["cut", "changed"],
)
def test_a_damaged_block_is_not_there(store, damage):
    path = store.path / "0-000002.npy"
    path.write_bytes(damage(path.read_bytes()))
    assert store.get(0, 2) is None


@pytest.mark.parametrize("content", ["[]", "[" * 100_000])
def test_draws_without_a_manifest_stay_until_they_are_discarded(store, content):
    (store.path / "manifest.json").write_text(content)
    before = {path.name: path.read_bytes() for path in store.path.iterdir()}
    with pytest.raises(InvalidInput, match=r"draws \(files: 1\), but manifest.json cannot be"):
        DrawStore(store.path, MADE_BY, resume=True)
    assert {path.name: path.read_bytes() for path in store.path.iterdir()} == before
    DrawStore(store.path, MADE_BY)
    assert {path.name for path in store.path.iterdir()} == {"manifest.json", "parts.jsonl"}
    assert json.loads((store.path / "manifest.json").read_text()) == MADE_BY


def test_every_change_is_named(store):
    kept = {
        "files": {"a.py": "1", "b.py": "2"},
        "programs": {"sh": "3"},
        "packages": {"numpy": "1.0"},
    }
    now = {
        "files": {"a.py": "4", "c.py": "2"},
        "programs": {"sh": "5"},
        "packages": {"numpy": "2.0"},
    }
    DrawStore(store.path, kept)
    with pytest.raises(InvalidInput) as caught:
        DrawStore(store.path, now, resume=True)
    for change in (
        "a.py has changed; c.py was not used; b.py is no longer used",
        "sh has changed",
        "package numpy 1.0, now 2.0",
    ):
        assert change in str(caught.value)


# --- counts of groups

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
def counts(tmp_path):
    """A store with the counts of groups 2 and 3."""
    store = DrawStore(tmp_path / "draws", MADE_BY)
    kept = store.counts(KEY)
    for number in (2, 3):
        kept.put(number, group(number))
    return store


def resumed(counts, **more):
    return DrawStore(counts.path, MADE_BY, resume=True, **more)


def test_the_first_group_is_made_again_and_has_to_be_the_same(counts):
    kept = resumed(counts).counts(KEY)
    assert kept.get(2) is None
    kept.put(5, group(5))
    assert not list(counts.path.glob("*000005*"))
    kept.put(2, group(2))
    assert_same(kept.get(2), group(2))
    assert_same(kept.get(5), group(5))
    again = resumed(counts).counts(KEY)
    with pytest.raises(InvalidInput, match=r"group 2 of the blocks .* is drawn differently now"):
        again.put(2, group(4))


def test_a_damaged_group_is_not_there(counts):
    path = counts.path / f"counts-{KEY}-000003.npz"
    path.write_bytes(path.read_bytes()[:-9])
    assert resumed(counts).counts(KEY).get(3) is None


@pytest.mark.parametrize(("key", "all_draws"), [(OTHER, False), (KEY, True)])
def test_counts_that_are_of_no_use_go(counts, key, all_draws):
    """Those of another score, and all of them where the draws are to be kept."""
    again = resumed(counts, all_draws=all_draws)
    assert not again.counts(key)
    assert not list(counts.path.glob("*.npz"))
    assert not resumed(counts).counts(KEY)


def test_counted_draws_are_draws(counts):
    counts.put(0, 0, np.zeros((7, 3)))
    assert counts.fresh == 7 + 2 * 2 * 50
    assert state_of(counts.path.parent).made == (107, 100)
