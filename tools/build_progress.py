#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds targets by ninja, and shows what was built last and how much is left: on a terminal one line that changes, in
a log a line every ten seconds. What compilers say is shown in full.

    tools/build_progress.py --build build [--jobs 2] TARGET...

The exit status is ninja's.
"""
import argparse
import json
import os
import pathlib
import re
import selectors
import subprocess
import sys

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import progress_line  # noqa: E402

MARK = "\x01"  # begins what ninja says of its steps, and nothing else
# Steps before an estimate, and seconds: the first ones are not like the others.
STEPS_BEFORE, SECONDS_BEFORE = 5, 8
OBJECT = re.compile(r"Building \S+ object (?P<folder>\S*?)CMakeFiles/(?P<target>[^/]+)\.dir/(?P<file>\S+)\.o$")


def short(step):
    """What ninja says of a step, as a reader of the sources would."""
    if not (found := OBJECT.search(step)):
        return step[0].lower() + step[1:]
    if "cmake_pch" in found["file"]:
        return f"headers of {found['target']}"
    if part := re.search("Unity/unity_(.+)_c", found["file"]):  # a number, or a group of sources
        return f"{found['target']}, part {int(part[1]) + 1 if part[1].isdecimal() else part[1]}"
    return found["folder"] + found["file"]


def sources_in(path):
    """How many sources a file has the compiler read: files that CMake makes of many include these."""
    try:
        return max(1, path.read_text().count("#include")) if path.parent.name == "Unity" else 1
    except OSError:
        return 1


class Work:
    """What each step costs, roughly: an object as its sources and their common headers, others next to nothing."""

    def __init__(self, build, targets):
        self.costs = {}
        try:
            for entry in json.loads((build / "compile_commands.json").read_text()):
                self.costs[entry["output"]] = 1 + sources_in(pathlib.Path(entry["file"]))
        except (OSError, ValueError, KeyError):
            pass
        listed = subprocess.run(["ninja", "-C", str(build), "-t", "commands", *targets], capture_output=True, text=True)
        commands = listed.stdout.splitlines()
        self.steps = len(commands)
        self.all = sum(self.of(command) for command in commands)
        self.done = 0

    def of(self, text):
        """Of a command, or of what ninja says of it: both name the object."""
        for word in text.split():
            if word in self.costs:
                return self.costs[word]
        return 0.1

    def share(self, finished, total):
        """What part is done. Where not all is built, nobody has counted what is."""
        if total < self.steps or self.all == 0:
            return finished / total if total else 0
        return min(1, self.done / self.all)


class Progress(progress_line.ProgressLine):
    """Of a build."""

    def tell(self, finished, total, share, step):
        if not total or not self.is_due():
            return
        passed, left = self.passed(), ""
        if finished >= STEPS_BEFORE and passed >= SECONDS_BEFORE and share > 0:
            left = f", about {round_up(passed * (1 - share) / share)} s left"
        self.show(f"build: {finished} of {total} steps, {100 * share:.0f} %, {passed:.0f} s{left}: {step}")


def round_up(seconds):
    step = 5 if seconds < 60 else 10
    return max(step, -int(-seconds // step) * step)


def build_all(arguments, work, progress):
    """Ninja's exit status."""
    environment = dict(os.environ, NINJA_STATUS=f"{MARK}%f %t ")
    command = ["ninja", "-C", str(arguments.build), "-j", str(arguments.jobs), *arguments.targets]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    finished, total, step, rest = 0, 0, "", b""
    try:
        while True:
            if selector.select(timeout=1):
                read = os.read(process.stdout.fileno(), 1 << 16)
                if not read:
                    break
                *lines, rest = (rest + read).split(b"\n")
                for line in (line.decode(errors="replace") for line in lines):
                    if line.startswith(MARK):
                        finished, total, name = line[len(MARK):].split(" ", 2)
                        finished, total = int(finished), int(total)
                        work.done += work.of(name)
                        if OBJECT.search(name) or not step:  # other steps are over before one could read them
                            step = short(name)
                    elif not line.startswith(("ninja: Entering directory", "ninja: no work to do")):
                        progress.pass_on(line)
            progress.tell(finished, total, work.share(finished, total), step)
        if rest:
            progress.pass_on(rest.decode(errors="replace"))
        return process.wait()
    except KeyboardInterrupt:  # ninja has the signal, too
        process.wait()
        return 130
    finally:
        progress.clear()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), help="build directory")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at once (default: as many as cores)")
    parser.add_argument("targets", nargs="+", metavar="TARGET")
    arguments = parser.parse_args()
    work = Work(arguments.build, arguments.targets)
    progress = Progress()
    status = build_all(arguments, work, progress)
    if status == 0:
        print(f"build: done, {progress.passed():.0f} s", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
