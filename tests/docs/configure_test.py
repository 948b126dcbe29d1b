#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""configure_test.py SOURCE: while CMake looks for compilers, tools/configure.py says so, on a terminal and in a log; what CMake says is kept, and shown if it
fails. CMake is a script here."""
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1]).resolve()
CMAKE = """#!/bin/sh
echo "-- Looking for a compiler"
sleep 2.5
case "$*" in *FAILS*) echo "no such library"; exit 3;; esac
echo "-- Flags are $7"
touch "$4/CMakeCache.txt"
"""


class Configure(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name)
        (path / "cmake").write_text(CMAKE)
        (path / "cmake").chmod(0o755)
        self.build = path / "build"
        self.environment = dict(os.environ, PATH=f"{path}:{os.environ['PATH']}")

    def tearDown(self):
        self.folder.cleanup()

    def command(self, *flags):
        return [sys.executable, str(ROOT / "tools/configure.py"), "--build", str(self.build), *flags]

    def run_in_log(self, *flags):
        return subprocess.run(self.command(*flags), cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=60)

    def test_a_log_says_what_goes_on_and_how_long_it_took(self):
        ran = self.run_in_log("-DA=1")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stdout, r"\Aconfigure: CMake looks for .*\nconfigure: done, \d+ s\n\Z")
        self.assertIn("-- Flags are -DA=1\n", (self.build / "configure.log").read_text())
        again = self.run_in_log("-DA=1")
        self.assertEqual((again.returncode, again.stdout), (0, ""))

    def test_a_terminal_shows_the_seconds_and_what_cmake_said_last(self):
        parent, child = pty.openpty()
        process = subprocess.Popen(self.command(), cwd=ROOT, env=self.environment, stdout=child, stderr=child)
        os.close(child)
        text = b""
        try:
            while part := os.read(parent, 4096):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(parent)
        self.assertEqual(process.wait(timeout=60), 0)
        seconds = {int(found) for found in re.findall(rb"configure: (\d+) s: Looking for a compiler", text)}
        self.assertTrue({1, 2} <= seconds, text)

    def test_what_cmake_says_is_shown_if_it_fails(self):
        ran = self.run_in_log("-DFAILS=1")
        self.assertEqual(ran.returncode, 3)
        self.assertIn("no such library\n", ran.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
