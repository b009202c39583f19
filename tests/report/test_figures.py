"""What the figures show: curves, labels, legends, limits."""

import re

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.stats import norm

from dpaudit.curves import grid_tradeoff
from dpaudit.report import plot_spectrum, plot_tradeoff, read_curves, spectrum_figure
from dpaudit.report.figures import (
    implied_corners,
    is_close,
    key_figure,
    panel_figure,
    tradeoff_above,
    tradeoff_figure,
)
from dpaudit.report.style import as_png, as_svg
from tests.report.examples import gaussian_shift, make_result
from tests.sparse import one_in

ALL = [
    "exact: Student t, finite r",
    "asymptotic law",
    "claim: (1, 0.05)-DP",
    "point estimate, no bound",
]
CERTIFIED = "certified lower bound, 95\u00a0%, all ε at once"


def legend_of(holder) -> list[str]:
    legend = holder.legends[0] if isinstance(holder, Figure) else holder.get_legend()
    return [text.get_text() for text in legend.get_texts()]


def test_spectrum_has_units_and_every_curve_in_its_legend(result):
    ax = plot_spectrum(read_curves(result))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ε (nats)", "δ(ε)")
    marks = legend_of(ax)[6:]
    assert legend_of(ax)[:6] == [*ALL, CERTIFIED, "ruled out: the true δ(ε) is above"]
    assert marks[0] == "violation: certified above the claim"
    assert re.fullmatch(r"from ε = 1 to certified ε ≥ 1\.\d at δ = 0\.05", marks[1])


def test_curves_differ_in_more_than_colour(result):
    lines = {line.get_label(): line for line in plot_spectrum(read_curves(result)).lines}
    looks = [(lines[name]._dash_pattern[1], lines[name].get_marker()) for name in ALL]
    looks = [(tuple(dash or ()), marker) for dash, marker in looks]
    assert len(set(looks)) == len(ALL)
    assert len({to_hex(line.get_color()) for line in lines.values()}) == 4


def test_figure_has_a_linear_and_a_log_panel_and_one_legend(result):
    figure = spectrum_figure(read_curves(result))
    assert [ax.get_yscale() for ax in figure.axes] == ["linear", "log"]
    assert len(legend_of(figure)) == 8
    assert not any(ax.get_legend() for ax in figure.axes)
    assert legend_of(key_figure(read_curves(result))) == legend_of(figure)


def test_legends_are_outside_the_axes(result):
    for figure in (
        spectrum_figure(read_curves(result)),
        tradeoff_figure(read_curves(result)),
    ):
        figure.draw_without_rendering()
        legend = (figure.legends or [figure.axes[0].get_legend()])[0].get_window_extent()
        assert all(legend.y1 < ax.get_window_extent().y0 for ax in figure.axes)
        assert 0 <= legend.x0 < legend.x1 <= figure.bbox.width
        assert legend.y0 >= 0


def boxes_of(texts):
    return [text.get_window_extent() for text in texts if text.get_text()]


@pytest.mark.parametrize("scale", [1.0, 0.02, 1e-6])
def test_no_text_is_cut(result, scale):
    """Ticks such as 0.0002 are wider than 0.2, and a power of ten stands above its axis."""
    for part, name in (("empirical", "delta"), ("empirical", "low"), ("exact", "delta")):
        result[part][name] = [scale * value for value in result[part][name]]
    result["claim"]["delta"] = [0.5 * scale] * len(result["epsilon"])
    result["headline"] |= {"delta": 1.234e-5, "claimed": 0.01234, "certified": 0.023456}
    curves = read_curves(result)
    assert curves.headline.excess_shown
    for figure in (
        spectrum_figure(curves),
        panel_figure(curves, log=False),
        panel_figure(curves, log=True),
        key_figure(curves),
        tradeoff_figure(curves),
    ):
        figure.draw_without_rendering()
        for ax in figure.axes:
            for place in (ax.xaxis, ax.yaxis):
                box = place.get_tightbbox()
                assert 0 <= box.x0 < box.x1 <= figure.bbox.width
                assert 0 <= box.y0 < box.y1 <= figure.bbox.height
        titles = [ax.title for ax in figure.axes]
        for one in figure.texts:
            assert not any(map(one.get_window_extent().overlaps, boxes_of(titles)))
        keys = [key for one in figure.legends for key in one.get_texts()]
        for box in boxes_of([*keys, *titles, *figure.texts]):
            assert 0 <= box.x0 < box.x1 <= figure.bbox.width
            assert 0 <= box.y0 < box.y1 <= figure.bbox.height


