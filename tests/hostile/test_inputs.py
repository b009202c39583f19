"""Bad files, options and arrays: exit status 2 and a line for each fault, and never a traceback."""

import itertools
import json
import random

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli import main
from tests.report.examples import make_result

LARGEST_EPSILON = 500.0  # nats, of a claim
CRASH = ("Traceback", "should not have happened")


def refused(capsys, argv):
    """Run a command that must be refused; returns its lines on stderr."""
    status = main([str(one) for one in argv])
    output = capsys.readouterr().err
    assert status == 2, (argv, status, output)
    assert not any(word in output for word in CRASH), (argv, output)
    lines = output.strip().splitlines()
    assert lines, argv
    assert all(len(line) < 1000 for line in lines)
    return lines


def survived(capsys, argv):
    """Run a command on input that may be good or bad: whatever its status, it must not crash."""
    status = main([str(one) for one in argv])
    output = capsys.readouterr().err
    assert not any(word in output for word in CRASH), (argv, output)
    assert status in (0, 1, 2, 3), argv
    assert output.strip() or status != 2, argv
    return status


@pytest.fixture
def draws(tmp_path):
    """The paths of two files of draws."""
    rng = np.random.default_rng(0)
    paths = tmp_path / "P.npy", tmp_path / "Q.npy"
    for path in paths:
        np.save(path, rng.normal(size=400))
    return paths


# --- claims


@pytest.mark.parametrize("claim", ["500.1,0", "1e308,0.5", "-1e308,0"])
def test_claims_that_no_draws_refute_are_refused_on_the_command_line(claim, draws, capsys):
    assert len(refused(capsys, ["samples", *draws, "--claim", claim])) == 1
    assert len(refused(capsys, ["plan", "--claim", claim])) == 1


@pytest.mark.parametrize("epsilon", ["800", "1e308", "1" + "0" * 400, "inf", "nan"])
def test_claims_that_no_draws_refute_are_faults_of_a_scenario(epsilon, write_scenario, capsys):
    path = write_scenario(claim=f"epsilon = {epsilon}\ndelta = 0.1")
    assert any("epsilon" in line for line in refused(capsys, ["run", path]))


def test_the_largest_claim_is_judged():
    """Claims up to the limit are audited, and nothing can be shown; beyond it they are refused."""
    rng = np.random.default_rng(1)
    P, Q = rng.normal(size=(2, 400))
    result = dp.audit_samples(P, Q, claim=(LARGEST_EPSILON, 0.0), classifier="qda", rng=1)
    assert result.verdict == "inconclusive"
    assert "No number of draws refutes the claim of (500, 0)-DP" in result.reason
    with pytest.raises(dp.InvalidInput, match="claim epsilon must be at most 500 nats"):
        dp.audit_samples(P, Q, claim=(LARGEST_EPSILON + 1e-9, 0.0))


# --- what is nested too deeply, and numbers that are too long


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000 + "]" * 5000,
        "a = " + "{a = " * 5000 + "1" + "}" * 5000,
        "a = 1" + "0" * 5000,
        "[audit]\ndraws = 1" + "0" * 4000,
    ],
)
def test_deep_and_long_toml_is_refused(text, tmp_path, capsys):
    path = tmp_path / "deep.toml"
    path.write_text(text)
    for command in ("run", "spectrum"):
        refused(capsys, [command, path])


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"level": 1' + "0" * 5000])
def test_deep_and_long_json_is_refused(text, tmp_path, capsys, write_scenario):
    (tmp_path / "result.json").write_text(text)
    assert len(refused(capsys, ["report", tmp_path])) == 1
    refused(capsys, ["run", write_scenario(), "--against", tmp_path, "--out", tmp_path / "out"])


# --- memory


