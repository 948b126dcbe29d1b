#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""format_test.py SOURCE: C and C++ stand as clang-format 14 puts them. Exit status 77 where there is no clang-format-14: others have other opinions."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import tree  # noqa: E402

ROOT = Path(sys.argv[1]).resolve()
TOOL = shutil.which("clang-format-14")


def told(root, names):
    """The first complaint on each file that is not as it should be."""
    run = subprocess.run([TOOL, "--dry-run", "-Werror", "--ferror-limit=1", *names], cwd=root, capture_output=True, text=True)
    return [line for line in run.stderr.splitlines() if " error: " in line] or ([run.stderr] if run.returncode else [])


class Format(unittest.TestCase):
    def test_sources_are_formatted(self):
        names = [name for name in tree.tracked(ROOT) if name.endswith(tree.CPP)]
        self.assertGreater(len(names), 500)
        with ThreadPoolExecutor(2) as two:
            wrong = [line for lines in two.map(lambda at: told(ROOT, names[at:at + 50]), range(0, len(names), 50)) for line in lines]
        self.assertFalse(wrong, "\n" + "\n".join(wrong) + "\n`make format` mends it; what it moves each time anew is written in another way")

    def test_the_check_sees_what_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, ".clang-format").write_text((ROOT / ".clang-format").read_text())
            for name, text in (("right.cpp", "int f(int a) { return a + 1; }\n"), ("wrong.cpp", "int f( int a ) { return a+1; }\nint  b;\n")):
                Path(folder, name).write_text(text)
            self.assertEqual([line.split(":")[0] for line in told(Path(folder), ["right.cpp", "wrong.cpp"])], ["wrong.cpp"])


if __name__ == "__main__":
    if TOOL is None:
        print("there is no clang-format-14: scripts/setup.sh launchers installs it")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
