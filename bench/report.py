#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a report costs in time: runs CG, Helmholtz and SOR on two nodes, in pairs with and without a record (QUIRE_REPORT), which side first in turn, and prints
the medians of the times that the programs themselves measure, and of the ratios of pairs. Longer runs (--scale) have less noise.

    bench/report.py --build build --pairs 15
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = {
    "CG, class A": ("cg", lambda scale: ["--class", "A"]),
    "Helmholtz 1000 x 1000": ("helmholtz", lambda scale: ["--iterations", str(400 * scale)]),
    "SOR 2048 x 2048": ("sor", lambda scale: ["--iterations", str(100 * scale)]),
}


def seconds_of(build, nodes, program, arguments, directory):
    environment = dict(os.environ)
    environment.pop("QUIRE_REPORT", None)
    if directory:
        environment["QUIRE_REPORT"] = directory
    command = [build / "bin" / "quire", "run", "-n", str(nodes), "--timeout", "300", build / "bin" / program, *arguments]
    done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)
    found = re.search(r"\btime ([0-9.]+) s", done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"{program} failed with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return float(found[1])


def main():
    parser = argparse.ArgumentParser(description="What a report costs in time")
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--scale", type=int, default=1, help="so many times the iterations of Helmholtz and SOR")
    asked = parser.parse_args()
    print(f"{'program':24} {'without':>10} {'with':>10} {'median of ratios':>18} {'quartiles':>16}")
    for name, (program, arguments) in PROGRAMS.items():
        plain, recorded, ratios = [], [], []
        for pair in range(asked.pairs):
            with tempfile.TemporaryDirectory() as directory:
                sides = [None, directory] if pair % 2 == 0 else [directory, None]
                times = {side: seconds_of(asked.build, asked.nodes, program, arguments(asked.scale), side) for side in sides}
            plain.append(times[None])
            recorded.append(times[directory])
            ratios.append(times[directory] / times[None])
        low, middle, high = statistics.quantiles(ratios, n=4) if asked.pairs > 1 else ratios * 3
        print(f"{name:24} {statistics.median(plain):8.3f} s {statistics.median(recorded):8.3f} s {middle:18.3f} {low:8.3f}{high:8.3f}", flush=True)


if __name__ == "__main__":
    main()
