#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts bugs of the past back, one at a time, and measures after how many seeds the simulator of whole nodes finds each, or whether a unit test does.

Each patch in patches/ is a bug, against today's code: a header says which one, the commit that ended it, how it was found then, and the program of
tests/sim/whole_test.cpp that is expected to find it. Some are no bugs of the past, but show that the checkers see. The patch is applied to a copy
of the tree, which is built and run with seeds from 1 on until one fails, or the time is up. A patch that does not apply any more, or does not build, is told as that. Exit status 1 if a bug was not found.

Where no seeds are, the finder is BINARY:FILTER, a target of googletest and which of its tests: openmp_machine_tests:tasks.*; it has found the bug if one
of these fails, or they end in another way than well. A line `also:` names a second finder, which has to find it too: the generated litmus tests
(tests/litmus) find at least one bug of each consistency.

  scripts/mutations/run.py                         all, by the program that each names
  scripts/mutations/run.py twins_below_a_unit      one of them
  scripts/mutations/run.py --with homes_of_3       all, by another program
  scripts/mutations/run.py --kind openmp           those whose finder begins so: openmp_machine_tests, openmp_steps_tests ...

The table of all is docs/mutations.md. It keeps what was found before, so a long run may be ended, and goes on:

  scripts/mutations/run.py --page docs/mutations.md --missing --minutes 60
  scripts/mutations/run.py --page docs/mutations.md --minutes 0    new patches get a row, those that are no more lose it
"""
import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import page  # noqa: E402
from page import read  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PATCHES = Path(__file__).resolve().parent / "patches"
MANY = 1_000  # times the test's own seeds: more than time allows


@dataclass
class Outcome:
    """What came of one: `seeds` until it was found by `program`, 1 of a unit test, or why not."""
    program: str
    seeds: int = 0
    seconds: float = 0.0
    said: str = ""

    @property
    def found(self):
        return self.seeds != 0


def spent():
    """Seconds of one core that commands have taken so far: other work on the machine does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def in_tree(tree, command, **more):
    return subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)


class Tree:
    """A copy of the sources, with a build of the simulator's tests. Without `folder` these sources themselves, with the build that they have."""

    def __init__(self, folder, jobs, options):
        self.jobs = jobs
        self.is_copy = folder is not None
        self.sources, self.build = (folder / "tree", folder / "build") if self.is_copy else (ROOT, ROOT / "build")
        if not self.is_copy:
            return
        self.copy()
        done = in_tree(self.sources, ["cmake", "-S", ".", "-B", str(self.build), "-G", "Ninja", *options])
        if done.returncode != 0:
            sys.exit(f"mutations: cmake failed:\n{done.stdout}")

    def copy(self):
        if not self.is_copy:
            sys.exit("mutations: a patch is left in these sources: look at git diff")
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        names = {name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()}
        for name in names:
            self.put(name)
        for old in self.sources.rglob("*"):
            if old.is_file() and str(old.relative_to(self.sources)) not in names:
                old.unlink()

    def put(self, name):
        """What is the same keeps its time, so that little is built again."""
        source, target = ROOT / name, self.sources / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        os.utime(target)

    def make(self, programs):
        targets = sorted({binary_of(program) for program in programs})
        return in_tree(self.sources, ["ninja", "-C", str(self.build), "-j", str(self.jobs), *targets])

    def apply(self, patch, back=False):
        with patch.open() as text:
            return in_tree(self.sources, ["patch", "-p1", "--no-backup-if-mismatch", "-r", "-", *(["-R"] if back else ["-N"])], stdin=text)

    def run(self, program, limit_s):
        return self.run_test(program, limit_s) if ":" in program else self.run_seeds(program, limit_s)

    def run_test(self, program, limit_s):
        binary, which = program.split(":", 1)
        places = [self.build / folder / binary for folder in ("tests", "tests/openmp", "tests/threads", "tests/sim")]
        limit = int(limit_s)
        before = spent()
        done = in_tree(self.sources, [str(next(p for p in places if p.exists())), f"--gtest_filter={which}"],
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)))
        seconds = spent() - before
        if "Running 0 tests" in done.stdout:
            return Outcome(program, seconds=seconds, said="THERE IS NO SUCH TEST")
        if done.returncode == 0:
            return Outcome(program, seconds=seconds, said="not found")
        failed = re.search(r"^\[  FAILED  \] (\S+)", done.stdout, re.MULTILINE)
        return Outcome(program, 1, seconds, failed[1] if failed else "does not end" if done.returncode == -signal.SIGXCPU else what_it_said(done.stdout))

    def run_seeds(self, program, limit_s):
        """Seeds from 1 on until one fails."""
        environment = os.environ | {"QUIRE_SIM_FIRST": "1", "QUIRE_SIM_SOAK": str(MANY)}
        command = [str(self.build / "tests" / "sim_tests"), f"--gtest_filter={filter_of(program)}"]
        limit = int(limit_s)
        before = spent()
        done = in_tree(self.sources, command, env=environment, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)))
        seconds = spent() - before
        if done.returncode == -signal.SIGXCPU:
            return Outcome(program, seconds=seconds, said="not found")
        seed = re.search(r"replay: QUIRE_SIM_SEED=(\d+)", done.stdout) or re.search(r"^seed (\d+), ", done.stdout, re.MULTILINE)
        if seed is None:
            return Outcome(program, seconds=seconds, said=f"the test ended with status {done.returncode} and no seed")
        return Outcome(program, int(seed[1]), seconds, what_it_said(done.stdout))


