# SPDX-License-Identifier: BSD-3-Clause
"""Containers as Python's files: content with a name that all nodes use at a time, by calls and as memory (quire/container.h)."""
import atexit
import contextlib
import errno
import io
import os
import weakref

import numpy as np

from . import _arrays, _checks, _native, _node
from ._errors import Error, FileError, FileExists, FileMissing

_ERRNO = {_native.NOT_FOUND: errno.ENOENT, _native.EXISTS: errno.EEXIST, _native.IO: errno.EIO, _native.BEYOND: errno.EFBIG, _native.BUSY: errno.EBUSY,
          _native.UNSUPPORTED: errno.EOPNOTSUPP, _native.INVALID: errno.EINVAL, _native.BAD_ADDRESS: errno.EFAULT, _native.LIMIT: errno.ENFILE,
          _native.NO_MEMORY: errno.ENOMEM, _native.NO_ADDRESSES: errno.ENOMEM}
_CREATE, _EXCLUSIVE = _native.CONTAINER_CREATE, _native.CONTAINER_EXCLUSIVE
_READ_ONLY, _TRUNCATE = _native.CONTAINER_READ_ONLY, _native.CONTAINER_TRUNCATE
_MODES = {"r": _READ_ONLY, "r+": 0, "w": _CREATE | _TRUNCATE, "x": _CREATE | _EXCLUSIVE, "a": _CREATE}
_open_files = weakref.WeakSet()  # at the end of the program those that are left are closed, while the node is still there


@contextlib.contextmanager
def _as_os_errors():
    """What concerns files comes as an OSError with its errno; that a node has died, say, as ever."""
    try:
        yield
    except Error as error:
        number = _ERRNO.get(error.status)
        if number is None:
            raise
        kind = {errno.ENOENT: FileMissing, errno.EEXIST: FileExists}.get(number, FileError)
        told = kind(number, str(error))
        told.status = error.status
        raise told from None


def _flags_of(mode):
    if not isinstance(mode, str):
        raise TypeError(f"mode is {mode!r}: text is needed, as of Python's open()")
    plain = mode.replace("b", "")
    short = plain[:-1] if plain in ("w+", "x+", "a+") else plain
    if short not in _MODES or mode.count("b") > 1:
        raise ValueError(f"mode is {mode!r}: one of r, r+, w, x, a, and always of bytes (io.TextIOWrapper makes text of it)")
    return plain, _MODES[short]


def _native_open(name, what, linker, flags, rest):
    """Without CREATE in `flags` a container that is not there is made all the same if `what` is: who opens a file need not know whether others have."""
    try:
        return _native.container_open(name, linker, what, flags, *rest)
    except Error as error:
        if error.status != _native.NOT_FOUND or what is None or flags & _CREATE:
            raise
    if linker in (None, "file") and not flags & _READ_ONLY and not os.path.exists(what):
        raise FileMissing(errno.ENOENT, os.strerror(errno.ENOENT), what)
    return _native.container_open(name, linker, what, flags | _CREATE, *rest)


def open(name, mode="r", what=None, *, linker=None, size=0, capacity=0, unit=0, node=None, atomic=False):  # noqa: A001
    """Opens the container `name`, of 1 to 63 characters without "/": a File. Any thread of any node; all nodes that open the name use one content.

    `what`: the file that it is, for who opens it first; None: it lives in the memory of the job. `linker`: who reads and writes it ("file" if there is a
    `what`, else "memory"; quire/linker.h). Modes are those of Python, of bytes: "r" reads; "r+" also writes; "w" makes it, and empties it; "x" makes it, or
    FileExistsError; "a" makes it, and each write goes to the end, as a whole, whoever else appends. "r" and "r+" make a container of a file that is
    there. `size`: it has so many bytes at least. `capacity`: how far it can grow (twice its size, and 1 GiB at least). `unit`: bytes that move between nodes at
    a time. `node`: reads and writes the file; else each node does a part of that if all reach it. `atomic`: calls happen as a whole for other calls.
    OSError: FileNotFoundError, FileExistsError, EIO, EOPNOTSUPP, EINVAL; ValueError: no such mode or node."""
    _node.start()
    plain, flags = _flags_of(mode)
    what = os.fspath(what) if what is not None else None
    rest = (_checks.count(size, "size"), _checks.count(capacity, "capacity"), _checks.count(unit, "unit"), -1 if node is None else _checks.node_number(node),
            bool(atomic))
    with _as_os_errors():
        return File(name, plain, _native_open(name, what, linker, flags, rest))


def remove(name, content=False):
    """Removes a container that nobody has open: its name and memory. `content`: the file as well. FileNotFoundError; OSError with EBUSY: somebody has it
    open."""
    _node.start()
    with _as_os_errors():
        _native.container_remove(name, content)


def containers():
    """The containers of the job: a dictionary, name: (bytes, whether it is read-only)."""
    _node.start()
    with _as_os_errors():
        return {name: (length, read_only) for name, length, read_only in _native.container_list()}


