#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `make demo` runs after building: the ray tracer and red-black SOR, serial and on local nodes.

Shows progress, checks the results of the nodes against the serial run, writes the picture, prints a table and what to try
next. The exit status is 1 if a check or a run failed. Needs nothing but Python and the build.
"""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys

SIZES = {
    "raytracer": (["--width", "1024", "--height", "768"], ["--width", "160", "--height", "96"]),
    "sor": (["--size", "4096", "--iterations", "20"], ["--size", "512", "--iterations", "10"]),
}
MOST_NODES = 4


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
    print(f"{name}: {arguments.nodes} nodes", flush=True)
    extra = ["--out", str(picture)] if name == "raytracer" else []
    launch = [str(binaries / "quire"), "run", "-n", str(arguments.nodes)]
    nodes, fine = run(launch + [str(binaries / name)] + wanted + extra, arguments.limit)
    checked = fine and nodes["checksum"] == serial["checksum"]  # all of the result, to the last bit
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


def number_of(count, what):
    return f"{count} {what}{'s' if count != 1 else ''}"


def what_the_cores_allow(nodes, cores):
    """Why the speed-up is not larger, and more nodes would not help where there are no more cores."""
    if nodes <= cores:
        text = f"{nodes} nodes have a core each: the speed-up cannot exceed {nodes}."
    else:
        text = f"{nodes} nodes take turns on {number_of(cores, 'core')}: the speed-up cannot exceed {cores}."
    if nodes <= cores < MOST_NODES:
        text += (f" {MOST_NODES} nodes on these {number_of(cores, 'core')} would not be faster: they would take turns computing, "
                 "and have more to tell each other.")
    return text


def python_with_numpy():
    """As the commands for a shell name it; None if there is none that the Python package goes with."""
    for python in ("python3", "/usr/bin/python3"):
        try:
            if subprocess.run([python, "-c", "import numpy, cloudpickle"], stderr=subprocess.DEVNULL).returncode == 0:
                return python
        except OSError:
            pass
    return None


def print_next(build, nodes):
    """Commands that work as they stand, in the folder in which this runs. What the demo has not built they build first."""
    here = shlex.quote(os.path.relpath(build))
    run = f"{here}/bin/quire run -n {nodes}"
    print(f"""
What to try next:

  where the time goes, by thread, source line and object (open {here}/demo/report.html in a browser)
    {run} --report {here}/demo/report.html {here}/bin/sor --size 2048

  an OpenMP program as it is: its threads are on all nodes (Quire's OpenMP library is built first)
    tools/build_progress.py --build {here} quire_omp quire_stand_ins
    gcc -fopenmp -O2 examples/openmp/jacobi.c -o {here}/demo/jacobi -lm
    OMP_NUM_THREADS={nodes} {run} {here}/demo/jacobi""")
    python = python_with_numpy()
    if python and (build / "python" / "quire" / "__init__.py").exists():  # else it is not built
        print(f"""
  numpy arrays that all nodes share
    tools/build_progress.py --build {here} quire_python_native
    {run} {python} examples/guide/heat.py""")
    print("""
  a program of your own: docs/guide/first-program.md""")


def main():
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description="Run the demo applications of Quire on local nodes.")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), help="build directory")
    parser.add_argument("--nodes", type=int, default=min(max(cores, 2), MOST_NODES),
                        help=f"local nodes (default: as many as cores, but at least 2, and at most {MOST_NODES})")
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
    print("\n" + what_the_cores_allow(arguments.nodes, cores))
    if picture.exists():
        print(f"The picture is {os.path.relpath(picture)}.")
    else:
        print("demo: no picture was written", file=sys.stderr)
        fine = False
    if not fine:
        print("demo: FAILED", file=sys.stderr)
    else:
        print_next(build, arguments.nodes)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