def test_a_grid_of_too_many_points_is_refused_before_it_is_made(write_scenario, capsys):
    text = "epsilon = {start = 0.0, stop = 4.0, num = 100_000_000}"
    lines = refused(capsys, ["run", write_scenario(audit=text)])
    assert any("10,000" in line for line in lines)
    grid = np.linspace(0.0, 4.0, 10_001)
    with pytest.raises(dp.InvalidInput, match="epsilon must be at most 10,000 points"):
        dp.audit_samples(np.zeros(400), np.zeros(400), epsilon=grid)


def test_sketches_of_too_many_rows_have_no_exact_worst_case():
    """10^10 rows took 150 s and 2 GB; with a mesh that does not grow they take milliseconds."""
    X, y = dp.datasets.load("diabetes")
    data = np.column_stack([X, y])
    for rows in (10**12 + 1, 10**13, 10**300):
        with pytest.raises(dp.NoExactSpectrum, match="at most 1,000,000,000,000 rows"):
            dp.exact.worst_case(dp.mechanisms.ALS(rows=rows), data, 1.0)
    assert dp.exact.worst_case(dp.mechanisms.ALS(rows=10**5), data, 1.0).delta > 0.0


# --- random bad input


VALUES = (
    *("-1", "0", "1", "1e308", "-1e308", "nan", "inf", "-inf", "1e-320", "-0.0", "0.5", "true"),
    *('""', '"text"', '"\\u0000"', '"\\u202e"', '"../x"', '"a:b"', "'''\n'''", '"inf"'),
    *("[]", "{}", "[[1.0]]", "[1.0, nan]", '["a"]', "{a = 1}", "[[], [1]]", "[1.0, 'a']"),
    *("9223372036854775808", "1" + "0" * 400, "1979-05-27", "07:32:00", "0x7fffffffffffffff"),
)
KEYS = {
    "data": ("path", "name", "target", "constant", "row_bound", "unknown"),
    "mechanism": ("name", "rows", "call", "command", "parameters", "kind", "timeout", "batched"),
    "neighbour": ("rule", "index", "at", "row", "relations", "unknown"),
    "claim": ("epsilon", "delta", "gdp", "rho", "omega", "rows", "gamma", "printed"),
    "audit": (
        *("epsilon", "draws", "level", "classifier", "seed", "detect", "train_share"),
        *("choose_share", "bits", "focus", "stop", "backend", "address", "unit"),
    ),
}
TABLE = {
    "data": {"path": '"small.csv"', "target": '"y"'},
    "mechanism": {"name": '"ALS"', "rows": "20"},
    "neighbour": {"rule": '"worst"'},
    "claim": {"epsilon": "1.0", "delta": "0.9"},
    "audit": {"draws": "400", "classifier": '"qda"', "epsilon": "[0.0, 1.0]"},
}


def scenario_text(rng):
    """A scenario with one to three values that are mostly wrong; or a text of damaged bytes."""
    tables = {place: dict(content) for place, content in TABLE.items()}
    for _ in range(rng.randint(1, 3)):
        place = rng.choice(list(KEYS))
        tables[place][rng.choice(KEYS[place])] = rng.choice(VALUES)
    text = "\n".join(
        f"[{place}]\n" + "\n".join(f"{key} = {value}" for key, value in content.items())
        for place, content in tables.items()
    ).encode()
    if rng.random() < 0.25:
        place = rng.randrange(len(text))
        text = text[:place] + bytes(rng.randrange(256) for _ in range(3)) + text[place + 2 :]
    return text


OPTIONS = {
    "plan": ("--claim", "--excess", "--samples", "--level", "--power"),
    "spectrum": ("--epsilon", "--relation", "--candidates", "--row-bound"),
    "calibrate": ("--epsilon", "--delta", "--parameter", "--relation", "--row-bound"),
    "samples": ("--claim", "--level", "--classifier", "--seed"),
}
WORDS = (
    *("", " ", "-1", "0", "1", "nan", "inf", "-inf", "1e308", "1e-320", "1" + "0" * 400, "1,2,3"),
    *("1,nan", "nan,0", "1,-1", "0,1", "1,1", "1e400,0", "0,0"),
    *("abc", "\x1b[", "\u202e", "-", "--"),
)


