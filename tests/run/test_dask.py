"""A Dask cluster draws the same bytes, also when one of its workers is killed."""

import os
import signal

import numpy as np
import pytest
from joblib import parallel_config

import dpaudit as dp
from dpaudit._core.seeds import root
from dpaudit.run import Scenario, run
from dpaudit.sampling import MechanismDraws, draw
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
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_a_cluster_draws_the_same(client):
    for mechanism in (dp.mechanisms.ALS(12), local):
        alone = draw(mechanism, DATA, SIZE, root(2), 1)
        with parallel_config(backend="dask", client=client):
            np.testing.assert_array_equal(draw(mechanism, DATA, SIZE, root(2), 1), alone)


def test_a_worker_killed_midway_changes_nothing(client):
    alone = draw(local, DATA, SIZE, root(1), 0)
    workers = list(client.run(os.getpid).values())
    killed = []

    def kill(step, done, wanted):
        if not killed and done > wanted // 4:
            killed.append(os.kill(workers[0], signal.SIGKILL))

    with parallel_config(backend="dask", client=client):
        source = MechanismDraws(local, (DATA, DATA), SIZE, root(1), progress=kill)
        np.testing.assert_array_equal(source.take(SIZE)[0], alone)
    assert killed
    assert workers[0] not in client.run(os.getpid).values()


@pytest.fixture
def on_cluster(client, write_scenario, tmp_path):
    """A scenario for the cluster, with modules beside it. Its run alone is in `alone`."""
    (tmp_path / "own_release.py").write_text(OWN)
    (tmp_path / "helper_of_own.py").write_text(HELPER)
    made = {"mechanism": 'call = "own_release:release"', "neighbour": 'rule = "row"\nindex = 4'}
    audit = 'samples = 1500\nclassifier = "qda"\nepsilon = [0.0]'
    run(Scenario.load(write_scenario(audit=audit, **made)), tmp_path / "alone")
    key = f'\nbackend = "dask"\naddress = "{client.scheduler.address}"'
    return Scenario.load(write_scenario(audit=audit + key, **made))


def test_a_scenario_on_a_cluster(on_cluster, tmp_path):
    """The workers find the modules beside the scenario."""
    run(on_cluster, tmp_path / "dask")
    assert text_without_clock(tmp_path / "dask") == text_without_clock(tmp_path / "alone")


def test_a_run_that_was_interrupted_on_a_cluster_goes_on_there(on_cluster, tmp_path):
    """The block that is drawn again is drawn by a worker."""

    def interrupt(step, done, wanted):
        if step.startswith("drawing") and done > wanted // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(on_cluster, tmp_path / "dask", progress=interrupt)
    assert list((tmp_path / "dask" / "draws").glob("?-*.npy"))
    run(on_cluster, tmp_path / "dask", resume=True)
    assert text_without_clock(tmp_path / "dask") == text_without_clock(tmp_path / "alone")
