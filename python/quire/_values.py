# SPDX-License-Identifier: BSD-3-Clause
"""Values by messages. One thread of each node calls each of these, in the same order."""
import pickle

import numpy as np

from . import _checks, _native, _node

_OPERATIONS = {"sum": _native.SUM, "min": _native.MIN, "max": _native.MAX, "prod": _native.PRODUCT, "any": _native.MAX, "all": _native.MIN}
_TOP = np.uint64(1 << 63)


def barrier():
    """Waits until a thread of each node has called it. What each has written before it, all see after it."""
    _node.start()
    _native.barrier_wait(0)


def reduce(value, op="sum"):
    """Combines a number, or an array of the same shape on all nodes, element by element: all nodes get the result, which has the type of `value`. `op`: sum,
    min, max, prod; any, all. The order is fixed: the same job gets the same bits in every run. Also a barrier. TypeError for what is no number."""
    _node.start()
    if op not in _OPERATIONS:
        raise ValueError(f"op is {op!r}: one of {', '.join(_OPERATIONS)}")
    given = np.asarray(value)
    kind, dtype = given.dtype.kind, given.dtype
    if op in ("any", "all"):
        given, kind = given.astype(bool), "b"
        dtype = given.dtype
    if kind not in "biufc" or dtype.itemsize > 8 * (1 + (kind == "c")):
        raise TypeError(f"reduce() takes numbers of at most 64 bits, not {dtype}")
    operation = _OPERATIONS[op]
    if kind == "c":
        if op != "sum":
            raise TypeError(f"complex numbers have no {op}: reduce() gives their sum")
        work = np.array(given, dtype=np.complex128, order="C", copy=True).reshape(-1).view(np.float64)
    elif kind == "f":
        work = np.array(given, dtype=np.float64, order="C", copy=True).reshape(-1)
    elif dtype == np.uint64:
        work = np.array(given, order="C", copy=True).reshape(-1)
        if op in ("min", "max"):
            work ^= _TOP  # in the order of numbers with a sign
        work = work.view(np.int64)
    else:
        work = np.array(given, dtype=np.int64, order="C", copy=True).reshape(-1)
    if work.size != 0:
        _native.reduce(work, "d" if work.dtype == np.float64 else "q", operation)
    if kind == "c":
        work = work.view(np.complex128)
    elif dtype == np.uint64:
        work = work.view(np.uint64)
        if op in ("min", "max"):
            work ^= _TOP
    result = work.astype(dtype).reshape(given.shape)
    if isinstance(value, np.ndarray):
        return result
    return result[()] if isinstance(value, np.generic) else result.item() if given.ndim == 0 else result


def _broadcast_bytes(data, root):
    length = np.array([len(data) if data is not None else 0], dtype=np.int64)
    _native.broadcast(length, root)
    there = bytearray(data) if data is not None else bytearray(int(length[0]))
    if len(there) != 0:
        _native.broadcast(there, root)
    return bytes(there)


class _Unsent(Exception):
    """In the place of what could not be sent."""


def broadcast(value=None, root=0):
    """Gives `value` of node `root`, anything that can be pickled, to all."""
    _node.start()
    root = _checks.node_number(root, "root")
    mine = root == _native.node()
    error = None
    if mine:
        try:
            given = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as problem:  # pylint: disable=broad-except
            error = problem  # others wait: all hear of it
            given = pickle.dumps(_Unsent(f"node {root} gives what cannot be pickled: {problem}"))
    data = _broadcast_bytes(given if mine else None, root)
    if error is not None:
        raise error
    received = value if mine else pickle.loads(data)
    if isinstance(received, _Unsent) and not mine:
        raise TypeError(str(received))
    return received


def gather(value):
    """A list with the value of each node, on all nodes."""
    _node.start()
    return [broadcast(value, root) for root in range(_native.nodes())]


def on_node_0(make):
    """What make() gives, on node 0, goes to all; an exception of it, too."""
    outcome = None
    if _native.node() == 0:
        try:
            outcome = (True, make())
        except Exception as error:  # pylint: disable=broad-except
            outcome = (False, error)
    good, what = broadcast(outcome)
    if not good:
        raise what
    return what


def block(low, high=None, node=None):
    """The slice of low .. high (0 .. low) that is this node's, or node `node`'s, where each has a part of nearly the same length."""
    _node.start()
    if high is None:
        low, high = 0, low
    low, high = _checks.whole(low, "low"), _checks.whole(high, "high")
    nodes = _native.nodes()
    which = _native.node() if node is None else _checks.node_number(node)
    count = max(0, high - low)
    return slice(low + count * which // nodes, low + count * (which + 1) // nodes)
