# SPDX-License-Identifier: BSD-3-Clause
"""Shared arrays, on any number of nodes."""
import numpy as np

import quire as q


def raises(kind, make, words=""):
    try:
        make()
    except kind as error:
        assert words in str(error), f"{words!r} is not in {error}"
        return
    raise AssertionError(f"{kind.__name__} was not raised")


assert 0 <= q.node < q.nodes

# Each node writes its part, all see the whole; large (a region) and small (the heap), and what lies between.
for shape, dtype in (((1000, 300), float), (10, "i8"), ((3, 5, 7), "f4"), ((), "c16"), (5, [("x", "i4"), ("y", "f8")]), (70000, bool), ((0, 4), float)):
    a = q.zeros(shape, dtype)
    assert type(a) is np.ndarray and a.flags.writeable and a.flags.c_contiguous and a.dtype == np.dtype(dtype)
    assert a.shape == (shape if isinstance(shape, tuple) else (shape,)) and not a.any() if a.dtype.kind != "V" else True
    addresses = q.gather(a.__array_interface__["data"][0])
    assert a.size == 0 or len(set(addresses)) == 1, addresses
    if a.ndim != 0 and a.size != 0 and a.dtype.kind != "V":
        mine = q.block(a.shape[0])
        q.barrier()  # all have seen that it was zero
        a[mine] = 1
        q.barrier()
        assert a.sum() == a.size
    q.free(a)

# One element a node: false sharing of a page.
for consistency in ("release", "sequential"):
    a = q.zeros(q.nodes, "i8", consistency=consistency)
    for _ in range(20):
        a[q.node] += 1
    q.barrier()
    assert (a == 20).all(), (consistency, a)
    q.barrier()
    q.free(a)

# Units, homes.
a = q.zeros((64, 512), unit=65536, node=q.nodes - 1)
a[q.block(64)] = q.node
q.barrier()
for node in range(q.nodes):
    assert (a[q.block(64, node=node)] == node).all()

# Names.
named = q.zeros_like(a, name="temperatures")
again = q.array("temperatures")
assert again is not named and again.shape == (64, 512)
again[q.block(64)] = 7
q.barrier()
assert (named == 7).all()
raises(q.Exists, lambda: q.zeros(3, name="temperatures"))
raises(q.TimedOut if q.nodes < 0 else q.Error, lambda: q.array("nobody", timeout=0))
q.free(named)
raises(ValueError, lambda: q.free(named), "no shared array")
raises(ValueError, lambda: q.free(a[1:]), "no shared array")
c = q.zeros((4, 4), "i8")
raises(ValueError, lambda: q.free(c[:1]), "no shared array")
guard = q.Lock(name="a lock and no array")
raises(q.Invalid, lambda: q.array("a lock and no array", timeout=0))
raises(TypeError, lambda: q.free([1]), "shared array")

# Content that one node has.
b = q.array(np.arange(100.0) if q.node == q.nodes - 1 else None, root=q.nodes - 1)
assert b[99] == 99 and b.dtype == float

# Atomic operations.
c = q.zeros((4, 4), "i8")
before = [q.fetch_add(c, (1, -1)) for _ in range(50)]
assert before == sorted(before)
q.barrier()
assert c[1, 3] == 50 * q.nodes
q.barrier()
if q.node == 0:
    assert q.exchange(c, (0, 0), -5) == 0 and q.compare_exchange(c, (0, 0), -5, 6) == (True, -5) and q.compare_exchange(c, (0, 0), 7, 8) == (False, 6)
raises(IndexError, lambda: q.fetch_add(c, (4, 0)))
raises(IndexError, lambda: q.fetch_add(c, 0))
raises(TypeError, lambda: q.fetch_add(a, (0, 0)))
raises(q.Invalid, lambda: q.fetch_add(np.zeros(1, "i8"), 0))

# Pins, copies, hints.
d = q.zeros(1024)
for _ in range(20):
    with q.pin(d):
        d[0] += 1
        d[1023] = d[0]
q.barrier()
assert d[0] == d[1023] == 20 * q.nodes
with q.pin(d[:1]) if q.node == 0 else __import__("contextlib").nullcontext():
    if q.node == 0:
        raises(q.Error, lambda: q.fetch_add(c, (0, 0)), "has pinned memory")
q.barrier()
q.prefetch(a)
q.push(d)
raises(ValueError, lambda: q.push(a[:, 3]), "contiguous")
with q.produced(d, 0):
    if q.node == 0:
        d[:] = 3
assert (d == 3).all()

# Mistakes.
raises(TypeError, lambda: q.zeros(3, object), "objects")
raises(ValueError, lambda: q.zeros((-1, 3)))
raises(ValueError, lambda: q.zeros((1 << 40, 1 << 40)))
raises(MemoryError, lambda: q.zeros(1 << 50, "u1"))
raises(ValueError, lambda: q.zeros(3, consistency="eventual"), "release")
raises(ValueError, lambda: q.zeros(3, node=q.nodes))
raises(ValueError, lambda: q.zeros(3, unit=3))
raises(ValueError, lambda: q.zeros(3, name="x" * 64))
if q.nodes > 1:
    raises(q.Invalid if q.node else AssertionError, lambda: q.zeros(3 + (q.node != 0)) if q.node else [q.zeros(3), None][1] or (_ for _ in ()).throw(AssertionError))

# Nothing leaks: regions and the heap come back. 4,095 regions are all that a job may have at a time.
for i in range(4200 if q.nodes == 1 else 300):
    q.free(q.zeros(1 << 17, name="one of many" if i % 7 == 0 else None))
for i in range(10000 if q.nodes == 1 else 500):
    q.free(q.zeros(100))
q.barrier()
