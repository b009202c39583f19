"""Audits of 20 to 500 draws a side."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing.settings import Settings
from dpaudit.errors import InvalidInput
from dpaudit.run import plan

PAIR = dp.neighbours.zero_row([[1.0], [1.0], [1.0]], 2)


def published(data, size, *, rng):
    return np.full((size, 1), data.sum())


def first(x):
    return x[:, 0]


def normals(n, m, mu, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(mu, 1.0, n), rng.normal(0.0, 1.0, m)


@pytest.mark.parametrize(
    ("options", "few"),
    [({}, True), ({"draws": 501}, False), ({"classifier": first}, True),
     ({"classifier": "qda"}, False), ({"train_share": 0.4}, False), ({"choose_share": 0.1}, False),
     ({"bits": True}, False), ({"stop": "verdict", "claim": (1.0, 0.0)}, False)],
)  # fmt: skip
def test_which_audits_are_of_few_draws(options, few):
    assert Settings.of(**{"draws": 500, **options}).few == few


def test_twenty_draws_a_side_of_a_known_score_certify():
    result = dp.audit_samples(*normals(20, 20, 4.0), classifier=first, rng=0)
    assert result.spectrum.low[0] > 0.3
    assert (result.sizes.train, result.sizes.choose, result.sizes.certify) == (0, 6, 14)
    with pytest.raises(InvalidInput, match="at least 20 a side, got 19"):
        dp.audit_samples(*normals(19, 30, 4.0), classifier=first)


def test_all_draws_of_the_longer_side_are_used():
    P, Q = normals(40, 400, 2.0)
    both, cut = (dp.audit_samples(P, part, classifier=first, rng=0) for part in (Q, Q[:40]))
    assert both.estimate.cells.sizes == (32, 392)
    assert both.spectrum.low[0] > cut.spectrum.low[0]
    assert both.reason.startswith("32 draws of M(D) and 392 of M(D') certify.")


@pytest.mark.slow  # 0.4 CPU seconds
def test_draws_that_could_refute_nothing_are_inconclusive():
    needed = plan((3.0, 1e-5)).fewest
    assert 30 < needed <= 500
    for samples, verdict in ((needed, "violated"), (int(0.9 * needed), "inconclusive")):
        assert dp.audit(published, PAIR, draws=samples, claim=(3.0, 1e-5), rng=0).verdict == verdict


@pytest.mark.quick
def test_a_level_and_its_alpha_agree():
    for level in (0.1, 0.5, 0.95, 1.0 - 1e-6):
        given = Settings.of(100, level=level)
        assert (given.level, given.alpha) == (level, 1.0 - level)
    tiny = Settings.of(100, alpha=2.0**-34 * 1e-6)
    assert tiny.alpha == 2.0**-34 * 1e-6
    assert tiny.level == np.nextafter(1.0, 0.0)
    with pytest.raises(InvalidInput, match="alpha must be 1 - level"):
        tiny.replaced(level=0.9, alpha=0.5)
    assert tiny.replaced(level=0.9).alpha == 1.0 - 0.9
