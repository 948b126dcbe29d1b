# SPDX-License-Identifier: BSD-3-Clause
"""Names for the report (`quire run --report`). Without a report nothing happens."""
import contextlib
import threading

from . import _arrays, _native, _node

_here = threading.local()


def label(a, name):
    """The report calls a contiguous part of a shared array by this name, of 1 to 63 characters. One node says so, any thread. Arrays that were made with a name
    have it already. Invalid: no such name, or not shared."""
    _node.start()
    address, length = _arrays._range(a)
    if length:
        _native.label(address, length, name)


@contextlib.contextmanager
def phase(name):
    """with q.phase("sweep"): what this thread does within, the report says under this name, of 1 to 63 characters. Phases may be within each other."""
    _node.start()
    outer = getattr(_here, "phase", None)
    _native.phase(name)
    _here.phase = name
    try:
        yield
    finally:
        _here.phase = outer
        _native.phase(outer)
