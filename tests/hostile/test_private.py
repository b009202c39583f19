"""Planted values of the data are in no repr, error, log and report."""

import dataclasses
import importlib
import json
import logging
import pkgutil
import re
import traceback
import types
import warnings
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import pytest

import dpaudit as dp
from dpaudit._core.raised import Raised, redacted, report
from dpaudit._core.value import brief
from dpaudit.cli import main
from tests.sparse import one_in

PLANTED = (73417.234567, -8317.515625, 0.0313270217, 615243.75)
ROW = 5
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?(?!\w)")
DIGITS = 4  # significant digits by which a value would be known


def values():
    """40 rows of four small numbers, but for one row of planted values."""
    data = np.round(np.random.default_rng(0).normal(size=(40, 4)), 2)
    data[ROW] = PLANTED
    return data


DATA = values()


def planted_in(text):
    """The numbers of a text that a planted value rounds to, at 4 significant digits or more."""
    return [number for number in NUMBER.findall(text) if _is_planted(number.replace(",", ""))]


def _is_planted(number):
    mantissa, _, power = number.lower().partition("e")
    if len(mantissa.replace(".", "").strip("0")) < DIGITS:
        return False
    place = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
    sizes = [abs(value) for value in PLANTED]
    rounded = [float(f"{size:.{digits}g}") for size in sizes for digits in range(4, 8)]
    return float(number) in rounded or any(abs(float(number) - size) <= place for size in sizes)


def test_a_planted_value_is_seen_however_it_is_written():
    for value in map(abs, PLANTED):
        texts = f"{value:.4g}", f"{value:.7g}", f"{value:.3e}", repr(value), str(np.float32(value))
        for text in texts:
            assert planted_in(f"a row of [{text} 2.]") == [text]
    assert planted_in("73,417.2") == ["73,417.2"]
    assert planted_in("7341 0.0313 8317515 block 256 at 0.5") == []


def shouts(data):
    """An error with all that a careless mechanism says of its data."""
    raise ValueError(f"row {data[ROW]} has {data[ROW, 0]:.6g} and {data[ROW].tolist()} of {data}")


def failing(data, size, *, rng):
    return shouts(data)


def clipped_mean(data, size, *, rng):
    mean = np.clip(data, -1.0, 1.0).mean(axis=0)
    return mean + rng.laplace(scale=0.02, size=(size, 4))


def pair():
    return dp.neighbours.zero_row(DATA, ROW)


# --- reprs


def reachable(root):
    """All objects of dpaudit to which attributes and containers lead from an object."""
    seen, left = {}, [root]
    while left:
        item = left.pop()
        container = isinstance(item, (dict, list, tuple))
        own = type(item).__module__.startswith("dpaudit") and not isinstance(item, types.ModuleType)
        if id(item) in seen or not (container or own):
            continue
        seen[id(item)] = item
        if isinstance(item, (list, tuple)):
            left += item
        else:
            left += (item if container else getattr(item, "__dict__", {})).values()
    return [item for item in seen.values() if not isinstance(item, (dict, list, tuple))]


def displayed(item):
    """What a terminal and a notebook show of an object."""
    html = getattr(item, "_repr_html_", None)
    return "\n".join([repr(item), str(item), html() if html else ""])


def results():
    mechanism = dp.mechanisms.GaussianLS(sigma=1.0)
    options = {"draws": 1000, "rng": 1, "classifier": "qda"}
    return {
        "audit": lambda: dp.audit(clipped_mean, pair(), claim=(1.0, 1e-5), **options),
        "to a verdict": lambda: dp.audit(
            clipped_mean, pair(), claim=(0.1, 0.0), stop="verdict", **options
        ),
        "exact": lambda: dp.audit(mechanism, pair(), **options),
        "search": lambda: dp.search_neighbours(
            clipped_mean,
            DATA,
            relations=("zero-out", "replace"),
            candidates=DATA[ROW - 1 : ROW + 1],
            claim=(1.0, 1e-5),
            shortlist=4,
            draws=1000,
            rng=1,
            classifier="qda",
        ),
        "worst case": lambda: dp.exact.worst_case(mechanism, DATA, [1.0]),
        "law": lambda: mechanism.law(DATA),
        "zeroed rows": lambda: mechanism.zeroed_rows(DATA),
        "pair": pair,
        "statistics": lambda: dp.neighbours.row_statistics(DATA),
        "prepared": lambda: dp.sampling.block.both_sides(
            clipped_mean, (DATA, DATA), np.random.SeedSequence(1)
        ),
        "fit": lambda: dp.adapters.estimator(type("Model", (), {"fit": None}), DATA),
        "example": lambda: dp.laws.Gaussian(DATA[ROW], np.diag(DATA[ROW])),
    }


