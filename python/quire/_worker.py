# SPDX-License-Identifier: BSD-3-Clause
"""A node of a job of run() or Pool (_jobs.py): does what its parent sends, until the connection ends."""
import json
import os
import pickle
import sys
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client

from . import _native, _node
from ._jobs import PARENT
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


def work():
    parent = json.loads(os.environ.pop(PARENT))
    _node.start()
    connection = connect(parent["addresses"], bytes.fromhex(parent["key"]))
    connection.send((_native.node(), _native.nodes()))
    while True:
        try:
            data = connection.recv_bytes()
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
