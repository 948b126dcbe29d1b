# SPDX-License-Identifier: BSD-3-Clause
"""What editors know of the package: types_test.py has mypy look at it, in strict mode. A comment says which lines are wrong."""
import os
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import quire as q


def mean(rows: slice, by: float) -> float:
    return float(a[rows].mean()) * by


a = q.zeros((100, 100))
assert_type(a, NDArray[np.float64])
assert_type(q.zeros(10, np.int32, name="x", consistency="sequential", unit=4096, node=1), NDArray[np.int32])
assert_type(q.zeros_like(a), NDArray[np.float64])
assert_type(q.array(np.ones(3)), NDArray[np.float64])
assert_type(q.array("x", timeout=1), NDArray[Any])
assert_type(q.fromfile(Path("data"), np.float32, offset=8), NDArray[np.float32])
assert_type(q.reduce(1.5), float)
assert_type(q.reduce(a[0].sum(), "max"), Any)
assert_type(q.reduce(a, "any"), NDArray[np.bool_])
assert_type(q.reduce(True, "all"), bool)
assert_type(q.broadcast("text" if q.node == 0 else None), str)
assert_type(q.gather(q.node), list[int])
assert_type(q.block(100, node=q.nodes - 1), slice)
assert_type(q.spawn(1, mean, q.block(100), by=2).join(), float)
thread: q.Thread[float] = q.spawn(1, mean, slice(3), 1.5)
assert_type(q.run(mean, 2, (slice(1), 1.0)), list[float])
with q.Pool(2, options=["--stats"]) as pool:
    assert_type(pool.run(mean, slice(1), 2.0), list[float])
    assert_type(pool.submit(mean, slice(1), 2.0).result(), float)
    assert_type(pool.broken, str | None)
words = q.zeros(4, np.int64)
assert_type(q.fetch_add(words, 0), int)
assert_type(q.compare_exchange(words, (0,), 1, 2), tuple[bool, int])
lock, both, event = q.Lock(name="lock"), q.RWLock(), q.Event()
with lock, both.read, q.pin(a[3:5], timeout=1.5), q.phase("sweep"), q.produced(a, 0):
    assert_type(event.wait(timeout=0.5), bool)
with q.open("table", "r+", "table.bin", size=8) as file:
    assert_type(file, q.File)
    assert_type(file.array(np.float64), NDArray[np.float64])
    assert_type(file.pread(8, 0), bytes)
    file.append(b"x")
    np.load(file)
assert_type(q.containers(), dict[str, tuple[int, bool]])
assert_type(q.restore(b"state"), bool)
q.checkpoint(Path("state"))
try:
    assert_type(q.counters()["read_faults"], int)
except q.FileMissing as error:
    assert_type(error.status, int | None)
print(os.fspath("x"), q.alive(0), q.__version__)

q.zeros("abc", "f8", unit="x")  # wrong
q.zeros(3, consistency="strong")  # wrong
q.spawn(1, mean, "rows", 1.5)  # wrong
q.run(mean, options=5)  # wrong
q.fetch_add(a, 0)  # wrong
q.Lock("lock")  # wrong
q.checkpoint(5)  # wrong
q.reduce(1, "median")  # wrong
q.zeroes(3)  # wrong