class File(io.RawIOBase):
    """An opening of a container (open()): a file of Python, with a position of its own, for numpy.load(), io.BufferedReader and the like. Other nodes see
    what is written at once; the file on the disk has it after sync() or close(). One thread at a time uses an opening's position; pread(), pwrite() and
    append() do without one."""

    def __init__(self, name, mode, opening):
        super().__init__()
        self.name, self.mode = name, mode
        self._opening, self._position = opening, 0
        _open_files.add(self)

    def __repr__(self):
        return f"<quire.File {self.name!r}, mode {self.mode!r}{', closed' if self.closed else ''}>"

    def _writes(self):
        self._checkClosed()
        if not self.writable():
            raise io.UnsupportedOperation(f"container {self.name!r} was opened for reading")

    def readable(self):
        """True, but of a mode that only writes."""
        return self.mode in ("r", "r+", "w+", "x+", "a+")

    def writable(self):
        """Not of mode "r"."""
        return self.mode != "r"

    def seekable(self):
        """True."""
        return True

    @property
    def size(self):
        """How many bytes it has now."""
        self._checkClosed()
        with _as_os_errors():
            return _native.container_bytes(self._opening)

    def tell(self):
        """The position."""
        self._checkClosed()
        return self._position

    def seek(self, offset, whence=io.SEEK_SET):
        """Moves the position, and gives it."""
        self._checkClosed()
        if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
            raise ValueError(f"whence is {whence}: 0, 1 or 2")
        at = _checks.whole(offset, "offset") + (0, self._position, self.size if whence == io.SEEK_END else 0)[whence]
        if at < 0:
            raise ValueError(f"position {at} lies before the beginning")
        if at >= 1 << 63:
            raise ValueError(f"position {at} lies beyond all files: below 2^63 is needed")
        self._position = at
        return at

    def readinto(self, buffer):
        """Reads into a buffer, a shared array, say, from the position on: how many bytes there were."""
        done = self._read_at(self._position, buffer)
        self._position += done
        return done

    def _read_at(self, at, buffer):
        self._checkClosed()
        if not self.readable():
            raise io.UnsupportedOperation(f"container {self.name!r} was opened for writing only: mode 'w+' reads as well")
        with _as_os_errors():
            return _native.container_read(self._opening, at, buffer)

    def pread(self, count, at):
        """Up to `count` bytes from `at` on."""
        count, at = _checks.count(count, "count"), _checks.count(at, "at")
        there = bytearray(min(count, max(0, self.size - at)))
        return bytes(memoryview(there)[:self._read_at(at, there)])

    def write(self, data):
        """Writes all of `data` at the position, or, in mode "a", at the end: its bytes. The container becomes longer if it has to."""
        self._writes()
        length = memoryview(data).nbytes
        if self.mode.startswith("a"):
            self._position = self.append(data) + length
            return length
        self.pwrite(data, self._position)
        self._position += length
        return length

    def pwrite(self, data, at):
        """Writes all of `data` from `at` on."""
        self._writes()
        at = _checks.count(at, "at")
        with _as_os_errors():
            return _native.container_write(self._opening, at, data)

    def append(self, data):
        """Writes all of `data` at the end, after what other nodes append and before what they will: where it stands."""
        self._writes()
        with _as_os_errors():
            return _native.container_append(self._opening, data)

    def truncate(self, size=None):
        """It has `size` bytes from now on (None: as many as the position says), and zeroes where it has grown."""
        self._writes()
        wanted = self._position if size is None else _checks.count(size, "size")
        with _as_os_errors():
            _native.container_truncate(self._opening, wanted)
        return wanted

    def sync(self, at=0, count=0):
        """When it returns the disk has what all nodes had written to these bytes (`count` 0: to the end)."""
        self._checkClosed()
        with _as_os_errors():
            _native.container_sync(self._opening, _checks.count(at, "at"), _checks.count(count, "count"))

    def drop(self, at=0, count=0):
        """Forgets what is in memory of these bytes (`count` 0: to the end), on all nodes: for when others have written the file."""
        self._checkClosed()
        with _as_os_errors():
            _native.container_drop(self._opening, _checks.count(at, "at"), _checks.count(count, "count"))

    def array(self, dtype="u1", shape=None, offset=0):
        """The content as a numpy array, from byte `offset` on: the same memory on all nodes, of what it has now, or of `shape`, up to its capacity. Read-only
        in mode "r". It is of use until the container is removed. Elements beyond the container's bytes are lost: truncate() makes room. ValueError."""
        self._checkClosed()
        kind = _arrays._dtype_of(dtype)
        with _as_os_errors():
            address, capacity = _native.container_map(self._opening)
        offset = _checks.count(offset, "offset")
        sizes = _arrays._shape_of(shape) if shape is not None else ((self.size - offset) // kind.itemsize,)
        count = int(np.prod(sizes, dtype=object)) * kind.itemsize
        if count < 0 or offset + count > capacity:
            raise ValueError(f"container {self.name!r} has addresses for {capacity} bytes, and bytes {offset} to {offset + count} are asked for")
        whole = _native.memory(address, max(capacity, 1))
        mapped = np.ndarray(sizes, kind, buffer=whole, offset=offset)
        mapped.flags.writeable = self.writable()
        return mapped

    def close(self):
        """Ends the opening; the disk has what was written afterwards. The container stays until it is removed."""
        if self.closed:
            return
        super().close()
        _open_files.discard(self)
        if _node.forked() or _node.failed():
            return  # the parent has it open; or the job is over for all
        with _as_os_errors():
            _native.container_close(self._opening)


@atexit.register
def close_all():
    """At the end of the program: as Python closes files that were left open."""
    for file in list(_open_files):
        with contextlib.suppress(Error, OSError):
            file.close()
