"""The search from end to end: what it finds, what it costs, and that the final draws are fresh."""

import json

import numpy as np
import pytest
from joblib import parallel_config

import dpaudit as dp
from dpaudit import search

OPTIONS = {"draws": 2e3, "shortlist": 8, "rng": 7}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(11)
    x = np.column_stack([np.ones(60), rng.normal(size=(60, 2))])
    table = np.column_stack([x, x @ [1.0, 2.0, -1.0] + rng.normal(size=60)])
    table[23, 1:] = [4.0, -4.0, -9.0]
    return table


def blind(mechanism):
    def release(data, size, *, rng):
        return mechanism(data, size, rng=rng)

    return release


@pytest.mark.parametrize(
    "mechanism",
    [
        dp.mechanisms.ALS(rows=60),
        dp.mechanisms.RandomProjection(rows=20, release="gram"),
    ],
    ids=["als", "projection"],
)
def test_the_row_that_theory_names_is_found(mechanism, data):
    selection = search.select(blind(mechanism), data, at=0.2, **OPTIONS)
    worst = dp.exact.worst_case(mechanism, data, 0.2)
    assert selection.best.change.index == int(worst.index) == 23
    assert abs(selection.best.delta - float(worst.delta)) < 5.0 * selection.best.error + 0.05


def test_a_search_is_paid_for_by_fresh_draws(data):
    """The final audit draws what no part of the search has drawn, and is an audit of its own."""
    seen, mechanism = [], dp.mechanisms.GaussianLS(sigma=1.0)

    def watched(data, size, *, rng):
        key = rng.bit_generator.seed_seq.spawn_key
        # a trial (7) and further draws (6), beside the audit, are no part of it
        if key[0] not in (6, 7):
            seen.append((key, size))
        return mechanism(data, size, rng=rng)

    result = dp.search_neighbours(watched, data, claim=(0.2, 0.01), **OPTIONS)
    keys = [key for key, _ in seen]
    searched = [key for key in keys if key[0] == 4]
    audited = [key for key in keys if key[0] != 4]
    assert len(set(audited)) == len(audited)
    assert not set(searched) & set(audited)
    assert keys.index(audited[0]) > max(number for number, key in enumerate(keys) if key[0] == 4)
    assert sum(size for _, size in seen) == result.draws
    assert sum(size for key, size in seen if key[0] == 4) == result.selection.draws
    alone = dp.audit(watched, result.pair, draws=2000, claim=(0.2, 0.01), rng=7)
    np.testing.assert_array_equal(alone.spectrum.low, result.audit.spectrum.low)
    assert result.audit.exact is None
    assert result.audit.to_dict()["neighbour"]["rule"] == result.selection.rule
    assert result.selection.epsilon == 0.2  # the claim's own


def test_no_more_draws_than_the_budget(data):
    budget = 3.5
    mechanism = blind(dp.mechanisms.GaussianLS(sigma=1.0))
    selection = search.select(mechanism, data, budget=budget, draws=4000, rng=1)
    assert 0.5 * min(budget - 1.0, 3.0) * 8000 < selection.draws <= (budget - 1.0) * 8000


def test_workers_change_nothing(data):
    mechanism = blind(dp.mechanisms.ALS(rows=40))
    one, two = (search.select(mechanism, data, n_jobs=jobs, **OPTIONS) for jobs in (1, 2))
    assert one.to_dict() == two.to_dict()
    with parallel_config(backend="multiprocessing", n_jobs=2):  # yields no results one by one
        assert search.select(mechanism, data, **OPTIONS).to_dict() == one.to_dict()
    other = search.select(mechanism, data, **{**OPTIONS, "rng": 8})
    assert other.to_dict() != one.to_dict()


def test_draws_of_a_slow_mechanism_are_reported_while_it_draws(data, monkeypatch):
    monkeypatch.setattr("dpaudit._core.ticks.EVERY", 0.0)
    steps, options = [], {"draws": 200, "rng": 0, "claim": (1.0, 0.1)}
    search.search_neighbours(
        lambda data, rng: data.sum() + rng.normal(),
        data,
        budget=3.0,
        progress=lambda *step: steps.append(step),
        **options,
    )
    for name, wanted in (("drawing M(D) for the search", 200), ("drawing M(D) and M(D')", 200)):
        done = [done for step, done, all_ in steps if step == name and all_ == wanted]
        assert len(done) > 100
        assert done == sorted(done)
    done = [done for step, done, _ in steps if step.startswith("searching")]
    assert len(set(done)) > 200


def mean(data, size, *, rng):
    """The mean of all numbers with a little noise."""
    return data.sum() / 50.0 + 0.1 * rng.standard_normal((size, 1))


