#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether scripts/soak/run.py sees what fails: it is given builds of shell scripts that fail in each way that there is."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
SOAK = ROOT / "scripts" / "soak"
sys.path.insert(0, str(SOAK))
import work  # noqa: E402
from command import MARK, words_of  # noqa: E402

WELL = "echo 'checked 12 reads'"
SEEDS = 'case "$1" in --gtest_list_tests) echo "programs/whole."; echo "  some/of_2";; *) echo "seeds 5 to 14"; echo "steps 21"; {};; esac'


class Soak(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.build = Path(self.folder.name)
        self.program("bin/quire", WELL)
        self.program("tests/sim_tests", SEEDS.format("true"))

    def tearDown(self):
        self.folder.cleanup()

    def program(self, name, text):
        path = self.build / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def soak(self, kind, *more):
        """One round of a kind: the machine may be busy, so time does not end it."""
        started = subprocess.run([sys.executable, "-B", SOAK / "run.py", "--build", self.build, "--minutes", "1", "--rounds", "1",
                                  "--only", kind, "--jobs", "1", "--every", "0.5", "--seed", "4", *more], capture_output=True, text=True, timeout=60, check=False)
        self.said = started.stdout
        return started.returncode

    def left(self):
        """Processes that came of this test, and their ends."""
        text = str(self.build).encode()
        return [p for p in Path("/proc").glob("[0-9]*") if any(w.startswith(MARK.encode()) for w in words_of(p / "environ"))
                and any(text in w for w in words_of(p / "cmdline"))]

    def report(self):
        return "".join(p.read_text() for p in sorted((self.build / "soak").glob("failure-*.txt")))

    def test_what_ends_well_is_counted(self):
        self.assertEqual(self.soak("probes"), 0, self.said)
        self.assertRegex(self.said, r"[1-9]\d* jobs of \d+ nodes, [1-9]\d* checked reads, 0 kills, 0 tests, 0 failed")
        self.assertEqual(self.soak("simulators"), 0, self.said)
        self.assertRegex(self.said, r"whole +[1-9][\d,]*0 seeds")
        self.assertIn("10 seeds of 21 steps", self.said)
        self.assertFalse((self.build / "soak").exists())

    def test_a_failing_seed_comes_with_its_command(self):
        self.program("tests/sim_tests", SEEDS.format('echo "replay: QUIRE_SIM_SEED=7"; exit 1'))
        self.assertEqual(self.soak("simulators"), 1, self.said)
        self.assertIn(f"QUIRE_SIM_SEED=7 {self.build}/tests/sim_tests --gtest_filter=programs/whole.some/of_2", self.said)

    def test_a_failing_seed_is_tried_from_then_on(self):
        self.program("tests/sim_tests", SEEDS.format('echo "replay: QUIRE_SIM_SEED=7"; exit 1'))
        found = self.build / "found.txt"
        found.write_text("5 some/other\n")
        for _ in range(2):
            self.assertEqual(self.soak("simulators", "--found", found), 1, self.said)
        self.assertEqual(found.read_text(), "5 some/other\n7 programs/whole.some/of_2\n")
        tried = [sys.executable, "-B", ROOT / "tests" / "soak" / "found_seeds.py", self.build / "tests" / "sim_tests", found]
        self.program("tests/sim_tests", 'echo "$QUIRE_SIM_SEED $1"; echo "[  PASSED  ] 1 test."; [ $QUIRE_SIM_SEED = 5 ]')
        done = subprocess.run(tried, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("7 --gtest_filter=programs/whole.some/of_2", done.stdout)
        self.program("tests/sim_tests", 'echo "[  PASSED  ] $((QUIRE_SIM_SEED == 5)) tests."')  # of 7 there is no test any more
        self.assertEqual(subprocess.run(tried, capture_output=True, check=False).returncode, 1)
        self.program("tests/sim_tests", 'echo "[  PASSED  ] 1 test."')
        self.assertEqual(subprocess.run(tried, capture_output=True, check=False).returncode, 0)

    def test_a_failing_program_comes_with_its_command_and_its_words(self):
        self.program("bin/quire", 'echo "FAILED x.cpp:1 on node 0: 1 is 2"; exit 1')
        self.assertEqual(self.soak("probes"), 1, self.said)
        self.assertRegex(self.said, r"FAILED \w+_program: exit status 1; FAILED x.cpp:1 on node 0: 1 is 2")
        self.assertRegex(self.said, rf"replay: {self.build}/bin/quire run -n \d+ .*--seed \d+")
        self.assertIn("1 is 2", self.report())

    def test_a_test_is_judged_as_ctest_does(self):
        one = "add_test([=[a.b]=] sh -c [=[echo 'it is so'; exit {}]=])\nset_tests_properties([=[a.b]=] PROPERTIES LABELS process {})\n"
        for status, more, well in ((0, "", True), (3, "", False), (3, "PASS_REGULAR_EXPRESSION [=[is so]=]", True), (77, "SKIP_RETURN_CODE 77", True),
                                   (0, "FAIL_REGULAR_EXPRESSION [=[is;so]=]", False)):
            (self.build / "CTestTestfile.cmake").write_text(one.format(status, more))
            self.assertEqual(self.soak("suite"), 0 if well else 1, self.said)
            self.assertRegex(self.said, r"1 tests, 0 failed" if well else r"FAILED a\.b: exit status 8")
        self.assertIn("it is so", self.report())

    def test_a_program_that_checks_nothing_has_failed(self):
        self.program("bin/quire", "true")
        self.assertEqual(self.soak("probes"), 1, self.said)
        self.assertIn("did not say what it had checked", self.said)

    def test_a_hang_is_told_with_stacks(self):
        self.program("bin/quire", "sleep 300")
        self.assertEqual(self.soak("stress", "--patience", "-2"), 1, self.said)
        self.assertIn("it did not end within", self.said)
        self.assertRegex(self.report(), r"-- process \d+: (sleep|/bin/bash)")
        self.assertEqual(self.left(), [])

    def test_processes_and_files_left_behind(self):
        self.program("bin/quire", f"sleep 300 & {WELL}; touch left_here; exit 0")
        self.assertEqual(self.soak("probes"), 1, self.said)
        self.assertRegex(self.said, r"it left behind: process \d+, file left_here")
        self.assertEqual(self.left(), [])

    def test_shared_memory_left_behind(self):
        name = f"quire-soak-test-{os.getpid()}"
        self.program("bin/quire", f"echo x > /dev/shm/{name}; {WELL}")
        self.assertEqual(self.soak("probes"), 1, self.said)
        self.assertIn(f"it left behind: /dev/shm/{name}", self.said)
        self.assertFalse((Path("/dev/shm") / name).exists())

    def test_a_job_that_does_not_tell_of_a_death(self):
        self.program("bin/quire", "sleep 300 & sleep 300 & wait -n; kill $(jobs -p); exit 0")
        self.assertEqual(self.soak("kills"), 1, self.said)
        self.assertRegex(self.said, r"exit status 0, not 137")
        self.assertRegex(self.said, r"replay: .*run.py --build .* --replay kills:\d+")

    def test_the_same_round_again(self):
        self.program("bin/quire", 'echo "FAILED $*"; exit 1')
        texts = []
        for _ in range(2):
            self.assertEqual(self.soak("probes", "--replay", "probes:12"), 1, self.said)
            texts.append(re.sub(r"in [\d.]+ s", "", self.said))
        self.assertEqual(*texts)

    def test_an_interrupt_ends_it_with_the_summary(self):
        self.program("bin/quire", "sleep 300")
        started = subprocess.Popen([sys.executable, "-B", SOAK / "run.py", "--build", self.build, "--minutes", "5", "--only", "stress"],
                                   stdout=subprocess.PIPE, text=True)
        self.assertIn("commands at a time", started.stdout.readline())
        time.sleep(0.5)
        begin = time.monotonic()
        started.send_signal(signal.SIGINT)
        said, _ = started.communicate(timeout=20)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(started.returncode, 0, said)
        self.assertRegex(said, r"soak: 0:\d\d with seed \d+: 0 seeds")
        self.assertEqual(self.left(), [])

    def test_every_simulator_is_soaked(self):
        for source in (ROOT / "tests" / "sim").glob("*_test.cpp"):
            if re.search(r"\bseeds\(\d|for_seeds\(", source.read_text()):
                self.assertTrue(source.stem in work.SIMULATORS or source.stem in work.NOT_SOAKED, f"{source.name} has no row in scripts/soak/work.py")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore it, and all that they start
    unittest.main()
