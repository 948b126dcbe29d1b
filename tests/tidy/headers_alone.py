#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""headers_alone.py SOURCE BUILD COMPILER JOBS [HEADER]...: the compiler takes each header as the only thing in a source, without precompiled ones. It takes
about a second of processor time a header, so `make test` has headers_test.py instead. Paths of other libraries come from compile_commands.json; where one is
not there, its headers' users are left out."""
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import tree  # noqa: E402

FOLDERS = ("src/", "include/", "program/", "sim/", "tools/")
PATHS = ("", "include", "src", "tools", "apps")


def system_paths(build):
    commands = " ".join(row["command"] for row in json.loads((build / "compile_commands.json").read_text()))
    return sorted(set(re.findall(r"-isystem (\S+)", commands)))


def told(root, compiler, paths, name, text=None):
    """What the compiler has against a header; nothing if all is well. `text` stands in the place of the header."""
    languages = [("c++", "-std=c++20")] + ([("c", "-std=c11")] if name.endswith(".h") and name.startswith("include/") else [])
    for language, standard in languages:
        run = subprocess.run([compiler, "-x", language, standard, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *paths, "-"], cwd=root, capture_output=True,
                             input=text or f'#include "{name}"\n', text=True)
        missing = re.search(r"fatal error: (\S+): No such file", run.stderr)
        if run.returncode and not (missing and missing.group(1) in ("fuse_lowlevel.h", "pmix.h", "ucp/api/ucp.h", "CLI/CLI.hpp", "nlohmann/json.hpp")):
            return f"{name} does not compile alone as {language}:\n{run.stderr[:2000]}"
    return ""


def main():
    root, build, compiler, jobs, *names = sys.argv[1:]
    root, build = Path(root).resolve(), Path(build).resolve()
    paths = [f"-I{root / path}" for path in PATHS] + [word for path in system_paths(build) for word in ("-isystem", path)]
    names = names or [name for name in tree.tracked(root) if name.endswith((".hpp", ".h")) and name.startswith(FOLDERS)]
    for text, good in (("#include <vector>\nextern std::vector<int> all;\n", True), ("extern std::vector<int> all;\n", False)):
        if (told(root, compiler, paths, "a header of this test", text) == "") != good:
            sys.exit(f"the compiler {'refused' if good else 'took'}:\n{text}")
    with ThreadPoolExecutor(int(jobs)) as some:
        wrong = [text for text in some.map(lambda name: told(root, compiler, paths, name), names) if text]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(names)} headers compile alone")


main()
