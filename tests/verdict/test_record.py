"""How a result is read and checked, and which rows of a curve are shown."""

import numpy as np
import pytest

from dpaudit.errors import InvalidInput
from dpaudit.verdict import lookup, read_curves, selected_rows
from tests.report.examples import make_result

pytestmark = pytest.mark.quick


def broken(path: str, value: object) -> dict:
    result = make_result()
    *steps, last = path.split(".")
    part = result
    for step in steps:
        part = part[step]
    part[last] = value
    return result


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("verdict", "fine"),
        ("level", 95),
        ("epsilon", []),
        ("epsilon", ["inf"]),
        ("empirical", None),
        ("empirical.low", [0.1]),
        ("empirical.interval", "wide"),
        ("empirical.interval", [[0.1] * 41]),
        ("empirical.interval", [[0.2] * 41, [0.1] * 41]),
        ("exact.delta", [float("nan")] * 41),
        ("exact", "Student"),
        ("claim.delta", ["much"] * 41),
        ("samples.test", "many"),
    ],
)
def test_what_is_not_a_result_is_refused_by_the_name_of_its_key(path, value):
    with pytest.raises(InvalidInput, match=path):
        read_curves(broken(path, value))


def test_optional_parts_are_none(samples_result):
    curves = read_curves(samples_result)
    assert curves.exact is curves.claim is curves.forward is curves.draws is None
    assert (curves.reference_text, curves.excess.any()) == ("", False)


def test_without_a_claim_the_bound_is_held_against_the_exact_spectrum(result):
    result["claim"] = None
    curves = read_curves(result)
    assert curves.reference is curves.exact
    assert curves.reference_text == "the exact spectrum"


def test_lookup_stops_at_what_is_absent():
    assert lookup({"a": {"b": 1}}, "a.b") == 1
    assert lookup({"a": None}, "a.b.c") is None


@pytest.mark.parametrize("size", [1, 2, 11, 12, 13, 400])
def test_selected_rows_are_few_and_hold_the_claim_and_the_largest_excess(size, result):
    epsilon = np.linspace(0.0, 4.0, size)
    low = np.where(np.arange(size) == size // 3, 0.5, 0.1)
    result |= {
        "epsilon": epsilon.tolist(),
        "empirical": {"delta": low.tolist(), "low": low.tolist()},
        "exact": None,
    }
    result["claim"] = {"text": "", "delta": [0.2] * size, "epsilon": epsilon[size // 2]}
    rows = selected_rows(read_curves(result))
    assert rows == sorted(set(rows))
    assert len(rows) <= 12
    assert {0, size - 1, size // 3, size // 2} <= set(rows) or size == 1
