"""Runs on the machines of a cluster, or in processes on this machine, through Dask (`becalm[dask]`)."""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from becalm._core import model
from becalm.base.errors import BecalmError
from becalm.base.parallel import Cancel
from becalm.runs.engines import TICK, WorkersDied, width_of
from becalm.runs.task import Done, Task, compute_all

if TYPE_CHECKING:
    from distributed import Future

RETRIES = 3
"""Number of Dask's retries for runs whose worker died."""


TIMEOUT = 30.0
"""Seconds within which a scheduler must answer."""


class Dask:
    """Workers of a Dask scheduler.

    Args:
        workers: number of processes to start on this machine if no scheduler is given.
        address: address of a running scheduler, such as `tcp://head:8786`.
        slurm: arguments of `dask_jobqueue.SLURMCluster`, such as `queue` and `walltime`, and the number of
            jobs as `jobs`.
        timeout: seconds to wait for the scheduler; default: `TIMEOUT`.

    Raises:
        BecalmError: Dask is not installed, the scheduler does not answer, or its workers have a different
            version of the model.

    """

    def __init__(
        self,
        workers: int | None = None,
        address: str | None = None,
        slurm: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> None:
        try:
            import distributed
        except ImportError as error:
            raise BecalmError('Dask is not installed: pip install "becalm[dask]"') from error
        self._cluster: Any = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if address is None:
            self._cluster = slurm_cluster(slurm) if slurm else self._local(width_of(workers))
        try:
            self._client = distributed.Client(
                address or self._cluster,
                set_as_default=False,
                timeout=TIMEOUT if timeout is None else timeout,
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise BecalmError(f"{address}: no Dask scheduler answers: {error}") from error
        models = set(self._client.run(_model).values())
        if models - {model}:
            self.close(abort=True)
            raise BecalmError(
                "workers and this program have different versions of the model: install the same becalm "
                "on both"
            )

    @property
    def width(self) -> int:
        """Total number of threads of all current workers."""
        return max(1, sum(map(int, self._client.nthreads().values())))

    def submit(self, tasks: list[Task]) -> Future[list[Done]]:
        """Submit runs."""
        keys = [task.key for task in tasks]
        name = keys[0] if len(keys) == 1 else hashlib.sha256("".join(keys).encode()).hexdigest()
        future: Future[list[Done]] = self._client.submit(
            _on_cluster, tasks, key=f"becalm-{name}", pure=False, retries=RETRIES
        )
        return future

    def wait(self, futures: Iterable[Future[list[Done]]]) -> list[Future[list[Done]]]:
        """Return the finished futures."""
        import distributed

        waiting = list(futures)
        try:
            with self._client.as_current():
                done = distributed.wait(waiting, timeout=TICK, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            return []
        return list(done)

    def result(self, future: Future[list[Done]]) -> list[Done]:
        """Return the outcomes of the runs, and release the future.

        Raises:
            WorkersDied: several workers died.

        """
        import distributed
        from distributed.client import FutureCancelledError

        try:
            found: list[Done] = future.result()
        except (distributed.scheduler.KilledWorker, FutureCancelledError) as error:
            raise WorkersDied from error
        finally:
            future.release()
        return found

    def renew(self) -> None:
        """Do nothing, because the scheduler restarts its workers."""

    def close(self, *, abort: bool = False) -> None:  # noqa: ARG002
        """Disconnect from the scheduler, which drops the requests. End a scheduler that was started here."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()
        if self._folder is not None:
            self._folder.cleanup()

    def _local(self, workers: int) -> Any:  # noqa: ANN401
        import distributed

        # Dask leaves files in its working folder, which are removed with the sweep.
        self._folder = tempfile.TemporaryDirectory(prefix="becalm-dask-", ignore_cleanup_errors=True)
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            local_directory=self._folder.name,
            # The default port may belong to another sweep.
            dashboard_address=":0",
            silence_logs=logging.ERROR,
            env={"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )


def slurm_cluster(given: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Return a cluster that requests workers from SLURM.

    Raises:
        BecalmError: dask-jobqueue is not installed, or does not support a setting.

    """
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError as error:
        raise BecalmError('dask-jobqueue is not installed: pip install "becalm[dask]"') from error
    settings: dict[str, Any] = dict(given)
    try:
        jobs = int(settings.pop("jobs", "1"))
        whole: dict[str, Any] = {key: int(settings[key]) for key in ("cores", "processes") if key in settings}
    except ValueError as error:
        raise BecalmError(f"--slurm: {error}; jobs, cores and processes must be integers") from error
    chosen: dict[str, Any] = {"cores": 1, "memory": "2GB", **settings, **whole}
    cluster = SLURMCluster(**chosen)
    cluster.scale(jobs=jobs)
    return cluster


def _model() -> str:
    return model


def _on_cluster(tasks: list[Task]) -> list[Done]:
    return compute_all(tasks, Cancel())
