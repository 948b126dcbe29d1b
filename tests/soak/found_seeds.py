#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""found_seeds.py SIM_TESTS FILE: seeds of simulators that have failed once, each again. A line of FILE is a seed and a test; `run.py --found FILE` writes
such lines. Exit status 1 if one fails, or has no test any more."""
import os
import re
import subprocess
import sys
from pathlib import Path


def main():
    program, file = sys.argv[1], Path(sys.argv[2])
    wrong = 0
    for line in file.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        seed, test = line.split(" ", 1)
        done = subprocess.run([program, f"--gtest_filter={test}"], env=os.environ | {"QUIRE_SIM_SEED": seed}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        well = done.returncode == 0 and re.search(r"^\[  PASSED  \] [1-9]", done.stdout, re.MULTILINE) is not None
        print(f"{seed} {test}: {'well' if well else f'status {done.returncode}'}")
        if not well:
            print(done.stdout[-4000:])
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
