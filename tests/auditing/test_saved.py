"""A result that is read from its folder: the same words, curves, figure and bytes."""

import copy
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import dpaudit as dp
from tests.cases import database, shifted

PAIR = dp.neighbours.zero_row(database(), 0)
GRID = [0.0, 0.5, 1.0, 2.0]
ONLY_FRESH = (
    *("certified", "estimate", "settings", "sizes", "fitted", "subject", "sequential"),
    *("evidence", "ledger", "trial"),
)
OLDEST = (  # keys of every record; a key that was added later may be missing from an old one
    *("level", "verdict", "reason", "headline", "epsilon", "empirical", "exact", "claim"),
    *("detectable", "classifier", "timings", "peak_memory_mb", "schema_version"),
)


def audit(claim=None, mechanism=None, **changes):
    mechanism = shifted(1.0) if mechanism is None else mechanism
    given = {"epsilon": GRID, "draws": 200, "classifier": "qda", "rng": 5, **changes}
    return dp.audit(mechanism, PAIR, claim=claim, **given)


def again(result):
    """The result as its result.json has it."""
    return dp.AuditResult.of(json.loads(json.dumps(result.to_dict())))


@pytest.fixture(scope="module")
def known():
    """A result with an exact spectrum and a claim, and its folder's twin."""
    return audit((1.0, 0.01), dp.mechanisms.ALS(12))


@pytest.mark.usefixtures("undrawn")
def test_a_result_comes_back_from_its_folder(known, tmp_path):
    loaded = dp.AuditResult.load(known.save(tmp_path / "one"))
    assert loaded.to_dict() == json.loads((tmp_path / "one/result.json").read_text())
    loaded.save(tmp_path / "two")
    for name in ("result.json", "report.html"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_it_says_and_shows_the_same(known):
    loaded = again(known)
    for name in ("verdict", "reason", "headline", "detectable", "timings", "peak_memory_mb"):
        assert getattr(loaded, name) == getattr(known, name)
    assert loaded.claim == known.claim
    for curve in ("spectrum", "exact"):
        one, other = getattr(loaded, curve), getattr(known, curve)
        for name in ("epsilon", "delta", "forward", "backward", "low", "level", "law"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(loaded.exact.asymptotic, known.exact.asymptotic)
    assert loaded.headline.text in repr(loaded)
    assert loaded.headline.text in loaded._repr_html_().replace("\N{NO-BREAK SPACE}", " ")
    assert copy.deepcopy(loaded).to_dict() == known.to_dict()


@pytest.mark.parametrize(
    "claim",
    [
        dp.Claim(0.123456789, 1.23456789e-5),
        dp.Claim.gdp(1.23456789),
        dp.Claim.zcdp(0.123456789),
    ],
    ids=lambda claim: claim.text,
)
def test_a_claim_with_a_parameter_is_made_again(claim):
    loaded = again(audit(claim)).claim
    assert loaded.text == claim.text
    other = np.linspace(0.0, 3.0, 7)
    np.testing.assert_array_equal(loaded.delta_at(other), claim.delta_at(other))


@pytest.mark.parametrize(
    "claim",
    [dp.Claim.tcdp(0.1, 5.0), dp.Claim.from_function(lambda epsilon: 0.1, "flat")],
    ids=lambda claim: claim.text,
)
def test_of_another_claim_the_grid_is_known_and_the_rest_refused(claim):
    loaded = again(audit(claim)).claim
    assert loaded.text == claim.text
    np.testing.assert_array_equal(loaded.delta_at(GRID), claim.delta_at(GRID))
    for ask in (lambda: loaded.delta_at(0.7), lambda: loaded.epsilon_at(0.05)):
        with pytest.raises(dp.InvalidInput, match="at the ε of its grid alone"):
            ask()


@pytest.mark.usefixtures("undrawn")
def test_a_record_without_later_keys_is_read_and_drawn(known, tmp_path):
    content = known.to_dict()
    old = dp.AuditResult.of({key: content[key] for key in OLDEST})
    assert old.headline == known.headline
    np.testing.assert_array_equal(old.spectrum.delta, known.spectrum.delta)
    assert dp.AuditResult.load(old.save(tmp_path)).verdict == known.verdict


def test_infinite_values_come_back():
    content = audit().to_dict()
    content["headline"]["certified"] = "inf"
    loaded = dp.AuditResult.of(content)
    assert loaded.headline.certified == np.inf
    assert loaded.claim is None
    assert loaded.exact is None


@pytest.fixture
def as_pandas(monkeypatch):
    """Where pandas may be missing: a frame is the mapping that it would be made of."""
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))


