# SPDX-License-Identifier: BSD-3-Clause
"""Values by messages, and calls on other nodes."""
import os
import time

import numpy as np

import quire as q

n, me = q.nodes, q.node
total = n * (n - 1) // 2

for value in (me, np.int32(me), np.uint8(me), float(me), np.float32(me), complex(me, 1)):
    result = q.reduce(value)
    assert result == (total if not isinstance(value, complex) else complex(total, n)) and type(result) is type(value), (value, result)
assert q.reduce(me, "max") == n - 1 and q.reduce(-me, "min") == 1 - n and q.reduce(2, "prod") == 2 ** n
assert q.reduce(me == 0, "any") is True and q.reduce(me == 0, "all") is (n == 1)
big = np.uint64(2 ** 63 + me)
assert q.reduce(big, "max") == np.uint64(2 ** 63 + n - 1) and q.reduce(big, "min") == np.uint64(2 ** 63)
a = q.reduce(np.full((300, 200), me, "f4"))
assert a.dtype == np.float32 and a.shape == (300, 200) and (a == total).all()
shared = q.zeros((100, 100))
shared[q.block(100)] = me
q.barrier()
assert (q.reduce(shared) == n * shared).all()
assert q.reduce(np.zeros((0, 3))).shape == (0, 3)
assert (q.reduce([me, 1]) == [total, n]).all()

assert q.broadcast({"a": me} if me == n - 1 else None, n - 1) == {"a": n - 1}
assert q.broadcast("x" * 100000 if me == 0 else None) == "x" * 100000
assert q.gather((me, "b" * me)) == [(i, "b" * i) for i in range(n)]
assert sum(len(range(1001)[q.block(1001, node=i)]) for i in range(n)) == 1001

if n > 1:
    try:
        q.broadcast(lambda: 0 if me == 0 else None)
        raise AssertionError("a function that cannot be pickled was sent")
    except (TypeError, AttributeError, __import__("pickle").PicklingError):
        pass
for make, kind in ((lambda: q.reduce(1, "mean"), ValueError), (lambda: q.reduce("x"), TypeError), (lambda: q.reduce(1j, "max"), TypeError),
                   (lambda: q.broadcast(1, n), ValueError), (lambda: q.broadcast(1, -1), ValueError), (lambda: q.block(3, node=n), ValueError),
                   (lambda: q.spawn(n, os.getpid), ValueError), (lambda: q.spawn(-1, os.getpid), ValueError), (lambda: q.nothing, AttributeError)):
    try:
        make()
        raise AssertionError("no exception")
    except kind:
        pass


def add(x, *, y):
    shared[me, 0] = x + y
    return q.node, x + y


def fails():
    raise KeyError("a key")


# Threads on all nodes, from all nodes.
q.barrier()
shared[:] = 0
q.barrier()
threads = [q.spawn(i, add, i, y=10) for i in range(n)]
assert [t.join() for t in threads] == [(i, i + 10) for i in range(n)]
assert (shared[:n, 0] == np.arange(n) + 10).all()  # not copies of it
try:
    threads[0].join()
    raise AssertionError("joined twice")
except q.Invalid:
    pass
try:
    q.spawn((me + 1) % n, fails).join()
    raise AssertionError("no exception")
except KeyError as error:
    assert error.args == ("a key",) and "fails" in str(error.__cause__), error.__cause__
for _ in range(100):
    assert q.spawn((me + 1) % n, os.getpid).join() > 0
# A node may come to a definition later than the node that calls it there; what it never defines is told.
if me == n - 1:
    time.sleep(0.3)
def defined_late():
    return q.node
assert q.spawn(n - 1, defined_late).join() == n - 1
if me == n - 1:
    q._threads.DEFINED_SOON_S = 0.1
q.barrier()
if me == 0 and n > 1:
    def here_only():
        pass
    try:
        q.spawn(n - 1, here_only).join()
        raise AssertionError("called what is not there")
    except AttributeError as error:
        assert f"node {n - 1} has no 'here_only' in its program" in str(error), error
q.barrier()
numbers = q.counters()
assert n == 1 or numbers["messages_sent"] > 0
assert q.alive(0) and not q.alive(n)
