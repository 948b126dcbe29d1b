#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The last words of each test that failed in the last run of ctest, for the end of a long log: `failed_tests.py BUILD`."""
import re
import sys
from pathlib import Path

LINES, TESTS = 25, 12


def main():
    folder = Path(sys.argv[1]) / "Testing" / "Temporary"
    failed = [line.split(":", 1)[1] for line in (folder / "LastTestsFailed.log").read_text().splitlines()]
    log = (folder / "LastTest.log").read_text(errors="replace")
    for name in failed[:TESTS]:
        part = re.search(rf"^\d+/\d+ Testing: {re.escape(name)}$.*?^-{{10,}}$(.*?)^<end of output>$(.*?)^-{{10,}}$", log, re.MULTILINE | re.DOTALL)
        output, end = part.groups() if part else ("no output is kept", "")
        seconds = re.search(r"Test time = *(.*)", end)
        print(f"-- {name} ({seconds.group(1) if seconds else 'of unknown length'}) ended with:")
        print("\n".join(output.strip().splitlines()[-LINES:]))
    if len(failed) > TESTS:
        print(f"-- {len(failed) - TESTS} more failed")


if __name__ == "__main__":
    main()
