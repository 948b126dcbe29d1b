#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long it takes from `pip install` to a first result: in a new environment of its own, `pip install quire-dsm` (the wheel that scripts/wheel.sh has
made, and what it depends on, from wherever pip gets it), and then a job of two nodes that shares an array. pip's cache is not used.

    bench/python/first_result.py build/wheel/quire_dsm-*.whl"""
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3
PROGRAM = """import quire as q
a = q.zeros((1000, 1000))
a[q.block(1000)] = q.node + 1
q.barrier()
if q.node == 0: print(a.sum())
"""


def seconds_of(*words):
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stdout}{done.stderr}")
    return time.perf_counter() - start, done.stdout


def main():
    wheel, installs, results = Path(sys.argv[1]), [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            seconds_of(sys.executable, "-m", "venv", place / "environment")
            commands = place / "environment" / "bin"
            (place / "program.py").write_text(PROGRAM)
            installs.append(seconds_of(commands / "pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check", wheel)[0])
            took, told = seconds_of(commands / "quire", "run", "-n", "2", commands / "python", place / "program.py")
            if told != "1500000.0\n":
                sys.exit(f"the result is {told!r}")
            results.append(took)
    for name, times in (("pip install", installs), ("quire run", results)):
        print(f"{name:12} least {min(times):6.2f} s, median {statistics.median(times):6.2f} s")


if __name__ == "__main__":
    main()
