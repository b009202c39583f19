"""Ledgers: false alarms over whole histories, what a small excess takes, and files that last."""

import itertools
import json
import multiprocessing
import sys

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.certify import Hits, Null
from dpaudit.cli import main
from dpaudit.run.ledger import Entry, Ledger, Standing, judged_by

EPSILON, DELTA, NIGHTS, DRAWS = 1.0, 1e-3, 30, 100_000
NULL = Null.of(np.array([EPSILON]), np.array([DELTA]))


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "ledger.jsonl")


def entry(log_e=(0.0,), **changes):
    """A run with these e-values."""
    usual = {
        "draws_id": "a",
        "subject": "mechanism and claim",
        "code": "first",
        "name": "night",
        "claim": "(1, 0)-DP",
        "seed": 0,
        "draws": 10,
        "log_e": tuple(log_e),
        "verdict": "not violated",
        "at": "2026-01-01T00:00:00Z",
    }
    return Entry(**{**usual, **changes})


def histories(q, excess, count, seed):
    """log e of each night of so many histories, (count, NIGHTS, k), from counts of real draws."""
    p = DELTA + np.exp(EPSILON) * q + excess
    one = [Hits(True, EPSILON, *hits).log_e(NULL) for hits in ((1, 0, 0), (0, 1, 0), (0, 0, DRAWS))]
    rng = np.random.default_rng(seed)
    ahead, behind = (rng.binomial(DRAWS, rate, (count, NIGHTS, 1)) for rate in (p, q))
    return ahead * one[0] + behind * one[1] + one[2]


def test_a_true_claim_is_rejected_in_at_most_5_percent_of_histories():
    """At the edge of the claim, over 30 nights of one version: half of 5 % is allowed."""
    found = [
        Standing.of(1, [entry(one) for one in nights]).violated
        for nights in histories(0.003, 0.0, 1000, 1)
    ]
    assert np.mean(found) <= 0.025


