"""Draws in files: what is read, what is refused, and that nothing is unpickled."""

import builtins

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.adapters import read_draws
from dpaudit.outcomes import LISTS, aligned

pytestmark = pytest.mark.quick


class Bomb:
    def __reduce__(self):
        return (open, ("exploded", "w"))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text):
    with open("P.csv", "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return read_draws("P.csv")


def test_npy_of_text_and_of_records(here):
    np.save("P.npy", np.array(["a", "b", "a"]))
    np.save("Q.npy", np.array([(1.5, "x"), (np.nan, "y")], dtype=[("z", "f8"), ("w", "U3")]))
    P, Q = aligned(read_draws("P.npy"), read_draws("P.npy"))
    assert P[0] == P[2] != P[1]
    np.testing.assert_array_equal(P, Q)
    assert read_draws("Q.npy").tolist() == [
        b'[{"\\"w\\"":"x","\\"z\\"":1.5}]',
        b'[{"\\"w\\"":"y","\\"z\\"":NaN}]',
    ]


def test_pickles_are_not_opened(here):
    cells = np.empty(20, object)
    cells[:] = [Bomb()] * 20
    np.save("P.npy", cells, allow_pickle=True)
    with pytest.raises(
        dp.InvalidInput, match=r"P\.npy must be a \.npy file of numbers or text, without pickle"
    ):
        dp.audit_samples("P.npy", "P.npy")
    (here / "P.csv").write_bytes((here / "P.npy").read_bytes())
    with pytest.raises(dp.InvalidInput, match=r"P\.csv must be a CSV file, UTF-8"):
        read_draws("P.csv")
    assert not (here / "exploded").exists()


def test_csv_of_numbers(here):
    np.testing.assert_array_equal(
        write("1,2\n3,nan\n-inf,1e-300\n"), [[1, 2], [3, np.nan], [-np.inf, 1e-300]]
    )
    np.testing.assert_array_equal(write("1\r\n2\r\n3"), [[1], [2], [3]])
    np.testing.assert_array_equal(write("\ufeffa,b\n1,2\n3,4\n"), [[1, 2], [3, 4]])


def test_csv_with_words_gaps_and_lines_of_any_length(here):
    assert write("a,1\nb,\n").tolist() == [b'["a",1.0]', b'["b",null]']
    assert write('"a,b"\n"a,b"\n').tolist() == [b'["a,b"]'] * 2
    assert write("word,value\na,1\nb,2\n").tolist() == [b'["a",1.0]', b'["b",2.0]']
    assert write("red\nblue\nred\n").tolist() == [b'["red"]', b'["blue"]', b'["red"]']  # no header
    np.testing.assert_array_equal(write("1\n\n2,3\n\n")[LISTS][:, 0], [1, 0, 2])
    assert write("2\n1_000\n").tolist() == [b"[2.0]", b'["1_000"]']


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("P.csv", b"", "got no lines"),
        ("P.csv", b"\n\n", "got no lines"),
        ("P.csv", b"\xff\n", "must be a CSV file, UTF-8"),
        (
            "P.txt",
            b"1\n",
            r"must be a file with the ending \.npy or \.csv or \.parquet, got '\.txt'",
        ),
        ("P", b"1\n", "got 'a file without a suffix'"),
        ("P.npz", b"1\n", "must be a file with the ending"),
        ("P.npy", b"1\n", "must be a .npy file"),
    ],
)
def test_what_is_no_file_of_draws(here, name, content, message):
    (here / name).write_bytes(content)
    with pytest.raises(dp.InvalidInput, match=message):
        read_draws(name)


@pytest.mark.parametrize("name", ["none.npy", "none.csv", "folder.csv"])
def test_a_file_that_cannot_be_read(here, name):
    (here / "folder.csv").mkdir()
    with pytest.raises(dp.DataNotFound, match=f"cannot read {name}"):
        read_draws(name)


def test_an_audit_of_two_files(here):
    rng = np.random.default_rng(1)
    for name, share in (("P.csv", 0.9), ("Q.csv", 0.1)):
        (here / name).write_text(
            "".join("secret\n" if x < share else "7.5\n" for x in rng.random(1000))
        )
    result = dp.audit_samples("P.csv", here / "Q.csv", claim=(1.0, 0.1), rng=1)
    assert result.verdict == "violated"
    assert result.certified.delta_at(0.0) > 0.7


def test_parquet_without_pyarrow_says_what_to_install(here, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.partition(".")[0] == "pyarrow":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        dp.InvalidInput, match=r"P\.parquet needs pyarrow: pip install 'dpaudit\[parquet\]'"
    ):
        read_draws("P.parquet")


def test_parquet(here):
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"a": [1, None, 3], "b": [True, False, True]}), "P.parquet")
    np.testing.assert_array_equal(read_draws("P.parquet"), [[1, 1], [np.nan, 0], [3, 1]])
    parquet.write_table(pyarrow.table({"a": ["x", None], "b": [[1.0], []]}), "P.parquet")
    assert read_draws("P.parquet").tolist() == [
        b'[{"\\"a\\"":"x","\\"b\\"":[1.0]}]',
        b'[{"\\"a\\"":null,"\\"b\\"":[]}]',
    ]
    twice = pyarrow.Table.from_arrays([pyarrow.array(["x"])] * 2, names=["a", "a"])
    parquet.write_table(twice, "P.parquet")
    with pytest.raises(dp.InvalidInput, match='"a" exists 2 times'):
        read_draws("P.parquet")
    (here / "P.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(dp.InvalidInput, match="must be a Parquet file"):
        read_draws("P.parquet")
    with pytest.raises(dp.DataNotFound, match=r"cannot read none\.parquet"):
        read_draws("none.parquet")
