#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""documented.py PREFIX BUILT_QUIRE SOURCE FOLDER: does what README.md and the guide say to compile a program: every line that begins with a
compiler, and every block of CMake, each for the program of the guide, which then runs on two nodes; those of Fortran where gfortran is. PREFIX is an installed Quire; a line
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

PROJECT = "cmake_minimum_required(VERSION 3.20)\nproject(first LANGUAGES {})\n"
COMPILERS = ["c++", "cc"] + ["gfortran"] * bool(shutil.which("gfortran"))
# What the programs of the guide print.
PROGRAMS = {"first": "2 nodes counted 2", "heat": "100 steps: the last changed"}


def shell_lines(text):
    lines = [line for language, block in manual.blocks(text) if language not in ("c", "cpp", "cmake") for line in block]
    lines += [line for line in manual.without_blocks(text).splitlines() if line.startswith("    ")]
    return {line.partition(" #")[0].strip() for line in lines if line.split()[0:1] and line.split()[0] in COMPILERS}


def do(command, where, environment):
    result = subprocess.run(["bash", "-c", command], cwd=where, env=environment, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        sys.exit(f"failed with status {result.returncode}: {command}\n{result.stdout}{result.stderr}")
    return result.stdout


def main():
    documents = [(name, text) for name, text in manual.documents(SOURCE) if manual.for_users(name)]
    lines = sorted(set().union(*(shell_lines(text) for _, text in documents)))
    projects = sorted({"\n".join(block) for _, text in documents for language, block in manual.blocks(text) if language == "cmake"})
    first = dict(documents)["docs/guide/first-program.md"]
    if not any("quire config" in line for line in shell_lines(first)) or not any(language == "cmake" for language, _ in manual.blocks(first)):
        sys.exit("docs/guide/first-program.md does not say how to compile a program by `quire config` and by CMake")
    libraries = next(Path(PREFIX).rglob("quire.pc")).parent
    environment = {**os.environ, "PATH": f"{PREFIX}/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": str(libraries), "CMAKE_PREFIX_PATH": PREFIX}
    ways = [line.replace("build/bin/quire", BUILT) for line in lines]
    projects = [text for text in projects if "Fortran" not in text or "gfortran" in COMPILERS]
    ways += ["cmake -B . . && cmake --build ."] * len(projects)
    for number, way in enumerate(ways):
        where = FOLDER / str(number)
        where.mkdir(parents=True)
        for name in ("guide/first.cpp", "guide/first.c", "fortran/heat.f90"):
            shutil.copy(SOURCE / "examples" / name, where)
        project = projects[number - len(lines)] if number >= len(lines) else ""
        if project:
            (where / "CMakeLists.txt").write_text(PROJECT.format("Fortran" if "Fortran" in project else "CXX") + project + "\n")
        do(way, where, environment)
        name = "heat" if "heat" in way + project else "first"
        said = do(f"quire run -n 2 --timeout 60 ./{name}", where, environment)
        if PROGRAMS[name] not in said:
            sys.exit(f"the program of this way said {said!r}: {way}")
        print(f"  {way}")


main()
