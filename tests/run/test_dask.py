"""A Dask cluster draws the same bytes, also when one of its workers is killed."""

import os
import signal

import numpy as np
import pytest
from joblib import parallel_config

import dpaudit as dp
from dpaudit.run import Scenario, run
from tests.run.records import text_without_clock
from tests.run.test_workers import HELPER, OWN

distributed = pytest.importorskip("distributed")
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


def wide(data, size, *, rng):
    """12 numbers a draw."""
    return data[0, 0] + rng.standard_normal((size, 12))


PAIR = dp.neighbours.zero_row(np.ones((5, 2)), 0)
SUM = dp.scoring.KnownScore(lambda rows: rows.sum(axis=1) - 6.0, "sum")


CLOCK = {"timings", "peak_memory_mb"}


def content(result):
    """All of a result but its clock."""
    return {key: value for key, value in result.to_dict().items() if key not in CLOCK}


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


def test_a_run_that_was_interrupted_on_a_cluster_goes_on(on_cluster, tmp_path):
    """Draws that learn are kept, and so are the counts of the others."""

    def interrupt(step, done, wanted):
        if step.startswith("drawing") and done > 0.8 * wanted:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(on_cluster, tmp_path / "dask", progress=interrupt)
    kept = tmp_path / "dask" / "draws"
    assert len(list(kept.glob("?-*.npy"))) == 36
    assert len(list(kept.glob("counts-*.npz"))) > 4
    run(on_cluster, tmp_path / "dask", resume=True)
    assert text_without_clock(tmp_path / "dask") == text_without_clock(tmp_path / "alone")


@pytest.mark.parametrize("share", [0.08, 0.5], ids=["holds draws that learn", "counts"])
def test_a_worker_killed_while_it_changes_nothing(client, share):
    """Of 100,000 draws 10,000 learn; those that were lost are drawn again."""
    killed = []

    def kill(step, done, wanted):
        if step.startswith("drawing") and not killed and done > share * wanted:
            killed.append(os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL))

    alone = dp.audit(wide, PAIR, draws=100_000, classifier=SUM, rng=1)
    with parallel_config(backend="dask", client=client):
        result = dp.audit(wide, PAIR, draws=100_000, classifier=SUM, rng=1, progress=kill)
    assert killed
    assert content(result) == content(alone)