@pytest.mark.slow
def test_versions_of_the_code_share_the_5_percent():
    """A new version every third night: the largest evidence of each is held against its share."""
    rejected = 0
    for nights in histories(0.01, 0.0, 600, 2):
        parts = np.split(nights, NIGHTS // 3)
        rejected += any(
            Standing.of(k, [entry(one) for one in part]).violated for k, part in enumerate(parts, 1)
        )
    assert rejected <= 0.05 * 600
    shares = sum(1.0 / Standing(k, [], 0.0, 0.0).needed for k in range(1, 100_000))
    assert shares == pytest.approx(0.05, rel=1e-4)


def test_a_bet_at_the_worst_pair_of_the_claim_gains_nothing():
    """Exactly, by the law of the counts of 40 pairs: the mean of e is at most 1."""
    from scipy.stats import binom

    count = np.arange(41)
    for q in (0.0, 0.1, 0.3):
        p = DELTA + np.exp(EPSILON) * q
        weight = np.outer(binom.pmf(count, 40, p), binom.pmf(count, 40, q))
        start, up, down = (
            np.exp(Hits(True, EPSILON, *hits, 40).log_e(NULL)) for hits in ((0, 0), (1, 0), (0, 1))
        )
        for base, ahead, behind in zip(start, up / start, down / start, strict=True):
            payoff = base * ahead ** count[:, None] * behind ** count[None, :]
            assert np.sum(weight * payoff) <= 1.0 + 1e-9


@pytest.mark.parametrize(
    "other", [{"draws_id": "other data or draws"}, {"draws_id": "b", "code": "second"}]
)
def test_a_seed_counts_once_whatever_else_changes(book, other):
    """Draws from one seed are not independent, even from other data: their e-values do not
    multiply.
    """
    book.add(entry())
    with pytest.raises(dp.InvalidInput, match=r"with seed 0 already.*give another --seed"):
        book.add(entry((2.0,), **other))
    assert book.add(entry((2.0,), subject="another claim", **other)).log_e == 2.0


def test_draws_that_come_again_under_another_seed_are_refused(book):
    book.add(entry((2.0,), marks=("x", "y")))
    with pytest.raises(dp.MechanismError, match=r"does not take its random numbers from rng"):
        book.add(entry((2.0,), draws_id="b", seed=1, marks=("y",)))
    assert book.add(entry((2.0,), draws_id="b", seed=1, marks=("z",))).log_e == 4.0


def test_the_version_that_ran_last_decides(book, capsys):
    """A leaking version, a sound one, and then the leaking one again."""
    for seed, (log_e, code) in enumerate([(9.0, "leaks"), (0.0, "sound")]):
        book.add(entry((log_e,), code=code, draws_id=str(seed), seed=seed))
    assert main(["ledger", str(book.path)]) == 0
    book.add(entry((9.0,), code="leaks", draws_id="2", seed=2))
    assert main(["ledger", str(book.path)]) == 1


def test_a_run_that_is_resumed_is_added_once(book):
    first = book.add(entry((2.0,)))
    again = book.add(entry((2.0,), at="2026-01-02T00:00:00Z"))
    assert (again.log_e, len(book.entries())) == (first.log_e, 1)
    book.refuse("mechanism and claim", 0, draws_id="a")
    with pytest.raises(dp.InvalidInput, match="seed 0 already"):
        book.refuse("mechanism and claim", 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [lines[0].replace(b'"draws": 10', b'"draws": 99'), *lines[1:]], "line 1 is"),
        (lambda lines: lines[1:], "line 1: a line before it is missing"),
        (lambda lines: [b"hello\n", *lines], "line 1 is no line of a ledger"),
    ],
)
def test_what_was_changed_or_taken_out_is_noticed(tmp_path, change, message):
    path = tmp_path / "ledger.jsonl"
    for seed in range(3):
        Ledger(path).add(entry(draws_id=str(seed), seed=seed))
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(dp.InvalidInput, match=message):
        Ledger(path).entries()


@pytest.mark.parametrize("torn", [b"\0\0", b'{"dr'])
def test_an_unfinished_line_is_left_out_and_removed(tmp_path, torn):
    path = tmp_path / "ledger.jsonl"
    Ledger(path).add(entry())
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert len(Ledger(path).entries()) == 1
    Ledger(path).add(entry(draws_id="b", seed=1))
    assert len(Ledger(path).entries()) == 2
    assert path.read_bytes().startswith(whole)


def test_a_whole_last_line_counts_without_its_line_break(tmp_path):
    path = tmp_path / "ledger.jsonl"
    for seed in range(2):
        Ledger(path).add(entry((2.0,), draws_id=str(seed), seed=seed))
    path.write_bytes(path.read_bytes()[:-1])
    assert len(Ledger(path).entries()) == 2
    assert Ledger(path).add(entry((2.0,), draws_id="2", seed=2)).log_e == pytest.approx(6.0)


@pytest.mark.parametrize("content", [b'{"precious": 1}', b"one\ntwo\n"])
def test_a_file_that_is_no_ledger_stays_as_it_is(tmp_path, content):
    path = tmp_path / "precious.json"
    path.write_bytes(content)
    with pytest.raises(dp.InvalidInput, match="is no line of a ledger"):
        Ledger(path).add(entry())
    assert path.read_bytes() == content


