#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles each source of the library, the command, OpenMP's run-time, the simulator and the benchmarks by itself, for its syntax only: a build puts sources
together (QUIRE_UNITY), where one may lean on what another includes or defines. What that build compiles first, or by itself, is left out where
there is one. Exit status 1: one cannot be compiled.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src/", "tools/", "program/", "sim/", "bench/")


def built_alone(build):
    """Sources that the usual build has compiled with nothing before them, by their paths from the root."""
    database = build / "compile_commands.json"
    if not database.exists():
        return set()
    alone = set()
    for entry in json.loads(database.read_text()):
        source, words = pathlib.Path(entry["file"]), shlex.split(entry["command"])
        made = pathlib.Path(entry["directory"], words[words.index("-o") + 1])
        if source.parent.name == "Unity":
            source = pathlib.Path(re.search(r'#include "(.+)"', source.read_text())[1])
        if made.is_file() and source.is_file() and made.stat().st_mtime > source.stat().st_mtime:
            alone.add(os.path.relpath(source, ROOT))
    return alone


def commands(build):
    """One a source: the compiler's line without what it would write."""
    subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DQUIRE_UNITY=OFF", "-DCMAKE_CXX_COMPILER_LAUNCHER="],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", build, "quire_headers", "tool_headers"], check=True, stdout=subprocess.DEVNULL)
    left_out = built_alone(ROOT / "build")
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = os.path.relpath(entry["file"], ROOT)
        if not file.startswith(FOLDERS) or not file.endswith(".cpp") or file in left_out:
            continue
        words = shlex.split(entry["command"])
        del words[words.index("-o"):words.index("-o") + 2]
        yield file, words + ["-fsyntax-only"], entry["directory"]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "build" / "each", help="where CMake is configured for it")
    build = options.parse_args().folder.resolve()
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
