#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`make test` in this tree, and its cost: it ends with status 1 if the build or the tests take more processor time than they should.

    scripts/test_budget.py [--build 1200] [--tests 2400]     after scripts/demo_budget.py --here, whose build it goes on with

The cost is judged as that of the demo is (scripts/demo_budget.py). Where something fails, there is no judgement.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
from demo_budget import FIXED_S, ROOT, TOLERANCE, fixed_compile, spent  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=float, default=1200, help="processor time of what the demo has not built, in seconds (default: 1200)")
    parser.add_argument("--tests", type=float, default=2400, help="processor time of the tests, in seconds (default: 2400)")
    arguments = parser.parse_args()
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    build = spent(["make", "build"], cwd=ROOT, env=environment)
    with tempfile.TemporaryDirectory() as temporary:
        scale = fixed_compile(pathlib.Path(temporary), rounds=1) / FIXED_S
    tests = spent(["make", "test"], cwd=ROOT, env=environment)  # for which nothing is left to build
    dear = []
    for what, cost, budget in (("the build", build, arguments.build), ("the tests", tests, arguments.tests)):
        limit = budget * scale * TOLERANCE
        print(f"test_budget: {what} took {cost:.0f} s of processor time; at most {budget:g} s x {scale:.2f} (this machine now) x {TOLERANCE} = "
              f"{limit:.0f} s", flush=True)
        dear += [what] if cost > limit else []
    if dear:
        print(f"test_budget: {' and '.join(dear)} cost too much: `git bisect` by this script finds since when")
    return 1 if dear else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"test_budget: {error}")
