"""Draws that certify are made, scored and counted in turn: few are held, none is seen too early."""

import threading
import tracemalloc

import numpy as np
import pytest

import dpaudit as dp
from dpaudit import outcomes
from dpaudit.certify import SortedScores, StreamedCounts
from dpaudit.sampling import GivenDraws, MechanismDraws
from dpaudit.scoring import Fitted
from tests.cases import database, shifted
from tests.drawing import draw
from tests.sparse import one_in

DATA = database()
PAIR = dp.neighbours.zero_row(DATA, 3)
SEED = np.random.SeedSequence(17)
SIZE = 5000  # 20 blocks of 256, but for the last
STEP = "drawing M(D) and M(D')"


def uncounted(P, Q, before):
    raise AssertionError("no other process draws")


def stream(mechanism=None, size=SIZE, **more):
    return MechanismDraws(
        shifted(1.0) if mechanism is None else mechanism, (DATA, DATA), size, SEED, **more
    )


@pytest.mark.parametrize(
    ("first", "n_jobs"),
    one_in(3, [(first, n) for first in (0, 1, 256, 1000, SIZE) for n in (1, 2)]),
)
@pytest.mark.parametrize("chunk", one_in(2, [None, 300, 7]))
def test_however_they_are_asked_for(n_jobs, first, chunk):
    one = stream(n_jobs=n_jobs)
    looked = one.peek(20)
    pairs = [one.take(first)] if first else []
    while chunk is not None and one.position + chunk <= SIZE:
        pairs.append(one.take(chunk))
    pairs += one.rest(uncounted)
    for side, parts in enumerate(zip(*pairs, strict=True)):
        whole = draw(shifted(1.0), DATA, SIZE, SEED, side)
        np.testing.assert_array_equal(np.concatenate(parts), whole)
        np.testing.assert_array_equal(looked[side], whole[: len(looked[side])])
        assert len(looked[side]) >= 20


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_workers_do_not_run_ahead(n_jobs, monkeypatch):
    """Blocks of both sides made and not yet taken: a window of 4 a worker at most."""
    monkeypatch.setattr("dpaudit.sampling.parallel.DEEP", 4)
    made, most, lock = [0], [0], threading.Lock()

    def counts(data, size, *, rng):
        with lock:
            made[0] += size
        return rng.standard_normal((size, 1))

    for taken, _ in enumerate(stream(counts, size=20_000, n_jobs=n_jobs).rest(uncounted)):
        threading.Event().wait(0.002)
        most[0] = max(most[0], made[0] - 2 * 312 * taken)
    assert made[0] == 2 * 20_000
    assert most[0] <= (4 * n_jobs + 2) * 312


@pytest.mark.slow
def test_memory_does_not_grow_with_the_draws(monkeypatch):
    """Both sides are 77 MB, of which 10 MB train and choose.

    That is 120,000 + 30,000 of 1,200,000 draws a side, and they are whitened.
    """

    def wide(data, size, *, rng):
        return data[0, 0] + rng.random((size, 4))

    monkeypatch.setattr("dpaudit.sampling.parallel.WINDOW", 1 << 22)
    shares = {"train_share": 0.1, "choose_share": 0.025}
    tracemalloc.start()
    try:
        dp.audit(wide, PAIR, draws=1_200_000, **shares, classifier="qda", n_jobs=2, rng=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40e6


@pytest.mark.parametrize("seed", range(2))
def test_counts_are_those_of_sorted_scores(seed):
    """Ties with each other and with the thresholds, and infinities.

    There are more draws than are scored at a time.
    """
    rng = np.random.default_rng(seed)
    sides = [rng.integers(-5, 6, 70_000).astype(float), np.round(rng.standard_normal(70_000), 1)]
    for side, at in zip(sides, rng.integers(0, 70_000, (2, 300)), strict=True):
        side[at] = rng.choice([np.inf, -np.inf, 1e200], 300)
    threshold = np.concatenate(
        [rng.choice(np.arange(-6.0, 7.0), 20), rng.normal(size=20), [1e150, -1e150]]
    )
    expected = SortedScores.of(*sides).above(threshold)
    source = GivenDraws(*(side[:, None] for side in sides))
    columns = outcomes.described(*(side[:, None] for side in sides)).columns
    found = StreamedCounts(Fitted("own", lambda x: x[:, 0]), columns, source.rest, 70_000).above(
        threshold
    )
    np.testing.assert_array_equal(found, expected)


def test_a_score_that_is_nan_on_certifying_draws_only_counts_as_0():
    """Of 5,000 draws 1,500 learn; the 4,000th is NaN."""
    draws = np.random.default_rng(1).normal(size=(2, 5000, 1))
    draws[0, 4000] = 77.0
    score = dp.scoring.KnownScore(lambda x: np.where(x[:, 0] == 77.0, np.nan, x[:, 0]), "own")
    result = dp.audit_samples(*draws, classifier=score, rng=1)
    draws[0, 4000] = 0.0
    plain = dp.audit_samples(*draws, classifier=score, rng=1)
    assert np.array_equal(result.spectrum.low, plain.spectrum.low)
    assert result.reason.startswith("The score own is NaN for 1 certifying draw and counts as 0")


def test_nothing_certifies_that_was_drawn_before_the_score():
    """When the score is fitted, only the draws that learn have been made.

    At most the rest of their last block is made as well.
    """
    steps = []
    dp.audit(
        shifted(1.0),
        PAIR,
        draws=SIZE,
        classifier="qda",
        rng=1,
        progress=lambda step, done, wanted: steps.append((step, done)),
    )
    fit = steps.index(("fitting the score", 0))
    drawn = dict(steps[:fit])
    assert drawn == {STEP: 1536}  # 1,500 learn, in blocks of 256
    assert dict(steps)[STEP] == SIZE
    assert steps[-1] == ("certifying", 1)


def test_longer_lists_among_certifying_draws_change_no_score():
    rng = np.random.default_rng(2)
    P, Q = (
        [row[: 1 + (row[0] > 0)].tolist() for row in rng.normal(at, 1.0, (2000, 2))]
        for at in (0.0, 0.5)
    )
    plain = dp.audit_samples(P, Q, rng=1)
    longer = [*P[:1000], *([*row, *[0.0] * 5] for row in P[1000:])]
    result = dp.audit_samples(longer, Q, rng=1)
    assert result.fitted.portfolio == plain.fitted.portfolio
    assert result.sizes == plain.sizes


def test_columns_that_change_among_certifying_draws_are_an_error():
    def widens(data, size, *, rng):
        return rng.random((size, 2 if rng.bit_generator.seed_seq.spawn_key[2] == 19 else 1))

    with pytest.raises(
        dp.MechanismError,
        match=r"same number of columns .*, got 2 after 1 on M\(D\), block 19 .*key",
    ):
        dp.audit(widens, PAIR, draws=SIZE, classifier="qda", rng=1)
