"""How accurate the exact curves are: law by law against references derived apart, at the edges too.

The references are those of `tests/oracle` (its tables, its formulas) and of `references`, with 50
digits and more but for two laws that are summed in floats. Each setting is asked at ε where its
curve is near 1, in between and far in the tail, in both directions, and at enormous ε.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit._core.types import Array
from dpaudit.exact import Atoms, LaplaceShift
from dpaudit.laws import NoisyComparison
from dpaudit.laws.sparse_vector import unlimited_law
from reports.make import page
from reports.make.exact import references
from reports.make.extras import package
from reports.make.timing import clock

parts, reference, test_pairs, test_reference = (
    package(f"tests.oracle.{name}", "test")
    for name in ("parts", "reference", "test_pairs", "test_reference")
)
Curves = Callable[[Array], tuple[Array, Array]]
Truth = Callable[[float, bool], Any]  # of ε and whether forward
GRID = np.concatenate([[0.0], np.geomspace(1e-9, 1e9, 180)])
TARGETS = (0.5, 1e-3, 1e-12, 1e-28)  # shares of δ(0) near which ε are asked
SMALLEST = 1e-30
MOVED = 2.0**-50
ORACLE = Path("tests/oracle")
MESH = {"dps": 34, "order": 16, "digits": 13}


@dataclass(frozen=True)
class Setting:
    """One pair: its name, the curve that dpaudit gives, the truth, and the ε at which both are."""

    name: str
    curves: Curves
    truth: Truth
    epsilon: Array
    known: bool = True  # at any ε, and not only at these

    @classmethod
    def at_targets(cls, name: str, curves: Curves, truth: Truth, end: float = 0.0) -> Setting:
        """The setting at ε = 0, where the curve falls below each target, and at `end` if not 0."""
        chosen = {0.0, end}
        for side in curves(GRID):
            for target in TARGETS:
                chosen.add(float(GRID[np.flatnonzero(side >= target * side[0])[-1]]))
        return cls(name, curves, truth, np.array(sorted(chosen)))


@dataclass(frozen=True)
class Law:
    """A row of the page: what is compared, with what, and what the curve's accuracy rests on."""

    name: str
    settings: Callable[[], Iterator[Setting]]
    against: str
    rests: str


def report() -> None:
    """The table of all laws, printed and written to reports/accuracy.md."""
    head = ["law", "settings", "values", "largest relative error, δ ≥ 10⁻³⁰", "where", "CPU s"]
    head += ["reference", "the accuracy rests on"]
    shown = page.table(head, map(_row, LAWS))
    print(shown)
    page.write(page.REPORTS / "accuracy.md", page.render("accuracy.md", shown=shown))


def _row(law: Law) -> list[str]:
    worst, where, values, count, wrong = 0.0, "", 0, 0, 0
    with clock() as spent:
        for setting in law.settings():
            count += 1
            for error, epsilon, side in _errors(setting):
                values += 1
                wrong += int(error == np.inf)
                if error > worst:
                    worst, where = error, f"{setting.name}, ε = {epsilon:.3g}, {side}"
    shown = page.number(worst, 2) if wrong == 0 else f"{wrong} values wrong"
    cells = [law.name, str(count), str(values), shown, where, f"{spent.cpu:.0f}"]
    print(cells, flush=True)
    return [*cells, law.against, law.rests]


def _errors(setting: Setting) -> Iterator[tuple[float, float, str]]:
    """(relative error, ε, direction) of each value; below `SMALLEST` relative to that.

    Infinite where one of the two is NaN or negative.
    """
    found = setting.curves(setting.epsilon)
    for side, values in zip(("forward", "backward"), found, strict=True):
        for epsilon, value in zip(setting.epsilon, values, strict=True):
            fine = np.isfinite(value) and value >= 0.0
            error = _error(setting, float(epsilon), side, float(value)) if fine else np.inf
            yield error, float(epsilon), side


def _error(setting: Setting, epsilon: float, side: str, value: float) -> float:
    """Relative; what is more than 1e-12 less what moving ε by `MOVED` of itself changes."""
    true = setting.truth(epsilon, side == "forward")
    size = max(true, references.mpf(SMALLEST))
    gap = float(abs(references.mpf(value) - true) / size)
    if gap < 1e-12 or not setting.known or epsilon == 0.0:
        return gap
    moved = setting.truth(epsilon * (1.0 + MOVED), side == "forward")
    return max(gap - float(abs(moved - true) / size), 0.0)


