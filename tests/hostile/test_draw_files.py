"""Files of draws that are corrupt, lie about their size, or do not fit into memory."""

import io
import os
import struct
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.adapters import read_draws


def npy(array):
    """The bytes of a .npy file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def headed(text, body=b"\0" * 64):
    """The bytes of a .npy file with any header."""
    head = text.encode("latin-1") + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + body


def parquet_bytes(columns):
    """The bytes of a Parquet file that is not compressed and has no dictionaries."""
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), file, compression="none", use_dictionary=False)
    return file.getvalue()


RECORDS = np.array([(1.5, "x"), (2.5, "yz")] * 10, dtype=[("z", "f8"), ("w", "U3")])
SOUND = {
    "numbers": (".npy", lambda: npy(np.arange(60.0).reshape(20, 3))),
    "text": (".npy", lambda: npy(np.array(["a", "bc"] * 10))),
    "records": (".npy", lambda: npy(RECORDS)),
    "csv": (".csv", lambda: "".join(f"{x},{x / 3},w{x % 2}\n" for x in range(20)).encode()),
    "parquet": (".parquet", lambda: parquet_bytes({"a": [1.5] * 20, "b": [2] * 20})),
    "parquet of text": (".parquet", lambda: parquet_bytes({"a": ["x", "y"] * 10})),
}
TOKENS = [b"0", b"9", b"-1", b"(", b")", b",", b"'", b"{", b"O", b"U", b"f2", b"c16", b"M8[s]"]
TOKENS += [b"|V0", b"<U0", b"1e9", b"99999999999", b"\xff", b"\x00", b"\n", b"#", b"\\", b"True"]


def corrupted(content, rng, head):
    """The content with one to three faults, most of them among the first `head` bytes."""
    damaged = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        end = head if rng.random() < 0.8 else len(damaged)
        at = int(rng.integers(max(1, min(end, len(damaged)))))
        kind = rng.integers(5)
        if kind == 0 and damaged:
            damaged[at % len(damaged)] ^= 1 << int(rng.integers(8))
        elif kind == 1 and damaged:
            damaged[at % len(damaged)] = int(rng.integers(256))
        elif kind == 2:
            del damaged[at : at + int(rng.integers(1, 9))]
        elif kind == 3:
            token = TOKENS[rng.integers(len(TOKENS))]
            damaged[at : at + int(rng.integers(2)) * len(token)] = token
        elif rng.random() < 0.3:
            del damaged[at:]
    return bytes(damaged)


def refused(folder, suffix, contents):
    """How many of the contents are refused; an unclear message fails the test."""
    path = folder / f"P{suffix}"
    count = 0
    for content in contents:
        path.write_bytes(content)
        error = fault(path)
        assert error is None or (str(path) in error and len(error) < 500)
        count += error is not None
    return count


def fault(path):
    """The message with which a file of draws is refused, or None where it is read."""
    try:
        draws = read_draws(path)
    except dp.InvalidInput as error:
        return str(error)
    assert draws.ndim in (1, 2)
    assert draws.dtype.kind in "fSV"
    return None


def corruptions(name, count):
    """Seeded corruptions of a sound file: of its header, and of the end of Parquet files."""
    suffix, make = SOUND[name]
    content, rng = make(), np.random.default_rng([len(name), count])
    if suffix != ".parquet":
        return suffix, (corrupted(content, rng, 128) for _ in range(count))
    turned = content[::-1]
    return suffix, (corrupted(turned, rng, 400)[::-1] for _ in range(count))


@pytest.mark.parametrize("count", [100, pytest.param(4000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SOUND)
def test_corrupt_files_are_refused_in_a_line(tmp_path, name, count):
    suffix, contents = corruptions(name, count)
    assert refused(tmp_path, suffix, contents) > 0


HEADER = "{'descr': %s, 'fortran_order': False, 'shape': %s}"
LIES = {
    "a huge shape": HEADER % ("'<f8'", "(1000000000000, 3)"),
    "a shape beyond any integer": HEADER % ("'<f8'", f"({10**40},)"),
    "many texts of no length": HEADER % ("'<U0'", "(1000000000000,)"),
    "a negative shape": HEADER % ("'<f8'", "(-1,)"),
    "an unknown type": HEADER % ("'<q9'", "(8,)"),
    "objects": HEADER % ("'|O'", "(8,)"),
    "records in records": HEADER % ("[('a', [('b', '<f8')])]", "(8,)"),
    "arrays in records": HEADER % ("[('a', '<f8', (2,))]", "(4,)"),
    "times": HEADER % ("'<M8[s]'", "(8,)"),
    "raw bytes": HEADER % ("'|V8'", "(8,)"),
    "three dimensions": HEADER % ("'<f8'", "(2, 2, 2)"),
    "no draws": HEADER % ("'<f8'", "(0, 3)"),
    "nested brackets": "(" * 5000,
}


@pytest.mark.parametrize("lie", LIES)
def test_a_header_is_not_believed(tmp_path, lie):
    path = tmp_path / "P.npy"
    path.write_bytes(headed(LIES[lie]))
    with pytest.raises(dp.InvalidInput, match=r"P\.npy must be a"):
        read_draws(path)


def test_text_that_holds_no_characters(tmp_path):
    text = np.full(4, 0x7FFFFFFF, np.uint32).view("<U1")
    (tmp_path / "P.npy").write_bytes(npy(text))
    with pytest.raises(dp.InvalidInput, match=r"P\.npy must be a \.npy file of text"):
        read_draws(tmp_path / "P.npy")


def test_a_file_beyond_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    """A sparse file of 8 TB that holds what its header says."""
    path = tmp_path / "P.npy"
    path.write_bytes(headed(HEADER % ("'<f8'", f"({10**9}, 1000)")))
    with path.open("r+b") as file:
        file.truncate(8 * 10**12 + 1000)
    with pytest.raises(
        dp.InvalidInput, match=r"holds 1,000,000,000 x 1,000 values of float64, .* GiB of memory"
    ):
        read_draws(path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("numbers", "20 x 3 values of float64"),
        ("text", "20 values of <U2"),
        ("records", "20 values of"),
        ("csv", "61 cells"),
        ("parquet", "20 x 2 cells"),
        ("parquet of text", "20 x 1 cells"),
    ],
)
def test_every_kind_of_file_is_held_against_memory(tmp_path, monkeypatch, name, words):
    suffix, make = SOUND[name]
    (tmp_path / f"P{suffix}").write_bytes(make())
    monkeypatch.setattr("dpaudit.adapters.draw_files.available", lambda: 100.0)
    with pytest.raises(dp.InvalidInput, match=f"holds {words}"):
        read_draws(tmp_path / f"P{suffix}")


def test_words_that_take_more_memory_than_their_file(tmp_path, monkeypatch):
    (tmp_path / "P.csv").write_bytes(b"a,b\n" * 1000)
    monkeypatch.setattr("dpaudit.adapters.draw_files.available", lambda: 1e5)
    with pytest.raises(dp.InvalidInput, match=r"holds more than 1,000 cells in lines with words"):
        read_draws(tmp_path / "P.csv")


def test_available_memory_is_what_the_system_says(tmp_path, monkeypatch):
    """2 MB of numbers where a container may take 1 MB more, or as much as the machine has."""
    np.save(tmp_path / "P.npy", np.ones(250_000))
    monkeypatch.setattr("dpaudit.adapters.draw_files.GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("5000000\n")
    (tmp_path / "memory.current").write_text("4000000\n")
    with pytest.raises(dp.InvalidInput, match="holds 250,000 values of float64"):
        read_draws(tmp_path / "P.npy")
    (tmp_path / "memory.max").write_text("max\n")
    for meminfo in ("/proc/meminfo", tmp_path / "none"):
        monkeypatch.setattr("dpaudit.adapters.draw_files.MEMINFO", Path(meminfo))
        assert len(read_draws(tmp_path / "P.npy")) == 250_000


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "P.npy")
    with pytest.raises(dp.InvalidInput, match="must be a regular file, got a pipe or a device"):
        read_draws(tmp_path / "P.npy")
