#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""programs_test.py SOURCE: docs/guide/programs.md, porting.md and from-python.md are what scripts write; each program is there twice, and is run by the tests."""
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
ROOT = Path(sys.argv[1]).resolve()
sys.path.append(str(ROOT / "examples" / "threads"))
import page  # noqa: E402


class Programs(unittest.TestCase):
    def test_page_is_what_the_script_writes(self):
        self.assertEqual(page.PAGE.read_text(), page.page(), "run examples/threads/page.py")

    def test_page_on_porting_is_what_its_script_writes(self):
        script = ROOT / "examples" / "port" / "page.py"
        checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, timeout=60)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        programs = {p.name for p in script.parent.iterdir() if p.suffix in (".c", ".py")} - {"page.py"}
        self.assertEqual({name for name in programs if f"/{name})" not in (ROOT / "docs" / "guide" / "porting.md").read_text()}, set())

    def test_page_on_neighbours_is_what_its_script_writes(self):
        script = ROOT / "bench" / "programs" / "neighbours.py"
        checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, timeout=60)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        shown = (ROOT / "docs" / "guide" / "from-python.md").read_text()
        self.assertEqual([p.name for p in (ROOT / "bench" / "programs" / "neighbours").glob("*.py") if f"/{p.name})" not in shown], [])

    def test_all_programs_are_on_the_page(self):
        self.assertEqual(sorted(page.POINTS), sorted(p.stem for p in (ROOT / "examples" / "threads").glob("*.cpp")))

    def test_all_programs_have_sizes_for_the_tests(self):
        rows = (ROOT / "examples" / "CMakeLists.txt").read_text()
        for name in page.POINTS:
            self.assertIn(f"set(sizes_{name} ", rows)

    def test_difference(self):
        before, after = ["a", "same", "1", "2", "3", "4", "5", "6", "old"], ["a", "b", "same", "1", "2", "3", "4", "5", "6", "new"]
        self.assertEqual(page.difference(before, after), ["@@", " a", "+b", " same", " 1", "@@", " 5", " 6", "-old", "+new"])
        self.assertEqual(page.difference(before, before), [])

    def test_introduction_and_includes_are_left_out(self):
        for path in (ROOT / "examples" / "heat.cpp", ROOT / "examples" / "threads" / "heat.cpp"):
            lines = page.body(path)
            self.assertEqual(lines[0], "namespace {")
            self.assertEqual(lines, path.read_text().splitlines()[-len(lines):])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
