"""E-values in sentences: what was reached, what is needed, and whether the claim is rejected."""

import json
import re

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli import main
from dpaudit.run import Ledger
from dpaudit.verdict import from_log
from tests.run.test_ledger import entry

# --- step by step ---------------------------------------------------------------------------------


def watched(noise, steps=200, level=0.95):
    """Steps whose noise is noise(t, z), of the z that is claimed."""
    rng = np.random.default_rng(1)
    audit, path = dp.StepAudit(sample_rate=0.1, noise_multiplier=1.0, level=level), []
    for t in range(steps):
        included = rng.random() < 0.1
        audit.update(included + noise(t, rng.standard_normal()), included)
        path.append(audit.e_value)
    return audit, path


def test_a_violation_shows_its_peak_beside_what_is_left_of_it():
    audit, path = watched(lambda t, z: 0.2 * z if t < 20 else 3.0 * z)
    assert audit.verdict == "violated"
    assert audit.e_value < 20.0
    assert audit.largest_e_value == max(path) >= 20.0
    assert path[audit.largest_at - 1] == max(path)
    peak, now = from_log(np.log(max(path))), from_log(np.log(path[-1]))
    sentence = (
        f"The e-value reached {peak} at step {audit.largest_at} (20 needed); it is {now} after"
    )
    assert sentence in audit.reason
    # the noise that was missing refuted the claim, whatever bettor has most in the end
    assert max(audit.e_values, key=audit.e_values.get) != "noise"
    assert "vary less than the noise" in audit.reason
    record = json.loads(json.dumps(audit.to_dict(), allow_nan=False))
    assert (record["largest_e_value"], record["largest_at"]) == (max(path), audit.largest_at)


def test_no_e_value_is_a_power_of_e_or_infinite_in_a_sentence():
    audit, _ = watched(lambda t, z: 1e-9 * z, steps=400)
    assert audit.e_value == np.inf
    assert re.search(r"The e-value reached 10[⁰¹²³⁴⁵⁶⁷⁸⁹]{3,} at step", audit.reason)
    assert "e^" not in audit.reason


# --- ledgers --------------------------------------------------------------------------------------


SENTENCE = re.compile(
    r"Ledger: the claim is (rejected|not rejected)\. (\d+) runs? of version 1 of the code, \d+ "
    r"draws a side in all, brought the e-value against it to (\S+), (at least|below) the 40 that "
    r"rejects it\.(?: It is (\S+) now\.)?"
)


@pytest.mark.parametrize(
    ("nights", "sentence"),
    [
        ((5538.0,), ("rejected", "1", "10²⁴⁰⁵", "at least", None)),
        ((4.0,), ("rejected", "1", "54.5", "at least", None)),
        ((4.0, -2.0), ("rejected", "2", "54.5", "at least", "7.38")),
        ((1.0,), ("not rejected", "1", "2.71", "below", None)),
        ((3.6888,), ("not rejected", "1", "39.9", "below", None)),  # ln 40 is 3.68888
        ((-1.0, -1.0), ("not rejected", "2", "0.367", "below", "0.135")),
    ],
)
def test_a_ledger_says_what_is_reached_needed_and_decided(nights, sentence, tmp_path, capsys):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for seed, night in enumerate(nights):
        standing = ledger.add(entry((night,), draws_id=str(seed), seed=seed))
    assert SENTENCE.fullmatch(standing.text).groups() == sentence
    assert standing.violated == (sentence[0] == "rejected")
    assert main(["ledger", str(ledger.path)]) == standing.violated
    shown = capsys.readouterr().out
    assert standing.text in shown
    assert ("VIOLATED" in shown) == standing.violated


@pytest.mark.parametrize(
    ("log", "text"),
    [(0.0, "1"), (1.8547, "6.38"), (699.0, "3.73×10³⁰³"), (5538.0, "10²⁴⁰⁵"), (np.inf, "∞")],
)
def test_numbers_by_their_logarithm(log, text):
    assert from_log(log) == text
