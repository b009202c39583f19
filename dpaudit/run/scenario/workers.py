"""Where a scenario's draws are made: threads or processes of this machine, or a Dask cluster.

The draws are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from joblib import cpu_count, effective_n_jobs, parallel_config

from dpaudit._core.user_code import apart
from dpaudit.errors import ScenarioError

LOKY, DASK = "loky", "dask"
BACKENDS = ("threading", LOKY, DASK)
NEEDED = '[audit] backend: "dask" needs the package distributed, pip install "dpaudit[dask]"'


@dataclass(frozen=True)
class Workers:
    """backend : of `joblib.parallel_config`; None leaves the choice to the caller.

    address : of a Dask scheduler. Without it Dask runs in processes of this machine for as long as
    the run takes.
    """

    backend: str | None = None
    address: str | None = None

    @contextmanager
    def at_work(self, n_jobs: int | None) -> Iterator[None]:
        """Draws inside this context are made by `n_jobs` workers.

        None means all cores where a backend is named. A cluster at an address keeps its own number
        of workers. Raises `ScenarioError` where Dask is not installed, OSError where no scheduler
        answers.
        """
        if self.backend is None:
            yield
        elif self.backend == DASK:
            with (
                apart(),
                _cluster(self.address, n_jobs) as client,
                parallel_config(backend=DASK, client=client),
            ):
                yield
        else:
            with parallel_config(backend=self.backend, n_jobs=-1 if n_jobs is None else n_jobs):
                processes = self.backend == LOKY and effective_n_jobs(None) > 1
                with apart() if processes else nullcontext():
                    yield


@contextmanager
def _cluster(address: str | None, n_jobs: int | None) -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ScenarioError(NEEDED) from None
    if address is not None:
        with Client(address, set_as_default=False) as client:
            yield client
        return
    jobs = cpu_count() if n_jobs is None or n_jobs < 0 else n_jobs
    with (
        LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