def test_outliers_are_found_inside_a_public_bound(data):
    """Of all rows of norm at most 6 the one along (1, 1, 1, 1) moves a sum most: by 12."""
    selection = search.select(mean, data, relations=["add"], row_bound=6.0, **OPTIONS)
    row = selection.best.change.row
    assert selection.best.change.index is None
    assert np.linalg.norm(row) == pytest.approx(6.0)
    assert abs(row.sum()) > 0.85 * 12.0
    boxed = search.select(
        mean, data, relations=["replace"], bounds=[[1, 1], [-2, 2], [-2, 2], [-9, 9]], **OPTIONS
    )
    change = boxed.best.change
    step = np.abs(change.row.sum() - data[change.index].sum())
    assert step == max(
        abs(sign * 13.0 + 1.0 - total) for sign in (-1.0, 1.0) for total in data.sum(axis=1)
    )


def test_changes_with_the_same_draws_are_audited_once(monkeypatch):
    """Rows that are clipped to one value; the estimates are those of an audit for each change."""
    rows = np.repeat([[0.0, 1.0], [1.0, 7.0], [1.0, 9.0]], 4, axis=0) + np.arange(12)[:, None]
    audited, plain = [], search.halving.quick_audit

    def counted(*arguments):
        audited.append(plain(*arguments))
        return audited[-1]

    def largest(data, size, *, rng):
        return np.clip(data[:, -1], 0.0, 5.0).sum() + rng.normal(size=(size, 1))

    monkeypatch.setattr(search.halving, "quick_audit", counted)
    selection = search.select(largest, rows, at=0.1, relations="zero-out", **OPTIONS)
    first = [trial for trial in selection.tried if trial.rung]
    assert len(audited) < len(first)
    assert {trial.gain for trial in first} <= {one.gain for one in audited}


def test_a_score_of_the_users_own(data):
    def score(data, out, into):
        assert out.shape == into.shape == (len(data), 4)
        return -np.abs(out[:, 1])

    selection = search.select(mean, data, rank=score, **{**OPTIONS, "shortlist": 4})
    assert {one.change.index for one in selection.tried} == set(
        np.argsort(np.abs(data[:, 1]))[:4].tolist()
    )
    assert selection.rank == "rank score"
    with pytest.raises(dp.InvalidInput, match="rank must be a function"):
        search.select(mean, data, rank=lambda data, out, into: np.ones(3), **OPTIONS)


def test_a_neighbour_on_which_the_mechanism_fails_is_told(data):
    def fragile(data, size, *, rng):
        if data[23, 1] == 0.0:
            raise ZeroDivisionError("no row 23")
        return mean(data, size, rng=rng)

    selection = search.select(fragile, data, **OPTIONS)
    failed = [one for one in selection.tried if one.note]
    assert [one.change.index for one in failed] == [23]
    assert "ZeroDivisionError: no row 23" in failed[0].note
    assert "row 23 zeroed" in failed[0].note
    assert selection.best.change.index != 23

    def never(data, size, *, rng):
        if not data.all():
            raise ZeroDivisionError("zeros")
        return mean(data, size, rng=rng)

    for rank in ("auto", "linear"):
        with pytest.raises(
            dp.MechanismError, match=r"failed on every neighbour that was tried: .*zeros"
        ):
            search.select(never, data, rank=rank, **OPTIONS)
    with pytest.raises(dp.MechanismError, match=r"raised Zero.* \(on M\(D\), block 0"):
        search.select(lambda data, size, *, rng: 1 / 0, data, **OPTIONS)


def test_outcomes_that_are_no_numbers_are_searched_too(data):
    def words(data, size, *, rng):
        large = data[:, 1].sum() - centre + 4.0 * rng.standard_normal(size) > 0.0
        return ["high" if one else "low" for one in large]

    centre = data[:, 1].sum()
    selection = search.select(words, data, **OPTIONS)
    assert selection.best.change.index == int(np.argmax(np.abs(data[:, 1]))) == 23
    assert (
        abs(selection.best.delta - 0.3413) < 0.05
    )  # P(0 < N(0, 1) < 1), within four standard errors


def suppressed(data, rng):
    """Noisy sums of the groups that have at least five rows: the size itself has no noise."""
    regions, sizes = np.unique(data[:, 0], return_counts=True)
    return {
        f"region {int(region)}": data[data[:, 0] == region, 1].sum() + rng.laplace()
        for region in regions[sizes >= 5]
    }


def as_list(data, rng):
    return list(suppressed(data, rng).values())


