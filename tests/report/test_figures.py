"""What the figures show: curves, labels, legends, limits."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from dpaudit.report import plot_spectrum, plot_tradeoff, read_curves, spectrum_figure
from dpaudit.report.figures import as_png, as_svg, tradeoff_figure
from tests.report.examples import gaussian_shift, make_result

ALL = ["exact: Student t, finite r", "asymptotic law", "claim: (1, 0.05)-DP", "point estimate"]
CERTIFIED = "certified lower bound, 95\u00a0%, all ε at once"


def legend_of(holder) -> list[str]:
    legend = holder.legends[0] if isinstance(holder, Figure) else holder.get_legend()
    return [text.get_text() for text in legend.get_texts()]


def test_importing_the_room_does_not_load_matplotlib():
    code = "import sys, dpaudit.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_spectrum_has_units_and_every_curve_in_its_legend(result):
    ax = plot_spectrum(read_curves(result))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ε (nats)", "δ(ε)")
    assert legend_of(ax) == [*ALL, CERTIFIED, "ruled out: the true δ(ε) is above"]


def test_curves_differ_in_more_than_colour(result):
    lines = {line.get_label(): line for line in plot_spectrum(read_curves(result)).lines}
    looks = [(lines[name]._dash_pattern[1], lines[name].get_marker()) for name in ALL]
    looks = [(tuple(dash or ()), marker) for dash, marker in looks]
    assert len(set(looks)) == len(ALL)
    assert len({to_hex(line.get_color()) for line in lines.values()}) == 4


def test_axes_are_drawn_on_and_returned(result):
    ax = Figure().subplots()
    assert plot_spectrum(read_curves(result), ax) is ax
    ax = Figure().subplots()
    assert plot_tradeoff(read_curves(result), ax) is ax


def test_figure_has_a_linear_and_a_log_panel_and_one_legend(result):
    for stacked in (False, True):
        figure = spectrum_figure(read_curves(result), stacked=stacked)
        assert [ax.get_yscale() for ax in figure.axes] == ["linear", "log"]
        assert len(legend_of(figure)) == 6
        assert not any(ax.get_legend() for ax in figure.axes)


def test_legends_are_outside_the_axes(result):
    for figure in (
        spectrum_figure(read_curves(result)),
        spectrum_figure(read_curves(result), stacked=True),
        tradeoff_figure(read_curves(result)),
    ):
        figure.draw_without_rendering()
        legend = (figure.legends or [figure.axes[0].get_legend()])[0].get_window_extent()
        assert all(legend.y1 < ax.get_window_extent().y0 for ax in figure.axes)
        assert 0 <= legend.x0 < legend.x1 <= figure.bbox.width
        assert legend.y0 >= 0


def test_log_axis_ends_at_the_decade_of_one_draw_or_below_what_there_is_to_see():
    assert plot_spectrum(read_curves(make_result(test=30_000)), log=True).get_ylim()[
        0
    ] == pytest.approx(1e-5)
    small = make_result(test=1000)
    tiny = [1e-9] * 41
    small |= {"exact": None, "claim": None, "empirical": {"delta": tiny, "low": tiny}}
    assert plot_spectrum(read_curves(small), log=True).get_ylim()[0] == pytest.approx(1e-10)


def test_a_claim_far_above_does_not_flatten_what_was_measured():
    far = make_result(c=0.15)
    assert plot_spectrum(read_curves(far)).get_ylim()[1] < 0.1
    assert plot_spectrum(read_curves(far), log=True).get_ylim()[1] > 1


@pytest.mark.parametrize("log", [False, True])
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


def test_the_band_does_not_stretch_the_axis_beyond_the_grid(result):
    result["empirical"]["low"] = [0.999] * 41
    assert plot_spectrum(read_curves(result)).get_xlim()[1] == pytest.approx(1.03 * 4.0)


def test_tradeoff_says_on_which_side_the_truth_is(result):
    ax = plot_tradeoff(read_curves(result))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("type I error α", "type II error β")
    assert "certified at 95\u00a0%: the true curve is on or below" in legend_of(ax)
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert np.all(lines["exact"] <= lines["certified at 95\u00a0%: the true curve is on or below"])


def test_names_are_drawn_as_they_are_and_never_as_formulas(result):
    result["claim"]["text"] = r"$\frac{x 50\% of $"
    result["mechanism"]["name"] = "$\\undefined$ 差分\n隐私"
    assert legend_of(plot_spectrum(read_curves(result)))[2] == r"claim: $\frac{x 50\% of $"
    for figure in (spectrum_figure(read_curves(result)), tradeoff_figure(read_curves(result))):
        assert as_svg(figure).startswith(b"<?xml")


def test_samples_alone_have_three_entries(samples_result):
    assert legend_of(plot_spectrum(read_curves(samples_result))) == [
        "point estimate",
        CERTIFIED,
        "ruled out: the true δ(ε) is above",
    ]