def _table(name: str, laws: tuple[str, ...], deltas: Callable[..., Any]) -> Iterator[Setting]:
    """The settings of a table of `tests/oracle`."""
    rows = json.loads((ORACLE / name).read_text(encoding="utf-8"))
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["law"] in laws and not test_pairs.noisy(row):
            groups.setdefault(json.dumps([row["law"], row["params"]]), []).append(row)
    for key, group in groups.items():
        law, params = json.loads(key)
        truths = {row["epsilon"]: (row["forward"], row["backward"]) for row in group}

        def truth(epsilon: float, forward: bool, truths: dict[float, Any] = truths) -> Any:
            return references.mpf(truths[epsilon][0 if forward else 1])

        shown = ", ".join(f"{key} {value}" for key, value in params.items())
        title = shown if len(shown) < 60 else law
        epsilon = np.array(sorted(truths))
        yield Setting(title, partial(deltas, law, params), truth, epsilon, known=False)


def _from_pairs(*laws: str) -> Callable[[], Iterator[Setting]]:
    return lambda: _table("pairs.json", laws, test_pairs.package_deltas)


def _from_reference(*laws: str) -> Callable[[], Iterator[Setting]]:
    return lambda: _table("reference.json", laws, test_reference.package_deltas)


def _sketches() -> Iterator[Setting]:
    """1 to 10⁹ rows, leverages of about 1/√rows, and near 0 and 1."""
    for rows in (1, 2, 3, 1_000, 10**6, 10**9):
        for leverage in (1e-9, min(0.3, 1.0 / np.sqrt(rows)), 0.999999):
            yield Setting.at_targets(
                f"leverage {leverage:.3g}, {rows:,} rows",
                partial(dp.exact.gaussian_sketch, leverage, rows),
                partial(references.sketch, leverage, rows),
            )


def _least_squares() -> Iterator[Setting]:
    """Finite ALS: rows from features + 1 on, leverage and share near 0 and 1."""
    for h, t, p, r in (
        (0.3, 0.2, 3, 4),
        (0.999, 0.99, 2, 3),
        (1e-6, 1e-3, 12, 13),
        (1e-4, 1e-6, 3, 100_000),
        (0.9935, 0.99975, 2, 257_198),
        (1e-9, 1e-9, 1, 10**9),
        (1e-4, 3e-5, 1, 10**6),
    ):
        params = {"leverage": h, "residual_share": t, "features": p, "rows": r}

        @cache
        def both(e: float, params: dict[str, Any] = params) -> Any:
            return reference.evaluate("als-finite", params, e, **MESH)

        name = f"h {h:g}, t {t:g}, {p} features, {r:,} rows"
        truth = partial(_direction, both)
        yield Setting.at_targets(name, partial(dp.exact.als, h, t, p, r), truth)


def _direction(both: Callable[[float], Any], e: float, forward: bool) -> Any:
    return both(e)[0 if forward else 1]


def _wishart() -> Iterator[Setting]:
    """k from d to d + 3 and more, q from 1e-12 to 20."""
    for freedom in (0, 1, 2, 3, 30, 10**5):
        for q in (1e-12, 1e-6, 1e-3, 0.5, 20.0):
            given = q, 3 + freedom, 3

            def truth(e: float, forward: bool, given: Any = given) -> Any:
                with references.mp.workdps(120):
                    part = parts.Wishart(*given, forward=forward)
                    return max(references.mpf(0), part.delta(references.mpf(e)))

            yield Setting.at_targets(
                f"q {q:g}, k {given[1]:,}, d 3",
                partial(dp.exact.additive_wishart, *given),
                truth,
                end=1e6,
            )


def _wishart_replaced() -> Iterator[Setting]:
    """k from d to d + 3; two random rows of norm at most 1."""
    rng = np.random.default_rng(22)
    for dof, dim, scale in ((2, 2, 1.0), (3, 2, 1.0), (4, 2, 0.7), (6, 3, 1.0)):
        data = rng.standard_normal((5, dim))
        data /= np.linalg.norm(data, axis=1).max()
        pair = dp.neighbours.replace_row(data, 0, data[1])
        change = (np.outer(data[0], data[0]) - np.outer(data[1], data[1])) / scale**2
        down, up = np.linalg.eigvalsh(change)[[0, -1]] * [-1.0, 1.0]

        def truth(e: float, forward: bool, ends: Any = (up, down), m: int = dof - dim + 2) -> Any:
            one, other = ends if forward else ends[::-1]
            return references.mpf(references.replaced_wishart(one, other, m, e))

        name = f"k {dof}, d {dim}, eigenvalues {up:.2g}, −{down:.2g}"
        curves = partial(_both, dp.mechanisms.AdditiveWishart(dof, scale), pair)
        yield Setting(name, curves, truth, np.array([0.0, 0.1, 0.5, 1.0, 3.0]))


def _both(mechanism: Any, pair: dp.NeighbourPair, epsilon: Array) -> Any:
    spectrum = dp.exact.spectrum(mechanism, pair, epsilon)
    return spectrum.forward, spectrum.backward


