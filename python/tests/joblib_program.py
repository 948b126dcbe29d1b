# SPDX-License-Identifier: BSD-3-Clause
"""joblib's Parallel on the nodes of a job: node 0 calls, the others wait in a barrier. Exit status 77: joblib is not installed."""
import sys

import numpy as np

import quire as q

try:
    import joblib
except ImportError:
    print("joblib is not installed")
    sys.exit(77)
from joblib import Parallel, delayed

import quire.joblib


class Point:
    def __init__(self, x):
        self.x = x


def square(i):
    return q.node, i * i


def write(a, i):
    a[i] = i + 1
    return a.ctypes.data, a[i:], a[::-2]


def look(x):
    return q.node, x.ctypes.data, x.flags.writeable, x.flags.f_contiguous, float(x.sum()), x[:3]


def nested(i):
    return sum(Parallel(n_jobs=2)(delayed(int)(j) for j in range(i)))


def nested_by_name(i):
    with joblib.parallel_backend("quire"):
        return q.node, Parallel()(delayed(square)(j) for j in range(i))


def fail(i):
    if i == 3:
        raise LookupError(f"task {i}")
    return i


a, large, columns = q.zeros(1000, "i8"), q.zeros(1 << 18), np.random.default_rng(0).random((1 << 10, 1 << 8)).T


def whole():
    found = Parallel()(delayed(square)(i) for i in range(100))
    assert [value for _, value in found] == [i * i for i in range(100)]
    assert {node for node, _ in found} <= set(range(q.nodes))
    # Two that wait for each other are on two nodes at a time.
    meet = q.Barrier(q.nodes, name="meet")
    assert sorted(Parallel(batch_size=1, pre_dispatch="all")(delayed(lambda: (meet.wait(), q.node)[1])() for _ in range(q.nodes))) == list(range(q.nodes))
    assert len({node for node, _ in Parallel(n_jobs=1)(delayed(square)(i) for i in range(20))}) == 1


def arrays():
    found = Parallel()(delayed(write)(a, i) for i in range(100))
    assert {at for at, _, _ in found} == {a.ctypes.data}  # no copy
    assert (a[:100] == np.arange(1, 101)).all()
    assert np.shares_memory(found[3][1], a) and np.shares_memory(found[3][2], a)
    large[:] = 2
    assert {one[1:5] for one in Parallel()(delayed(look)(large) for _ in range(20))} == {(large.ctypes.data, True, True, float(1 << 19))}
    assert {one[3] for one in Parallel()(delayed(look)(large.reshape(512, 512).T) for _ in range(4))} == {True}
    # Private: the first batch has a copy, later ones one in shared memory, which a result does not keep.
    for mode, writeable in (("r", False), ("r+", True), ("c", True)):
        found = Parallel(batch_size=1, mmap_mode=mode)(delayed(look)(columns) for _ in range(8))
        assert {one[3:5] for one in found} == {(True, float(columns.sum()))} or len({one[4] for one in found}) == 1
        assert all((one[5] == columns[:3]).all() for one in found)
        if q.nodes > 1:
            assert found[-1][2] is writeable and (mode == "c" or len({one[1] for one in found}) < len(found)), found
    assert all(one[2] for one in Parallel(batch_size=1, max_nbytes=None)(delayed(look)(columns) for _ in range(6)))
    assert [p.x for p in Parallel()(delayed(Point)(i) for i in range(6))] == list(range(6))
    assert all(type(p) is Point for p in Parallel()(delayed(Point)(i) for i in range(6)))


def ends():
    assert Parallel()(delayed(nested)(i) for i in range(6)) == [sum(range(i)) for i in range(6)]
    for node, found in Parallel()(delayed(nested_by_name)(i) for i in range(6)):
        assert {there for there, _ in found} <= {node}
    for _ in range(3):
        try:
            Parallel()(delayed(fail)(i) for i in range(50))
        except LookupError as error:
            assert str(error) == "task 3"
            if q.nodes > 1:
                assert "in fail" in str(error.__cause__) and "on node" in str(error.__cause__)
        else:
            raise AssertionError("no exception")
    assert Parallel()(delayed(fail)(i) for i in range(3)) == [0, 1, 2]
    try:
        import sklearn
    except ImportError:
        return
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    sklearn.set_config(assume_finite=True)
    x = large.reshape(-1, 16)
    x[...] = np.random.default_rng(0).random(x.shape)
    y = (x.sum(axis=1) > 8).astype(int)
    best = GridSearchCV(LogisticRegression(), {"C": [0.1, 1, 10]}, cv=2).fit(x, y)
    with joblib.parallel_backend("sequential"):
        assert best.cv_results_["mean_test_score"].tolist() == \
            GridSearchCV(LogisticRegression(), {"C": [0.1, 1, 10]}, cv=2).fit(x, y).cv_results_["mean_test_score"].tolist()


if q.node == 0:
    with joblib.parallel_backend("quire"):
        whole()
        arrays()
        ends()
q.barrier()
