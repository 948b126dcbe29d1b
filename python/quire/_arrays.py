# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that all nodes share: plain, writable numpy.ndarray, at the same addresses on all nodes. One thread of each node calls what makes or frees one."""
import contextlib
import os
import pickle

import numpy as np

from . import _checks, _native, _node, _values
from ._errors import Error, Invalid

_OWN_REGION = 1 << 20  # bytes, from which an array is a region of its own
_CONSISTENCIES = {"release": _native.RELEASE, "sequential": _native.SEQUENTIAL}
_PAGE = 4096
_DESCRIPTION = 4000  # bytes behind an array that is a region
_arrays = {}  # of this node: address: (region or None, bytes)


def _dtype_of(dtype):
    wanted = np.dtype(dtype)
    if wanted.hasobject:
        raise TypeError("an array of Python objects cannot be shared: objects lie in the memory of one process")
    return wanted


def _shape_of(shape):
    if isinstance(shape, (str, bytes)):
        raise TypeError(f"shape is {shape!r}: an integer, or several, are needed")
    sizes = tuple(_checks.whole(n, "shape") for n in (shape if np.iterable(shape) else (shape,)))
    if any(n < 0 for n in sizes):
        raise ValueError(f"shape is {shape}: negative sizes do not exist")
    return sizes


def _at(address, shape, dtype):
    count = max(1, dtype.itemsize)
    for n in shape:
        count *= max(1, n)
    return np.ndarray(shape, dtype, buffer=_native.memory(address, count))


def _make(shape, dtype, name, consistency, unit, node):
    """On one node: (address, region or None). A name is that of a description behind the array, and goes with its region."""
    count = dtype.itemsize
    for n in shape:
        count *= n
    if count >= 1 << 62:
        raise ValueError(f"an array of shape {shape} and {dtype} has {count} bytes, more than there are addresses")
    if count < _OWN_REGION and name is None and consistency is None and unit == 0 and node is None:
        address = _native.allocate(_PAGE if count >= _PAGE else 16, max(count, 1))
        _native.memory(address, max(count, 1))[:] = bytes(max(count, 1))
        return address, None
    usual = "sequential" if count < _OWN_REGION or os.environ.get("QUIRE_ON_FAILURE") == "notify" else "release"
    how = _CONSISTENCIES[consistency or usual]
    place = _native.PLACE_NODE if node is not None else _native.PLACE_FIRST_TOUCH if how == _native.RELEASE else _native.PLACE_BLOCK
    behind = (count + 15) // 16 * 16
    region, address = _native.region_create(max(behind + (_DESCRIPTION if name is not None else 0), 1), how, unit, place, node or 0)
    if name is None:
        return address, region
    try:
        data = pickle.dumps((shape, dtype, region, behind))
        if len(data) > _DESCRIPTION - 8:
            raise ValueError(f"the description of {dtype} is too long for an array with a name")
        memory = _native.memory(address + behind, 8 + len(data))
        memory[:8] = len(data).to_bytes(8, "little")
        memory[8:] = data
        _native.publish(name, address + behind)
    except Exception:
        _native.region_destroy(region)
        raise
    return address, region


def _give_back(address, region):
    if region is not None:
        _native.region_destroy(region)
    else:
        _native.release_memory(address)


