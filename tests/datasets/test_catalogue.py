"""Names: which are installed, which are looked up in a folder, and the error for a missing one."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from dpaudit import datasets
from dpaudit.errors import DataNotFound, InvalidInput

IN_FOLDER = {
    "cancer": (2809, 11, "Mortality_Rate"),
    "wine_white": (4898, 11, "quality"),
    "ccpp": (9568, 4, "PE"),
    "bank_marketing_codes": (45_211, 16, "y"),
    "banknote": (1372, 4, "class"),
    "boston": (506, 13, "medv"),
    "tecator_fat": (215, 100, "fat"),
}
needs_folder = pytest.mark.skipif(
    not os.environ.get("DPAUDIT_DATA"),
    reason="DPAUDIT_DATA is not set to the folder of the CSV data sets",
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A DPAUDIT_DATA folder with one small table."""
    (tmp_path / "foo.csv").write_text("a,b\n1,2\n3,4\n")
    monkeypatch.setenv("DPAUDIT_DATA", str(tmp_path))
    return tmp_path


def test_names_and_descriptions():
    assert datasets.names() == ("flight", "diabetes", *IN_FOLDER)
    assert tuple(datasets.describe()) == datasets.names()
    assert all(line and "\n" not in line for line in datasets.describe().values())


def test_a_dataset_unpacks_pickles_and_prints_short():
    data = datasets.load("diabetes")
    X, y = data
    assert X is data.X
    assert y is data.y
    np.testing.assert_array_equal(data.database, np.column_stack([X, y]))
    assert len(repr(data)) < 500
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(data)).X, X)
    with pytest.raises(AttributeError):
        data.name = "other"


@needs_folder
@pytest.mark.parametrize("name", IN_FOLDER)
def test_known_files(name):
    data = datasets.load(name)
    n, p, target = IN_FOLDER[name]
    assert (*data.X.shape, data.target) == (n, p + 1, target)
    assert data.features[0] == "constant"
    assert f"{n:,} x {p}" in datasets.describe()[name]


def test_any_name_in_the_folder_with_the_last_column_as_target(folder):
    data = datasets.load("foo")
    assert (data.name, data.target, data.n) == ("foo", "b", 2)
    assert datasets.load("foo", target="a").target == "a"


def test_data_dir_goes_before_the_variable(folder):
    (folder / "inner").mkdir()
    (folder / "inner" / "foo.csv").write_text("c,d,e\n1,2,3\n3,4,5\n")
    assert datasets.load("foo", data_dir=folder / "inner").target == "e"
    with pytest.raises(DataNotFound, match=r"there is no bar\.csv in .*inner$"):
        datasets.load("bar", data_dir=folder / "inner")


@pytest.mark.parametrize("value", [None, ""])
def test_variable_unset(monkeypatch, value):
    monkeypatch.delenv("DPAUDIT_DATA", raising=False)
    if value is not None:
        monkeypatch.setenv("DPAUDIT_DATA", value)
    with pytest.raises(DataNotFound) as caught:
        datasets.load("cancer")
    assert str(caught.value) == (
        "data set 'cancer' not found: DPAUDIT_DATA is not set; set DPAUDIT_DATA (or data_dir) to "
        "the folder that holds cancer.csv, or give the path of a CSV file and its target"
    )


NAMED = r"such as bar\.csv, or a known name \(flight, .* there is no bar\.csv in "
COLUMN = "target must be the name of a column of flight: 'dep_delay', 'arr_delay'"


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("bar", {}, DataNotFound, NAMED),
        (
            3,
            {},
            InvalidInput,
            "name_or_path must be the name of a data set, the path of a CSV file or a data frame",
        ),
        (
            "",
            {},
            InvalidInput,
            "name_or_path must be the name of a data set, the path of a CSV file or a data frame",
        ),
        ("foo", {"constant": 1}, InvalidInput, "constant must be True or False, got 1"),
        ("foo", {"data_dir": 3}, InvalidInput, "data_dir must be"),
        ("flight", {"target": "delay"}, InvalidInput, COLUMN),
    ],
)
def test_refusals_name_the_argument_or_the_known_names(folder, name, options, error, message):
    with pytest.raises(error, match=message):
        datasets.load(name, **options)


def test_import_is_light():
    heavy = "{'sklearn', 'lightgbm', 'matplotlib', 'pandas', 'scipy'}"
    code = f"import sys, dpaudit.datasets as d; d.load('flight'); print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
