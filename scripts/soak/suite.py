# SPDX-License-Identifier: BSD-3-Clause
"""The tests of real processes as work of a soak, in any order and beside all else: what fails once in a thousand times under load shows here."""
import json
import random
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from command import Command
from work import Work, judge, replay_command

LABELS = {"process", "openmp", "litmus", "fault"}


class Suite(Work):
    """One test of processes, as ctest would run it; those that need a thing alone (RESOURCE_LOCK) are left out."""

    SECONDS = 2.0
    LATER = 3.0  # times a test's own limit: the machine is in use

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.tests = self.read_tests()
        self.lock = threading.Lock()
        self.running = set()

    def read_tests(self):
        if shutil.which("ctest") is None:
            return []
        with tempfile.TemporaryDirectory() as aside:  # where it lists it also writes, over what another ctest keeps there
            (Path(aside) / "CTestTestfile.cmake").write_text(f"subdirs({quoted(str(self.build))})\n")
            listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=aside, capture_output=True, text=True, check=False)
        found = []
        for test in json.loads(listed.stdout or '{"tests": []}')["tests"]:
            properties = {p["name"]: p["value"] for p in test.get("properties", ())}
            if LABELS & set(properties.get("LABELS", ())) and "RESOURCE_LOCK" not in properties and "command" in test:
                found.append(test | {"properties": properties})
        return found

    def choose(self, seed):
        """The test of this number, or the next that is not under way: some write into their folder."""
        with self.lock:
            first = random.Random(seed).randrange(len(self.tests))
            test = next(t for t in self.tests[first:] + self.tests[:first] if t["name"] not in self.running)
            self.running.add(test["name"])
            return test

    def round(self, seed):
        if not self.tests:
            raise RuntimeError(f"ctest knows no test of processes in {self.build}")
        test = self.choose(seed)
        limit_s = test["properties"].get("TIMEOUT", 120) * self.LATER
        words = ["ctest", "--output-on-failure", "--timeout", limit_s]
        with Command(words, {}, limit_s + self.patience_s, {"CTestTestfile.cmake": as_ctest_reads(test, limit_s).encode()}) as command:
            result = command.finish(self.stop, self.shared, may_leave=("Testing",))
            found = judge(test["name"], command, result, f"{replay_command(self.build)} suite:{seed}")
        with self.lock:
            self.running.remove(test["name"])
        found.done = {} if found.cut_off else {"tests": 1}
        return found


def as_ctest_reads(test, limit_s):
    """The file by which ctest runs this test alone."""
    properties = test["properties"] | {"TIMEOUT": limit_s}
    lines = [f"add_test({quoted('it')} {' '.join(map(quoted, test['command']))})"]
    for name, value in properties.items():
        value = ";".join(str(v).replace(";", r"\;") for v in value) if isinstance(value, list) else value
        lines.append(f"set_tests_properties(it PROPERTIES {name} {quoted(str(value))})")
    return "\n".join(lines)


def quoted(text):
    """An argument of CMake, as it is."""
    marks = "=" * next(n for n in range(1, 9) if f"]{'=' * n}]" not in text)
    return f"[{marks}[{text}]{marks}]"