def test_log_axis_ends_at_the_decade_of_one_draw_or_below_what_there_is_to_see():
    assert plot_spectrum(read_curves(make_result(test=30_000)), log=True).get_ylim()[
        0
    ] == pytest.approx(1e-5)
    small = make_result(test=1000)
    tiny = [1e-9] * 41
    small |= {"exact": None, "claim": None, "empirical": {"delta": tiny, "low": tiny}}
    assert plot_spectrum(read_curves(small), log=True).get_ylim()[0] == pytest.approx(1e-10)


@pytest.mark.parametrize("log", one_in(2, [True, False]))
def test_curves_of_zeros_leave_a_usable_figure(result, log):
    zeros = [0.0] * 41
    result |= {"exact": None, "claim": None, "empirical": {"delta": zeros, "low": zeros}}
    ax = plot_spectrum(read_curves(result), log=log)
    low, high = ax.get_ylim()
    assert np.isfinite([low, high]).all()
    assert low < high
    assert [text.get_text() for text in ax.texts] == ["every value is zero"] * log
    as_png(spectrum_figure(read_curves(result)))


def test_a_single_epsilon_is_visible(result):
    values = gaussian_shift(1.0, np.array([1.0])).tolist()
    result |= {
        "epsilon": [1.0],
        "empirical": {"delta": values, "low": values},
        "exact": {"delta": values},
    }
    result["claim"] = {"text": "", "delta": [0.05], "epsilon": 1.0}
    ax = plot_spectrum(read_curves(result))
    assert all(line.get_marker() != "None" for line in ax.lines if line.get_label() != CERTIFIED)
    as_png(spectrum_figure(read_curves(result)))


def test_tradeoff_says_on_which_side_the_truth_is(result):
    ax = plot_tradeoff(read_curves(result))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("type I error α", "type II error β")
    assert "certified at 95\u00a0%: the true curve is on or below" in legend_of(ax)
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert np.all(lines["exact"] <= lines["certified at 95\u00a0%: the true curve is on or below"])


def test_a_violation_is_marked_from_the_claimed_to_the_certified_epsilon(result):
    certified = result["headline"]["certified"]
    for log in (False, True):
        figure = panel_figure(read_curves(result), log=log)
        (ax,) = figure.axes
        (arrow,) = [line for line in ax.lines if line.get_label().startswith("from ε = 1")]
        np.testing.assert_allclose(arrow.get_xydata(), [[1.0, 0.05], [certified, 0.05]])
        assert ax.get_title() == f"claimed ε = 1, certified ε ≥ {certified:g} at δ = 0.05"
        figure.draw_without_rendering()
        title, panel = ax.title.get_window_extent(), ax.get_window_extent()
        assert title.y0 > panel.y1
        assert 0 <= title.x0 < title.x1 <= figure.bbox.width


def test_the_certified_parameter_beyond_the_grid_ends_the_arrow_there(result):
    result["headline"]["certified"] = "inf"
    ax = plot_spectrum(read_curves(result))
    assert ax.lines[-1].get_xdata()[-1] == 4.0
    assert ax.get_title().endswith("certified ε ≥ ∞ at δ = 0.05")


