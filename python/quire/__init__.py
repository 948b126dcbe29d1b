# SPDX-License-Identifier: BSD-3-Clause
"""Quire: numpy arrays that all nodes of a job share, at the same addresses, by plain loads and stores.

    quire run -n 4 python3 program.py

    import quire as q
    a = q.zeros((8192, 8192))            # all nodes call: the same array, a plain numpy.ndarray
    mine = q.block(8192)                 # this node's rows
    a[mine] = q.node
    q.barrier()
    print(q.reduce(a[mine].sum()))

Without `quire run` the process is a job of one node, from the first call on; q.run() and q.Pool start jobs from plain Python."""
import operator

from . import _node

_node.share_cores()
if _node.launched():
    _node.start()

from . import _native  # noqa: E402
from ._arrays import (array, compare_exchange, empty, empty_like, exchange, fetch_add, free, fromfile, pin, prefetch, produced, push, zeros,  # noqa: E402
                      zeros_like)
from ._errors import (Error, Exists, FileError, FileExists, FileMissing, InputOutput, Invalid, Lost, NotFound, OutOfMemory, OwnerDied, PeerLost,  # noqa: E402
                      TimedOut)
from ._files import File, containers, open, remove  # noqa: A004, E402
from ._jobs import Pool, run  # noqa: E402
from ._report import label, phase  # noqa: E402
from ._sync import Barrier, Condition, Event, Lock, RWLock, Semaphore  # noqa: E402
from ._threads import RemoteError, Thread, spawn  # noqa: E402
from ._values import barrier, block, broadcast, gather, reduce  # noqa: E402

__version__ = _native.version()


def checkpoint(path):
    """Writes a checkpoint of shared memory to the directory `path`. All nodes call; a barrier. Arrays with names are found by array() after a restart."""
    _node.start()
    _native.checkpoint(path)


def restore(path):
    """Goes on from the newest checkpoint in `path`: right after the start, before any array is made. All nodes call. False if there is none."""
    _node.start()
    return _native.restore(path)


def counters():
    """What this node has done since the start: a dictionary of numbers, as quire_counters."""
    _node.start()
    return _native.counters()


def alive(node):
    """Whether node `node` is not known to be dead."""
    _node.start()
    return 0 <= operator.index(node) < _native.nodes() and _native.alive(node)


def leave_wanted():
    """Whether somebody wants this node to leave the job: `quire leave JOB NODE`."""
    _node.start()
    return _native.leave_wanted()


def leave():
    """This node leaves, and the others go on: what it keeps of shared memory goes to them. No call of the job, and no array of it, may be used here
    afterwards. False: something keeps the node for now, as a thread of spawn() here, and it may try again.
    Error: it cannot leave, as quire_leave() has it. In a call of a Pool: the result of that call is the last of this node."""
    return _node.leave()


def load_ipython_extension(shell):
    """`%load_ext quire` in a notebook: `%%quire -n 4` runs a cell on all nodes of a job."""
    from ._cells import load
    load(shell)


def __getattr__(name):
    """`node`: the number of this node, 0 ..; `nodes`: how many the job has."""
    if name in ("node", "nodes"):
        _node.start()
        return getattr(_native, name)()
    raise AttributeError(f"module 'quire' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), "node", "nodes"})
