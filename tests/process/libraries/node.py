# SPDX-License-Identifier: BSD-3-Clause
"""A node in Python: node.py LIBRARY CASE. libquire is loaded by ctypes, after Python, or was preloaded.

files      numpy's tofile and fromfile, readinto, writev and sockets on pages that node 0 takes away all the time
imports    the same where numpy is loaded after the start
fault      faulthandler.enable() after the start: memory is still shared, and a real crash is reported
interrupt  a handler of signal.signal() and Ctrl-C: both come to their right, the node ends
"""
import ctypes
import faulthandler
import os
import signal
import socket
import sys
import tempfile
import time

SKIPPED = 77
PAGE = 4096
BYTES = 64 * PAGE


def check(status, call):
    if status != 0:
        sys.exit(f"{call} gave {status}")


def shared(quire, name, size):
    """Memory that node 0 has allocated and published."""
    address = ctypes.c_void_p()
    if quire.quire_node() == 0:
        check(quire.quire_calloc(ctypes.c_size_t(size), ctypes.c_size_t(1), ctypes.byref(address)), "quire_calloc")
        check(quire.quire_publish(name, address), "quire_publish")
    else:
        check(quire.quire_lookup(name, ctypes.c_int64(20000), ctypes.byref(address)), "quire_lookup")
    return address.value


class Barrier(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64)]


def barrier(quire):
    check(quire.quire_barrier_wait(Barrier(0)), "quire_barrier_wait")


def bytes_at(address, size):
    return (ctypes.c_char * size).from_address(address)


def files(quire):
    import numpy
    base = shared(quire, b"memory", 3 * BYTES)
    source = numpy.frombuffer(bytes_at(base, BYTES), dtype=numpy.uint8)
    target = numpy.frombuffer(bytes_at(base + BYTES, BYTES), dtype=numpy.uint8)
    over = numpy.frombuffer(bytes_at(base + 2 * BYTES, 8), dtype=numpy.uint64)
    if quire.quire_node() == 0:
        source[:] = numpy.arange(BYTES) % 251
        target[:] = 0
        over[:] = 0
    barrier(quire)
    if quire.quire_node() == 0:
        every = slice(1, None, PAGE)
        while over[0] == 0:  # these bytes are nobody else's to write
            source[every] = source[every]
            time.sleep(0.002)
    else:
        wanted = (numpy.arange(BYTES) % 251).astype(numpy.uint8)
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "array")
            for _ in range(5):
                source.tofile(name)
                assert (numpy.fromfile(name, dtype=numpy.uint8) == wanted).all(), "tofile"
                numpy.save(name + ".npy", source)
                assert (numpy.load(name + ".npy") == wanted).all(), "save"
                with open(name, "rb", buffering=0) as file:
                    assert file.readinto(target) == BYTES, "readinto"
                assert (target == wanted).all(), "readinto"
                with open(name, "wb", buffering=0) as file:
                    assert os.writev(file.fileno(), [memoryview(source)[:10000], memoryview(source)[10000:]]) == BYTES
                assert (numpy.fromfile(name, dtype=numpy.uint8) == wanted).all(), "writev"
                here, there = socket.socketpair()
                here.sendall(memoryview(source)[:50000])
                got = 0
                while got < 50000:
                    got += there.recv_into(memoryview(target)[got:], 50000 - got)
                assert (target[:50000] == wanted[:50000]).all(), "recv_into"
                here.close()
                there.close()
        over[0] = 1
    barrier(quire)


def fault(quire):
    base = shared(quire, b"memory", BYTES)
    words = (ctypes.c_uint64 * (BYTES // 8)).from_address(base)
    barrier(quire)
    faulthandler.enable()
    for turn in range(4):
        for i in range(0, BYTES // 8, 512):
            if turn % 2 == quire.quire_node() % 2:
                words[i] = words[i] + 1
        barrier(quire)
    assert all(words[i] == 4 for i in range(0, BYTES // 8, 512)), "a write was lost"
    faulthandler.disable()
    faulthandler.enable()
    barrier(quire)
    if quire.quire_node() == 1:
        ctypes.string_at(8)
    barrier(quire)


def interrupt(quire):
    """The handler that Python itself has runs once the call is over; one that must run at once writes to a descriptor."""
    base = shared(quire, b"memory", BYTES)
    word = ctypes.c_uint64.from_address(base)
    here, there = socket.socketpair()
    here.setblocking(False)
    there.setblocking(False)
    signal.set_wakeup_fd(there.fileno())
    signal.signal(signal.SIGUSR1, lambda *_: None)
    barrier(quire)
    if quire.quire_node() == 0:
        # Waits until node 1 has seen its signal, though it stands in the barrier.
        limit = time.monotonic() + 20
        while word.value == 0 and time.monotonic() < limit:
            time.sleep(0.01)
        assert word.value == signal.SIGUSR1, "the handler has not run while its thread waited"
        barrier(quire)
        time.sleep(1)  # node 1 is interrupted meanwhile
        barrier(quire)
        return
    import threading

    def hears():
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                word.value = here.recv(1)[0]
                return
            except BlockingIOError:
                time.sleep(0.01)

    listener = threading.Thread(target=hears)
    listener.start()
    main = threading.main_thread().ident
    threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGUSR1)).start()
    barrier(quire)
    listener.join()
    try:
        threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
        barrier(quire)
        time.sleep(10)
        sys.exit("no KeyboardInterrupt")
    except KeyboardInterrupt:
        print("interrupted", flush=True)


def main():
    library, case = sys.argv[1:]
    if case != "imports":
        try:
            if case == "files":
                import numpy  # noqa: F401
        except ImportError:
            print("no numpy: skipped (scripts/setup.sh installs it)")
            sys.exit(SKIPPED)
    quire = ctypes.CDLL(library)
    check(quire.quire_start(None), "quire_start")
    if case == "imports":
        try:
            import numpy  # noqa: F401
        except ImportError:
            sys.exit(SKIPPED)
        case = "files"
    globals()[case](quire)
    check(quire.quire_end(), "quire_end")


main()
