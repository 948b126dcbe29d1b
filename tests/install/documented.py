#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""documented.py PREFIX BUILT_QUIRE SOURCE FOLDER: does what README.md and the guide say to compile a program: every line that begins with a
compiler, and every block of CMake, each for the program of the guide, which then runs on two nodes. PREFIX is an installed Quire; a line
that names build/bin/quire gets BUILT_QUIRE.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
PREFIX, BUILT, SOURCE, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3]).resolve(), Path(sys.argv[4])
sys.path.insert(0, str(SOURCE / "tests" / "docs"))
import manual  # noqa: E402

PROJECT = "cmake_minimum_required(VERSION 3.20)\nproject(first LANGUAGES CXX)\n"


def shell_lines(text):
    lines = [line for language, block in manual.blocks(text) if language not in ("c", "cpp", "cmake") for line in block]
    lines += [line for line in manual.without_blocks(text).splitlines() if line.startswith("    ")]
    return {line.partition(" #")[0].strip() for line in lines if line.split()[:1] in (["c++"], ["cc"])}


def do(command, where, environment):
    result = subprocess.run(["bash", "-c", command], cwd=where, env=environment, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        sys.exit(f"failed with status {result.returncode}: {command}\n{result.stdout}{result.stderr}")
    return result.stdout


def main():
    documents = [(name, text) for name, text in manual.documents(SOURCE) if manual.for_users(name)]
    lines = sorted(set().union(*(shell_lines(text) for _, text in documents)))
    projects = sorted({"\n".join(block) for _, text in documents for language, block in manual.blocks(text) if language == "cmake"})
    readme = dict(documents)["README.md"]
    if not any("quire config" in line for line in shell_lines(readme)) or not any(language == "cmake" for language, _ in manual.blocks(readme)):
        sys.exit("README.md does not say how to compile a program by `quire config` and by CMake")
    libraries = next(Path(PREFIX).rglob("quire.pc")).parent
    environment = {**os.environ, "PATH": f"{PREFIX}/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": str(libraries), "CMAKE_PREFIX_PATH": PREFIX}
    ways = [line.replace("build/bin/quire", BUILT) for line in lines]
    ways += ["cmake -B . . && cmake --build ."] * len(projects)
    for number, way in enumerate(ways):
        where = FOLDER / str(number)
        where.mkdir(parents=True)
        for name in ("first.cpp", "first.c"):
            shutil.copy(SOURCE / "examples" / "guide" / name, where)
        if number >= len(lines):
            (where / "CMakeLists.txt").write_text(PROJECT + projects[number - len(lines)] + "\n")
        do(way, where, environment)
        said = do("quire run -n 2 --timeout 60 ./first", where, environment)
        if "2 nodes counted 2" not in said:
            sys.exit(f"the program of this way said {said!r}: {way}")
        print(f"  {way}")


main()