def test_an_enlarged_part_covers_no_curve():
    """Curves near the diagonal are enlarged in a corner that is free."""
    curves = read_curves(make_result(c=0.15, claimed=0.0, test=10**6))
    assert is_close(curves)
    ax = plot_tradeoff(curves)
    ax.figure.draw_without_rendering()
    (inset,) = ax.child_axes
    frame = inset.get_window_extent()
    drawn = [line for line in ax.lines if line.get_visible()]
    assert drawn
    for line in drawn:
        points = ax.transData.transform(line.get_xydata())
        assert not [point for point in points if frame.contains(*point)], line.get_label()
    assert len(inset.lines) >= 4


def test_names_are_drawn_as_they_are_and_never_as_formulas(result):
    result["claim"]["text"] = r"$\frac{x 50\% of $"
    result["mechanism"]["name"] = "$\\undefined$ 差分\n隐私"
    assert legend_of(plot_spectrum(read_curves(result)))[2] == r"claim: $\frac{x 50\% of $"
    for figure in (spectrum_figure(read_curves(result)), tradeoff_figure(read_curves(result))):
        assert as_svg(figure).startswith(b"<?xml")


@pytest.mark.parametrize("log", [False, True])
def test_the_interval_of_the_estimate_is_drawn_at_a_few_epsilon(result, log):
    low, high = 0.8 * gaussian_shift(1.0), 1.2 * gaussian_shift(1.0)
    low[-1] = 0.0
    result["empirical"]["interval"] = [low.tolist(), high.tolist()]
    ax = plot_spectrum(read_curves(result), log=log)
    (bars,) = [one for one in ax.collections if str(one.get_label()).startswith("interval")]
    ends = [segment[:, 1] for segment in bars.get_segments()]
    assert 2 <= len(ends) <= 11
    assert ends[0] == pytest.approx([low[0], high[0]])
    assert 0.0 <= ends[-1][0] < 1e-200
    assert ends[-1][1] == pytest.approx(high[-1])


# Trade-off curves are upper or lower bounds of the truth, as their names say.

ALPHA = np.linspace(0.0, 1.0, 201)
GRIDS = [
    np.array([1.0]),
    np.array([0.0, 0.5, 1.0, 2.0]),
    np.array([0.3, 3.0]),
    np.linspace(0.0, 8.0, 400),
]


def gaussian_tradeoff(mu: float) -> np.ndarray:
    """G_μ(α) = Φ(Φ⁻¹(1 − α) − μ)."""
    return norm.cdf(norm.ppf(1 - ALPHA) - mu)


@pytest.mark.quick
@pytest.mark.parametrize("mu", [0.1, 4.0])
@pytest.mark.parametrize("grid", GRIDS, ids=len)
def test_the_truth_lies_between_tangents_and_corners(grid, mu):
    delta = gaussian_shift(mu, grid)
    assert np.all(grid_tradeoff(grid, delta, ALPHA) <= gaussian_tradeoff(mu) + 1e-12)
    assert np.all(tradeoff_above(grid, delta, ALPHA) >= gaussian_tradeoff(mu) - 1e-12)


@pytest.mark.quick
@pytest.mark.parametrize("mu", [0.1, 4.0])
@pytest.mark.parametrize("grid", GRIDS, ids=len)
def test_what_the_grid_implies_is_below_delta_at_every_epsilon(grid, mu):
    at, low = implied_corners(grid, gaussian_shift(mu, grid))
    fine = np.linspace(0.0, grid[-1] + 1, 2001)
    assert np.all(np.diff(at) >= 0)
    assert np.all(np.interp(fine, at, low, right=0.0) <= gaussian_shift(mu, fine) + 1e-12)
    np.testing.assert_allclose(np.interp(grid, at, low), gaussian_shift(mu, grid), atol=1e-12)


def test_a_bound_that_rises_holds_at_every_smaller_epsilon():
    grid = np.array([0.0, 1.0])
    rising, level = (tradeoff_above(grid, np.array(low), ALPHA) for low in ([0.1, 0.2], [0.2, 0.2]))
    np.testing.assert_array_equal(rising, level)
