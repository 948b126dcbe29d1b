#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""report_languages.py QUIRE fortran [COMPILER] | python PACKAGES: planted false sharing is named by its lines in the report of a program in this language.
Exit status 77: there is no compiler, or no package, for it here."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def line_of(source, which):
    for number, text in enumerate(source.read_text().splitlines(), 1):
        if text.endswith(f"planted: {which}"):
            return f"{source.name}:{number} "
    raise AssertionError(f"{source} has no line for {which}")


def data_of(page):
    begin = '<script type="application/json" id="data">'
    text = page.read_text()
    at = text.index(begin) + len(begin)
    return json.loads(text[at:text.index("</script>", at)])


def expect_planted(quire, command, source, environment=None):
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        words = [quire, "run", "-n", "2", "--timeout", "60", "--report", page, *command]
        done = subprocess.run(words, env=environment, text=True, capture_output=True, timeout=100)
        assert done.returncode == 0, done.stdout + done.stderr
        data = data_of(page)
    found = [one for one in data["sharing"] if one["kind"] == "false"]
    assert len(found) == 1, data["sharing"]
    for user in found[0]["users"]:
        wanted = line_of(source, "odd" if user["node"] else "even")
        lines = [line["line"] for line in user["lines"]]
        assert lines and all(line.startswith(wanted) for line in lines), f"node {user['node']}: {lines}, not {wanted}"
    assert {user["node"] for user in found[0]["users"]} == {0, 1}


def fortran(quire, compiler=""):
    if not compiler or compiler.endswith("NOTFOUND"):
        print("no Fortran compiler here (Debian: gfortran)")
        return 77
    flags = [subprocess.run([quire, "config", what], check=True, capture_output=True, text=True).stdout.split() for what in ("--fortran", "--libs")]
    source = HERE / "planted.f90"
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder, "planted"))
        subprocess.run([compiler, "-g", "-O1", f"-J{folder}", *flags[0], source, "-o", program, *flags[1]], check=True, cwd=folder)
        expect_planted(quire, [program], source)
    return 0


def interpreter_with_numpy():
    for candidate in (sys.executable, "/usr/bin/python3"):
        check = "import numpy, sys; sys.exit(sys.version_info < (3, 11))"
        if Path(candidate).exists() and subprocess.run([candidate, "-c", check], capture_output=True).returncode == 0:
            return candidate
    return None


def python(quire, packages):
    interpreter = interpreter_with_numpy()
    if interpreter is None or not list(Path(packages).glob("quire/_native*.so")):
        print("no Python 3.11 with numpy and the package of Quire here")
        return 77
    expect_planted(quire, [interpreter, HERE / "planted.py"], HERE / "planted.py", {**os.environ, "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1"})
    return 0


sys.exit({"fortran": fortran, "python": python}[sys.argv[2]](sys.argv[1], *sys.argv[3:]))
