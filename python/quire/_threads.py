# SPDX-License-Identifier: BSD-3-Clause
"""Functions in new threads of other nodes. The call and its result travel as pickles in shared memory; arrays of the job in them stay where they are."""
import io
import pickle
import sys
import time
import traceback
import types

import numpy as np

from . import _arrays, _checks, _errors, _native, _node

try:
    import cloudpickle as _pickler
except ImportError:
    _pickler = pickle


def dumps(what):
    """Functions of a script, and lambdas, need cloudpickle."""
    try:
        return _pickler.dumps(what)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        hint = "" if _pickler is not pickle else " (with cloudpickle installed, functions of a script and lambdas can be sent)"
        raise TypeError(f"this cannot be sent to another node: {error}{hint}") from error


class _WithinJob:
    """For other nodes of this job: an array, or a part of one, in shared memory is sent as its address."""

    def reducer_override(self, what):
        if type(what) is np.ndarray and (place := _arrays.place_of(what)) is not None:
            return _arrays.at_place, place
        return super().reducer_override(what) if hasattr(super(), "reducer_override") else NotImplemented


class _Plain(_WithinJob, pickle.Pickler):
    pass


class _Any(_WithinJob, getattr(_pickler, "Pickler", pickle.Pickler)):
    pass


def _dumps_by(kind, what):
    data = io.BytesIO()
    kind(data).dump(what)
    return data.getvalue()


def _within(what):
    """All nodes run one program: its functions go by their names, and find the arrays of the node. Others go with what they use, which is copied, but for
    arrays of the job."""
    try:
        return _dumps_by(_Plain, what)
    except (pickle.PicklingError, AttributeError, TypeError):
        pass
    try:
        return _dumps_by(_Any, what)
    except (pickle.PicklingError, AttributeError, TypeError):
        return dumps(what)  # says what is wrong


def _keep(data):
    at = _native.allocate(16, 8 + len(data))
    memory = _native.memory(at, 8 + len(data))
    memory[:8] = len(data).to_bytes(8, "little")
    memory[8:] = data
    return at


def _take(at):
    length = int.from_bytes(bytes(_native.memory(at, 8)), "little")
    data = bytes(_native.memory(at + 8, length))
    _native.release_memory(at)
    return data


DEFINED_SOON_S = 10  # a node may come to a function of the program that much later than the node that calls it there


class _OfProgram(pickle.Unpickler):
    """What another node has sent by name. This node may be slower, and not have come to its definition yet."""

    def find_class(self, module, name):
        until = time.monotonic() + DEFINED_SOON_S
        first = name.partition(".")[0]
        while module == "__main__" and not hasattr(sys.modules[module], first):
            if time.monotonic() > until:
                raise AttributeError(f"node {_native.node()} has no {name!r} in its program, {DEFINED_SOON_S} s after it was called here: "
                                     "define it on every node")
            time.sleep(0.001)
        return super().find_class(module, name)


class RemoteError(Exception):
    """What a function on another node has raised, as text: the cause of the exception that is raised here, or that exception, if its own cannot be sent."""


def outcome_of(function, arguments, keywords, pickled=dumps):
    """A pickle: (True, the result), or (False, a pickle of the exception or None, the exception in words, and its traceback)."""
    try:
        return pickled((True, function(*arguments, **keywords)))
    except BaseException as error:  # pylint: disable=broad-except
        words = traceback.format_exc()
        told = traceback.format_exception_only(error)[-1].strip()
        try:
            data = pickled(error)
        except Exception:  # pylint: disable=broad-except
            data = None
        return dumps((False, (data, told, words)))


def result_of(data, node):
    good, what = pickle.loads(data)
    if good:
        return what
    pickled, told, words = what
    try:
        error = pickle.loads(pickled) if pickled is not None else None
    except Exception:  # pylint: disable=broad-except
        error = None  # of a class that makes none of what it keeps, or that is not known here
    if not isinstance(error, BaseException):
        error = RemoteError(told)
    raise error from RemoteError(f"on node {node}\n{words}")


def _entry(address):
    data = _take(address)

    def call():
        function, arguments, keywords = _OfProgram(io.BytesIO(data)).load()
        return function(*arguments, **keywords)
    return _keep(outcome_of(call, (), {}, _within))


class Thread:
    """A call on another node."""
    __class_getitem__ = classmethod(types.GenericAlias)  # Thread[int], of what it gives

    def __init__(self, node, number):
        self.node, self._number = node, number

    def join(self):
        """Waits for the end; what the function gave, or the exception that it raised. Once."""
        if self._number is None:
            raise _errors.Invalid("this thread was joined already")
        number, self._number = self._number, None
        at = _native.join(number)
        if not at:
            raise _errors.Error(f"node {self.node} had ended its program, and ran no more Python")
        return result_of(_take(at), self.node)


def spawn(node, function, *arguments, **keywords):
    """Calls function(*arguments, **keywords) in a new thread of node `node`: a Thread. A function of the program is called by its name, and uses the arrays
    that the node has; a lambda, and private arrays among the arguments, are copied. Shared arrays, and parts of them, are not. ValueError for a node that
    the job has not; TypeError for what cannot be pickled."""
    _node.start()
    node = _checks.node_number(node)
    if not callable(function):
        raise TypeError(f"{function!r} cannot be called")
    at = _keep(_within((function, arguments, keywords)))
    try:
        return Thread(node, _native.spawn(node, at))
    except Exception:
        _native.release_memory(at)
        raise


_native.set_entry(_entry)
