#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs CMake, which looks for compilers and libraries for some time, and shows what it looks at and for how long. What CMake says goes to
BUILD/configure.log, and is shown if it fails.

    tools/configure.py --build build [CMAKE_FLAG...]

The exit status is CMake's.
"""
import argparse
import os
import pathlib
import selectors
import subprocess
import sys

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import progress_line  # noqa: E402


def configure(build, flags, log):
    """CMake's exit status."""
    # One that has been here before needs a moment, for which a log has no line.
    new = not (build / "CMakeCache.txt").exists()
    line = progress_line.ProgressLine()
    if new:
        line.pass_on("configure: CMake looks for compilers and libraries, up to half a minute")
    process = subprocess.Popen(["cmake", "-S", ".", "-B", str(build), "-G", "Ninja", *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    last, rest = "begins", b""
    try:
        while True:
            if selector.select(timeout=1):
                read = os.read(process.stdout.fileno(), 1 << 16)
                if not read:
                    break
                log.write(read)
                *lines, rest = (rest + read).split(b"\n")
                last = next((text[3:].decode(errors="replace") for text in reversed(lines) if text.startswith(b"-- ")), last)
            if line.is_due():
                line.show(f"configure: {line.passed():.0f} s: {last}")
        status = process.wait()
    except KeyboardInterrupt:  # CMake has the signal, too
        process.wait()
        status = 130
    line.clear()
    if status == 0 and new:
        line.pass_on(f"configure: done, {line.passed():.0f} s")
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), help="build directory")
    arguments, flags = parser.parse_known_args()
    arguments.build.mkdir(parents=True, exist_ok=True)
    path = arguments.build / "configure.log"
    with path.open("wb") as log:
        status = configure(arguments.build, flags, log)
    if status not in (0, 130):
        print(path.read_text(errors="replace"), end="", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
