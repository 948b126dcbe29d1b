#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/guide/porting.md: the differences between the programs of this folder, and where to read on. tests/docs/programs_test.py fails when the page is not
what this writes.

    examples/port/page.py            writes the page; --check only compares, and ends with 1 if it differs
"""
import importlib.util
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "guide" / "porting.md"
spec = importlib.util.spec_from_file_location("threads_page", HERE.parent / "threads" / "page.py")
threads_page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(threads_page)

# Title, program before, program on Quire, what the difference shows.
PROGRAMS = (
    ("pthreads", "pthreads.c", "pthreads_quire.c",
     "The workers are nodes. What was allocated by `calloc` and found by a global variable comes from `quire_calloc()`, and its address goes to all nodes; the barrier is the job's. "
     "[From threads to Quire](from-threads.md) says what else is private. A program of threads also runs as it is: [programs with threads](threads.md)."),
    ("OpenMP", "openmp.c", "openmp_quire.c",
     "Loops keep their directives, which share a node's part among its threads; a barrier of the job stands after each loop. An OpenMP program also runs on several nodes as it is: "
     "[OpenMP programs](openmp.md)."),
    ("numpy", "heat_numpy.py", "heat_numpy_quire.py",
     "Arrays that all nodes share are numpy arrays; each node works on its rows, or cells. [Python](python.md) has the rest."),
    ("MPI", "mpi.c", "mpi_quire.c",
     "Parts keep their bounds. Messages between neighbours go: each node reads its neighbours' cells where they lie, after a barrier. Indices are those of the whole."),
)


def body(path):
    return threads_page.body(path) if path.suffix == ".c" else [line for line in path.read_text().splitlines()[2:] if not line.startswith("# [")]


def page():
    lines = ["# Port a program", "",
             "Written by `examples/port/page.py` from the programs in `examples/port/`: one problem, heat in a rod, by threads, OpenMP, numpy and messages; and how each differs from the",
             "same on Quire. The tests run all of them, on 1, 2 and 3 nodes, and compare what they print.", ""]
    for title, before, after, point in PROGRAMS:
        lines += [f"## {title}", "", point, "", f"[before](../../examples/port/{before}), [on Quire](../../examples/port/{after})", "",
                  "```diff", *threads_page.difference(body(HERE / before), body(HERE / after)), "```", ""]
    lines += ["Next: [Six programs](programs.md), larger ones, shown in the same way."]
    return "\n".join(lines) + "\n"


def main():
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE} is not what examples/port/page.py writes: run it")


if __name__ == "__main__":
    main()