def zeros(shape, dtype=float, *, name=None, consistency=None, unit=0, node=None):
    """A shared array of zeroes. All nodes call, with the same arguments, and get the same array.

    name: other threads find it by array(name), also after a restart from a checkpoint. consistency: "release" (the usual of arrays from 1 MiB: nodes
    see each other's writes after locks and barriers) or "sequential" (at once; the usual of smaller ones). unit: bytes that move between nodes at a
    time, a power of two from 4096 to 2 MiB. node: all of it has its home there. With any of these it is a region of its own, in units. ValueError, TypeError (objects),
    MemoryError; Exists: the name is taken.

    The array lives until free(); `a = a + 1` makes another one, which is private."""
    _node.start()
    asked = (_shape_of(shape), _dtype_of(dtype), name, consistency, _checks.count(unit, "unit"), _checks.node_number(node) if node is not None else None)
    if consistency is not None and consistency not in _CONSISTENCIES:
        raise ValueError(f"consistency is {consistency!r}: one of {', '.join(_CONSISTENCIES)}")
    of_node_0, address, region = _values.on_node_0(lambda: (asked, *_make(*asked)))
    if of_node_0 != asked:
        raise Invalid(f"nodes make different arrays: node 0 {of_node_0}, node {_native.node()} {asked}")
    made = _at(address, asked[0], asked[1])
    _arrays[address] = (region, made.nbytes)
    if name is not None and _native.node() == 0:
        with contextlib.suppress(Error):  # too many labels: the report goes without this one
            _native.label(address, max(made.nbytes, 1), name)
    return made


empty = zeros


def zeros_like(other, **how):
    """As zeros(), with shape and dtype of `other`."""
    return zeros(np.shape(other), getattr(other, "dtype", None) or np.asarray(other).dtype, **how)


empty_like = zeros_like


def array(what, dtype=None, *, root=0, timeout=None, **how):
    """A name: the shared array that was made with it; waits for it for `timeout` seconds (None: for ever). Any thread.
    Else a new shared array with the content that node `root` gives; all nodes call, others than `root` may give None."""
    _node.start()
    if isinstance(what, str):
        at = _native.lookup(what, _checks.milliseconds(timeout))
        _native.region_of(at)  # Invalid: the name is that of a lock, say
        length = int.from_bytes(bytes(_native.memory(at, 8)), "little")
        shape, kind, region, behind = pickle.loads(bytes(_native.memory(at + 8, length)))
        found = _at(at - behind, shape, kind)
        _arrays.setdefault(at - behind, (region, found.nbytes))
        return found
    source = np.asarray(what, dtype=dtype) if _native.node() == root else None
    shape, kind = _values.broadcast((source.shape, source.dtype) if source is not None else None, root)
    made = zeros(shape, kind, **how)
    if source is not None:
        made[...] = source
    _values.barrier()
    return made


def fromfile(path, dtype=float, shape=None, *, offset=0, **how):
    """A shared array with the content of a file of plain values; each node reads its part of it straight into shared memory. All nodes call. `shape`: else all
    that is there, in one dimension. `offset`: bytes."""
    _node.start()
    kind = _dtype_of(dtype)

    def size():
        with open(path, "rb") as file:  # a directory has a size, too
            return os.fstat(file.fileno()).st_size
    there = (_values.on_node_0(size) - offset) // kind.itemsize
    sizes = _shape_of(shape) if shape is not None else (there,)
    offset = _checks.whole(offset, "offset")
    count = int(np.prod(sizes, dtype=object))
    if offset < 0 or count > there:
        raise ValueError(f"{path} has {max(0, there)} values of {kind} from byte {offset} on, and {count} are asked for")
    made = zeros(sizes, kind, **how)
    mine = _values.block(count)
    part = made.reshape(-1)[mine]
    if part.size != 0:
        with open(path, "rb", buffering=0) as file:
            file.seek(offset + mine.start * kind.itemsize)
            rest = memoryview(part.view(np.uint8))
            while len(rest) != 0:
                done = file.readinto(rest)
                if not done:
                    raise OSError(f"{path} has become shorter while it was read")
                rest = rest[done:]
    _values.barrier()
    return made


def _base(a):
    if not isinstance(a, np.ndarray):
        raise TypeError(f"a shared array is needed, not {type(a).__name__}")
    return a.__array_interface__["data"][0]


