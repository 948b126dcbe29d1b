# SPDX-License-Identifier: BSD-3-Clause
"""This process as a node of a job: the start, the end, and Ctrl-C."""
import atexit
import contextlib
import os
import signal
import sys
import threading
import traceback

from . import _errors, _native

_errors.install(_native)
_started = None  # the process that has
_left = False  # this process was a node
_lock = threading.Lock()
_OF_THE_START = ("QUIRE_JOB_", "QUIRE_RENDEZVOUS", "QUIRE_RANK", "QUIRE_SIZE", "QUIRE_SECRET", "PMI_FD", "PMI_RANK", "PMI_SIZE", "PMIX_RANK", "PMIX_NAMESPACE")
_THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def launched():
    """Whether a launcher has started this process as a node (`quire run`, srun or mpirun), or QUIRE_RENDEZVOUS says where the others are."""
    return any(name in os.environ for name in ("QUIRE_JOB_FD", "QUIRE_RENDEZVOUS", "PMIX_RANK", "PMI_FD", "PMI_RANK"))


def share_cores():
    """Libraries with threads of their own use this node's share of the machine's cores, unless the user says otherwise. Before they are imported."""
    try:
        local = int(os.environ.get("QUIRE_JOB_LOCAL", "1"))
    except ValueError:
        return
    share = str(max(1, len(os.sched_getaffinity(0)) // max(1, local)))
    for name in _THREADS if local > 1 else ():
        os.environ.setdefault(name, share)


def _interrupted():
    """Ctrl-C, and the main thread waits for other nodes: it will not come back to Python. The job ends."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return  # the program has a handler of its own, which runs when the wait is over
    frame = sys._current_frames().get(threading.main_thread().ident)
    words = "".join(traceback.format_stack(frame)) if frame is not None else ""
    sys.stderr.write(f"Traceback (most recent call last):\n{words}KeyboardInterrupt: node {_native.node()} was waiting for other nodes\n")
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(130)


_failures = []  # exceptions that nobody caught


def _stop():
    """No call of another node begins any more, and those that run end; unless this node has failed, and they may wait for it."""
    if not _native.stop_entries(1.0 if _failures else -1.0):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(1)


@contextlib.contextmanager
def _ends_by_interrupt():
    """Ctrl-C while the main thread waits for other ranks ends the process: Python would hear of it only when they have come, or after minutes."""
    waits = "QUIRE_RENDEZVOUS" in os.environ and threading.current_thread() is threading.main_thread()
    if not waits or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def start():
    """Joins the job, unless this process has: a job of one node where no launcher has started it. Any thread."""
    global _started
    if _started == os.getpid():
        return
    with _lock:
        if _started is not None and _started != os.getpid():
            raise _errors.Error("this process is a forked child of a node: shared memory belongs to the parent (start processes by 'spawn')")
        if _started is None:
            try:
                with _ends_by_interrupt():
                    _native.start(threading.main_thread().ident)
            except _errors.Exists:  # the front-end for stock programs has started it
                raise _errors.Error("this program runs once, as one that knows nothing of Quire (quire exec --openmp): to run it on each node, give "
                                    "--copies to quire run") from None
            for name in [n for n in os.environ if n.startswith(_OF_THE_START)]:
                del os.environ[name]  # C has done so: programs that this one starts are no nodes
            _native.set_on_interrupt(_interrupted)
            hook = sys.excepthook
            sys.excepthook = lambda *error: (_failures.append(error[0]), hook(*error))
            atexit.register(_stop)
            _started = os.getpid()


def leave():
    """As quire.leave()."""
    global _left
    start()
    _left = _native.leave()
    return _left


def has_left():
    return _left


def forked():
    return _started is not None and _started != os.getpid()


def failed():
    """Whether an exception that nobody caught ends this process, and the job."""
    return bool(_failures)
