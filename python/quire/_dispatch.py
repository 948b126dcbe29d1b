# SPDX-License-Identifier: BSD-3-Clause
"""Tasks from one queue on the nodes of a job, one at a time on each. For joblib.py, and without joblib."""
import collections
import io
import pickle
import threading
import weakref

import numpy as np

from . import _arrays, _jobs, _native, _threads

_UNIT = 1 << 16  # of what is put into shared memory: it is read as a whole
_here = threading.local()


def within_task():
    """Whether this thread runs a task."""
    return getattr(_here, "placed", None) is not None


# ---- On the node that runs a task

def _store(content, kind, shape):
    """Puts an array into shared memory, of this node at first: (address, region)."""
    address, region = _arrays._make(shape, kind, None, "sequential", _UNIT, _native.node())
    _arrays._at(address, shape, kind)[...] = content
    return address, region


def _free(stored):
    for address, region in stored:
        _arrays._give_back(address, region)


def _open(place, transposed, mode):
    """What was stored: a task may read it, and it must not outlive the call."""
    stored = _arrays.at_place(*place)
    _here.placed.append((place[0], place[0] + stored.nbytes))
    if mode == "c":
        stored = stored.copy()
    stored.flags.writeable = mode in ("c", "r+", "w+")
    return stored.T if transposed else stored


class _Back:
    """Results for a node of the job: arrays of the job by their addresses, but what was stored for the call is copied."""

    def reducer_override(self, what):
        if type(what) is np.ndarray and any(first <= _arrays._base(what) < end for first, end in _here.placed):
            return NotImplemented
        return super().reducer_override(what)


class _BackByName(_Back, _threads._Plain):
    pass


class _BackAny(_Back, _threads._Any):
    pass


_CANNOT = (pickle.PicklingError, AttributeError, TypeError)


def _back(what):
    try:
        return _threads._dumps_by(_BackByName, what)
    except _CANNOT:
        return _threads._dumps_by(_BackAny, what)


def _perform(data, within_job):
    """`data`: a pickle of a function without arguments. The outcome, as result_of() takes it."""
    def call():
        function = _threads._OfProgram(io.BytesIO(data)).load() if within_job else pickle.loads(data)
        return function()
    before, _here.placed = getattr(_here, "placed", None), []
    try:
        return _threads.outcome_of(call, (), {}, _back if within_job else _threads.dumps)
    finally:
        _here.placed = before


# ---- On the node, or in the process, that gives tasks

class _Given:
    """An array that a task has been given goes with it; when another task is given the same, it is stored."""

    def __init__(self, array):
        self.seen = weakref.ref(array)
        self.array = self.place = self.region = None
        self.lock = threading.Lock()


class Placed:
    """What a call of Parallel has stored; it goes when the call and its tasks have ended."""

    def __init__(self, nodes, limit, mode):
        self._nodes, self._limit, self._mode = nodes, limit, mode
        self._lock = threading.Lock()
        self._known = {}  # id of an array: _Given
        self._users = 1

    def of(self, array, node):
        """How a pickle for `node` tells of an array; None: with its content."""
        if self._limit is None or array.nbytes < max(self._limit, 1) or array.dtype.hasobject:
            return None
        with self._lock:
            found = self._known.get(id(array))
            if found is None or (found.array is None and found.seen() is not array):
                self._known[id(array)] = _Given(array)
                return None
        with found.lock:
            if found.place is None:
                transposed = array.flags.f_contiguous and not array.flags.c_contiguous
                content = array.T if transposed else np.ascontiguousarray(array)
                address, found.region = self._nodes.store(node, content)
                found.place = ((address, content.shape, content.dtype, content.strides), transposed, self._mode)
                found.array = array  # so that no other gets its id
        return _open, found.place

    def use(self):
        with self._lock:
            self._users += 1

    def close(self):
        with self._lock:
            self._users -= 1
            last = self._users == 0
        if last:
            self._nodes.free([(one.place[0][0], one.region) for one in self._known.values() if one.place is not None])


