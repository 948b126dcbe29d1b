# SPDX-License-Identifier: BSD-3-Clause
"""`python -m quire program.py arguments`, or `python -m quire -m module arguments`: runs it as a node of whatever has started it (quire run, srun, mpirun)."""
import os
import runpy
import sys

from . import _node


def main():
    words = sys.argv[1:]
    if not words or words[0] in ("-h", "--help"):
        print("usage: python -m quire PROGRAM.py [ARGUMENTS...]\n       python -m quire -m MODULE [ARGUMENTS...]\n"
              "Runs it as a node of the job that has started it: quire run -n 4, srun, mpirun. Alone it is a job of one node.")
        sys.exit(0 if words else 2)
    _node.start()
    if words[0] == "-m":
        if len(words) < 2:
            sys.exit("python -m quire: which module?")
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = words
    sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
    runpy.run_path(words[0], run_name="__main__")


main()
