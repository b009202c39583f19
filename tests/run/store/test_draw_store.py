"""Kept draws, and counts of groups of them, are complete or absent, and never those of another run
or another score.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from dpaudit.errors import InvalidInput
from dpaudit.run.store.draws import DrawStore, digest_of
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


def test_a_block_comes_back_to_the_bit(store, block):
    np.testing.assert_array_equal(np.load(store.path / "0-000002.npy", allow_pickle=False), block)
    np.testing.assert_array_equal(store.get(0, 2), block)
    assert store.get(0, 1) is None
    assert store.get(1, 2) is None


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


def test_new_draws_are_kept_once_an_old_block_is_drawn_again(store, block):
    again = DrawStore(store.path, MADE_BY, resume=True)
    again.put(0, 0, block)
    assert not (store.path / "0-000000.npy").exists()
    again.put(0, 2, block)
    np.testing.assert_array_equal(again.get(0, 0), block)


def test_a_damaged_block_is_not_the_one_that_is_drawn_again(store, block):
    store.put(0, 3, block)
    (store.path / "0-000002.npy").write_bytes(b"")
    again = DrawStore(store.path, MADE_BY, resume=True)
    assert again.get(0, 2) is None
    assert again.get(0, 3) is None
    again.put(0, 2, block)
    again.put(0, 3, block)
    np.testing.assert_array_equal(again.get(0, 2), block)


def test_without_resume_or_without_draws_it_starts_afresh(store, tmp_path):
    assert DrawStore(store.path, MADE_BY).get(0, 2) is None
    assert DrawStore(tmp_path / "none", MADE_BY, resume=True).get(0, 0) is None


def test_other_settings_are_named(store, block):
    with pytest.raises(
        InvalidInput,
        match=r"other settings \(seed 0, now 1\); run without --resume to start afresh",
    ):
        DrawStore(store.path, {**MADE_BY, "seed": 1}, resume=True)
    np.testing.assert_array_equal(store.get(0, 2), block)


@pytest.mark.parametrize(
    "damage",
    [lambda file: file[:-40], lambda file: file[:300] + b"?" + file[301:], lambda file: b""],
    ids=["cut", "changed", "empty"],
)
def test_a_damaged_block_is_not_there(store, damage):
    path = store.path / "0-000002.npy"
    path.write_bytes(damage(path.read_bytes()))
    assert store.get(0, 2) is None


@pytest.mark.parametrize("content", ["", "[]", "[" * 100_000])
def test_draws_without_a_manifest_stay_until_they_are_discarded(store, content):
    (store.path / "manifest.json").write_text(content)
    before = {path.name: path.read_bytes() for path in store.path.iterdir()}
    with pytest.raises(InvalidInput, match=r"draws \(files: 1\), but manifest.json cannot be"):
        DrawStore(store.path, MADE_BY, resume=True)
    assert {path.name: path.read_bytes() for path in store.path.iterdir()} == before
    DrawStore(store.path, MADE_BY)
    assert {path.name for path in store.path.iterdir()} == {"manifest.json", "parts.jsonl"}
    assert json.loads((store.path / "manifest.json").read_text()) == MADE_BY


def test_draws_are_removed_before_what_tells_of_them(store, monkeypatch):
    """A run that is killed while it removes draws can be resumed or run afresh."""
    removed, unlink = [], Path.unlink
    monkeypatch.setattr(
        Path, "unlink", lambda path, **more: removed.append(path.name) or unlink(path, **more)
    )
    store.remove()
    assert removed == ["0-000002.npy", "parts.jsonl", "manifest.json"]


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


def test_remove_leaves_what_others_have_put_there(store):
    (store.path / "mine.npy").write_bytes(b"")
    store.remove()
    assert [path.name for path in store.path.iterdir()] == ["mine.npy"]
    (store.path / "mine.npy").unlink()
    store.remove()
    assert not store.path.exists()


def test_digest_sees_shape_and_bytes(block):
    assert digest_of(block) == digest_of(block.copy(order="F"))
    assert len({digest_of(block), digest_of(block.reshape(25, 6)), digest_of(block + 1)}) == 3


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


def test_a_group_comes_back(counts):
    assert not DrawStore(counts.path.parent / "new", MADE_BY).counts(KEY)
    kept = resumed(counts).counts(KEY)
    assert kept
    assert kept.get(1) is None
    assert_same(kept.get(3), group(3))


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


def test_the_same_counts_have_the_same_bytes(counts, tmp_path):
    other = DrawStore(tmp_path / "other", MADE_BY)
    other.counts(KEY).put(2, group(2))
    name = f"counts-{KEY}-000002.npz"
    assert (other.path / name).read_bytes() == (counts.path / name).read_bytes()


def test_remove_takes_counts_too(counts):
    counts.remove()
    assert not counts.path.exists()