def _sends(kind):
    """A pickler for a node, of a class that knows functions."""
    class Sends(kind):
        def __init__(self, file, placed, node):
            super().__init__(file)
            self._placed, self._node = placed, node

        def reducer_override(self, what):
            known = super().reducer_override(what) if hasattr(super(), "reducer_override") else NotImplemented
            if known is NotImplemented and type(what) is np.ndarray:
                known = self._placed.of(what, self._node) or NotImplemented
            return known
    return Sends


_ByName, _OfJob, _OfPool = (_sends(kind) for kind in (_threads._Plain, _threads._Any, getattr(_threads._pickler, "Pickler", pickle.Pickler)))


def _pickled(kind, what, placed, node):
    data = io.BytesIO()
    kind(data, placed, node).dump(what)
    return data.getvalue()


class _Dispatcher:
    """While there are tasks a thread of this process for each node: it sends one, waits for the result, and sends the next."""

    def __init__(self, nodes):
        self._nodes = nodes
        self._tasks = collections.deque()
        self._lock = threading.Lock()
        self._busy = set()
        self._width = len(nodes)

    def count(self):
        return sum(self.lives(node) for node in self._nodes)

    def set_width(self, width):
        """How many nodes get tasks."""
        self._width = width

    def put(self, future, function, placed):
        placed.use()
        with self._lock:
            self._tasks.append((future, function, placed))
            free = [node for node in self._nodes if node not in self._busy and self.lives(node)]
            if not free or len(self._busy) >= self._width:
                return
            self._busy.add(free[0])
        threading.Thread(target=self._serve, args=(free[0],), daemon=True).start()

    def _serve(self, node):
        while True:
            with self._lock:
                if not self._tasks or not self.lives(node) and len(self._busy) > 1:
                    self._busy.remove(node)
                    return
                task = self._tasks.popleft()
            self._do(node, *task)
            task = None  # what it holds may go

    def _do(self, node, future, function, placed):
        try:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = self.perform(node, function, placed)
            except BaseException as error:  # pylint: disable=broad-except
                future.set_exception(error)
            else:
                future.set_result(result)
        finally:
            placed.close()


class _OnJob(_Dispatcher):
    """Nodes of this process' job. Its own comes last."""

    def __init__(self):
        own, count = _native.node(), _native.nodes()
        super().__init__([(own + 1 + i) % count for i in range(count)])

    def lives(self, node):
        return bool(_native.alive(node))

    def store(self, _, content):
        return _store(content, content.dtype, content.shape)

    def free(self, stored):
        _free(stored)

    def perform(self, node, function, placed):
        try:
            data = _pickled(_ByName, function, placed, node)
        except _CANNOT:
            data = _pickled(_OfJob, function, placed, node)
        return _threads.result_of(_threads.spawn(node, _perform, data, True).join(), node)


class _OnPool(_Dispatcher):
    """Nodes of a quire.Pool."""

    def __init__(self, pool):
        self._pool = pool
        super().__init__(sorted(pool._here))

    def lives(self, node):
        return node in self._pool._here  # or none does, and each call raises

    def store(self, node, content):
        return self._on(node, _store, content, content.dtype, content.shape)

    def free(self, stored):
        if stored and not self._pool.broken and not self._pool._closed:
            self._pool.submit(_free, stored)

    def perform(self, node, function, placed):
        data = _pickled(_OfPool, function, placed, node)
        return _threads.result_of(self._on(node, _perform, data, False), node)

    def _on(self, node, function, *arguments):
        """A call there, or, if the node leaves before it begins, on another one."""
        try:
            return self._pool._submit_to(node, function, *arguments).result()
        except _jobs.Left:
            return self._pool.submit(function, *arguments).result()


def on_job():
    return _OnJob()


def on_pool(pool):
    if pool._dispatcher is None:
        pool._dispatcher = _OnPool(pool)
    return pool._dispatcher
