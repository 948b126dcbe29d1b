# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions. Each has the status of quire.h as `status`, and says what was wrong in a sentence."""


class Error(Exception):
    """A call of Quire has failed."""
    status = None


class PeerLost(Error, ConnectionError):
    """A node died or cannot be reached."""


class TimedOut(Error, TimeoutError):
    """The time limit has passed."""


class NotFound(Error, KeyError):
    """There is no such name, region or object (any more)."""

    def __str__(self):  # KeyError's would quote the sentence
        return Exception.__str__(self)


class Invalid(Error, ValueError):
    """An argument, or the order of calls, is wrong."""


class OutOfMemory(Error, MemoryError):
    """No shared memory, or no addresses, are left."""


class InputOutput(Error, OSError):
    """The system, a file or a disk refused something."""


class FileError(Error, OSError):
    """What a call for a container has met: `errno` says what."""


class FileMissing(FileError, FileNotFoundError):
    """There is no such container, or no such file."""


class FileExists(FileError, FileExistsError):
    """The container is there already."""


class Exists(Error):
    """The name is taken."""


class Lost(Error):
    """A node that is dead alone had it."""


class OwnerDied(Error):
    """The caller has the lock; the node that had it last is dead, and what the lock guards may be half done."""


def install(native):
    """Tells the native part which class a status has."""
    n = native
    native.set_errors({n.TIMED_OUT: TimedOut, n.BUSY: TimedOut, n.NOT_FOUND: NotFound, n.EXISTS: Exists, n.INVALID: Invalid, n.BAD_ADDRESS: Invalid,
                       n.BAD_OPTION: Invalid, n.NO_MEMORY: OutOfMemory, n.NO_ADDRESSES: OutOfMemory, n.PEER_LOST: PeerLost, n.SYSTEM: InputOutput,
                       n.LOST: Lost, n.OWNER_DIED: OwnerDied}, Error)
