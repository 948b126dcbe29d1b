# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that a plain Python, or a notebook's kernel, starts: run() and Pool. That process is no node of them: if they die it gets an exception."""
import concurrent.futures
import json
import os
import queue
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener

from . import _checks, _where
from ._threads import dumps, result_of

PARENT = "PYQUIRE_PARENT"  # in the environment of nodes: where the process that wants them is
LEFT = b""  # a node's answer: it has left the job, and has not begun the call
_START_S = 120
_PATIENCE_S = 5  # with nodes that are in a call that has failed on another


def _own_addresses():
    """Of this host, as others may reach it."""
    names = [socket.getfqdn(), socket.gethostname()]
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))  # nothing is sent: the address of the way out
            names.insert(0, probe.getsockname()[0])
    except OSError:
        pass
    return list(dict.fromkeys(names + ["127.0.0.1"]))


def check(nodes, hosts, options):
    """What says where a job runs, and how."""
    if nodes is not None and _checks.whole(nodes, "nodes") < 1:
        raise ValueError(f"nodes is {nodes}: a job has at least one")
    if hosts is not None and not isinstance(hosts, str):
        raise TypeError(f"hosts is {hosts!r}: text is needed, as 'a,b'")
    if isinstance(options, (str, bytes)):
        raise TypeError(f"options is {options!r}: a list of words is needed")


class _Job:
    """`quire run` of workers, and a connection to each."""

    def __init__(self, nodes, hosts, options):
        check(nodes, hosts, options)
        command = _where.command()
        self._folder = tempfile.TemporaryDirectory(prefix="quire-")
        key = secrets.token_bytes(32)
        self._listener = Listener(("", 0) if hosts else os.path.join(self._folder.name, "parent"), backlog=128, authkey=key)
        at = [(name, self._listener.address[1]) for name in _own_addresses()] if hosts else [self._listener.address]
        where = [*(["-n", str(nodes)] if nodes is not None else []), *(["--hosts", hosts] if hosts else [])]
        words = [command, "run", "--end-with", str(os.getpid()), *where, *options, sys.executable, "-m", "quire._worker"]
        paths = os.pathsep.join(p for p in (os.path.dirname(os.path.dirname(os.path.abspath(__file__))), *sys.path) if p)
        environment = {**os.environ, "PYTHONPATH": paths, PARENT: json.dumps({"addresses": at, "key": key.hex()})}
        self._last = b""
        self._heard = False
        self._acceptor = None
        self.process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._pumps = [threading.Thread(target=self._pump, args=(pipe, name), daemon=True)
                       for pipe, name in ((self.process.stdout, "stdout"), (self.process.stderr, "stderr"))]
        for pump in self._pumps:
            pump.start()
        try:
            self.connections = self._accept()
        except BaseException:
            self.kill()
            raise

    def _pump(self, pipe, name):
        """What nodes write goes to this process' streams, which in a notebook are the cell's."""
        for line in iter(pipe.readline, b""):
            if name == "stderr":
                self._last = (self._last + line)[-2000:]
            try:
                getattr(sys, name).write(line.decode(errors="replace"))
            except Exception:  # pylint: disable=broad-except
                pass  # nobody reads it, but nodes must be able to write

    def _accept(self):
        there = {}
        until = time.monotonic() + _START_S
        wanted = None
        came = queue.Queue()

        def accept():
            while not self._heard:
                try:
                    new = self._listener.accept()
                    came.put((new, *new.recv()))
                except (AuthenticationError, EOFError, ConnectionError, ValueError, TypeError):
                    continue  # a stranger
                except OSError as error:
                    came.put(error)
                    return

        self._acceptor = threading.Thread(target=accept, daemon=True)
        self._acceptor.start()
        while wanted is None or len(there) < wanted:
            try:
                new = came.get(timeout=0.05)
            except queue.Empty:
                if self.process.poll() is not None:
                    raise self.broken("the job ended before its nodes were there") from None
                if time.monotonic() > until:
                    raise self.broken(f"the job's nodes were not there after {_START_S} seconds") from None
                continue
            if isinstance(new, Exception):
                raise self.broken(f"no node can be heard: {new}")
            connection, node, wanted = new
            there[node] = connection
        self._stop_listening()
        return [there[node] for node in sorted(there)]

    def _stop_listening(self):
        """The thread that accepts wakes up, and ends."""
        self._heard = True
        try:
            self._listener._listener._socket.shutdown(socket.SHUT_RDWR)
        except (AttributeError, OSError):
            pass
        self._listener.close()
        if self._acceptor is not None:
            self._acceptor.join(5)

    def broken(self, why):
        for pump in self._pumps:
            pump.join(1)
        words = self._last.decode(errors="replace").strip()
        return BrokenProcessPool(why + (f"; it said:\n{words}" if words else ""))

    def close(self):
        """Nodes end when their connection does."""
        for connection in self.connections:
            connection.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
        self._tidy()

    def kill(self):
        self._stop_listening()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._tidy()

    def _tidy(self):
        for pump, pipe in zip(self._pumps, (self.process.stdout, self.process.stderr)):
            pump.join(5)
            if not pump.is_alive():
                pipe.close()
        self._folder.cleanup()