@cache
def result(kind):
    return results()[kind]()


@pytest.mark.parametrize("kind", one_in(2, results()))
def test_reprs_of_all_that_a_result_leads_to(kind):
    items = reachable(result(kind))
    assert items
    for item in items:
        assert planted_in(displayed(item)) == [], type(item)
        assert len(repr(item)) < 2500, type(item)


# log e-values, orders of a claim and sets of ε: none is computed from the data
PUBLIC = {
    "dpaudit.verdict.evidence.Sequential.log_e",
    "dpaudit.certify.sets.ChosenSet.epsilon",
    "dpaudit.curves.renyi.RenyiOrders.orders",
    "dpaudit.curves.renyi.RenyiOrders.values",
}


def own_dataclasses():
    """Every dataclass of the package, from the module that defines it."""
    names = [module.name for module in pkgutil.walk_packages(dp.__path__, "dpaudit.")]
    for name in names:
        for item in vars(importlib.import_module(name)).values() if "__main__" not in name else ():
            own = isinstance(item, type) and item.__module__ == name
            if own and dataclasses.is_dataclass(item):
                yield item


def test_a_class_with_arrays_does_not_print_them():
    """A dataclass would, unless it has `repr=False` or a `__repr__` of its own."""
    arrays = re.compile(r"\b(Array|ndarray|ArrayLike|Any)\b|tuple\[float, \.\.\.\]")
    printing = {
        f"{kind.__module__}.{kind.__qualname__}.{field.name}"
        for kind in own_dataclasses()
        if hasattr(kind.__dict__.get("__repr__"), "__wrapped__")  # made by `dataclass`
        for field in dataclasses.fields(kind)
        if field.repr and arrays.search(str(field.type)) and "Callable" not in str(field.type)
    }
    assert sorted(printing - PUBLIC) == []


def test_brief_words_for_other_peoples_objects():
    class Frame:
        shape, dtypes = DATA.shape, DATA.dtype

        def __repr__(self):
            return str(DATA)

    class Careless:
        def __repr__(self):
            return str(DATA[ROW])

    for one in (DATA, DATA[ROW], list(DATA[ROW]), {"row": DATA[ROW]}, Frame(), Careless()):
        assert planted_in(brief(one)) == [], type(one)
    assert brief(DATA, article=True) == "a (40, 4) float64 array"
    assert brief(Frame()) == "(40, 4) Frame"


# --- errors

BAD_INPUT = {
    "a list for a database": lambda: dp.NeighbourPair(DATA[ROW].tolist(), DATA),
    "an array for a pair": lambda: dp.audit(clipped_mean, DATA),
    "an array for a mechanism": lambda: dp.audit(DATA, pair()),
    "an array for a claim": lambda: dp.audit(clipped_mean, pair(), claim=DATA[ROW]),
    "an array for a seed": lambda: dp.audit(clipped_mean, pair(), rng=DATA),
    "a wrong relation": lambda: dp.NeighbourPair(DATA, DATA[:-1], "zero-out", ROW),
    "a row not zeroed": lambda: dp.NeighbourPair(DATA, DATA + np.eye(40, 4, -ROW), "zero-out", ROW),
    "other rows": lambda: dp.NeighbourPair(DATA, np.vstack([DATA[1:], DATA[:1]]), "replace", ROW),
    "a missing value": lambda: dp.neighbours.zero_row(DATA + np.diag([np.nan] * 40)[:, :4], 1),
    "a row of text": lambda: dp.neighbours.replace_row(DATA, ROW, [*map(str, PLANTED)]),
    "a short row": lambda: dp.neighbours.replace_row(DATA, ROW, DATA[ROW, :3]),
    "data in text": lambda: dp.neighbours.zero_row(str(DATA[ROW]), 0),
    "one column wanted": lambda: dp.mechanisms.textbook.TruncatedGeometric().law(DATA[ROW:, :1]),
    "a bound too small": lambda: dp.mechanisms.RPLS(
        rows=50, epsilon=1.0, delta=1e-6, row_bound=2.0
    ).law(DATA),
    "a database in a search": lambda: dp.search_neighbours(clipped_mean, DATA, candidates=DATA),
    "a function with the data": lambda: dp.adapters.one_draw(DATA),
}