def binary_of(program):
    return program.split(":")[0] if ":" in program else "sim_tests"


def filter_of(program):
    """Of whole_test `mix_of_3`; of whole_death_test `deaths_of_3`, `replicas_of_3`; of any other test a filter of its own."""
    if "." in program:
        return program
    kind, nodes = program.split("_of_")
    deaths = {"deaths": "lose_only_what_nobody_has", "replicas": "lose_nothing_that_is_on_two_nodes"}
    return f"nodes/whole_deaths.{deaths[kind]}/of_{nodes}" if kind in deaths else f"programs/whole.holds_for_every_seed/{program}"


def what_it_said(output):
    """The checker's line, or the check that stopped the process."""
    failed = re.search(r"Failure\nFailed\n(.+)", output) or re.search(r"^(.*(?:CHECK|check).*)$", output, re.MULTILINE)
    return failed[1].strip() if failed else "the process ended"


def try_one(tree, mutation, programs, limit_s):
    applied = tree.apply(mutation.file)
    if applied.returncode != 0:
        if tree.is_copy:
            tree.copy()
        return [Outcome("-", said="DOES NOT APPLY: " + applied.stdout.strip().splitlines()[-1])]
    try:
        built = tree.make(programs)
        if built.returncode != 0:
            return [Outcome("-", said="DOES NOT BUILD: " + next((l for l in built.stdout.splitlines() if "error" in l), ""))]
        return [tree.run(program, limit_s) for program in programs]
    finally:
        if tree.apply(mutation.file, back=True).returncode != 0:
            tree.copy()


def line(mutation, o):
    seeds = f"{o.seeds:,}" if o.found else "-"
    return f"{mutation.name:<47} {mutation.commit:<8} {o.program[:32]:<32} {seeds:>8} {o.seconds:>7.1f} s  {o.said[:90]}"


def choose(given, known, rows):
    """Names of those that are to be tried, in order."""
    if given.names:
        return given.names
    names = [name for name, mutation in known.items() if any(f.startswith(given.kind) for f in mutation.finders)]
    return [name for name in names if not given.missing or any(not row.found for row in rows[name])]


def parse():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names", nargs="*", help="of patches; all of them otherwise")
    arguments.add_argument("--with", dest="programs", action="append", default=[], metavar="PROGRAM", help="of whole_test, such as mix_of_3; may be repeated")
    arguments.add_argument("--kind", default="", metavar="BEGINNING", help="only those whose finder begins so")
    arguments.add_argument("--seconds", type=float, default=60, help="of one core, for each run (60)")
    arguments.add_argument("--minutes", type=float, default=float("inf"), help="none begins after so many")
    arguments.add_argument("--page", type=Path, metavar="FILE", help="the table; rows of those that are tried now change")
    arguments.add_argument("--missing", action="store_true", help="with --page: those of which it does not say that they are found")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--folder", type=Path, default=ROOT / "build-mutations", help="for the copy and its build (build-mutations)")
    arguments.add_argument("--here", action="store_true", help="no copy: patches these sources, and builds in build, which nobody else uses meanwhile")
    arguments.add_argument("--cmake", action="append", default=[], metavar="OPTION", help="for the build")
    return arguments.parse_args()


def main():
    given = parse()
    known = {m.name: m for m in map(read, sorted(PATCHES.glob("*.patch")))}
    unknown = [name for name in given.names if name not in known]
    if unknown:
        sys.exit(f"mutations: there is no {', '.join(unknown)}; there are {', '.join(known)}")
    rows = page.rows_of(given.page, known)
    end = time.monotonic() + given.minutes * 60
    tree, missed = None, 0
    for name in choose(given, known, rows):
        if time.monotonic() >= end:
            break
        if tree is None:
            tree = Tree(None if given.here else given.folder.resolve(), given.jobs, given.cmake)
            print(f"{'bug':<47} {'commit':<8} {'program':<32} {'seeds':>8} {'time':>9}  said", flush=True)
        outcomes = try_one(tree, known[name], given.programs or known[name].finders, given.seconds)
        for outcome in outcomes:
            print(line(known[name], outcome), flush=True)
        if given.page and not given.programs:
            rows[name] = page.rows_after(known[name], outcomes)
            page.write(given.page, rows)
        missed += not (any if given.programs else all)(o.found for o in outcomes)
    if given.page:
        page.write(given.page, rows)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
