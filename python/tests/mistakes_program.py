# SPDX-License-Identifier: BSD-3-Clause
"""Bad input: exceptions of Python's own, with a sentence that helps. All nodes make the same mistakes."""
import numpy as np

import quire as q

a, words, lock = q.zeros((10, 10)), q.zeros(4, "i8"), q.Lock()
private = np.zeros(3)
MISTAKES = (
    (TypeError, "shape is None", lambda: q.zeros(None)), (TypeError, "shape is 2.5", lambda: q.zeros(2.5)), (TypeError, "shape is 'abc'", lambda: q.zeros("abc")),
    (TypeError, "shape is 'x'", lambda: q.zeros((3, "x"))), (TypeError, "not understood", lambda: q.zeros(3, "nonsense")),
    (TypeError, "str", lambda: q.zeros(3, name=5)), (ValueError, "the name is empty", lambda: q.zeros(3, name="")), (ValueError, "null", lambda: q.zeros(3, name="a\0b")),
    (ValueError, "surrogates", lambda: q.zeros(3, name="\ud800")), (ValueError, "unit is -1", lambda: q.zeros(3, unit=-1)),
    (TypeError, "unit is 'x'", lambda: q.zeros(3, unit="x")), (ValueError, "power of two", lambda: q.zeros(3, unit=5000)), (TypeError, "node is 'x'", lambda: q.zeros(3, node="x")),
    (TypeError, "node is 1.5", lambda: q.zeros(3, node=1.5)), (TypeError, "Python objects", lambda: q.array([object()])),
    (TypeError, "timeout is 'y'", lambda: q.array("x", timeout="y")), (q.Error, "", lambda: q.array("nobody", timeout=0)),
    (TypeError, "offset is 1.5", lambda: q.fromfile("/etc/passwd", "u1", offset=1.5)), (IsADirectoryError, "/tmp", lambda: q.fromfile("/tmp", "u1", 1)),
    (ValueError, "value is -1", lambda: q.Semaphore(-1)), (TypeError, "value is 'x'", lambda: q.Semaphore("x")), (ValueError, "threads is 0", lambda: q.Barrier(0)),
    (ValueError, "threads is -1", lambda: q.Barrier(-1)), (ValueError, "below 2^32", lambda: q.Barrier(1 << 40)), (TypeError, "str", lambda: q.Lock(name=7)),
    (TypeError, "positional", lambda: q.Lock("x")), (TypeError, "positional", lambda: q.RWLock(5)),
    (TypeError, "seconds", lambda: lock.acquire("x")), (TypeError, "timeout is nan", lambda: lock.acquire(float("nan"))),
    (ValueError, "count is -1", lambda: q.Semaphore().release(-1)), (TypeError, "quire.Lock", lambda: q.Condition().wait(None)),
    (q.Error, "does not hold", lambda: q.Condition().wait(lock, 0.01)), (q.Error, "", lock.release),
    (TypeError, "shared array", lambda: q.prefetch([1])), (ValueError, "no shared region", lambda: q.prefetch(private)), (ValueError, "no shared region", lambda: q.push(private)),
    (ValueError, "no shared region", lambda: q.pin(private).__enter__()), (ValueError, "contiguous", lambda: q.pin(a[:, 1]).__enter__()),
    (TypeError, "shared array", lambda: q.pin([1]).__enter__()), (TypeError, "shared array", lambda: q.free(None)), (ValueError, "no shared array", lambda: q.free(private)),
    (TypeError, "index is 1.5", lambda: q.fetch_add(words, 1.5)), (TypeError, "shared array", lambda: q.fetch_add([1], 0)), (TypeError, "int64", lambda: q.fetch_add(a, (0, 0))),
    (OverflowError, "", lambda: q.fetch_add(words, 0, 1 << 70)), (TypeError, "", lambda: q.compare_exchange(words, 0, None, 1)),
    (ValueError, "producer is 9", lambda: q.produced(a, 9).__enter__()), (ValueError, "null", lambda: q.checkpoint("a\0b")),
    (TypeError, "os.PathLike", lambda: q.checkpoint(None)), (TypeError, "os.PathLike", lambda: q.checkpoint(5)), (TypeError, "os.PathLike", lambda: q.restore(None)),
    (q.InputOutput, "node 0: cannot make the directory /no/such/state: No such file or directory", lambda: q.checkpoint("/no/such/state")),
    (q.Invalid, "quire_restore() comes first", lambda: q.restore("/dev/null")), (ValueError, "383", lambda: q.restore("x" * 400)),
    (ValueError, "null", lambda: q.restore(b"a\0b")), (OSError, "", lambda: q.open("x", "r", "/tmp/" + "\u00fc" * 200)),
    (OSError, "", lambda: q.open("x", "r", "/tmp/x" + "\u00fc" * 200)), (TypeError, "shared array", lambda: q.label([1], "x")),
    (ValueError, "one of sum", lambda: q.reduce(1, None)), (TypeError, "64 bits", lambda: q.reduce(object())), (TypeError, "64 bits", lambda: q.reduce(1 << 70)),
    (TypeError, "root is 'x'", lambda: q.broadcast(1, "x")), (TypeError, "high is 'x'", lambda: q.block("x")), (TypeError, "high is 5.5", lambda: q.block(5.5)),
    (TypeError, "node is 'x'", lambda: q.block(5, node="x")), (TypeError, "cannot be called", lambda: q.spawn(0, None)), (TypeError, "node is 'x'", lambda: q.spawn("x", print)),
    (TypeError, "cannot be sent", lambda: q.spawn(0, (x for x in ()).__next__)), (TypeError, "", lambda: q.alive("x")),
    (ValueError, "63 characters", lambda: q.label(a, "x" * 100)), (ValueError, "shared region", lambda: q.label(private, "x")),
    (ValueError, "63 characters", lambda: q.phase("x" * 100).__enter__()), (TypeError, "str", lambda: q.open(5)), (TypeError, "mode is 5", lambda: q.open("x", 5)),
    (TypeError, "PathLike", lambda: q.open("x", "w", 5)), (OSError, "63 characters", lambda: q.open("x" * 100, "w")), (TypeError, "size is 'y'", lambda: q.open("x", "w", size="y")),
    (ValueError, "size is", lambda: q.open("x", "w", size=1 << 70)), (OSError, "power of two", lambda: q.open("x", "w", unit=5)),
    (OSError, "Is a directory", lambda: q.open("x", "r", "/tmp")), (TypeError, "str", lambda: q.remove(5)), (AttributeError, "no attribute 'zeroes'", lambda: q.zeroes),
)
for kind, sentence, make in MISTAKES:
    try:
        given = make()
    except kind as error:
        assert sentence in str(error) and str(error), f"{sentence!r} is not in {error!r}"
    except BaseException as error:
        raise AssertionError(f"{kind.__name__} with {sentence!r} was expected") from error
    else:
        raise AssertionError(f"{kind.__name__} with {sentence!r} was expected, and {given!r} came")
    q.barrier()
assert not q.alive(-1) and not q.alive(1 << 40) and q.Event().wait(-0.0) is False
assert q.block(np.int64(10), node=np.uint8(0)).start == 0
q.barrier()
