#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `make demo` runs after building: the ray tracer and red-black SOR, serial and on local nodes.

Shows progress, checks the results of the nodes against the serial run, writes the picture, prints a table. The exit
status is 1 if a check or a run failed. Needs nothing but Python and the build.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

SIZES = {
    "raytracer": (["--width", "1024", "--height", "768"], ["--width", "160", "--height", "96"]),
    "sor": (["--size", "4096", "--iterations", "20"], ["--size", "512", "--iterations", "10"]),
}


class Failed(Exception):
    """A run that gave no result; the text says why."""


def end(process):
    """Ends a program that takes too long; a launcher takes its nodes along. Waits for no one else at the pipe."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def run(command, limit_s):
    """Runs a program that prints its result as JSON; the result, and whether its exit status was 0."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        output, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        end(process)
        raise Failed(f"{' '.join(command)}: not done after {limit_s:g} s") from None
    for line in output.splitlines():
        if line.startswith("{"):
            return json.loads(line), process.returncode == 0
    raise Failed(f"{' '.join(command)}: exit status {process.returncode}, no result")


def run_application(name, arguments, build, picture):
    """Rows of the table for one application: the serial run and the run on nodes."""
    binaries = build / "bin"
    wanted = SIZES[name][1 if arguments.small else 0] + ["--progress", "--json"]
    print(f"{name}: serial", flush=True)
    serial, fine = run([str(binaries / f"{name}_serial")] + wanted, arguments.limit)
    if not fine:
        raise Failed(f"{name}: the serial run failed")
    print(f"{name}: {arguments.nodes} nodes, then a check against a serial run", flush=True)
    extra = ["--out", str(picture)] if name == "raytracer" else []
    launch = [str(binaries / "quire"), "run", "-n", str(arguments.nodes)]
    nodes, fine = run(launch + [str(binaries / name)] + wanted + ["--check"] + extra, arguments.limit)
    checked = fine and nodes["matches"] is True and nodes["checksum"] == serial["checksum"]
    return [row(serial, serial, None), row(nodes, serial, checked)], checked


def row(result, serial, checked):
    """One line of the table."""
    shared = "read_faults" in result
    return [
        result["program"], result["problem"], str(result["nodes"]) if shared else "serial", f"{result['time_s']:.3f} s",
        f"{serial['time_s'] / max(result['time_s'], 1e-9):.2f}",
        str(result["read_faults"]) if shared else "-", str(result["write_faults"]) if shared else "-",
        str(result["messages"]) if shared else "-", "-" if checked is None else "yes" if checked else "NO",
    ]


def print_table(rows):
    heads = ["application", "problem", "nodes", "time", "speed-up", "read faults", "write faults", "messages",
             "checked"]
    widths = [max(len(line[i]) for line in [heads] + rows) for i in range(len(heads))]
    for line in [heads, ["-" * width for width in widths]] + rows:
        print("  ".join(f"{cell:<{width}}" if i < 2 else f"{cell:>{width}}"
                        for i, (cell, width) in enumerate(zip(line, widths))))


def main():
    parser = argparse.ArgumentParser(description="Run the demo applications of Quire on local nodes.")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), help="build directory")
    parser.add_argument("--nodes", type=int, default=4, help="local nodes (default: 4)")
    parser.add_argument("--limit", type=float, default=300, help="seconds that one run may take (default: 300)")
    parser.add_argument("--small", action="store_true", help="small problems, to see that it works")
    arguments = parser.parse_args()

    build = arguments.build.resolve()
    picture = build / "demo" / "raytracer.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    picture.unlink(missing_ok=True)
    rows, fine = [], True
    for name in SIZES:
        try:
            lines, checked = run_application(name, arguments, build, picture)
        except (Failed, OSError) as error:
            print(f"demo: {error}", file=sys.stderr)
            fine = False
            continue
        rows += lines
        fine = fine and checked
    print()
    print_table(rows)
    cores = len(os.sched_getaffinity(0))
    print(f"\n{arguments.nodes} nodes share {cores} core{'s' if cores != 1 else ''} here: "
          f"the speed-up cannot exceed {min(cores, arguments.nodes)}.")
    if picture.exists():
        print(f"The picture is {os.path.relpath(picture)}.")
    else:
        print("demo: no picture was written", file=sys.stderr)
        fine = False
    if not fine:
        print("demo: FAILED", file=sys.stderr)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
