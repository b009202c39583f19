"""A Dask cluster draws the same bytes, also when one of its workers is killed."""

import os
import signal
import time
from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config

import dpaudit as dp
from dpaudit.certify.constants import STORED
from dpaudit.run import Scenario, run
from dpaudit.run.scenario.tables import Workers
from dpaudit.sampling import MechanismDraws
from tests.drawing import draw
from tests.run.records import text_without_clock
from tests.run.test_workers import DATA, HELPER, OWN, local

distributed = pytest.importorskip("distributed")
SIZE = 20_000
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_figures")]


@pytest.fixture(scope="module")
def client():
    """Two workers of one thread; one that is killed is started anew."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_a_cluster_draws_the_same(client):
    for mechanism in (dp.mechanisms.ALS(12), local):
        alone = draw(mechanism, DATA, SIZE, np.random.SeedSequence(2), 1)
        with parallel_config(backend="dask", client=client):
            np.testing.assert_array_equal(
                draw(mechanism, DATA, SIZE, np.random.SeedSequence(2), 1), alone
            )


# --- workers that count ---------------------------------------------------------------------------


def wide(data, size, *, rng):
    """12 numbers a draw."""
    return data[0, 0] + rng.standard_normal((size, 12))


def lists(data, size, *, rng):
    """1 to 3 numbers a draw."""
    return [list(data[0, 0] + rng.standard_normal(rng.integers(1, 4))) for _ in range(size)]


def cold(data, size, *, rng):
    """Fails at times."""
    if rng.random() < 0.2:
        raise ValueError("too cold")
    return wide(data, size, rng=rng)


PAIR = dp.neighbours.zero_row(np.ones((5, 2)), 0)
SUM = dp.scoring.KnownScore(lambda rows: rows.sum(axis=1) - 6.0, "sum")


CLOCK = {"timings", "peak_memory_mb"}


def content(result):
    """All of a result but its clock."""
    return {key: value for key, value in result.to_dict().items() if key not in CLOCK}


def sent(client):
    """Bytes that the workers have sent to each other, and to the process that audits."""

    def outgoing(dask_worker):
        log = dask_worker.transfer_outgoing_log
        between = sum(one["total"] for one in log if one["who"] is not None)
        return between, sum(one["total"] for one in log) - between

    return np.sum(list(client.run(outgoing).values()), axis=0)


@pytest.mark.parametrize("classifier", [SUM, "qda"], ids=["known", "trained"])
def test_a_million_draws_of_12_numbers_are_less_than_a_megabyte(client, classifier):
    """Of 500,000 a side 35,355 choose the sets, and 141,421 train. Workers pass them on."""
    before = sent(client)
    with parallel_config(backend="dask", client=client):
        found = dp.audit(wide, PAIR, draws=500_000, classifier=classifier, rng=1)
    between, here = sent(client) - before
    assert between > 2 * 35_355 * 12 * 8 / 4  # a worker keeps what it has drawn itself
    assert 8 * STORED < here < 0.8e6
    alone = dp.audit(wide, PAIR, draws=500_000, classifier=classifier, rng=1)
    assert content(found) == content(alone)


def test_lists_learn_and_are_counted_on_a_cluster(client):
    alone = dp.audit(lists, PAIR, draws=20_000, classifier="auto", rng=1)
    with parallel_config(backend="dask", client=client):
        found = dp.audit(lists, PAIR, draws=20_000, classifier="auto", rng=1)
    assert content(found) == content(alone)


def test_what_a_mechanism_raises_on_a_worker_is_told(client):
    with (
        parallel_config(backend="dask", client=client),
        pytest.raises(
            dp.MechanismError, match=r"raised ValueError: too cold \(on M\(D'?\), block "
        ),
    ):
        dp.audit(cold, PAIR, draws=20_000, classifier="qda", rng=1)


def test_a_score_of_the_users_own_that_raises_on_a_worker_is_told(client):
    def raises(rows):
        raise ValueError("no such score")

    with (
        parallel_config(backend="dask", client=client),
        pytest.raises(ValueError, match="no such score"),
    ):
        dp.audit(wide, PAIR, draws=20_000, classifier=dp.scoring.KnownScore(raises), rng=1)


def test_the_audit_itself_may_be_a_task(client):
    """It draws on the workers from there; the process that asks gets the result and no draws."""

    def audited():
        with parallel_config(backend="dask"):
            return dp.audit(wide, PAIR, draws=50_000, classifier=SUM, rng=1).to_dict()

    found = client.submit(audited).result(timeout=120)
    alone = dp.audit(wide, PAIR, draws=50_000, classifier=SUM, rng=1)
    assert {key: found[key] for key in content(alone)} == content(alone)


# --- scenarios ------------------------------------------------------------------------------------


@pytest.fixture
def on_cluster(client, write_scenario, tmp_path):
    """A scenario for the cluster, with modules beside it. Its run alone is in `alone`."""
    (tmp_path / "own_release.py").write_text(OWN)
    (tmp_path / "helper_of_own.py").write_text(HELPER)
    made = {"mechanism": 'call = "own_release:release"', "neighbour": 'rule = "row"\nindex = 4'}
    audit = 'draws = 9000\nclassifier = "qda"\nepsilon = [0.0]'
    run(Scenario.load(write_scenario(audit=audit, **made)), tmp_path / "alone")
    key = f'\nbackend = "dask"\naddress = "{client.scheduler.address}"'
    return Scenario.load(write_scenario(audit=audit + key, **made))


def test_a_scenario_on_a_cluster(on_cluster, tmp_path):
    """The workers find the modules beside the scenario."""
    run(on_cluster, tmp_path / "dask")
    assert text_without_clock(tmp_path / "dask") == text_without_clock(tmp_path / "alone")


@pytest.mark.parametrize("then", ["there", "alone"])
def test_a_run_that_was_interrupted_on_a_cluster_goes_on(on_cluster, tmp_path, then):
    """Draws that learn are kept, and so are the counts of the others."""

    def interrupt(step, done, wanted):
        if step.startswith("drawing") and done > 0.8 * wanted:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(on_cluster, tmp_path / "dask", progress=interrupt)
    kept = tmp_path / "dask" / "draws"
    assert len(list(kept.glob("?-*.npy"))) == 36
    assert len(list(kept.glob("counts-*.npz"))) > 4
    scenario = on_cluster if then == "there" else replace(on_cluster, workers=Workers())
    run(scenario, tmp_path / "dask", resume=True)
    assert text_without_clock(tmp_path / "dask") == text_without_clock(tmp_path / "alone")


# --- a worker that dies ---------------------------------------------------------------------------


def gone(process):
    """Whether there is no such process any more."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_worker_killed_midway_changes_nothing(client):
    alone = draw(local, DATA, SIZE, np.random.SeedSequence(1), 0)
    workers = list(client.run(os.getpid).values())
    killed = []

    def kill(step, done, wanted):
        if not killed and done > wanted // 4:
            killed.append(os.kill(workers[0], signal.SIGKILL))

    with parallel_config(backend="dask", client=client):
        source = MechanismDraws(local, (DATA, DATA), SIZE, np.random.SeedSequence(1), progress=kill)
        np.testing.assert_array_equal(source.take(SIZE)[0], alone)
    assert killed
    assert any(gone(workers[0]) or time.sleep(0.1) for _ in range(100))


@pytest.mark.parametrize("share", [0.08, 0.5], ids=["holds draws that learn", "counts"])
def test_a_worker_killed_while_it_changes_nothing(client, share):
    """Of 100,000 draws 10,000 learn; those that were lost are drawn again."""
    killed = []

    def kill(step, done, wanted):
        if step.startswith("drawing") and not killed and done > share * wanted:
            killed.append(os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL))

    alone = dp.audit(wide, PAIR, draws=100_000, classifier=SUM, rng=1)
    with parallel_config(backend="dask", client=client):
        found = dp.audit(wide, PAIR, draws=100_000, classifier=SUM, rng=1, progress=kill)
    assert killed
    assert content(found) == content(alone)