def test_a_group_that_vanishes_goes_first():
    regions = np.repeat(np.arange(8.0), [200, 150, 100, 75, 50, 30, 15, 5])
    data = np.column_stack([regions, np.linspace(0.0, 1.0, len(regions))])
    mechanism = dp.adapters.one_draw(as_list)
    selection = search.select(mechanism, data, at=1.0, relations="remove", **OPTIONS)
    assert selection.best.change.index >= len(data) - 5
    assert selection.best.delta > 0.9
    assert len(selection.rungs) == 1  # no other change can be worse, so no draws are spent on more


def test_the_table_of_what_was_tried(data):
    selection = search.select(blind(dp.mechanisms.ALS(rows=40)), data, **OPTIONS)
    assert len(selection.tried) == selection.audited == 8
    assert all(
        one.draws == 16 + sum(each for _, each in selection.rungs[: one.rung])
        for one in selection.tried
    )
    rungs = [one.rung for one in selection.tried]
    assert rungs == sorted(rungs, reverse=True)
    lines = selection.table(3).splitlines()
    assert lines[:4] == selection.legend.splitlines()
    assert "δ estimate: δ(0) from a classifier's odds" in " ".join(lines[:4])
    assert max(map(len, lines[:4])) <= 100
    assert lines[5].split()[:4] == ["place", "relation", "row", "score"]
    assert lines[6].split()[1:3] == ["zero-out", str(selection.best.change.index)]
    assert lines[-1] == "... and 5 more"
    rows = selection.to_csv().splitlines()
    assert len(rows) == 9
    assert rows[1].split(",")[:3] == ["1", "zero-out", str(selection.best.change.index)]
    worst = "the worst of 8 neighbours audited at ε = 0, out of 60"
    assert selection.rule.startswith(f"row {selection.best.change.index} zeroed: {worst}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"relations": "swap"},
            "relations must be one of 'zero-out', 'remove', 'replace', 'add', got 'swap'",
        ),
        ({"relations": []}, "relations must be at least one of"),
        ({"rank": "best"}, "rank must be one of"),
        ({"budget": 0.5}, "budget must be a finite number"),
        ({"budget": 1.0}, "budget must be above 1, got 1"),
        ({"shortlist": 0}, "shortlist must be"),
        ({"quick": "best"}, "classifier must be one of"),
        ({"at": -1.0}, "at must be"),
    ],
)
def test_errors_name_the_argument(data, change, message):
    with pytest.raises(dp.InvalidInput, match=message):
        search.select(mean, data, **{**OPTIONS, **change})


def test_a_row_along_an_axis_is_made_again_from_the_record_of_its_pair(data):
    options = {"relations": "replace", "row_bound": 60.0, **OPTIONS, "draws": 800}
    pair = search.select(mean, data, **options).best.change.pair(data)
    record = json.loads(json.dumps({"neighbour": pair.to_dict()}))
    assert record["neighbour"]["row_put_in"]["from"] == "row_bound"
    np.testing.assert_array_equal(dp.neighbours.from_record(data, record).right, pair.right)


def test_a_result_names_pair_verdict_and_headline(data):
    result = dp.search_neighbours(mean, data, relations="remove", claim=(0.2, 0.01), **OPTIONS)
    heaviest = int(np.argmax(np.abs(data.sum(axis=1))))
    assert (result.relation, result.index) == ("remove", heaviest)
    assert repr(result).splitlines() == [
        f"SearchResult(NeighbourPair(remove, row {heaviest}; 60 × 4 against 59 × 4)",
        f"  {result.audit.verdict}: {result.audit.headline.text}",
        f"  {result.selection.comparison})",
    ]
    assert result._repr_html_().startswith("<pre>SearchResult(NeighbourPair(remove")
    assert repr(result.selection) == f"Selection({result.selection.rule})"
    assert repr(result.selection.best).startswith(f"Trial(row {heaviest} removed; δ estimate ")
    assert repr(result.selection.best.change) == f"Change(remove, row {heaviest})"
    again = dp.neighbours.from_record(data, result.audit.to_dict())
    np.testing.assert_array_equal(again.right, result.pair.right)


def test_a_verdict_on_rows_that_were_zeroed_unasked_says_so(data):
    """Zeros may be somebody, as where a column holds codes: a sound mechanism fails then."""
    settings = {"claim": (0.2, 0.01), **OPTIONS}
    reasons = [
        dp.search_neighbours(mean, data, **relations, **settings).audit.reason
        for relations in ({}, {"relations": "zero-out"})
    ]
    assert reasons[0] == f"{search.search.UNNAMED.text} {reasons[1]}"


PLANTED = 7719.25


def shown(found):
    """All that a selection says unasked."""
    texts = [found.to_csv(), json.dumps(found.to_dict()), found.table(None), repr(found)]
    return "\n".join([*texts, *map(repr, found.tried), *(repr(one.change) for one in found.tried)])