def _student_replaced() -> Iterator[Setting]:
    """ALS, two features, one row replaced."""
    rng = np.random.default_rng(23)
    for rows, size in ((4, 1.0), (30, 0.1)):
        data = rng.standard_normal((8, 3))
        other = data.copy()
        other[0] += size * rng.standard_normal(3)
        pair = dp.neighbours.replace_row(data, 0, other[0])

        def truth(e: float, forward: bool, both: Any = (data, other), rows: int = rows) -> Any:
            with references.mp.workdps(50):
                first, second = (references.Student(data, rows) for data in both)
                sides = (first, second) if forward else (second, first)
                return references.replaced_student(*sides, e)

        curves = partial(_both, dp.mechanisms.ALS(rows), pair)
        name = f"{rows:,} rows, a change of {size:g}"
        yield Setting(name, curves, truth, np.array([0.0, 0.2, 0.6]))


def _laplace() -> Iterator[Setting]:
    """1 to 12 coordinates, shifts of 1e-6 to 20 scales."""
    for count in (1, 2, 5, 12):
        for shift in (1e-6, 0.1, 1.0, 20.0):
            yield Setting.at_targets(
                f"{count} coordinates, shift {shift:g}",
                LaplaceShift(shift, count).delta,
                partial(references.laplace, shift, count),
            )


def _discrete() -> Iterator[Setting]:
    """Up to 200 outcomes, with probabilities down to 1e-30 and losses of 1e-3 to 30."""
    rng = np.random.default_rng(24)
    for count in (2, 5, 200):
        for spread in (1e-3, 0.1, 30.0):
            left = np.log(rng.dirichlet(np.full(count, 0.3)) + 1e-30)
            right = left + spread * rng.standard_normal(count)
            both = [side - np.logaddexp.reduce(side) for side in (left, right)]
            exact = [[references.mp.exp(references.mpf(float(x))) for x in side] for side in both]
            yield Setting.at_targets(
                f"{count} outcomes, losses of {spread:g}",
                Atoms(*both).delta,
                partial(references.outcomes, exact[0], exact[1]),
            )


def _sparse_vector() -> Iterator[Setting]:
    """All answers above or below a noisy threshold; three queries that move by at most 1."""
    for scales in ((1.5, 2.5), (0.2, 0.4), (10.0, 20.0)):
        queries = np.array([1.0, 0.0, 2.0]), np.array([0.0, 1.0, 1.0])
        laws = [unlimited_law(NoisyComparison(one, 0.7, *scales)) for one in queries]
        exact = [references.answers(one, 0.7, scales) for one in queries]
        yield Setting.at_targets(
            f"noise of {scales[0]:g} and {scales[1]:g}",
            Atoms.of(*laws).delta,
            partial(references.outcomes, exact[0], exact[1]),
        )


TABLE = "`tests/oracle`, two routes at 40 digits and more"
CONTOUR, ONE_INTEGRAL = "contour through the saddle point", "one integral of positive terms"
LAWS = (
    Law("Gaussian shift", _from_reference("gaussian-shift"), TABLE, "closed form"),
    Law(
        "Gaussian pairs, 1 to 12 axes",
        _from_pairs("gaussian-pair", "gaussian-shift"),
        TABLE,
        CONTOUR,
    ),
    Law(
        "sketches, a row zeroed",
        _sketches,
        "quadrature of the χ² density, 50 digits",
        ONE_INTEGRAL,
    ),
    Law(
        "sketches: table; padded, replaced, inverse Wishart",
        _from_pairs("replaced-sketch", "padded-sketch", "inverse-wishart"),
        TABLE,
        CONTOUR,
    ),
    Law("ALS, finite r, table", _from_reference("als-finite"), TABLE, ONE_INTEGRAL),
    Law(
        "ALS, finite r, edges",
        _least_squares,
        "incomplete beta functions over an angle, 34 digits",
        ONE_INTEGRAL,
    ),
    Law("ALS, asymptotic", _from_reference("als-asymptotic"), TABLE, CONTOUR),
    Law(
        "Student pairs, a row replaced",
        _student_replaced,
        "rays from each centre, 50 digits",
        "contour; a difference of two chances, so absolute",
    ),
    Law(
        "additive Wishart noise, a row zeroed",
        _wishart,
        "incomplete Γ functions, 120 digits",
        ONE_INTEGRAL,
    ),
    Law(
        "additive Wishart noise, a row replaced",
        _wishart_replaced,
        "three nested sums in floats",
        "two meshes agree to 10⁻⁷",
    ),
    Law(
        "compositions, table",
        _from_pairs("composition"),
        TABLE,
        CONTOUR,
    ),
    Law(
        "Laplace noise",
        _laplace,
        "sums of splines, 60 digits and more",
        "closed form, positive terms",
    ),
    Law("finitely many outcomes", _discrete, "the sum at 50 digits", "a sum of positive terms"),
    Law(
        "sparse vector, answers",
        _sparse_vector,
        "quadrature, 50 digits",
        "Gauss rules between kinks",
    ),
)
