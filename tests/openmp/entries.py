#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""entries.py LIBRARY TABLE CC: each name that an installed OpenMP runtime exports is exported by LIBRARY, libquire_omp.so, or stands in TABLE (entries.txt)
with the reason why not. What stands there as `here` is exported, whether a runtime that has it is installed or not. Installed are: what CC links, what clang
links, what packages of Python bring along, what scripts/setup.sh has fetched, and what lies in the folders of QUIRE_OPENMP_RUNTIMES (with colons between)."""
import fnmatch
import glob
import os
import re
import subprocess
import sys

VERDICTS = ("here", "refused", "not for programs")
RUNTIME = re.compile(r"lib(gomp|omp|iomp5)(-[0-9a-f]+)?\.so[.0-9]*$")
BESIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.cache/openmp_runtimes/*/usr/lib/llvm-*/lib")
FOLDERS = [BESIDE, "/usr/lib/llvm-*/lib", "/usr/lib/gcc/*/*", "/usr/lib/*-linux-gnu", "/usr/lib64", "/opt/intel/oneapi/compiler/latest/lib"]


def exported(library):
    """Functions and data; versions of a runtime are absolute symbols."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
    return {words[2].split("@")[0] for words in map(str.split, lines) if len(words) == 3 and words[1] in "TWiVDBRu"}


def read_table(path):
    """Verdict, reason, names; a row goes on in lines that begin with a space."""
    rows = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith(" ") and rows:
                rows[-1] += line
            elif line.strip() and not line.startswith("#"):
                rows.append(line)
    table = []
    for row in rows:
        verdict, reason, names = (cell.strip() for cell in row.split("|"))
        if verdict not in VERDICTS:
            sys.exit(f"{path}: {verdict} is none of {', '.join(VERDICTS)}")
        table.append((verdict, reason, names.split()))
    return table


def installed(compiler):
    said = subprocess.run([compiler, "-print-file-name=libgomp.so.1"], capture_output=True, text=True, check=True).stdout.strip()
    folders = [f for pattern in FOLDERS for f in glob.glob(pattern)] + os.environ.get("QUIRE_OPENMP_RUNTIMES", "").split(":")
    for path in filter(os.path.isdir, sys.path):
        folders += glob.glob(f"{path}/*.libs") + glob.glob(f"{path}/*/lib")
    files = [said] + [os.path.join(folder, name) for folder in folders if os.path.isdir(folder) for name in os.listdir(folder) if RUNTIME.match(name)]
    found = {os.path.realpath(f) for f in files if os.path.isfile(f)}
    return sorted(f for f in found if open(f, "rb").read(4) == b"\x7fELF")  # not a script of the linker


def main():
    library, table_file, compiler = sys.argv[1:4]
    own, table = exported(library), read_table(table_file)
    wanted = {name for verdict, _, names in table for name in names if verdict == "here"}
    others = [name for verdict, _, names in table for name in names if verdict != "here"]
    wrong = [f"{name} is `here` in the table, and not exported" for name in sorted(wanted - own)]
    for pattern in others:
        wrong += [f"{name} is exported, and in the table as {pattern}, which is not here" for name in sorted(fnmatch.filter(own, pattern))]
    runtimes = installed(compiler)
    for runtime in runtimes:
        names = exported(runtime)
        print(f"{runtime}: {len(names)} names")
        for name in sorted(names - own):
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in others):
                wrong.append(f"{name} of {runtime} is not exported, and in no row of the table")
    print("\n".join(wrong))
    return 1 if wrong or not runtimes or len(wanted) < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
