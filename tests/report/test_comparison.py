"""Two results side by side: what moved, the figure, and what is no result of draws."""

import json

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli import main
from dpaudit.report import compare

PAIR = dp.neighbours.replace_row(np.array([[0.0], [1.0]]), 0, [1.0])


def audited(scale, seed=0):
    def noisy_sum(data, size, *, rng):
        return data.sum() + rng.laplace(scale=scale, size=(size, 1))

    return dp.audit(noisy_sum, PAIR, claim=(1.0, 0.0), draws=500, rng=seed)


@pytest.fixture(scope="module")
def results():
    return audited(1.0), audited(0.4)


def test_less_noise_moves_the_verdict_and_the_curve(results):
    found = compare(*results, names=("1.0", "1.1"))
    assert [str(one).partition("(")[0] for one in found.moved] == [
        "verdict: not violated, now violated",
        f"certified ε at δ = 0: {results[0].headline.certified_text}, "
        f"now {results[1].headline.certified_text}",
        "certified δ",
    ]
    assert found.moved[-1].what == "certified δ(1)"  # at the claim's own ε
    assert str(found).startswith("1.0: not violated. Claimed ε = 1 at δ = 0.")
    assert repr(found) == "Comparison('1.0', '1.1': 3 moved)"
    axes = found.plot()
    assert axes.get_title().startswith("δ(")
    labels = axes.get_legend_handles_labels()[1]
    assert "1.0: estimate" in labels
    assert "claim (1, 0)-DP" in labels


def test_two_seeds_of_one_mechanism_do_not_move(results):
    found = compare(results[0], audited(1.0, seed=1))
    assert str(found).endswith("Nothing moved beyond its uncertainty.")
    assert found.plot().get_title() == ""


def test_a_figure_is_png_or_svg_and_the_same_bytes_again(results, tmp_path):
    found = compare(*results)
    first, second = (found.save(tmp_path / name) for name in ("a.png", "b.png"))
    assert first.read_bytes() == second.read_bytes()
    assert found.save(tmp_path / "a.svg").read_bytes().startswith(b"<?xml")
    with pytest.raises(dp.InvalidInput, match=r"path must be a file that ends in \.png or \.svg"):
        found.save(tmp_path / "a.pdf")


def test_folders_are_compared_on_the_command_line(results, tmp_path, capsys, no_figures):
    for name, result in zip(("old", "new"), results, strict=True):
        result.save(tmp_path / name)
    folders = [str(tmp_path / name) for name in ("old", "new")]
    assert main(["compare", *folders, "--names", "1.0,1.1", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["names"] == ["1.0", "1.1"]
    assert content["verdicts"] == ["not violated", "violated"]
    assert main(["compare", *(f"{folder}/result.json" for folder in folders)]) == 0
    assert "old: not violated." in capsys.readouterr().out
    assert main(["compare", *folders, "--names", "one"]) == 2
    assert "--names must be two names" in capsys.readouterr().err


def test_hostile_names_stay_text_in_a_notebook(results):
    shown = compare(*results, names=("<script>", "b"))._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_one_run_has_no_curve(results):
    scores = np.linspace(-1.0, 1.0, 40)
    other = dp.audit_one_run(scores, (scores > 0).astype(int), claim=(1.0, 1e-5))
    with pytest.raises(dp.InvalidInput, match="second must be a result of an audit by draws"):
        compare(results[0], other)


def test_what_is_no_result_is_named(results):
    with pytest.raises(dp.InvalidInput, match="second must be a result, or the folder of one"):
        compare(results[0], None)


def test_of_grids_that_differ_it_is_said(results):
    other = dp.audit(
        lambda data, size, *, rng: data.sum() + rng.laplace(size=(size, 1)),
        PAIR,
        claim=(1.0, 0.0),
        draws=500,
        epsilon=[0.0, 0.33],
        rng=0,
    )
    assert "grid of ε" in [one.what for one in compare(results[0], other).moved]
