"""CSV files: numbers come through exactly, and every fault is named with its place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from dpaudit.datasets import load, read_table
from dpaudit.errors import DataNotFound, InvalidInput

pytestmark = pytest.mark.quick


@pytest.fixture
def write(tmp_path):
    def writer(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return writer


def test_source_tells_files_of_one_name_apart(write):
    first = load(write("a,b\n1,2\n3,4\n"), target="b").source
    assert "table.csv" in first
    assert first != load(write("a,b\n1,2\n3,5\n"), target="b").source


@given(
    arrays(
        np.float64,
        array_shapes(min_dims=2, max_dims=2),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_numbers_come_through_exactly(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    header = [f"x{j}" for j in range(values.shape[1])] + ["y"]
    rows = [[*row, i] for i, row in enumerate(values.tolist())]
    path.write_text("\n".join(",".join(map(str, line)) for line in [header, *rows]))
    data = load(path, target="y", constant=False)
    np.testing.assert_array_equal(data.X, values)
    np.testing.assert_array_equal(data.y, np.arange(len(values)))


@pytest.mark.parametrize("cell", ["", "NA", "-nan", "NULL", " ? ", '""'])
def test_rows_with_a_missing_value_are_dropped_and_counted(write, cell):
    data = load(write(f"a,b\n1,2\n{cell},5\n3,4\n6,{cell}\n"), target="b")
    np.testing.assert_array_equal(data.database, [[1, 1, 2], [1, 3, 4]])
    assert data.dropped == {"missing value": 2}


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa,b\n1,2\n3,4\n",
        b"a,b\r\n1,2\r\n3,4\r\n",
        b"a,b\n1,2\n\n3,4\n\n",
        b'"a", "b"\n"1", 2\n 3 , 4 ',
    ],
    ids=["byte-order mark", "Windows line ends", "blank lines", "quotes and spaces"],
)
def test_dialects(write, content):
    data = load(write(content), target="b", constant=False)
    assert data.features == ("a",)
    np.testing.assert_array_equal(data.database, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("cell", "features"), [("5", ("one", "a")), ("0", ("constant", "one", "a"))]
)
def test_a_constant_of_the_file_is_not_doubled(write, cell, features):
    data = load(write(f"one,a,b\n{cell},1,2\n{cell},3,4\n"), target="b")
    assert data.features == features
    assert data.X.shape[1] == len(features)


BAD_FILES = {
    "empty": (b"", "first line of table.csv must be a header row"),
    "no header": (b"1,2\n3,4\n", "must be a header row of column names, got a row of values"),
    "header only": (b"a,b\n", "at least one row of numbers, got a header only"),
    "all missing": (b"a,b\n1,\n2,NA\n", "got none in 2 rows .*'b' has the most missing"),
    "duplicate column": (
        b"a,b,a\n1,2,3\n",
        "column 3 .* unlike .*, got the name of column 1",
    ),
    "unnamed column": (b",a,b\n0,1,2\n", "column 1 .* must be named, .* got no name"),
    "semicolons": (b"a;b\n1;2\n", "separated by commas, got other separators"),
    "short row": (
        b"a,b\n1,2\n3\n",
        "cells on line 3 of table.csv must be 2, as in the header, got 1",
    ),
    "text": (b"a,b\n1,2\nyes,4\nno,5\n", "line 3, column 'a' must be a finite number.*got text"),
    "infinite": (
        b"a,b\n1,2\n1,-inf\n",
        "line 3, column 'b' must be a finite number.*got an infinite",
    ),
    "Python's digits": (b"a,b\n1_000,2\n", "line 2, column 'a' .*got a number with _"),
    "open quote": (
        b'a,b\n1,"2\n',
        "table.csv must be a CSV file, got unexpected end of data on line 2",
    ),
    "Latin-1": (b"a,b\n1,2\n\xe9,3\n", "table.csv must be UTF-8 text, got byte 0xe9 on line 3"),
}


@pytest.mark.parametrize(("content", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_faults_are_named(write, content, message):
    with pytest.raises(InvalidInput, match=message):
        load(write(content), target="b")


def test_a_target_and_nothing_else(write):
    path = write("b\n1\n2\n")
    assert load(path, target="b").features == ("constant",)
    with pytest.raises(InvalidInput, match="must have a column besides the target 'b', got none"):
        load(path, target="b", constant=False)


def test_a_table_without_a_target_is_not_split(write):
    table = read_table(write("a,b\n1,2\n3,4\n"))
    with pytest.raises(InvalidInput, match=r"must have a target .* predicting\(column\)"):
        X, y = table
    X, y = table.predicting("a")
    assert (X.tolist(), y.tolist()) == ([[2.0], [4.0]], [1.0, 3.0])


def test_a_column_called_constant_that_varies(write):
    path = write("constant,b\n1,2\n3,4\n")
    with pytest.raises(InvalidInput, match="'constant' must be the same in every row"):
        load(path, target="b")
    assert load(path, target="b", constant=False).features == ("constant",)


def test_a_path_needs_a_target_and_the_columns_are_listed(write):
    with pytest.raises(
        InvalidInput, match="target must be given for a CSV path, as one of its columns: 'a', 'b'"
    ):
        load(write("a,b\n1,2\n"))


@pytest.mark.parametrize("target", ["c", "", 1, ["a"]])
def test_a_target_that_is_no_column(write, target):
    with pytest.raises(
        InvalidInput, match=r"target must be the name of a column of table: 'a', 'b', got"
    ):
        load(write("a,b\n1,2\n"), target=target)


def test_a_long_list_of_columns_is_cut(write):
    wide = ",".join(f"x{j}" for j in range(100))
    with pytest.raises(InvalidInput, match=r"'x29', \.\.\. \(100 columns\), got 'y'"):
        load(write(f"{wide}\n{wide.replace('x', '')}\n"), target="y")


def test_a_path_that_cannot_be_read(tmp_path):
    with pytest.raises(DataNotFound, match=r"cannot read .*absent\.csv: No such file"):
        load(tmp_path / "absent.csv", target="b")
    with pytest.raises(DataNotFound, match="cannot read "):
        load(tmp_path, target="b")


PEOPLE = """id,region,since,member,age,income
P1,south,2024-01-03,True,41,1.5
P2,north,2023-12-31,False,,2.5
P3,north,2023-12-31,False,35,3
P4,south,2024-01-03,True,29,0.25
"""


def test_texts_become_codes_and_the_types_say_what_they_stand_for(write):
    table = read_table(write(PEOPLE), ignore=["id"])
    assert table.columns == ("region", "since", "member", "age", "income")
    np.testing.assert_array_equal(
        table.database, [[1, 1, 1, 41, 1.5], [0, 0, 0, 35, 3], [1, 1, 1, 29, 0.25]]
    )
    assert table.types == {
        "region": ("north", "south"),
        "since": ("2023-12-31", "2024-01-03"),
        "member": "bool",
        "age": "int",
        "income": "float",
    }
    assert table.dropped == {"missing value": 1}
    assert table.changes == ("left out: 'id'", "texts in 'region', 'since', 'member'")
    assert "south" not in repr(table)


def test_public_texts_keep_their_order(write):
    texts = {"region": ["south", "east", "north"], "none": ["a"]}
    table = read_table(write(PEOPLE), ignore=["id"], texts=texts)
    assert table.types["region"] == ("south", "east", "north")
    np.testing.assert_array_equal(table.database[:, 0], [0, 2, 0])
    with pytest.raises(InvalidInput, match=r"line 2, column 'region' must be one of .* another"):
        read_table(write(PEOPLE), texts={"region": ["north", "east"]})


@pytest.mark.parametrize(
    ("texts", "codes"), [(["10115", "20095"], [0, 1]), (["a", "b"], [10115, 20095])]
)
def test_numbers_are_texts_where_they_are_listed(write, texts, codes):
    table = read_table(write("zip,x\n10115,1\n20095,2\n"), texts={"zip": texts})
    np.testing.assert_array_equal(table.database[:, 0], codes)


@pytest.mark.parametrize(
    ("ignore", "message"),
    [(["ID"], "ignore must be a column of table.csv: id, .*'ID'"), (["a"], "ignore must be some")],
)
def test_columns_that_cannot_be_left_out(write, ignore, message):
    with pytest.raises(InvalidInput, match=message):
        read_table(write(PEOPLE if ignore == ["ID"] else "a\n1\n"), ignore=ignore)


def test_texts_are_refused_where_numbers_are_needed_and_the_message_has_the_way_out(write):
    with pytest.raises(InvalidInput, match=r'kind = "records".*--ignore'):
        load(write(PEOPLE), target="income")


def test_a_data_frame_is_read_as_its_csv_file_would_be(write):
    pandas = pytest.importorskip("pandas")
    path = write(PEOPLE)
    frame = pandas.read_csv(path).sample(frac=1.0, random_state=0).sort_index()
    of_frame, of_file = (read_table(source, ignore=["id"]) for source in (frame, path))
    np.testing.assert_array_equal(of_frame.database, of_file.database)
    assert of_frame.types == of_file.types
    assert of_frame.name == "frame"
    with pytest.raises(InvalidInput, match="texts must be a dict of the texts of columns"):
        read_table(path, texts=True)
