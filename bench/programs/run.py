#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Python, as they are, with libraries that have OpenMP: on this machine and on nodes, whether the result is the same, and how long it takes.

Installs the wheels of wheels.txt into a folder of its own first (--folder), by pip. Outside of CI. PyTorch is that of Debian (python3-torch), if it is
installed: its wheels bring three gigabytes for devices.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = {"kmeans": "scikit-learn", "hist_gradient": "scikit-learn", "random_forest": "scikit-learn", "numba_sum": "numba", "light_gbm": "lightgbm",
            "xg_boost": "xgboost", "blas": "numpy", "torch_net": "python3-torch", "small_objects": "none"}
ON_NODE_0 = {"random_forest": "joblib", "blas": "OpenBLAS", "small_objects": "there are none"}  # where the threads are, and whose they are
SYSTEMS_OWN = {"torch_net"}  # run by the python3 of the system, whose packages have the version
HEAD = """# Python, as it is

`quire run -n 2 python3 fit.py`: the interpreter is on node 0, and regions of OpenMP in extension modules have threads on all nodes.
Made by `bench/programs/run.py` on {cores} cores, with two threads in all; seconds are medians of {times}, of a second run of the same work in one process.
Speed-up: of the largest number of nodes over one machine.

| program | wheel | threads | one machine, s | {columns} | speed-up | result |
| --- | --- | --- | --- | {rule} | --- | --- |
"""


def install(folder, wheels=HERE / "wheels.txt"):
    python = folder / "bin" / "python3"
    if not python.exists():
        print(f"programs: wheels into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", wheels], check=True)
    return python


def versions_of(python):
    """Of the wheels that are there."""
    listed = subprocess.run([python, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True).stdout
    return dict(line.split("==", 1) for line in listed.split() if "==" in line)


def system_version(package):
    """Of a package of Debian; none if it is not there."""
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return asked.stdout if asked.returncode == 0 else None


def run(command, threads=2, **more):
    """The result and the seconds; a text that says what went wrong, and None."""
    settings = dict(os.environ, **{f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "NUMBA", "OPENBLAS")}, **more)
    try:
        done = subprocess.run(command, cwd=HERE, env=settings, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "does not end in 300 s", None
    seconds = re.search(r"^seconds ([0-9.]+)$", done.stderr, re.M)
    if done.returncode != 0 or seconds is None:
        return f"status {done.returncode}: {' '.join(done.stderr.split())[-200:]}", None
    return done.stdout, float(seconds.group(1))


def several(command, times):
    all_runs = [run(command) for _ in range(times)]
    for found in all_runs:
        if found[1] is None or found[0] != all_runs[0][0]:
            return found[0] if found[1] is None else "the results of two runs differ", None
    return all_runs[0][0], statistics.median(seconds for _, seconds in all_runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quire", default=HERE.parents[1] / "build" / "bin" / "quire", type=pathlib.Path, help="default: that of build")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "quire-programs",
                        help="where the wheels are (default: %(default)s)")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2], help="default: 1 2")
    parser.add_argument("--times", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--only", nargs="+", choices=sorted(PROGRAMS), default=list(PROGRAMS), help="these programs")
    parser.add_argument("--document", type=pathlib.Path, help="the table goes there, too")
    asked = parser.parse_args()
    python = install(asked.folder)
    versions = versions_of(python)
    table = HEAD.format(cores=os.cpu_count(), times=asked.times, columns=" | ".join(f"{n} node{'s' if n > 1 else ''}, s" for n in asked.nodes),
                        rule=" | ".join("---" for _ in asked.nodes))
    wrong = 0
    for name in asked.only:
        version = system_version(PROGRAMS[name]) if name in SYSTEMS_OWN else versions.get(PROGRAMS[name], "")
        if version is None:
            print(f"programs: {name} is left out: {PROGRAMS[name]} is not installed", file=sys.stderr)
            continue
        print(f"programs: {name}", file=sys.stderr)
        program = ["/usr/bin/python3" if name in SYSTEMS_OWN else python, f"{name}.py"]
        wanted, alone = several(program, asked.times)
        cells, result, gain = [], "the same", "-"
        for nodes in asked.nodes:
            found, seconds = several([asked.quire, "run", "-n", str(nodes), *program], asked.times)
            cells.append("-" if seconds is None else f"{seconds:.3f}")
            gain = "-" if alone is None or seconds is None else f"{alone / seconds:.2f}"
            if alone is None or found != wanted:
                result = found.strip() if seconds is None else f"{found.strip()} instead of {wanted.strip()}"
                wrong = 1
        wheel = f"{PROGRAMS[name]} {version}".strip()
        threads = f"node 0: {ON_NODE_0[name]}" if name in ON_NODE_0 else "all nodes"
        table += f"| {name} | {wheel} | {threads} | {'-' if alone is None else f'{alone:.3f}'} | {' | '.join(cells)} | {gain} | {result} |\n"
    print(table)
    if asked.document:
        asked.document.write_text(table)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
