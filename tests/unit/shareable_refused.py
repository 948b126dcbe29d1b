#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: shareable_refused.py COMPILER INCLUDE [SOURCE]: compiles SOURCE, or shareable_refused.cpp, and holds the errors against its comments."""
import collections
import pathlib
import re
import subprocess
import sys

compiler, include, *given = sys.argv[1:]
source = pathlib.Path(given[0]) if given else pathlib.Path(__file__).with_suffix(".cpp")
wanted = collections.Counter(re.findall(r"// -> (.+)", source.read_text()))
run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", include, str(source)], capture_output=True, text=True, check=False)
errors = [line for line in run.stderr.splitlines() if " error: " in line]
failed = run.returncode == 0 or len(errors) != sum(wanted.values())
for words, count in wanted.items():
    found = sum(re.search(re.escape(words) + r"(?![\w:])", line) is not None for line in errors)
    if found != count:
        failed = True
        print(f'"{words}": {found} errors instead of {count}')
if failed:
    sys.exit(f"{len(errors)} errors instead of {sum(wanted.values())}:\n{run.stderr}")
print(f"{len(errors)} types are refused, each with what to use instead")
