# SPDX-License-Identifier: BSD-3-Clause
"""System calls and libraries on shared arrays, pages of which are elsewhere."""
import io
import os
import tempfile
import zlib

import numpy as np

import quire as q

n, me = q.nodes, q.node
folder = q.broadcast(tempfile.mkdtemp() if me == 0 else None)
path = os.path.join(folder, "values")
a = q.zeros((2000, 100))
a[q.block(2000)] = np.arange(2000.0)[q.block(2000), None]
q.barrier()
wanted = np.repeat(np.arange(2000.0), 100)
if me == 0:
    a.tofile(path)
    np.save(path + ".npy", a)
q.barrier()
assert (np.fromfile(path) == wanted).all() and (np.load(path + ".npy").reshape(-1) == wanted).all()
b = q.fromfile(path, shape=(2000, 100))
assert (b.reshape(-1) == wanted).all()
assert q.fromfile(path, offset=800 * 8, name="tail")[0] == 8
if me == 0:
    wanted.astype(">f8").tofile(path + ".big")
q.barrier()
for kind in (">f8", [("x", ">f4"), ("y", "S4")], "M8[s]"):  # of which Python's memoryview knows nothing
    assert (q.fromfile(path + ".big", kind).tobytes() == wanted.astype(">f8").tobytes())
for bad in ({"shape": 200001}, {"offset": -1}, {"offset": 8, "shape": 200000}):
    try:
        q.fromfile(path, **bad)
        raise AssertionError("no exception")
    except ValueError:
        pass
try:
    q.fromfile(path + " which is not there")
    raise AssertionError("no exception")
except FileNotFoundError:
    pass
q.barrier()

# Who wrote the pages last is another node each time.
for turn in range(3):
    if me == turn % n:
        a[:] = turn
    q.barrier()
    reader = (turn + 1) % n
    if me == reader:
        with open(path, "wb", buffering=0) as file:
            assert os.write(file.fileno(), a) == a.nbytes
        assert zlib.crc32(a) == zlib.crc32(np.full((2000, 100), float(turn)))
        assert io.BytesIO(a).getvalue() == a.tobytes()
    q.barrier()
    if me == turn % n:
        b[:] = -1
    q.barrier()
    if me == reader:
        with open(path, "rb", buffering=0) as file:
            assert file.readinto(b) == b.nbytes
        assert (b == turn).all()
    q.barrier()
    assert (b == turn).all()
    q.barrier()

# BLAS on all nodes' pages.
c = q.zeros((300, 300))
c[q.block(300)] = np.eye(300)[q.block(300)] * 2
q.barrier()
assert (c @ c == np.eye(300) * 4).all()

# A checkpoint; the restart is another job (ends_test.py).
q.checkpoint(os.path.join(folder, "state"))
for name in (b"bytes", b"no text \xff"):
    q.checkpoint(os.path.join(os.fsencode(folder), name))
    assert os.path.isdir(os.path.join(os.fsencode(folder), name))
q.barrier()
if me == 0:
    import shutil
    shutil.rmtree(folder)