class Left(Exception):
    """A call was for a node that has left the job."""


class Pool(concurrent.futures.Executor):
    """Nodes that wait for work, on this machine or on `hosts` ("a,b": reached by ssh). `options`: more words for `quire run`. Each node runs one call at a
    time. What nodes keep in shared memory stays between calls. If a node dies all calls that wait get BrokenProcessPool, and this process goes on. With
    options=("--on-failure", "notify") nodes other than 0 may leave: `quire leave JOB NODE`. One ends its call, and goes; others do what it has not begun."""

    def __init__(self, nodes=None, hosts=None, options=()):
        self._job = _Job(nodes, hosts, options)
        count = len(self._job.connections)
        self._begun_with = count  # nodes, of which some may have left
        self._here = set(range(count))  # nodes that have not left
        self._others = set(range(1, count))  # nodes but 0 whose threads still run
        self._lock = threading.Lock()
        self._own = [queue.Queue() for _ in range(count)]
        self._all = queue.Queue()
        self._ready = [threading.Event() for _ in range(count)]
        self._closed = False
        self._broken = None  # why no call can be made any more
        self._dispatcher = None  # of joblib.py
        self._turn = threading.Lock()  # of run(): all nodes get its calls in the same order
        self._threads = [threading.Thread(target=self._serve, args=(node,), daemon=True) for node in range(count)]
        for thread in self._threads:
            thread.start()

    @property
    def nodes(self):
        """How many there are, without those that have left."""
        return len(self._here)

    @property
    def job(self):
        """The pid of its `quire run`: for `quire top`, `quire leave`."""
        return self._job.process.pid

    def _waiting(self, node):
        """Work for a node alone goes first: others may wait for it there."""
        for where in (self._own[node], self._all):
            try:
                return where, where.get_nowait()
            except queue.Empty:
                pass
        return None

    def _next(self, node):
        while True:
            self._ready[node].clear()
            # Node 0 never leaves: it does what others put back until the last of them has ended.
            over = self._closed and not (node == 0 and self._others)
            if (work := self._waiting(node)) is not None or over:
                return work
            self._ready[node].wait()

    def _serve(self, node):
        try:
            self._serve_calls(node)
        finally:
            self._others.discard(node)
            self._ready[0].set()

    def _serve_calls(self, node):
        connection = self._job.connections[node]
        while (work := self._next(node)) is not None:
            where, (future, data) = work
            if not future.running() and not future.set_running_or_notify_cancel():
                continue
            if self._broken:
                future.set_exception(BrokenProcessPool(self._broken))
                continue
            try:
                answer = self._ask(connection, data)
            except (EOFError, OSError):
                self._broken = self._broken or f"node {node} of the job has died"
                future.set_exception(self._job.broken(self._broken))
                continue
            if answer == LEFT:
                self._lose(node, where, future, data)
                return
            try:
                future.set_result(result_of(answer, node))
            except BaseException as error:  # pylint: disable=broad-except
                future.set_exception(error)

    @staticmethod
    def _ask(connection, data):
        try:
            connection.send_bytes(data)
        except OSError:
            pass  # who has left has said so before
        return connection.recv_bytes()

    def _lose(self, node, where, future, data):
        """A node has left. Calls that any node may do are done by others; those for this one fail."""
        with self._lock:
            self._here.discard(node)
            lost = [future] if where is self._own[node] else []
            while not self._own[node].empty():
                lost.append(self._own[node].get_nowait()[0])
            if where is self._all:
                self._all.put((future, data))
                for other in self._here:
                    self._ready[other].set()
        for one in lost:
            if one.running() or one.set_running_or_notify_cancel():
                one.set_exception(Left(f"node {node} has left the pool"))

    def _put(self, where, future, data, nodes):
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool was shut down")
            if self._broken:
                raise BrokenProcessPool(self._broken)
            if not self._here.issuperset(nodes):
                raise Left("the node has left the pool")
            where.put((future, data))
            for node in nodes:
                self._ready[node].set()

    def submit(self, fn, /, *args, **kwargs):
        """Has whichever node is free call fn(*args, **kwargs)."""
        future = concurrent.futures.Future()
        self._put(self._all, future, dumps((fn, args, kwargs)), ())
        for node in tuple(self._here):
            self._ready[node].set()
        return future

    def _submit_to(self, node, fn, *args):
        """Has node `node` call it, before what any node may do."""
        future = concurrent.futures.Future()
        self._put(self._own[node], future, dumps((fn, args, {})), (node,))
        return future

    def run(self, fn, *args, **kwargs):
        """Calls fn on all nodes at a time, each of which may use barriers and arrays of all: a list of results, or the first exception. Nodes that have left
        are left out."""
        data = dumps((fn, args, kwargs))
        futures = []
        with self._turn:
            for node in sorted(self._here):
                future = concurrent.futures.Future()
                try:
                    self._put(self._own[node], future, data, (node,))
                except Left:
                    continue
                futures.append(future)
        rest, failed = set(futures), []
        while rest and not failed:
            done, rest = concurrent.futures.wait(rest, return_when=concurrent.futures.FIRST_COMPLETED)
            failed = [future for future in done if not isinstance(future.exception(), (Left, type(None)))]
        if failed and rest and concurrent.futures.wait(rest, _PATIENCE_S).not_done:
            # Others may wait for the node that has failed, for ever: the job cannot go on.
            self._broken = "a call of run() has failed on one node while others were in it, so the pool's job was ended"
            self._job.kill()
        if failed:
            raise failed[0].exception()
        return [future.result() for future in futures if future.exception() is None]

    @property
    def broken(self):
        """Why no call can be made any more: a sentence, or None."""
        return self._broken

    def kill(self):
        """Ends the job at once, whatever its nodes do: calls that wait get BrokenProcessPool."""
        self._broken = self._broken or "the pool's job was ended"
        self._job.kill()
        self.shutdown()

    def shutdown(self, wait=True, *, cancel_futures=False):
        """Ends the job when the calls that were made are done, as of any Executor; the end of a `with` block does."""
        with self._lock:
            self._closed = True
        while cancel_futures:
            try:
                future = self._all.get_nowait()[0]
                if not future.cancel() and not future.done():  # a node had begun it, or was about to, and has left
                    future.set_exception(concurrent.futures.CancelledError())
            except queue.Empty:
                break
        for ready in self._ready:
            ready.set()
        if wait:
            for thread in self._threads:
                thread.join()
            self._job.close()
        else:
            threading.Thread(target=self.shutdown, daemon=True).start()


def run(fn, nodes=None, args=(), kwargs=None, *, hosts=None, options=()):
    """Starts a job and calls fn(*args, **kwargs) on each of its nodes: a list of results, or the first exception, with its traceback. Needs no `quire run`
    around it; a script guards the call by `if __name__ == "__main__":`. `options`: more words for `quire run`."""
    data = dumps((fn, tuple(args), kwargs or {}))
    job = _Job(nodes, hosts, options)
    answers = queue.Queue()

    def ask(node, connection):
        try:
            connection.send_bytes(data)
            answers.put((node, connection.recv_bytes()))
        except (EOFError, OSError):
            answers.put((node, None))

    for node, connection in enumerate(job.connections):
        threading.Thread(target=ask, args=(node, connection), daemon=True).start()
    results = [None] * len(job.connections)
    try:
        for _ in results:
            node, answer = answers.get()
            if answer is None or answer == LEFT:
                raise job.broken(f"node {node} of the job has {'died' if answer is None else 'left before it was called'}")
            results[node] = result_of(answer, node)
    except BaseException:
        job.kill()
        raise
    job.close()
    return results
