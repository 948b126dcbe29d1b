# SPDX-License-Identifier: BSD-3-Clause
"""The command `quire` of a wheel. It does not import the package, which would join the job that the command is to start."""
import importlib.util
import os
import sys


def main():
    package = importlib.util.find_spec("quire").submodule_search_locations[0]
    at = os.path.join(package, "_tree", "bin", "quire")
    os.execv(at, [at, *sys.argv[1:]])
