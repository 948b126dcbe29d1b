# SPDX-License-Identifier: BSD-3-Clause
"""Where the command `quire` is: in this package (a wheel), in the tree where Quire was built, or on the path."""
import os
import shutil


def command():
    here = os.path.dirname(os.path.abspath(__file__))
    for at in (os.path.join(here, "_tree", "bin", "quire"), os.path.join(here, "..", "..", "bin", "quire")):
        if os.access(at, os.X_OK):
            return os.path.realpath(at)
    found = shutil.which("quire")
    if found is None:
        raise FileNotFoundError("the command `quire` is not on the PATH: it comes with the package quire-dsm, or with Quire's installation")
    return found

