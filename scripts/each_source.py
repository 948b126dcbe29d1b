#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles each source of the library, the command, OpenMP's run-time and the simulator by itself, for its syntax only: a build puts sources
together (QUIRE_UNITY), where one may lean on what another includes or defines. Exit status 1: one does.

    scripts/each_source.py [FOLDER]   where CMake is configured for it; build/each otherwise
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src/", "tools/", "openmp/", "sim/")


def commands(build):
    """One a source: the compiler's line without what it would write."""
    subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DQUIRE_UNITY=OFF", "-DCMAKE_CXX_COMPILER_LAUNCHER="],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", build, "quire_headers", "tool_headers"], check=True, stdout=subprocess.DEVNULL)
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = os.path.relpath(entry["file"], ROOT)
        if not file.startswith(FOLDERS) or not file.endswith(".cpp"):
            continue
        words = shlex.split(entry["command"])
        del words[words.index("-o"):words.index("-o") + 2]
        yield file, words + ["-fsyntax-only"], entry["directory"]


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "each").resolve()
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        def one(job):
            return job[0], subprocess.run(job[1], cwd=job[2], stderr=subprocess.PIPE, text=True, check=False)
        jobs = list(commands(build))
        for number, (file, result) in enumerate(pool.map(one, jobs), 1):
            if result.returncode != 0:
                wrong += 1
                print(f"{file}:\n{result.stderr}", flush=True)
            if number % 100 == 0:
                print(f"{number} of {len(jobs)} sources", flush=True)
    print(f"{len(jobs)} sources, {wrong} that cannot be compiled alone")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
