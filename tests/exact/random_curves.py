"""Random exact curves, each made from a key: all laws, relations and compositions, at their edges.

`curve(kind, key)` is the curve, with the relative and absolute error that it is allowed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit.exact import (
    PrivacyLoss,
    ReplacedWishartCurve,
    StudentCurve,
    asymptotic_loss,
    compose,
    curve_of_laws,
    curve_on_pair,
)
from dpaudit.exact.numerics.special import Share
from dpaudit.exact.zeroed_rows.additive_wishart import WishartCurve
from dpaudit.laws import Density, Discrete, Gaussian, Laplace, Product, StudentT
from dpaudit.laws.density import panel_edges

FEATURES = [1, 2, 3, 5, 13, 40]


@dataclass(frozen=True)
class Case:
    """A curve, what it is of, and its accuracy; a mechanism and a pair where it has these."""

    words: str
    curve: Any
    relative: float = 1e-9
    absolute: float = 0.0
    release: Any = None


def generator(kind, key):
    return np.random.default_rng(
        np.random.SeedSequence(22, spawn_key=(list(KINDS).index(kind), key))
    )


def curve(kind, key):
    return KINDS[kind](generator(kind, key))


def power(rng, low, high):
    return float(10.0 ** rng.uniform(low, high))


def share(rng):
    """In [0, 1): even, near 0, near 1, or 0."""
    return [
        lambda: float(rng.uniform()),
        lambda: 0.999 * power(rng, -12, 0),
        lambda: 1.0 - power(rng, -12, 0),
        lambda: 0.999 * power(rng, -3, 0),
        lambda: 1.0 - power(rng, -4, 0),
        lambda: 0.0,
    ][rng.integers(6)]()


def rows(rng, least, top=9.0):
    """From the fewest on, up to 10^top."""
    more = [int(rng.integers(4)), int(power(rng, 0, 3)), int(power(rng, 0, top))]
    return least + more[rng.integers(3)]


def als(rng):
    p = int(rng.choice(FEATURES))
    numbers = share(rng), share(rng), p, rows(rng, p + 1)
    return Case(f"als{numbers}", StudentCurve(*numbers))


def als_of_light_rows(rng):
    """Many sketch rows, of which r·h and r·t are of order 1."""
    p = int(rng.choice(FEATURES[:5]))
    r = rows(rng, p + 20)
    h, t = (min(power(rng, -2, 1.5) / r, 0.9) for _ in "ht")
    return Case(f"als{(h, t, p, r)}", StudentCurve(h, t, p, r))


def als_in_the_limit(rng):
    p = int(rng.choice(FEATURES))
    numbers = share(rng), share(rng), p, rows(rng, p + 1)
    return Case(
        f"als in the limit {numbers}", asymptotic_loss(*map(Share.of, numbers[:2]), *numbers[2:])
    )


def sketch(rng):
    r = rows(rng, 1)
    q = share(rng) if rng.random() < 0.6 else min(power(rng, -3, 1) / np.sqrt(r), 0.9)
    return Case(f"sketch{(q, r)}", PrivacyLoss.gaussian_sketch(q, r))


def shift(rng):
    mu = power(rng, -12, 1.7)
    return Case(f"shift({mu!r})", PrivacyLoss.gaussian_shift(mu))


def pair(rng):
    d = int(rng.choice([1, 1, 2, 3, 6]))
    root = rng.standard_normal((d, d)) * 10.0 ** rng.uniform(-2, 2, d)
    root += np.diag(10.0 ** rng.uniform(-2, 0, d))
    turn = rng.standard_normal((d, d))
    near = root @ root.T + power(rng, -6, 0) * root @ turn @ turn.T @ root.T
    far = power(rng, -6, 6) * root @ root.T
    other = near if rng.random() < 0.5 else far
    gap = root @ rng.standard_normal(d) * power(rng, -4, 1) * (rng.random() < 0.8)
    laws = np.zeros(d), root @ root.T, gap, 0.5 * (other + other.T)
    return Case(f"pair of {d} axes", PrivacyLoss.gaussian_pair(*laws), 1e-8)


def wishart(rng):
    d = int(rng.choice([1, 2, 3, 5, 20]))
    numbers = power(rng, -12, 1.3), d + int(rng.choice([0, 1, 2, 3, 10, 100, 10**4])), d
    return Case(f"wishart{numbers}", WishartCurve.of(*numbers))


def part(rng):
    """One release of a composition."""
    kind = rng.integers(3)
    if kind == 0:
        return PrivacyLoss.gaussian_shift(power(rng, -3, 0.7))
    if kind == 1:
        return PrivacyLoss.gaussian_sketch(rng.uniform() ** 4 * 0.99 + 1e-9, rows(rng, 1, 5.0))
    scales, gap = np.diag(10.0 ** rng.uniform(-2, 2, 2)), 10.0 ** rng.uniform(-2, 1, 2)
    return PrivacyLoss.gaussian_pair(np.zeros(2), np.eye(2), gap, scales)


def composed(rng):
    count = int(rng.integers(1, 4))
    parts = [one if rng.random() < 0.6 else one.reversed() for one in (part(rng) for _ in "123")]
    times = [int(k) for k in rng.choice([1, 2, 7, 100], count)]
    whole = compose(parts[:count], times)
    return Case(whole.law, whole, 1e-8)


def laws(kind, words, left, right, relative=1e-9, absolute=0.0):
    return Case(f"{kind} {words}", curve_of_laws(left, right)[0], relative, absolute)


def laplace(rng):
    k, t = int(rng.choice([1, 2, 3, 10, 30])), power(rng, -8, 1)
    here, there = (Laplace(np.full(k, at), np.ones(k)) for at in (0.0, t))
    return laws("laplace", (k, t), here, there)


def laplace_of_two_scales(rng):
    t, s = float(rng.choice([0.0, power(rng, -4, 1)])), power(rng, -2, 2)
    here, there = Laplace(np.zeros(1), np.ones(1)), Laplace(np.array([t]), np.array([s]))
    return laws("laplace of two scales", (t, s), here, there)


def discrete(rng):
    n = int(rng.choice([2, 3, 10, 1000, 40_000]))
    masses = np.log(rng.dirichlet(np.full(n, rng.choice([0.1, 1, 10])), size=2) + 1e-300)
    if rng.random() < 0.5:  # nearly the same law
        masses[1] = masses[0] + rng.standard_normal(n) * power(rng, -8, 0)
    if rng.random() < 0.3:  # an outcome of one law alone
        masses[0, 0] = -np.inf
    masses -= np.logaddexp.reduce(masses, axis=1)[:, None]
    both = (Discrete(np.arange(n)[:, None] * 1.0, side) for side in masses)
    return laws("discrete", n, *both, absolute=1e-14)  # to which the masses sum to 1


def density(rng):
    m, s = power(rng, -3, 1), power(rng, -1, 1)

    def normal(mean, sd):
        return Density(
            lambda x: -0.5 * ((x - mean) / sd) ** 2 - 0.5 * np.log(2 * np.pi) - np.log(sd),
            np.linspace(mean - 38 * sd, mean + 38 * sd, 60),
        )

    return laws("density", (m, s), normal(0.0, 1.0), normal(m, s))


def logistic(rng):
    m = power(rng, -3, 1)

    def law(at):
        return Density(
            lambda x: -np.abs(x - at) - 2.0 * np.log1p(np.exp(-np.abs(x - at))),
            panel_edges(np.array([at]), 1.0),
        )

    return laws("logistic", m, law(0.0), law(m))


def mixed(rng):
    n, mu = int(rng.choice([2, 5])), power(rng, -2, 0.5)
    masses = np.log(rng.dirichlet(np.ones(n), size=2))
    both = (
        Product((Discrete(np.arange(n)[:, None] * 1.0, side), Gaussian(np.array([at]), np.eye(1))))
        for side, at in zip(masses, (0.0, mu), strict=True)
    )
    return laws("mixed", (np.exp(masses).tolist(), mu), *both)


def student(rng):
    k, dof = int(rng.choice([1, 2, 3, 6])), int(rng.choice([1, 2, 5, 50, 10**3]))
    root = np.triu(rng.standard_normal((k, k)) * power(rng, -4, 0), 1)
    root += np.diag(10.0 ** (rng.standard_normal(k) * rng.choice([0.01, 0.3, 1.0])))
    gap = rng.standard_normal(k) * power(rng, -4, 1) / np.sqrt(rng.choice([1, dof]))
    here, there = StudentT(np.zeros(k), np.eye(k), dof), StudentT(gap, root, dof)
    return laws("student", (gap.tolist(), root.tolist(), dof), here, there, absolute=1e-11)


def database(rng):
    """Columns of unlike scales, sometimes with an outlying row."""
    p = int(rng.choice([1, 2, 3]))
    data = rng.standard_normal((p + 2 + int(rng.integers(30)), p + 1))
    data *= 10.0 ** rng.uniform(-3, 3, p + 1)
    if rng.random() < 0.3:
        data[0] *= power(rng, 0, 4)
    return data


def mechanism(rng, data):
    size, r = np.linalg.norm(data) / np.sqrt(len(data)), rows(rng, data.shape[1] + 1, 6.0)
    of, weight = dp.mechanisms, power(rng, -1, 1) * float(size)
    return [
        lambda: of.ALS(r),
        lambda: of.GaussianLS(sigma=power(rng, -3, 1)),
        lambda: of.RPLS(r, padding=weight),
        lambda: of.RandomProjection(r),
        lambda: of.GaussMix(r, weight),
        lambda: of.WishartDraw(r),
        lambda: of.InverseWishartDraw(r),
        lambda: of.AnalyzeGauss(sigma=weight),
    ][rng.integers(8)]()


def on_a_pair(rng, neighbour):
    data = database(rng)
    release, law = mechanism(rng, data), str(rng.choice(["finite", "asymptotic"], p=[0.7, 0.3]))
    found = neighbour(rng, data)
    own, name = curve_on_pair(release, found, law)
    student_pair = name == "Student t pair (finite rows)"
    accuracy = (1e-9, 1e-9) if student_pair else (1e-7, 0.0)  # up to 10⁶ rows
    known = (release, found) if law == "finite" else None
    return Case(f"{release!r}, {law}, {found.relation}, {data.shape}", own, *accuracy, known)


def zeroed(rng):
    return on_a_pair(rng, lambda rng, data: dp.neighbours.zero_row(data, rng.integers(len(data))))


def replaced(rng):
    def neighbour(rng, data):
        far, even = data[1] * power(rng, -1, 1), rng.standard_normal(data.shape[1]) * data.std(0)
        return dp.neighbours.replace_row(data, 0, far if rng.random() < 0.5 else even)

    return on_a_pair(rng, neighbour)


def worst(rng):
    """The largest of the curves of all zeroed rows: in both directions of one row at each ε."""
    data = database(rng)
    release = mechanism(rng, data)
    spectrum = dp.exact.worst_case(release, data, 0.0)
    return Case(f"worst of {release!r}, {data.shape}", spectrum.curve, 1e-7)


def replaced_beside_wishart(rng):
    d = int(rng.choice([2, 3, 5]))
    up, down = power(rng, -3, 1), power(rng, -3, 1)
    numbers = up, down, d + int(rng.choice([0, 1, 2, 3, 10, 40])), d
    return Case(f"wishart replaced {numbers}", ReplacedWishartCurve(*numbers), 1e-6)


KINDS = {
    made.__name__: made
    for made in (
        als,
        als_of_light_rows,
        als_in_the_limit,
        sketch,
        shift,
        pair,
        wishart,
        composed,
        laplace,
        laplace_of_two_scales,
        discrete,
        density,
        logistic,
        mixed,
        student,
        zeroed,
        replaced,
        worst,
        replaced_beside_wishart,
    )
}