def test_a_candidate_is_shown_by_its_number_unless_the_row_is_asked_for(data):
    rows = [[1.0, 0.5, 0.5, 0.5], [1.0, PLANTED, 2.0, 3.0]]
    selection = search.select(mean, data, relations=["add"], candidates=rows, **OPTIONS)
    assert str(PLANTED) not in shown(selection)
    assert selection.to_csv().splitlines()[1].split(",")[-2:] == ["candidate 1", ""]
    assert selection.best.to_dict()["row_put_in"] == {"from": "candidates", "number": 1}
    assert repr(selection.best.change) == "Change(add, candidate 1)"
    asked = selection.to_csv(show_data=True).splitlines()[1]
    assert asked.split(",")[-2] == f"1.0;{PLANTED};2.0;3.0"
    assert selection.to_dict(show_data=True)["tried"][0]["row_put_in"]["values"] == rows[1]


def test_corners_of_a_public_bound_are_shown_and_axes_of_the_data_are_not(data):
    """A row along an axis is shown by its number: one heavy row of the data is an axis."""
    corner = search.select(
        mean, data, relations=["add"], bounds=[[1, 1], [-2, 2], [-2, 2], [-9, 9]], **OPTIONS
    )
    assert corner.to_csv().splitlines()[1].split(",")[-2] in (
        "1.0;2.0;2.0;9.0",
        "1.0;-2.0;-2.0;-9.0",
    )
    axis = search.select(mean, data, relations=["add"], row_bound=6.0, **OPTIONS)
    assert axis.best.change.source.kind == "row_bound"
    assert axis.to_csv().splitlines()[1].split(",")[-2].endswith(" within row_bound")
    for value in axis.best.change.row:
        assert repr(float(value)) not in shown(axis)
        assert repr(float(value)) in axis.to_csv(show_data=True)


def test_where_the_claim_holds_exactly_the_largest_gain_decides():
    """δ(1) of a sum with Laplace noise is 0 for all rows: counts that are noise do not choose."""
    data = np.random.default_rng(2).random((30, 1))

    def noisy_sum(data, size, *, rng):
        return data.sum() + rng.laplace(scale=1.0, size=(size, 1))

    selection = search.select(noisy_sum, data, claim=(1.0, 0.0), draws=20_000, rng=0)
    assert selection.best.change.index == np.argmax(data)
    assert selection.best.delta == 0.0


def test_a_search_is_a_table_and_a_figure_without_values_of_the_data(data):
    pandas = pytest.importorskip("pandas")
    result = dp.search_neighbours(
        blind(dp.mechanisms.GaussianLS(sigma=1.0)), data, claim=(0.2, 0.01), **OPTIONS
    )
    frame = result.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["row"].iloc[0] == result.index
    assert frame["place"].tolist() == list(range(1, len(result.selection.tried) + 1))
    assert not set(map(repr, data.ravel())) & set(map(str, frame.to_numpy().ravel()))
    axes = result.plot()
    assert axes.get_ylabel() == "estimate of δ at ε = 0.2 nats"
    assert axes.get_legend_handles_labels()[1] == [result.selection.best.change.text]


# Searches for a claim by distance: each neighbour is compared at the ε of its own pair.

DATA = np.random.default_rng(0).uniform(size=(30, 2))
CLAIM = dp.Claim.metric(1.5, "manhattan")


def coarse(data, size, *, rng):
    """Each first value is rounded down to quarters: near records may be a quarter apart."""
    return np.floor(4.0 * data[:, :1]).sum() / 4.0 + rng.laplace(size=(size, 1))


@pytest.mark.quick
def test_a_near_neighbour_that_breaks_its_claim_is_found_among_far_ones():
    near = DATA.copy()
    near[:, 0] = (np.floor(4.0 * DATA[:, 0]) + 1.001) / 4.0
    near = near[near[:, 0] - DATA[:, 0] < 0.06][:4]
    far = np.array([[9.0, 9.0], [-9.0, 9.0]])
    candidates = np.concatenate([far, near])
    options = {"candidates": candidates, "shortlist": 12, "draws": 2_000, "classifier": KNOWN}
    result = dp.search_neighbours(coarse, DATA, claim=CLAIM, relations="replace", rng=1, **options)
    claimed = CLAIM.on(result.pair).epsilon
    true = abs(float(np.diff([np.floor(4.0 * x[:, 0]).sum() for x in sides(result.pair)])[0])) / 4.0
    assert claimed < true < 1.0
    assert result.selection.epsilon == claimed
    assert "at ε = 1.5·d (manhattan), out of" in result.selection.rule


KNOWN = dp.scoring.KnownScore(lambda outcome: outcome[:, 0], "value")


def sides(pair):
    return pair.left, pair.right
