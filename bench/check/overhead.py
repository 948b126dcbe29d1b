#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""overhead.py BUILD [--runs N] [--only NAME] [--nodes N] [--page FILE]: what `quire run --check` costs.

Runs programs of several kinds in turn without it and with it, whole processes, the check of their records included, and prints the median times and how
many times as long it takes; of the program with locks also under other settings. The programs here are compiled by `cc -O2`. --page writes the table for
a document."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# name: options, program and arguments, what it is
PROGRAMS = {
    "sor": ([], ["{bin}/sor", "--size", "2048", "--iterations", "60", "--consistency", "release"], "red-black relaxation, a region with release consistency"),
    "cg": (["--memory=mixed"], ["{bin}/cg_openmp", "--class", "A", "--threads", "2"], "conjugate gradients of NAS, OpenMP"),
    "jacobi": (["--memory=mixed"], ["{own}/jacobi", "400"], "Jacobi's iteration, OpenMP"),
    "threads": (["--memory=mixed", "--place=round"], ["{own}/threads", "400"], "a stencil between barriers, pthreads"),
    "locks": (["--memory=mixed"], ["{own}/locks", "150000"], "a table with many locks, OpenMP"),
}
# What else was tried for the one that takes longest, settings of its checked runs: each is a mechanism that the check works with. (Without updates, plans,
# and units that go with their homes it works always: with them it took longer.)
VARIANTS = {"locks": {"write_ahead=0": "no page is made writable beside one that faults", "move_homes=0": "homes stay",
                      "read_lines=0": "no lines are asked for beside one that faults"}}


def once(words, environment):
    begin = time.monotonic()
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    took = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}")
    return took


def measure(build, own, nodes, runs, only):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("QUIRE_")} | {"OMP_NUM_THREADS": str(nodes)}
    for name, (options, program, about) in PROGRAMS.items():
        if only and name not in only:
            continue
        words = [w.format(bin=build / "bin", own=own) for w in program]
        variants = VARIANTS.get(name, {})
        ways = {"": [], name: ["--check"]} | {f"{name}, {setting}": ["--check", f"--set={setting}"] for setting in variants}
        took = {way: [] for way in ways}
        for _ in range(runs):
            for way, more in ways.items():
                took[way].append(once([str(build / "bin" / "quire"), "run", "-n", str(nodes), *options, *more, *words], environment))
        plain = statistics.median(took[""])
        for way, about_it in zip(list(ways)[1:], [about, *variants.values()], strict=True):
            checked = statistics.median(took[way])
            print(f"{way:22} {plain:7.2f} s (min {min(took['']):.2f}), with --check {checked:7.2f} s (min {min(took[way]):.2f}): "
                  f"{checked / plain:.2f} times", flush=True)
            yield way, about_it, checked / plain


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("build", type=Path)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--nodes", type=int, default=2)
    arguments.add_argument("--only", nargs="*", choices=PROGRAMS)
    arguments.add_argument("--page", type=Path)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as own:
        for name in ("jacobi", "locks", "threads"):
            subprocess.run(["cc", "-O2", "-fopenmp", "-pthread", str(HERE / f"{name}.c"), "-o", f"{own}/{name}"], check=True)
        rows = list(measure(asked.build.resolve(), own, asked.nodes, asked.runs, asked.only))
    if asked.page:
        lines = ["# What a check for races costs", "",
                 "`quire run --check` against the same without it: whole processes, the check of the records included; medians. Made by",
                 f"`bench/check/overhead.py BUILD --page FILE`, {asked.nodes} nodes of one host.", "",
                 "Between locks that go from node to node each page written under them is noticed anew; that takes longer than to write it, so locks meet more",
                 "often, and are given away more often: updates and homes that go along are off in each job that is checked. The last rows are the same with",
                 "one more mechanism left out.", "",
                 "| program | what it is | times as long |", "| --- | --- | --- |"]
        lines += [f"| {name} | {about} | {times:.1f} |" for name, about, times in rows]
        asked.page.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
