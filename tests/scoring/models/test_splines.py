"""One spline of the distance from the centre, and one spline of all columns of one law."""

import numpy as np
import pytest

from dpaudit import scoring
from dpaudit.scoring import Sides, log_loss, portfolio

pytestmark = pytest.mark.quick


def shells(rng, size, radius):
    """Points around the origin of six columns; half of them are a fifth farther away."""
    x = rng.standard_normal((size, 6))
    far = rng.permuted(np.repeat([1.0, 1.2], size // 2)) * radius + 0.05 * rng.standard_normal(size)
    return x * (far / np.linalg.norm(x, axis=1))[:, None]


def loss(x):
    """Shells at 1 and 1.2 against shells at 1.1 and 1.32."""
    far = np.linalg.norm(x, axis=1)[:, None]
    p, q = (np.exp(-0.5 * ((far - at) / 0.05) ** 2).sum(axis=1) for at in ([1, 1.2], [1.1, 1.32]))
    return np.log(p) - np.log(q)


def test_shells_in_six_columns_are_learned_from_few_draws(rng, monkeypatch):
    """Loss above the true one's on 8 seeds .011 to .032; of the best other closed form .14."""
    monkeypatch.setattr(portfolio, "CANDIDATES", portfolio.CANDIDATES[:1])
    sides = [(shells(rng, n, 1.0), shells(rng, n, 1.1)) for n in (2_000, 1_000, 2_000)]
    train, choose, fresh = (Sides(*pair) for pair in sides)
    fitted = scoring.fit("auto", train, choose, np.random.SeedSequence(1))
    assert fitted.name == "spline of the distance"
    assert log_loss(fitted.score, fresh) < log_loss(loss, fresh) + 0.06


def laplace(size, columns, shift, seed):
    rng = np.random.default_rng(seed)
    return Sides(*(rng.laplace(size=(size, columns)) + move for move in (shift, 0.0)))


@pytest.mark.slow
def test_a_faint_shift_of_twenty_columns_is_learned_as_one_function():
    """The true loss steps from −0.1 to 0.1 about 0 in each column."""
    train, choose, fresh = (laplace(size, 20, 0.1, size) for size in (100_000, 20_000, 50_000))
    fitted = scoring.fit("auto", train, choose, np.random.SeedSequence(1))

    def loss(x):
        return (np.abs(x) - np.abs(x - 0.1)).sum(axis=1)

    assert fitted.name.endswith("scores of parts")
    gained = np.log(2.0) - log_loss(fitted.score, fresh)
    assert gained > 0.93 * (np.log(2.0) - log_loss(loss, fresh))
