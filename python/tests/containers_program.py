# SPDX-License-Identifier: BSD-3-Clause
"""Containers as files of Python and as arrays, on any number of nodes."""
import errno
import io
import os
import shutil
import tempfile

import numpy as np

import quire as q

n, me = q.nodes, q.node
folder = q.broadcast(tempfile.mkdtemp() if me == 0 else None)
path = os.path.join(folder, "table")


def raises(kind, make, number=None):
    try:
        make()
    except kind as error:
        assert number is None or error.errno == number, error
        assert str(error)
        return
    raise AssertionError(f"{kind.__name__} was not raised")


# A file that is not there is none; nor is a container without a file.
raises(FileNotFoundError, lambda: q.open("nobody"), errno.ENOENT)
raises(FileNotFoundError, lambda: q.open("table", "r", path))
raises(FileNotFoundError, lambda: q.open("table", "r+", path))
raises(q.FileError, lambda: q.open("table", "w", path, linker="no such linker"), errno.ENOENT)
raises(q.FileError, lambda: q.open("a/b", "w"), errno.EINVAL)
raises(ValueError, lambda: q.open("table", "rw"))
raises(ValueError, lambda: q.open("table", "rt"))
raises(ValueError, lambda: q.open("table", "w", node=n))
raises(ValueError, lambda: q.open("table", "w", size=-1))
raises(FileNotFoundError, lambda: q.remove("nobody"))
q.barrier()

# Memory and calls see the same content, on all nodes; the file has it after sync().
if me == 0:
    q.open("table", "x", path, size=8000).close()
q.barrier()
raises(FileExistsError, lambda: q.open("table", "x", path), errno.EEXIST)
table = q.open("table", "r+", path)
numbers = table.array(float)
assert numbers.shape == (1000,) and not numbers.any() and numbers.flags.writeable and type(numbers) is np.ndarray
assert len(set(q.gather(numbers.__array_interface__["data"][0]))) == 1
q.barrier()
numbers[me::n] = np.arange(1000.0)[me::n]
q.barrier()
assert table.pread(8, 999 * 8) == np.float64(999).tobytes() and table.pread(100, 7999) == table.pread(1, 7999) and table.pread(5, 9000) == b""
into = q.zeros(1000)
assert me != 0 or table.readinto(into) == 8000
q.barrier()
assert (into == np.arange(1000.0)).all() and table.tell() == (8000 if me == 0 else 0)
if me == n - 1:
    table.sync()
q.barrier()
assert (np.fromfile(path) == np.arange(1000.0)).all()
assert q.containers()["table"] == (8000, False)

# As any file of Python: positions, buffers, numpy.
assert table.seek(-8, io.SEEK_END) == 7992 and table.seek(8, io.SEEK_CUR) == 8000 and table.read(5) == b""
assert table.seek(0) == 0 and np.frombuffer(table.read(16)).tolist() == [0, 1] and table.read(8) == np.float64(2).tobytes()
raises(ValueError, lambda: table.seek(-1))
raises(ValueError, lambda: table.seek(0, 3))
raises(ValueError, lambda: table.seek(1 << 64))
raises(ValueError, lambda: table.seek(1 << 63, io.SEEK_END))
raises(ValueError, lambda: table.pread(-1, 0))
raises(ValueError, lambda: table.pwrite(b"x", -1))
raises(ValueError, lambda: table.array(float, 1 << 40))
raises(ValueError, lambda: table.array(float, offset=-8))
raises(TypeError, lambda: table.array(object))
raises(TypeError, lambda: table.write("text"))
assert table.readable() and table.writable() and table.seekable() and not table.closed and "table" in repr(table)
q.barrier()
if me == 0:
    with q.open("values.npy", "w") as file:
        np.save(file, np.eye(30))
q.barrier()
with q.open("values.npy") as file:
    assert (np.load(file) == np.eye(30)).all()
q.barrier()

# Appends come one after the other; text by a wrapper of Python's.
with q.open("log", "a") as log:
    places = [log.append(b"%d: line\n" % me) for _ in range(20)]
    assert places == sorted(places) and len(set(places)) == 20
    raises(io.UnsupportedOperation, lambda: log.read(1))
    log.write(b"end of %d\n" % me)
q.barrier()
with io.TextIOWrapper(io.BufferedReader(q.open("log"))) as text:
    lines = sorted(text)
assert lines == sorted([f"{i}: line\n" for i in range(n)] * 20 + [f"end of {i}\n" for i in range(n)]), lines
q.barrier()

# What reads may not write.
reader = q.open("table")
raises(io.UnsupportedOperation, lambda: reader.write(b"x"))
raises(io.UnsupportedOperation, lambda: reader.truncate(0))
raises(ValueError, lambda: reader.array(float).__setitem__(0, 1))
assert (reader.array("f8", (10, 50), 8 * 500) == np.arange(500.0, 1000).reshape(10, 50)).all()
reader.close()
raises(ValueError, lambda: reader.read(1))
reader.close()  # a second time does nothing
q.barrier()

# Longer, shorter, and what others have written.
if me == 0:
    assert table.truncate(8008) == 8008
    table.seek(8008)
    assert table.write(np.full(1, 7.0)) == 8 and table.tell() == 8016
q.barrier()
assert table.size == 8016 and table.pread(16, 8000) == np.array([0, 7.0]).tobytes()
q.barrier()
if me == 0:
    table.sync()
    with open(path, "r+b") as plain:
        plain.write(np.float64(5).tobytes())
    table.drop()
q.barrier()
assert numbers[0] == 5
raises(OSError, lambda: table.truncate(1 << 60), errno.EFBIG)
q.barrier()

# Errors of the disk.
if me == 0:
    with q.open("full", "w", f"flush=1,times=1000,error=ENOSPC;file;{path}.full", linker="throttle", size=4096) as full:
        full.write(b"x")
        raises(OSError, full.sync, errno.EIO)
        raises(OSError, lambda: q.remove("full"), errno.EBUSY)
        raises(OSError, full.close, errno.EIO)
q.barrier()

# The end: nobody has it open, and it goes.
table.close()
q.barrier()
if me == n - 1:
    q.remove("table", content=True)
    q.remove("log")
q.barrier()
assert not os.path.exists(path) and "table" not in q.containers() and "log" not in q.containers()
left = q.open("values.npy")  # the end of the program closes it
q.barrier()
if me == 0:
    shutil.rmtree(folder)