@pytest.mark.parametrize("bad", BAD_INPUT)
def test_bad_input_is_refused_without_its_values(bad):
    with pytest.raises((dp.InvalidInput, TypeError)) as caught:
        BAD_INPUT[bad]()
    assert planted_in("".join(traceback.format_exception(caught.value))) == []


BAD_FILES = {
    "no header": "73417.234567,-8317.515625\n1,2\n",
    "names before values": "anna,73417.234567\n1,2\n",
    "another separator": "73417.234567;615243.75\n1;2\n",
    "a cell of text": "a,b\n1,-8317.515625;\n",
    "a number too many": "a,b\n1,2,73417.234567\n",
    "an open quote": 'a,b\n1,"73417.234567\n',
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_csv_file_is_refused_without_its_cells(kind, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(BAD_FILES[kind])
    with pytest.raises(dp.InvalidInput) as caught:
        dp.datasets.load(path, target="b")
    assert planted_in(str(caught.value)) == []


# --- what a mechanism raises


def raised_by(mechanism, **options):
    with pytest.raises(dp.MechanismError) as caught:
        dp.audit(mechanism, pair(), draws=600, claim=(1.0, 1e-5), rng=1, **options)
    return caught.value


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_an_error_of_a_mechanism_has_its_frames_and_no_data(backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        error = raised_by(failing)
    cause = error.__cause__
    assert type(cause).__name__ == "ValueError"
    assert isinstance(cause, ValueError)
    (note,) = cause.__notes__
    assert re.findall(r", in (\w+)", note) == ["failing", "shouts"]
    assert "\n    raise ValueError(" in note
    chain = traceback.TracebackException.from_exception(cause, capture_locals=True)
    text = "".join([*chain.format(), str(error), repr(error.args), repr(vars(error))])
    assert planted_in(text) == []
    assert "[…]" in text
    assert error.__context__ is None


def test_our_own_frames_are_not_shown():
    error = raised_by(failing)
    files = [Path(one.filename) for one in traceback.extract_tb(error.__traceback__)]
    assert [one.parent.name for one in files if "dpaudit" in one.parts[-3:]] == ["_core"]
    assert len(files) == 2  # this file, and the function that it called


def test_a_chain_of_errors_is_kept():
    def chained(data, size, *, rng):
        try:
            shouts(data)
        except ValueError as error:
            raise np.linalg.LinAlgError(f"near {data[ROW, 2]}") from error

    error = raised_by(chained)
    assert isinstance(error.__cause__, ValueError)
    assert type(error.__cause__).__name__ == "LinAlgError"
    assert type(error.__cause__.__cause__).__name__ == "ValueError"
    assert planted_in("".join(traceback.format_exception(error))) == []


def test_a_program_that_says_its_data():
    program = "import sys; sys.exit('row ' + open(sys.argv[1]).readlines()[5])"
    text = str(raised_by(dp.adapters.command(["{python}", "-c", program, "{data}"]), n_jobs=1))
    assert "exit status 1; it said: row" in text
    assert planted_in(text) == []


def test_a_search_notes_failures_without_values():
    def fails_on_some(data, size, *, rng):
        fine = data[ROW, 0] == 0.0 or np.array_equal(data, DATA)
        return clipped_mean(data, size, rng=rng) if fine else shouts(data)

    result = dp.search_neighbours(
        fails_on_some, DATA, shortlist=4, draws=1000, rng=1, classifier="qda"
    )
    text = json.dumps(result.selection.to_dict())
    assert "ValueError" in text
    assert planted_in(text) == []


def test_a_crash_is_reported_with_all_frames_and_no_data():
    try:
        failing(DATA, 2, rng=None)
    except ValueError as error:
        text = report(error)
    assert "in failing" in text
    assert "in test_a_crash" in text
    assert "ValueError: row […] has …" in text
    assert planted_in(text) == []


def test_redacted_text():
    assert redacted("at [1. 2.]\n [3.]", DATA) == "at […]"
    assert redacted("array([[7, 8], [9, 1]])", DATA) == "array([…])"
    assert redacted("data[3] of [x] in 12 rows", DATA) == "data[…] of [x] in 12 rows"
    assert redacted("73417.2 or 7.34172e4 or 8317.5", DATA) == "… or … or …"
    short = f"{DATA[0, 0]:g}"
    assert len(short) == 4
    assert redacted(f"{short} or 0.5 or 9.9", DATA) == "… or 0.5 or 9.9"
    assert redacted("73417.9 of 40", DATA) == "73417.9 of 40"
    assert redacted("73417.9 of 40") == "… of 40"
    whole = [[8123.4567, 123.46, 5555.0]]
    assert redacted("$8,123.46, 8_123.4567, 5,123.46, id8123.46e", whole) == "$…, …, 5,…, id…e"
    assert redacted("float64 x86_64 of 1,024", whole) == "float64 x86_64 of 1,024"
    assert redacted(f"{(8123.4567).hex()} in python3.11") == "… in python3.11"


def test_exceptions_of_any_type():
    kinds = [
        OSError(2, "none"),
        SyntaxError("x"),
        UnicodeDecodeError("utf-8", b"7", 0, 1, "bad"),
        ExceptionGroup("several", [ValueError("a")]),
        KeyError("k"),
        type("Own", (Exception,), {"__init__": lambda self, a, b: None})(1, 2),
    ]
    for one in kinds:
        made = Raised.of(one).exception()
        assert type(made).__name__ == type(one).__name__
        assert str(made) == str(one)
        assert traceback.format_exception(made)


# --- logs


def test_warnings_of_an_estimator_are_logged_without_values(caplog):
    class Warns:
        def fit(self, X, y):
            warnings.warn(f"no convergence near {X[ROW]} and {y[ROW]}", stacklevel=2)
            self.coef_ = np.zeros(2)
            return self

    with caplog.at_level(logging.DEBUG):
        dp.adapters.estimator(Warns)(DATA, 2, rng=1)
    assert "no convergence near" in caplog.text
    assert planted_in(caplog.text) == []


# --- a run, and its files

RUN = {
    "search": 'rule = "search"\nrelations = ["zero-out", "replace"]\n'
    'candidates = "rows.csv"\nshortlist = 4',
    "row": f'rule = "row"\nindex = {ROW}',
}
MECHANISM = """
import numpy as np

def release(data, size, *, rng):
    mean = np.clip(data, -1.0, 1.0).mean(axis=0)
    return mean + rng.laplace(scale=0.02, size=(size, data.shape[1]))

def fails(data, size, *, rng):
    raise ValueError(f"bad row {data[5]}: {data[5, 0]:.6g}")
"""


@pytest.fixture
def scenario(tmp_path, monkeypatch):
    """write(neighbour, call) → the path of a scenario on the planted rows."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("rows.csv", DATA, delimiter=",", header="a,b,c,y", comments="", fmt="%.10g")
    Path("release_private.py").write_text(MECHANISM)

    def write(neighbour, call="release"):
        path = tmp_path / f"{neighbour}_{call}.toml"
        path.write_text(
            f'[data]\npath = "rows.csv"\n[mechanism]\ncall = "release_private:{call}"\n'
            f"[neighbour]\n{RUN[neighbour]}\n[claim]\nepsilon = 0.5\ndelta = 1e-5\n"
            '[audit]\ndraws = 1000\nclassifier = "qda"\nseed = 1\n'
        )
        return path

    return write


def texts(folder):
    """The files of a folder as text, by name; pictures are left out."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in (".json", ".html", ".csv", ".xml", ".svg", ".toml")
    }


def without_pictures(text):
    return re.sub(r"base64,[A-Za-z0-9+/=]+", "", text)


@pytest.mark.usefixtures("undrawn")
def test_all_files_of_a_run(scenario, capsys, tmp_path):
    paths = [str(scenario("search")), str(scenario("row", "fails"))]
    out = tmp_path / "out"
    status = main(["run", *paths, "--out", str(out), "--junit", str(out / "junit.xml")])
    assert status == 2
    printed = capsys.readouterr()
    found = {**texts(out), "stdout": printed.out, "stderr": printed.err}
    assert {"index.html", "junit.xml", "search_release/search.csv"} <= set(found)
    assert "ValueError: bad row […]" in found["stderr"]
    for name, text in found.items():
        assert planted_in(without_pictures(text)) == [], name
