# SPDX-License-Identifier: BSD-3-Clause
"""A node of a job of run() or Pool (_jobs.py): does what its parent sends, until the connection ends."""
import json
import os
import pickle
import sys
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client

from . import _errors, _native, _node
from ._jobs import LEFT, PARENT
from ._threads import outcome_of


def connect(addresses, key):
    """To the first that answers."""
    for address in addresses:
        try:
            return Client(tuple(address) if isinstance(address, list) else address, authkey=key)
        except (OSError, EOFError, AuthenticationError) as error:
            last = error
    raise last


def _refuse(error):
    raise TypeError(f"node {_native.node()} cannot unpickle the call: {error}")


_LOOK_S = 0.5  # between two looks whether somebody wants this node to leave
_AGAIN_S = 10  # between two tries of a node that something keeps, and that has nothing to do,
_AT_LAST_S = 60  # and of one that has


class _Leaving:
    """Somebody wants this node to leave, between two calls: the others go on with the calls that it has not begun."""

    def __init__(self):
        self._tried = None  # when something kept it

    def _is_due(self, idle):
        """A node that was kept may be kept for seconds again: calls that were sent go first."""
        if not _native.leave_wanted():
            self._tried = None
            return False
        return self._tried is None or time.monotonic() - self._tried >= (_AGAIN_S if idle else _AT_LAST_S)

    def succeeds(self, idle):
        """Whether the node has left: now, or by a call."""
        if not _node.has_left() and self._is_due(idle):
            try:
                _node.leave()
            except _errors.Error:
                pass  # it can never leave, `quire leave` says why, and nobody wants it to any more
            self._tried = time.monotonic()
        return _node.has_left()


def _next(connection, leaving):
    """The next call; EOFError when there is none any more."""
    idle = False
    while True:
        if leaving.succeeds(idle):
            connection.send_bytes(LEFT)
            raise EOFError
        if connection.poll(_LOOK_S):
            return connection.recv_bytes()
        idle = True


def work():
    parent = json.loads(os.environ.pop(PARENT))
    _node.start()
    connection = connect(parent["addresses"], bytes.fromhex(parent["key"]))
    connection.send((_native.node(), _native.nodes()))
    leaving = _Leaving()
    while True:
        try:
            data = _next(connection, leaving)
        except (EOFError, OSError):
            return
        try:
            function, arguments, keywords = pickle.loads(data)
        except Exception as error:  # pylint: disable=broad-except
            answer = outcome_of(_refuse, (error,), {})
        else:
            answer = outcome_of(function, arguments, keywords)
        sys.stdout.flush()
        connection.send_bytes(answer)


if __name__ == "__main__":
    work()