def place_of(a):
    """(address, shape, dtype, strides) of an array in shared memory, for at_place() on other nodes; None if it is private."""
    if a.size == 0 or a.dtype.hasobject:
        return None
    first, beyond = np.lib.array_utils.byte_bounds(a) if hasattr(np.lib, "array_utils") else np.byte_bounds(a)
    try:
        if _native.region_of(first) != _native.region_of(beyond - 1):
            return None
    except Error:
        return None
    return _base(a), a.shape, a.dtype, a.strides


def at_place(address, shape, dtype, strides):
    """The array that place_of() told of."""
    steps = [(n - 1) * step for n, step in zip(shape, strides)]
    first = address + sum(step for step in steps if step < 0)
    length = sum(abs(step) for step in steps) + dtype.itemsize
    return np.ndarray(shape, dtype, buffer=_native.memory(first, length), offset=address - first, strides=strides)


def free(a):
    """Gives the memory of an array back. All nodes call; none may use it, nor parts of it, afterwards. ValueError if it is no array that zeros() and the
    like gave, as a part of one is not."""
    _node.start()
    address = _base(a)
    if address not in _arrays or _arrays[address][1] != a.nbytes:
        raise ValueError("this is no shared array, was freed already, or is a part of one")
    region = _arrays[address][0]
    _values.barrier()
    _values.on_node_0(lambda: _give_back(address, region))
    del _arrays[address]


def _range(a):
    address = _base(a)
    if not a.flags.c_contiguous:
        raise ValueError("the part of the array is not contiguous: give whole rows")
    return address, a.nbytes


def prefetch(a, for_writing=False):
    """Starts to bring a contiguous part of an array here, and does not wait. A hint."""
    _node.start()
    address, length = _range(a)
    if length:
        _native.prefetch(address, length, int(bool(for_writing)))


def push(a):
    """Sends copies of a contiguous part of an array to all nodes, and waits until they have them."""
    _node.start()
    address, length = _range(a)
    if length:
        _native.push(address, length, 0)


@contextlib.contextmanager
def produced(a, producer):
    """In the block, node `producer` writes a contiguous part of an array that all read afterwards: at the end they get it in large messages. All nodes
    enter it."""
    _node.start()
    address, length = _range(a)
    producer = _checks.node_number(producer, "producer")
    _native.produce_begin(address, length, producer)
    try:
        yield
    finally:
        _native.produce_end(address, length, producer)


@contextlib.contextmanager
def pin(a, timeout=None):
    """In the block, no other node reads or writes a contiguous part of an array: a critical section that costs no message more than the data. No other
    call of Quire is allowed in it. TimedOut."""
    _node.start()
    address, length = _range(a)
    _native.pin(address, length, _checks.milliseconds(timeout))
    try:
        yield
    finally:
        _native.unpin(address, length)


def _word(a, index):
    at = _base(a)
    if a.dtype != np.int64:
        raise TypeError(f"atomic operations are for int64, not {a.dtype}")
    index = index if isinstance(index, tuple) else (index,)
    if len(index) != a.ndim:
        raise IndexError(f"the array has {a.ndim} dimensions, and {len(index)} indices were given")
    for i, n, step in zip(index, a.shape, a.strides):
        i = _checks.whole(i, "index")
        if not -n <= i < n:
            raise IndexError(f"index {i} is out of bounds for a dimension of size {n}")
        at += (i + n if i < 0 else i) * step
    return at


def fetch_add(a, index, value=1):
    """Adds to an element of an int64 array, atomically for all nodes; what was there before."""
    _node.start()
    return _native.fetch_add(_word(a, index), value)


def exchange(a, index, value):
    """Sets an element of an int64 array, atomically; what was there before."""
    _node.start()
    return _native.exchange(_word(a, index), value)


def compare_exchange(a, index, expected, desired):
    """Sets an element of an int64 array to `desired` if it is `expected`, atomically; (whether it was, what was there)."""
    _node.start()
    return _native.compare_exchange(_word(a, index), expected, desired)
