"""Kept draws are complete or absent, and never those of another run."""

import json

import numpy as np
import pytest

from dpaudit.errors import InvalidInput
from dpaudit.run.store.draws import DrawStore, digest_of

pytestmark = pytest.mark.quick

MADE_BY = {"seed": 0, "samples": 100}


@pytest.fixture
def block():
    return np.random.default_rng(0).normal(size=(50, 3))


@pytest.fixture
def store(tmp_path, block):
    store = DrawStore(tmp_path / "draws", MADE_BY)
    store.put(0, 2, block)
    return store


def test_a_block_comes_back_to_the_bit(store, block):
    np.testing.assert_array_equal(store.get(0, 2), block)
    assert store.get(0, 1) is None
    assert store.get(1, 2) is None


def test_a_block_is_an_npy_file(store, block):
    np.testing.assert_array_equal(np.load(store.folder / "0-000002.npy", allow_pickle=False), block)


def test_resume_finds_it(store, block):
    np.testing.assert_array_equal(DrawStore(store.folder, MADE_BY, resume=True).get(0, 2), block)


def test_without_resume_it_is_gone(store):
    assert DrawStore(store.folder, MADE_BY).get(0, 2) is None


def test_resume_with_nothing_there_starts_afresh(tmp_path):
    assert DrawStore(tmp_path / "none", MADE_BY, resume=True).get(0, 0) is None


def test_other_settings_are_named(store, block):
    with pytest.raises(
        InvalidInput,
        match=r"other settings \(seed 0, now 1\); run without --resume to start afresh",
    ):
        DrawStore(store.folder, {**MADE_BY, "seed": 1}, resume=True)
    np.testing.assert_array_equal(store.get(0, 2), block)


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "append"])
def test_a_damaged_block_is_not_there(store, damage):
    path = store.folder / "0-000002.npy"
    content = bytearray(path.read_bytes())
    if damage == "truncate":
        content = content[:-40]
    elif damage == "flip":
        content[300] ^= 1
    elif damage == "append":
        content += b"x"
    else:
        content = bytearray()
    path.write_bytes(content)
    assert store.get(0, 2) is None


def test_a_damaged_manifest_starts_afresh(store):
    (store.folder / "manifest.json").write_text('{"seed": ')
    assert DrawStore(store.folder, MADE_BY, resume=True).get(0, 2) is None
    assert json.loads((store.folder / "manifest.json").read_text()) == MADE_BY


def test_remove_leaves_what_others_have_put_there(store):
    (store.folder / "mine.npy").write_bytes(b"")
    store.remove()
    assert [path.name for path in store.folder.iterdir()] == ["mine.npy"]
    (store.folder / "mine.npy").unlink()
    store.remove()
    assert not store.folder.exists()


def test_digest_sees_shape_and_bytes(block):
    assert digest_of(block) == digest_of(block.copy(order="F"))
    assert len({digest_of(block), digest_of(block.reshape(25, 6)), digest_of(block + 1)}) == 3