def command_line(rng, scenario, draws):
    """A command with one to three options whose values are mostly wrong."""
    command = rng.choice(list(OPTIONS))
    given = {"plan": (), "samples": draws}.get(command, (scenario,))
    chosen = rng.sample(OPTIONS[command], rng.randint(1, 3))
    pairs = [(option, rng.choice(WORDS)) for option in chosen]
    return [command, *given, *itertools.chain.from_iterable(pairs)]


def damaged(rng, value, depth=0):
    """A result with one value at any depth replaced, or left out."""
    if isinstance(value, dict) and value and (depth == 0 or rng.random() < 0.6):
        key = rng.choice(list(value))
        if rng.random() < 0.2:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: damaged(rng, value[key], depth + 1)}
    if isinstance(value, list) and value and rng.random() < 0.5:
        place = rng.randrange(len(value))
        return [*value[:place], damaged(rng, value[place], depth + 1), *value[place + 1 :]]
    return rng.choice(
        [None, True, -1, 10**400, 1e308, "", "inf", "nan", "x", [], {}, [[1]], [None]]
    )


def array_of(rng):
    """Two thousand draws of a type that few mechanisms have, or that is refused."""
    numbers = np.random.default_rng(rng.randrange(2**32)).integers(
        -3, 4, size=(rng.choice([5, 400]), 2)
    )
    kinds = (
        "<i8 <u8 <f2 <f4 <c16 ? S3 <U3 <M8[s] <m8[s] V4 fields list object 3d 0d empty tiny huge"
    )
    kind = rng.choice([*kinds.split(), "inner"])
    shapes = {"3d": numbers[None], "0d": numbers[0, 0], "empty": numbers[:0]}
    if kind in shapes:
        return shapes[kind].astype(float)
    if kind in ("tiny", "huge"):
        return numbers * (5e-324 if kind == "tiny" else 1e307)
    if kind == "object":
        return numbers.astype(object)
    if kind in ("fields", "list", "inner"):
        dtype = {
            "fields": [("a", "<f8"), ("b", "<U2")],
            "list": [("list", "<f8")],
            "inner": [("a", [("b", "<i2")]), ("c", "<f8", (2,))],
        }[kind]
        return np.zeros(len(numbers), dtype=dtype)
    return numbers.astype("<i8").astype(kind) if kind != "V4" else np.zeros(len(numbers), "V4")


@pytest.mark.parametrize(
    ("size", "command", "seed"),
    [(18, "spectrum", 15), pytest.param(1000, "run", 1, marks=pytest.mark.slow)],
)
def test_random_bad_input_never_crashes(
    write_scenario, draws, tmp_path, capsys, monkeypatch, no_figures, size, command, seed
):
    """Scenarios, options, results and arrays: more than 60 inputs; with thousands scenarios run."""
    monkeypatch.chdir(tmp_path)
    tried = fuzz(random.Random(seed), write_scenario(), draws, tmp_path, capsys, size, command)
    assert tried >= 2.5 * size


def fuzz(rng, scenario, draws, folder, capsys, size, command):
    """Try `size` inputs of each of the four kinds; returns how many different ones there were."""
    seen = set()
    bad, result, array = folder / "bad.toml", folder / "result.json", folder / "array.npy"
    record = json.loads(json.dumps(make_result()))
    for _ in range(size):
        bad.write_bytes(scenario_text(rng))
        survived(capsys, [command, bad])
        options = command_line(rng, scenario, draws)
        survived(capsys, options)
        result.write_text(json.dumps(damaged(rng, record)))
        survived(capsys, ["report", folder])
        np.save(array, array_of(rng), allow_pickle=True)
        seen |= {
            bad.read_bytes(),
            tuple(map(str, options)),
            result.read_bytes(),
            array.read_bytes(),
        }
        survived(capsys, ["samples", array, draws[1], "--classifier", "qda"])
    return len(seen)
