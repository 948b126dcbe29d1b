#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `make soak` runs after building: everything that draws numbers, with numbers nobody has tried, for as long as you like.

Simulators under new seeds; programs that check what they read, under random settings; stress; kill -9 of nodes and launchers; the tests of real
processes, in any order, beside all that; other launchers, small limits, links that are slow or cut. After each, a search for
what it left behind. A line of progress every few seconds. What fails is told at
once, with the command that does it again, and kept in a file with output and stacks: a command that does not end is a failure. Exit status 1 if
anything failed. Ctrl-C ends it, with the summary.
"""
import argparse
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import ledger  # noqa: E402
from command import SharedFiles  # noqa: E402
from suite import Suite  # noqa: E402
from surroundings import Launchers, Limits, Links  # noqa: E402
from work import Kills, Probes, Simulators, Stress, Survivals  # noqa: E402

# Each kind of work, and its share of the time.
KINDS = {"simulators": (Simulators, 0.3), "probes": (Probes, 0.25), "stress": (Stress, 0.1), "kills": (Kills, 0.1), "survivals": (Survivals, 0.05),
         "limits": (Limits, 0.03), "launchers": (Launchers, 0.03), "links": (Links, 0.04), "suite": (Suite, 0.1)}


class Book:
    """What has been done and what has failed, by all threads; writes failures down."""

    def __init__(self, folder, found=None):
        self.folder = folder
        self.found = found  # the file of seeds that have failed once
        self.lock = threading.Lock()
        self.figures = Counter()
        self.seeds = Counter()
        self.steps = Counter()  # by simulator, as seeds
        self.rounds = Counter()
        self.failures = []

    def note(self, kind, outcome):
        with self.lock:
            done = dict(outcome.done)
            if (simulator := done.pop("simulator", "")) and done.get("seeds", 0):
                self.seeds[simulator] += done["seeds"]
                self.steps[simulator] += done["steps"]
            self.figures.update(done)
            self.rounds[kind] += not outcome.cut_off
            if outcome.wrong:
                self.fail(outcome)

    def fail(self, outcome):
        self.failures.append(outcome)
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"failure-{len(self.failures)}.txt"
        file.write_text(f"{outcome.name}: {outcome.wrong}\nreplay: {outcome.replay}\n\n{outcome.log}\n")
        print(f"soak: FAILED {outcome.name}: {outcome.wrong}\n  replay: {outcome.replay}\n  output: {file}", flush=True)
        if self.found and outcome.seed:
            self.keep(outcome.seed)

    def keep(self, seed, most=3):
        """Of a simulator the first few: one bug may fail in many rounds."""
        known = self.found.read_text().splitlines()
        test = seed.split()[1:]
        if seed not in known and sum(line.split()[1:] == test for line in known) < most:
            with self.found.open("a") as file:
                file.write(seed + "\n")

    def line(self):
        with self.lock:
            f = self.figures
            return (f"{f['seeds']:,} seeds of {f['steps']:,} steps, {f['jobs']:,} jobs of {f['processes']:,} nodes, {f['reads']:,} checked reads, "
                    f"{f['kills']:,} kills, {f['tests']:,} tests, {len(self.failures)} failed")


class Soak:
    """Threads that do rounds of all kinds until the time is up, each kind for its share of it."""

    def __init__(self, kinds, master, book, stop, end, rounds):
        self.kinds, self.book, self.stop, self.end = kinds, book, stop, end
        self.rounds = rounds  # that are left to begin
        self.master = master
        self.spent = dict.fromkeys(kinds, 0.0)
        self.lock = threading.Lock()

    def next(self):
        """The kind that is furthest behind its share, and a seed for it; None after the last round."""
        with self.lock:
            if self.rounds == 0:
                return None
            self.rounds -= 1
            kind = min(self.spent, key=lambda k: self.spent[k] / KINDS[k][1])
            self.spent[kind] += self.kinds[kind].SECONDS
            return kind, self.master.randrange(1 << 48)

    def work(self):
        try:
            while not self.stop.is_set():
                chosen, begin = self.next(), time.monotonic()
                if chosen is None or begin + self.kinds[chosen[0]].SECONDS > self.end:
                    return
                kind, seed = chosen
                self.book.note(kind, self.kinds[kind].round(seed))
                with self.lock:
                    self.spent[kind] += time.monotonic() - begin - self.kinds[kind].SECONDS
        except Exception as error:  # a mistake of this script: no silent end of a thread
            self.stop.set()
            with self.book.lock:
                self.book.failures.append(error)
            raise


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def watch(threads, book, stop, begin, end, every_s):
    """Prints progress until all threads are done; stops them when the time is up."""
    told = begin
    while any(t.is_alive() for t in threads):
        time.sleep(0.1)
        now = time.monotonic()
        if now > end:
            stop.set()
        if now - told >= every_s:
            told = now
            print(f"soak: {clock(now - begin)} of {clock(end - begin)}: {book.line()}", flush=True)


def print_summary(book, master_seed, seconds):
    print(f"\nsoak: {clock(seconds)} with seed {master_seed}: {book.line()}")
    for simulator, count in sorted(book.seeds.items()):
        print(f"  {simulator:<24} {count:>12,} seeds of {book.steps[simulator]:>15,} steps")
    for kind, count in sorted(book.rounds.items()):
        print(f"  {kind:<24} {count:>12,} rounds")
    for failure in book.failures:
        print(f"  FAILED {failure if isinstance(failure, Exception) else f'{failure.name}: {failure.wrong}'}")
        if not isinstance(failure, Exception):
            print(f"    replay: {failure.replay}")
    if book.failures:
        print(f"soak: {len(book.failures)} FAILED; their output is in {book.folder}")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build"), help="build folder (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=10, help="for how long (default: %(default)g)")
    parser.add_argument("--seed", type=int, help="of all that is drawn; without it a new one, which is printed")
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0))), help="commands at a time (default: one a core)")
    parser.add_argument("--only", choices=KINDS, action="append", help="only this kind of work; may be repeated")
    parser.add_argument("--rounds", type=int, default=-1, help="end after so many rounds of work (default: only the time counts)")
    parser.add_argument("--every", type=float, default=10, help="seconds between lines of progress (default: %(default)g)")
    parser.add_argument("--patience", type=float, default=60, help="seconds after which a program that is late hangs (default: %(default)g)")
    parser.add_argument("--report", type=Path, help="folder for what fails (default: soak in the build folder)")
    parser.add_argument("--found", type=Path, metavar="FILE", help="seeds of simulators that fail are appended to it (tests/sim/found_seeds.txt)")
    parser.add_argument("--steps", type=Path, metavar="FILE", help="adds what simulators have done to a table (docs/simulated.md)")
    parser.add_argument("--replay", metavar="KIND:SEED", help="one round that failed, again, and nothing else")
    wanted = parser.parse_args()
    wanted.build = wanted.build.resolve()
    wanted.report = (wanted.report or wanted.build / "soak").resolve()
    if not (wanted.build / "bin" / "quire").exists():
        parser.error(f"{wanted.build} holds no build; `make soak` makes one")
    if wanted.replay and (wanted.replay.partition(":")[0] not in KINDS or not wanted.replay.partition(":")[2].isdigit()):
        parser.error(f"--replay {wanted.replay}: write KIND:SEED, where KIND is one of {', '.join(KINDS)}")
    return wanted


def replay(wanted, stop, shared, book):
    kind, _, seed = wanted.replay.partition(":")
    outcome = KINDS[kind][0](wanted.build, stop, shared, wanted.patience).round(int(seed))
    book.note(kind, outcome)
    print(outcome.log, f"\n{outcome.name}: {outcome.wrong or 'all is well'}")


def main():
    wanted = read_arguments()
    stop, shared, book = threading.Event(), SharedFiles(), Book(wanted.report, wanted.found)
    for old in wanted.report.glob("failure-*.txt"):
        old.unlink()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if wanted.replay:
        replay(wanted, stop, shared, book)
        return 1 if book.failures else 0
    seed = wanted.seed if wanted.seed is not None else int.from_bytes(os.urandom(5), "little")
    print(f"soak: {wanted.minutes:g} minutes with seed {seed}, {wanted.jobs} commands at a time", flush=True)
    begin = time.monotonic()
    end = begin + wanted.minutes * 60
    kinds = {name: KINDS[name][0](wanted.build, stop, shared, wanted.patience) for name in KINDS if not wanted.only or name in wanted.only}
    soak = Soak(kinds, random.Random(seed), book, stop, end, wanted.rounds)
    threads = [threading.Thread(target=soak.work) for _ in range(wanted.jobs)]
    for thread in threads:
        thread.start()
    try:
        watch(threads, book, stop, begin, end, wanted.every)
    except KeyboardInterrupt:
        print("\nsoak: interrupted", flush=True)
    stop.set()
    for thread in threads:
        thread.join()
    print_summary(book, seed, time.monotonic() - begin)
    if wanted.steps:
        print(f"soak: {ledger.add(wanted.steps, book.seeds, book.steps):,} steps of simulators in {wanted.steps}")
    return 1 if book.failures else 0


if __name__ == "__main__":
    sys.exit(main())