@pytest.mark.parametrize("name", ONLY_FRESH)
def test_what_is_not_kept_is_refused_with_what_is(known, name):
    assert hasattr(known, name)
    with pytest.raises(AttributeError, match=rf"{name} is not kept in result.json; .*to_dict\(\)"):
        getattr(again(known), name)


def test_everything_else_is_on_both(known):
    loaded = again(known)
    public = {name for name in dir(known) if not name.startswith("_")}
    assert {name for name in public if not hasattr(loaded, name)} == set(ONLY_FRESH)
    with pytest.raises(AttributeError, match="no attribute 'verdicts'"):
        _ = again(known).verdicts


def test_a_folder_without_a_result_is_refused(tmp_path):
    with pytest.raises(dp.InvalidInput, match="no such file"):
        dp.AuditResult.load(tmp_path)


@pytest.mark.parametrize("key", ["verdict", "empirical", "claim", "exact", "timings"])
def test_a_file_with_a_part_missing_is_refused(known, tmp_path, key):
    content = known.to_dict()
    del content[key]
    (tmp_path / "result.json").write_text(json.dumps(content))
    with pytest.raises(dp.InvalidInput, match=rf"^{key}[. ].*must be|result\.json must be as"):
        dp.AuditResult.load(tmp_path)


def test_both_plot_the_same_curves(known):
    from matplotlib.figure import Figure

    ours, theirs = (Figure().add_subplot() for _ in range(2))
    assert known.plot(ours) is ours
    assert again(known).plot(theirs) is theirs
    lines = [
        [(line.get_label(), line.get_xydata().tolist()) for line in ax.lines]
        for ax in (ours, theirs)
    ]
    assert lines[0] == lines[1]
    assert any(label.startswith("certified") for label, _ in lines[0])
    assert ours.get_xlabel() == "ε (nats)"


def test_without_axes_pyplot_has_the_figure(known):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    ax = known.plot()
    assert ax.figure.number in pyplot.get_fignums()
    pyplot.close(ax.figure)


@pytest.mark.usefixtures("as_pandas")
def test_the_columns_of_the_table(known):
    table = known.to_frame()
    assert list(table)[:5] == ["epsilon", "estimate", "certified", "exact", "claim"]
    assert table["epsilon"].tolist() == known.spectrum.epsilon.tolist()
    assert table["estimate"].tolist() == known.spectrum.delta.tolist()
    assert table["certified"].tolist() == known.spectrum.low.tolist()
    assert table["certified_backward"].tolist() == known.estimate.backward.low.tolist()
    assert table["exact"].tolist() == known.exact.delta.tolist()
    assert table["exact_forward"].tolist() == known.exact.forward.tolist()
    assert table["claim"].tolist() == known.claim.delta_at(GRID).tolist()


@pytest.mark.usefixtures("as_pandas")
def test_a_table_has_nan_where_nothing_is_known():
    table = audit().to_frame()
    assert all(np.isnan(table[name]).all() for name in ("exact", "exact_backward", "claim"))
    assert not np.isnan(table["certified"]).any()


def test_without_pandas_the_error_says_how_to_get_it(known, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"to_frame\(\) needs pandas: pip install pandas"):
        known.to_frame()
