"""Kept draws are complete or absent, and never those of another run."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpaudit.errors import InvalidInput
from dpaudit.run.store.checksums import PARTS
from dpaudit.run.store.draws import DrawStore, digest_of
from dpaudit.run.store.manifest import COPY, MANIFEST

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


def test_resume_finds_what_it_draws_again(store, block):
    """The first block of each side is to be drawn again, and has to be the same."""
    store.put(0, 3, block + 1.0)
    store.put(1, 2, block - 1.0)
    again = DrawStore(store.folder, MADE_BY, resume=True)
    assert again.get(0, 2) is None
    np.testing.assert_array_equal(again.get(0, 3), block + 1.0)
    again.put(0, 2, block)
    np.testing.assert_array_equal(again.get(0, 2), block)
    assert again.get(1, 2) is None
    with pytest.raises(InvalidInput, match=r"block 2 of M\(D'\) is drawn differently now"):
        again.put(1, 2, block)
    np.testing.assert_array_equal(store.get(1, 2), block - 1.0)


def test_new_draws_are_kept_once_an_old_block_is_drawn_again(store, block):
    again = DrawStore(store.folder, MADE_BY, resume=True)
    again.put(0, 0, block)
    assert not (store.folder / "0-000000.npy").exists()
    again.put(0, 2, block)
    np.testing.assert_array_equal(again.get(0, 0), block)


def test_a_damaged_block_is_not_the_one_that_is_drawn_again(store, block):
    store.put(0, 3, block)
    (store.folder / "0-000002.npy").write_bytes(b"")
    again = DrawStore(store.folder, MADE_BY, resume=True)
    assert again.get(0, 2) is None
    assert again.get(0, 3) is None
    again.put(0, 2, block)
    again.put(0, 3, block)
    np.testing.assert_array_equal(again.get(0, 2), block)


@pytest.mark.parametrize("draw", ["note", "put"], ids=["by a worker", "here"])
def test_draws_that_workers_kept_are_made_again_to_their_checksum(tmp_path, block, draw):
    store = DrawStore(tmp_path / "draws", MADE_BY)
    store.note(0, 0, store.checksum(block), 50)
    store.note(0, 1, store.checksum(block + 1.0), 50)
    assert store.fresh == 100
    again = DrawStore(store.folder, MADE_BY, resume=True)
    assert again.get(0, 0) is None

    def drawn(number, values):
        given = (again.checksum(values), 50) if draw == "note" else (values,)
        getattr(again, draw)(0, number, *given)

    drawn(0, block)
    with pytest.raises(InvalidInput, match=r"block 1 of M\(D\) is drawn differently now"):
        drawn(1, block)


def test_checksums_do_only_where_no_draws_are_kept(store, tmp_path):
    assert DrawStore(store.folder, MADE_BY, resume=True).checksum is None
    assert DrawStore(tmp_path / "all", MADE_BY, all_draws=True).checksum is None


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


@pytest.mark.parametrize("name", [MANIFEST, COPY])
@pytest.mark.parametrize("content", [None, "", '{"seed": ', "[]", "[" * 100_000, "\0\xff"])
def test_a_damaged_manifest_is_restored_from_the_other(store, block, name, content):
    whole = (store.folder / name).read_bytes()
    damage(store.folder / name, content)
    DrawStore(store.folder, MADE_BY, resume=True)
    assert (store.folder / name).read_bytes() == whole
    np.testing.assert_array_equal(store.get(0, 2), block)


def damage(path, content):
    path.unlink()
    if content is not None:
        path.write_bytes(content.encode("latin-1"))


def test_draws_without_a_manifest_stay_until_they_are_discarded(store):
    for name in (MANIFEST, COPY):
        damage(store.folder / name, "")
    before = {path.name: path.read_bytes() for path in store.folder.iterdir()}
    with pytest.raises(InvalidInput, match=r"holds draws \(files: 1\), but neither manifest.json"):
        DrawStore(store.folder, MADE_BY, resume=True)
    assert {path.name: path.read_bytes() for path in store.folder.iterdir()} == before
    DrawStore(store.folder, MADE_BY)
    assert {path.name for path in store.folder.iterdir()} == {MANIFEST, COPY, PARTS}
    assert json.loads((store.folder / COPY).read_text()) == MADE_BY


def test_draws_are_removed_before_what_tells_of_them(store, monkeypatch):
    """A run that is killed while it removes draws can be resumed or run afresh."""
    removed, unlink = [], Path.unlink
    monkeypatch.setattr(
        Path, "unlink", lambda path, **more: removed.append(path.name) or unlink(path, **more)
    )
    store.remove()
    assert removed == ["0-000002.npy", PARTS, COPY, MANIFEST]


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
    DrawStore(store.folder, kept)
    with pytest.raises(InvalidInput) as caught:
        DrawStore(store.folder, now, resume=True)
    for change in (
        "a.py has changed; c.py was not used; b.py is no longer used",
        "sh has changed",
        "package numpy 1.0, now 2.0",
    ):
        assert change in str(caught.value)


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