def test_evidence_is_a_number(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(entry((float("nan"),)).line)
    with pytest.raises(dp.InvalidInput, match="its evidence is not finite"):
        Ledger(path).entries()


def _write(path, first):
    for number in range(first, first + 5):
        Ledger(path).add(entry(draws_id=str(number), seed=number))


def test_two_writers_lose_nothing(tmp_path):
    path = tmp_path / "ledger.jsonl"
    spawned = multiprocessing.get_context("fork")
    writers = [spawned.Process(target=_write, args=(path, first)) for first in (0, 100)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert len(Ledger(path).entries()) == 10


def test_lines_of_another_ledger_come_below_the_own_ones(tmp_path):
    """The two files have a first line in common; of runs with one seed the first one counts."""
    here, there = Ledger(tmp_path / "here"), Ledger(tmp_path / "there")
    for book in (here, there):
        book.add(entry((1.0,)))
    here.add(entry((1.0,), draws_id="b", seed=1))
    there.add(entry((1.5,), draws_id="of other data", seed=1))
    there.add(entry((1.0,), draws_id="c", seed=2, at="2025-01-01T00:00:00Z"))
    assert here.merge([there]) == 1
    assert [line.seed for line in here.entries()] == [0, 1, 2]
    assert here.merge([there]) == 0
    assert here.add(entry((1.0,), draws_id="d", seed=3)).log_e == pytest.approx(4.0)


def test_each_line_lists_the_checksum_before_it(tmp_path):
    """The form of the lines on disk: a ledger is continued over many versions of dpaudit."""
    book = Ledger(tmp_path / "ledger.jsonl")
    book.add(entry())
    book.add(entry(draws_id="b", seed=1))
    first, second = map(json.loads, book.path.read_text(encoding="utf-8").splitlines())
    assert (first["after"], second["after"]) == ([], [first["sha256"]])
    assert book.head == second["sha256"]


def test_a_rejection_is_not_merged_away(tmp_path):
    here, there = Ledger(tmp_path / "here"), Ledger(tmp_path / "there")
    here.add(entry((-6.0,)))
    there.add(entry((4.0,), draws_id="b", seed=1))
    before = here.path.read_bytes()
    with pytest.raises(dp.InvalidInput, match=r"there rejects the claim.*a rejection stands"):
        here.merge([there])
    assert here.path.read_bytes() == before
    with pytest.raises(dp.InvalidInput, match="there is no such file"):
        here.merge([Ledger(tmp_path / "typo")])


SCENARIO = """
[data]
path = "rows.csv"
[mechanism]
call = "nightly_mean:release"
[neighbour]
rule = "replace"
index = 0
row = [1.0]
[claim]
epsilon = 1.0
[audit]
draws = 500
"""
MEAN = """
def release(data, size, *, rng):
    return data.mean() + rng.laplace(scale={scale} / len(data), size=(size, 1))
"""


@pytest.fixture
def nightly(tmp_path, monkeypatch, no_figures):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpaudit.run.execute.fresh_seed", itertools.count().__next__)
    (tmp_path / "rows.csv").write_text("x\n0\n1\n0.5\n")
    (tmp_path / "nightly.toml").write_text(SCENARIO)

    def night(scale=1.0):
        (tmp_path / "nightly_mean.py").write_text(MEAN.format(scale=scale))
        status = main(["run", "nightly.toml", "--ledger", "ledger.jsonl"])
        return status, json.loads((tmp_path / "dpaudit-out/nightly/result.json").read_text())

    return night


def test_nights_of_the_command_line_pool_until_the_code_changes(nightly, capsys):
    (_, first), (_, second) = nightly(), nightly()
    assert (first["seed"], second["seed"]) == (0, 1)
    assert (first["ledger"]["runs"], second["ledger"]["runs"]) == (1, 2)
    assert "the claim is not rejected. 2 runs of version 1 of the code" in second["reason"]
    status, leaky = nightly(scale=0.3)
    assert (status, leaky["verdict"]) == (1, "violated")
    assert (leaky["ledger"]["version"], leaky["ledger"]["runs"]) == (2, 1)
    capsys.readouterr()
    assert main(["ledger", "ledger.jsonl"]) == 1
    assert "VIOLATED" in capsys.readouterr().out
    assert main(["ledger", "ledger.jsonl", "--json"]) == 1
    out, err = capsys.readouterr()
    assert [one["version"] for one in json.loads(out)] == [1, 2]
    assert leaky["ledger"]["head"] in err
    assert main(["ledger", "typo.jsonl"]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_a_report_that_could_not_be_written_is_written_on_resuming(nightly, tmp_path, capsys):
    (tmp_path / "dpaudit-out/nightly/result.json").mkdir(parents=True)
    (tmp_path / "nightly_mean.py").write_text(MEAN.format(scale=1.0))
    command = ["run", "nightly.toml", "--ledger", "ledger.jsonl"]
    assert main(command) == 2
    (entered,) = Ledger("ledger.jsonl").entries()
    (tmp_path / "dpaudit-out/nightly/result.json").rmdir()
    assert main([*command, "--resume"]) == 0
    record = json.loads((tmp_path / "dpaudit-out/nightly/result.json").read_text())
    assert record["seed"] == entered.seed
    assert record["ledger"]["runs"] == len(Ledger("ledger.jsonl").entries()) == 1


def test_a_ledger_that_cannot_be_written_is_found_before_a_draw(nightly, tmp_path, capsys):
    nightly()
    assert main(["run", "nightly.toml", "--ledger", "rows.csv/ledger.jsonl", "--out", "new"]) == 2
    assert not (tmp_path / "new").exists()


def test_what_one_run_finds_and_the_history_does_not_is_inconclusive(tmp_path):
    def twice(data, size, *, rng):
        return data.sum() + rng.laplace(scale=0.5, size=(size, 1))

    pair = dp.neighbours.replace_row(np.array([[0.0], [1.0]]), 0, [1.0])
    result = dp.audit(twice, pair, claim=(1.0, 0.0), draws=2000, rng=0)
    assert result.verdict == "violated"
    sound = Standing.of(1, [entry((0.0,))])
    judged = judged_by(sound, result)
    assert judged.verdict == "inconclusive"
    assert judged.reason.startswith("Ledger: the claim is not rejected. 1 run")
    assert "the history decides" in judged.reason


def test_a_ledger_needs_a_claim_and_draws(tmp_path, capsys):
    assert main(["run", "flight-additive-wishart", "--ledger", str(tmp_path / "l")]) == 2
    assert "--ledger pools evidence against a claim" in capsys.readouterr().err


SEEDED_ITSELF = """
import numpy as np

own = np.random.default_rng(10)

def release(data, size, *, rng):
    return data.mean() + own.laplace(scale=1.0 / len(data), size=(size, 1))
"""


@pytest.mark.slow
def test_noise_that_comes_again_every_night_is_not_pooled(nightly, tmp_path, monkeypatch, capsys):
    """A generator of the module's own: each night has the same numbers, whatever its seed. Which
    side gets the first of them is one of two, so the third night at the latest is refused.
    """
    (tmp_path / "nightly_mean.py").write_text(SEEDED_ITSELF)
    found = []
    for _ in range(3):
        monkeypatch.delitem(sys.modules, "nightly_mean", raising=False)
        found.append(main(["run", "nightly.toml", "--ledger", "ledger.jsonl"]))
    assert found[2] == 2
    assert "are those of an earlier run with seed" in capsys.readouterr().err


def test_claims_by_distance_and_audits_that_stop_are_not_pooled(nightly, tmp_path):
    text = (tmp_path / "nightly.toml").read_text()
    for change, message in (
        (("draws = 500", 'draws = 500\nstop = "verdict"'), "leave out stop"),
        (("epsilon = 1.0", 'epsilon = 1.0\nper = "euclidean"'), "one for all pairs"),
    ):
        (tmp_path / "nightly.toml").write_text(text.replace(*change))
        scenario = dp.run.load_scenario(tmp_path / "nightly.toml")
        with pytest.raises(dp.errors.ScenarioError, match=message):
            dp.run.run(scenario, ledger=tmp_path / "l.jsonl")
