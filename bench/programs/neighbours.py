#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/guide/from-python.md: one program by multiprocessing.shared_memory, Ray and Dask, how each differs from the same on Quire, and how long both
take.

    bench/programs/neighbours.py            runs all programs first, with the wheels of neighbours/wheels.txt, which it installs by pip (--folder)
    bench/programs/neighbours.py --check    compares all but the times, and ends with 1 if it differs (tests/docs/programs_test.py)

Outside of CI, which runs the programs on Quire, and that of shared_memory."""
import argparse
import difflib
import os
import pathlib
import re
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "neighbours"
PAGE = HERE.parents[1] / "docs" / "guide" / "from-python.md"
SIZE, WORKERS = ("2000", "50"), "2"
# Title, wheel, program, whether the one on Quire is started by `quire run`, what the difference shows.
PAIRS = (
    ("multiprocessing.shared_memory", None, "shared_memory", False,
     "A pool of nodes stands in the place of a pool of processes: with `hosts=\"a,b\"` they are on other machines. The arrays have names, are numpy's, "
     "and go with the job: nobody attaches, closes or unlinks blocks. `q.block()` says which rows are a node's, `q.reduce()` is the barrier."),
    ("Ray", "ray", "ray_tasks", True,
     "What a task is given is no copy in an object store, and may be written: so rows do not come back, and `ray.put()` goes. `q.spawn()` calls a function on "
     "a node, `join()` waits for what it gives."),
    ("Dask", "dask", "dask_blocks", True,
     "There is no graph, and no scheduler: each node runs the program, and has its rows. What `map_overlap` brings from neighbours is read where it lies; "
     "only those pages move."),
)
WORDS = """| there | on Quire |
| --- | --- |
| `SharedMemory(name)`, `np.ndarray(..., buffer=)` | `q.zeros(shape, name=)`, `q.array(name)` |
| `ProcessPoolExecutor`, `ray.init()`, `Client()` | `q.Pool()`, or `quire run` |
| `f.remote()`, `ray.get()`, `client.submit()`, `result()` | `q.spawn()`, `join()`; `pool.submit()` |
| `ray.put()`, `client.scatter()` | nothing: an array of the job is given as it is |
| chunks, `map_overlap` | `q.block()`; neighbours' rows are read where they lie |
| `joblib.parallel_backend("ray")`, `("dask")` | `("quire")`: [joblib and scikit-learn](python.md#joblib-and-scikit-learn) |""".splitlines()


def body(name):
    return (PROGRAMS / f"{name}.py").read_text().splitlines()[2:]


def difference(before, after):
    lines = list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]
    return [re.sub(r"^@@.*@@", "@@", line) for line in lines]


def page(figures):
    """`figures`: the lines with what was measured."""
    lines = ["# From Ray, Dask, multiprocessing.shared_memory", "",
             "Written by `bench/programs/neighbours.py` from the programs in `bench/programs/neighbours`: heat in a plate, by each of them, and how it "
             "differs from the same on Quire.", "", *WORDS, "", *figures, "",
             "Ray and Dask do what Quire does not: they start tasks again that a machine has taken along, and their objects need not be arrays. On Quire",
             "arrays are written in place by all nodes, and [a dead node ends the job](failures.md), unless there are checkpoints or survivors.", ""]
    for title, _, name, _, point in PAIRS:
        there = "../../bench/programs/neighbours/" + name
        lines += [f"## {title}", "", point, "", f"[before]({there}.py), [on Quire]({there}_quire.py)", "", "```diff",
                  *difference(body(name), body(f"{name}_quire")), "```", ""]
    return "\n".join([*lines, "Next: [Fortran](fortran.md)."]) + "\n"


def figures_of(text):
    """Of a page that was written before."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith("Seconds")), 0)
    return lines[begin:lines.index("", begin + 2)] if begin else []


def measured(asked, python):
    versions = run.versions_of(python)
    rows, wrong, results = [], 0, set()
    for title, wheel, name, launched, _ in PAIRS:
        print(f"neighbours: {name}", file=sys.stderr)
        start = [asked.quire, "run", "-n", WORKERS] if launched else []
        both = [[python, f"neighbours/{name}.py", *SIZE, WORKERS], [*start, python, f"neighbours/{name}_quire.py", *SIZE, *([] if launched else [WORKERS])]]
        took = ([], [])
        for _ in range(asked.times):  # in turn, as the machine may be busy
            for command, seconds in zip(both, took):
                result, time = run.run(command, threads=1, PYTHONPATH=str(asked.quire.parents[1] / "python"))
                results.add(result)
                wrong |= time is None
                seconds.append(time or 0)
        before, after = (statistics.median(seconds) for seconds in took)
        version = versions[wheel] if wheel else "of the interpreter"
        rows.append(f"| {title} | {version} | {before:.2f} | {after:.2f} | {before / (after or 1):.1f} |")
    if wrong or len(results) != 1:
        sys.exit(f"neighbours: results differ, or there are none: {results}")
    what = (f"Seconds of {SIZE[1]} steps on {SIZE[0]} x {SIZE[0]} cells, by {WORKERS} processes on a machine of {os.cpu_count()} cores, without their start: "
            f"medians of {asked.times}, in turn. All print the same.")
    return [what, "", "| | version | before | on Quire | ratio |", "| --- | --- | ---: | ---: | ---: |", *rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quire", default=HERE.parents[1] / "build" / "bin" / "quire", type=pathlib.Path, help="default: that of build")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "quire-neighbours",
                        help="where the wheels are (default: %(default)s)")
    parser.add_argument("--times", type=int, default=5, help="runs of each (default: 5)")
    parser.add_argument("--check", action="store_true", help="runs nothing")
    parser.add_argument("--keep-figures", action="store_true", help="runs nothing, and writes the page with the times that it has")
    asked = parser.parse_args()
    if asked.check:
        if PAGE.read_text() != page(figures_of(PAGE.read_text())):
            sys.exit(f"{PAGE} is not what bench/programs/neighbours.py writes: run it, with --keep-figures where no program has changed")
        return
    figures = figures_of(PAGE.read_text()) if asked.keep_figures else measured(asked, run.install(asked.folder, PROGRAMS / "wheels.txt"))
    PAGE.write_text(page(figures))


if __name__ == "__main__":
    main()
