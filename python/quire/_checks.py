# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that are wrong: Python's own exceptions, with a sentence that says what is right."""
import math
import operator

from . import _native

_MOST_MS = 1 << 62


def whole(value, what):
    """An integer, of Python or numpy."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is {value!r}: an integer is needed") from None


def count(value, what, least=0, bits=63):
    """A number of bytes or of anything, that C can take."""
    number = whole(value, what)
    if not least <= number < 1 << bits:
        raise ValueError(f"{what} is {number}: a number from {least} on, below 2^{bits}, is needed")
    return number


def node_number(value, what="node"):
    """A node of the job."""
    number = whole(value, what)
    if not 0 <= number < _native.nodes():
        raise ValueError(f"{what} is {number}, and the job has {_native.nodes()} nodes")
    return number


def milliseconds(timeout):
    """Of seconds; negative, that is for ever, of None, of a negative number and of infinity."""
    if timeout is None:
        return -1
    try:
        seconds = float(timeout) if not isinstance(timeout, (str, bytes)) else None
    except (TypeError, ValueError, OverflowError):
        seconds = None
    if seconds is None or math.isnan(seconds):
        raise TypeError(f"timeout is {timeout!r}: seconds are needed, or None")
    return -1 if seconds < 0 or seconds * 1000 >= _MOST_MS else int(seconds * 1000)
