# SPDX-License-Identifier: BSD-3-Clause
"""joblib's Parallel on nodes: `import quire.joblib`, then `with joblib.parallel_config("quire")` or `parallel_backend("quire")`.

In a node of a job its tasks run on all nodes of the job: one node calls Parallel, others wait, in a barrier say. Arrays of the job among arguments and
results stay where they are. In a plain Python the tasks run on a job that starts for them, and lives on for the next call:

    parallel_config("quire", n_jobs=4)                  as many nodes here
    parallel_config("quire", hosts="a,b", options=())   nodes there, as of quire.Pool
    parallel_config("quire", pool=pool)                 those of a quire.Pool

A node may leave such a job (`quire leave`, see quire.Pool): the tasks go on with the others, and no other job starts for that.

A private array that several tasks are given, of max_nbytes (1 MB) or more, is put into shared memory once for a call of Parallel; tasks may not write it."""
import atexit
import concurrent.futures
import threading

import joblib
from joblib._parallel_backends import FallbackToBackend, SequentialBackend
from joblib.parallel import AutoBatchingMixin, ParallelBackendBase

from . import _dispatch, _node
from ._jobs import Pool, check

_pools = {}  # (nodes, hosts, options): the pool that serves a plain Python
_lock = threading.Lock()
_of_job = None  # the dispatcher of this node


class _Where:
    """Which nodes a back end has."""

    def __init__(self, pool, nodes, hosts, options):
        self.pool, self.nodes = pool, nodes
        self._key = (nodes, hosts, tuple(options))
        self._hosts = hosts
        self._asked = pool is not None or nodes is not None or hosts is not None or bool(self._key[2])

    def within_job(self):
        return not self._asked and (_node.launched() or _node.forked() or _node._started is not None)

    def are_known(self):
        """Without a job that is started first."""
        return self.within_job() or self.pool is not None or self._hosts is not None

    def dispatcher(self, wanted):
        """`wanted`: how many nodes a job that is started here has at least."""
        global _of_job
        with _lock:
            if self.within_job():
                _node.start()
                _of_job = _of_job or _dispatch.on_job()
                return _of_job
            if self.pool is not None:
                return _dispatch.on_pool(self.pool)
            known = _pools.get(self._key)
            if known is not None and (known.broken or known._begun_with < wanted):
                del _pools[self._key]
                known.shutdown(wait=False)
                known = None
            if known is None:
                nodes, hosts, options = self._key
                known = _pools[self._key] = Pool(nodes or (None if hosts else wanted), hosts, options)
            return _dispatch.on_pool(known)

    def has_lost(self):
        """Nodes of the pool have left: the one that is still there is not this process."""
        with _lock:
            known = self.pool if self.pool is not None else _pools.get(self._key)
        return not self.within_job() and known is not None and known.nodes < known._begun_with

    def end_pool(self):
        """The job that was started here, with what its nodes still do: the next call starts another."""
        with _lock:
            ended = None if self.within_job() or self.pool is not None else _pools.pop(self._key, None)
        if ended is not None:
            ended.kill()


class QuireBackend(AutoBatchingMixin, ParallelBackendBase):
    """What joblib calls. pool, nodes, hosts, options: see above."""
    supports_retrieve_callback = True
    supports_return_generator = True
    supports_timeout = True
    supports_sharedmem = False
    default_n_jobs = -1

    def __init__(self, pool=None, nodes=None, hosts=None, options=(), **rest):
        super().__init__(**rest)
        if pool is not None and not isinstance(pool, Pool):
            raise TypeError(f"pool is {pool!r}: a quire.Pool is needed")
        check(nodes, hosts, options)
        self._where = _Where(pool, nodes, hosts, options)
        self._begun = threading.Lock()
        self._calls = 0
        self._dispatcher = self._placed = None
        self._running = []
        self._limit, self._mode, self._width = 1 << 20, "r", 1

    def __reduce__(self):
        return QuireBackend, ()

    def effective_n_jobs(self, n_jobs):
        """How many tasks run at a time: at most one on each node."""
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if _dispatch.within_task():
            return 1  # a task of this back end: what it calls runs where it is
        n_jobs = -1 if n_jobs is None else n_jobs
        where = self._where
        there = where.dispatcher(1).count() if where.are_known() else where.nodes or (n_jobs if n_jobs > 0 else joblib.cpu_count())
        return min(n_jobs, there) if n_jobs > 0 else max(1, there + 1 + n_jobs)

    def configure(self, n_jobs=1, parallel=None, max_nbytes=1 << 20, mmap_mode="r", **_):
        self.parallel = parallel
        self._width = self.effective_n_jobs(n_jobs)
        if self._width == 1 and not self._where.has_lost():
            raise FallbackToBackend(SequentialBackend(nesting_level=self.nesting_level))
        self._limit, self._mode = max_nbytes, mmap_mode
        return self._width

    def start_call(self):
        with self._begun:
            self._calls += 1

    def stop_call(self):
        with self._begun:
            self._calls -= 1
            ended = self._placed if self._calls == 0 else None
            if self._calls == 0:
                self._placed, self._running = None, []
        if ended is not None:
            ended.close()

    def submit(self, func, callback=None):
        with self._begun:
            if self._placed is None:
                self._dispatcher = self._where.dispatcher(self._width)
                self._dispatcher.set_width(self._width)
                self._placed = _dispatch.Placed(self._dispatcher, self._limit, self._mode)
        future = concurrent.futures.Future()
        future.get = future.result  # joblib before 1.3 calls it
        if callback is not None:
            future.add_done_callback(lambda done: None if done.cancelled() else callback(done))
        self._running = [one for one in self._running if not one.done()] + [future]
        self._dispatcher.put(future, func, self._placed)
        return future

    apply_async = submit  # as joblib before 1.5 calls it

    def retrieve_result_callback(self, out):
        return out.result()

    def abort_everything(self, ensure_ready=True):
        """Tasks that have not begun do not. Those that run end with the job that was started for them; nodes of another go on with theirs."""
        running = self._running
        for future in running:
            future.cancel()
        if any(not future.done() for future in running):
            self._where.end_pool()


def shutdown():
    """Ends the jobs that were started for calls of Parallel."""
    with _lock:
        ended = list(_pools.values())
        _pools.clear()
    for pool in ended:
        pool.shutdown()


def register():
    """Tells joblib of the name "quire"; `import quire.joblib` does."""
    joblib.register_parallel_backend("quire", QuireBackend)


register()
atexit.register(shutdown)
