#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Python on Quire beside C++ on Quire, multiprocessing.shared_memory and windows of mpi4py: a stencil, conjugate gradients and k-means (kernels.py,
kernels.cpp) in two processes of one machine. Each round runs all sides, in an order that turns; ratios are those of a round. Then Python and C++ on one
node, by the processor time of the thread: the loops alone, also on a busy machine.

    bench/python/compare.py --build build --python VENV/bin/python --rounds 7 [--json build/bench/python.json]

VENV has numpy, numba, cloudpickle and mpi4py; without mpi4py or mpirun that side is left out."""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KERNELS = {"stencil": (2000, 100), "cg": (1000, 100), "k_means": (500_000, 20)}
TITLES = {"quire": "Python on Quire", "cpp": "C++ on Quire", "shared_memory": "multiprocessing.shared_memory", "mpi": "window of mpi4py"}


def sides(asked):
    run = [asked.build / "bin" / "quire", "run", "-n", "2", "--timeout", "200"]
    script = HERE / "kernels.py"
    found = {"quire": [*run, asked.python, script, "quire"], "cpp": [*run, asked.build / "bench" / "quire_python_kernels"],
             "shared_memory": [asked.python, script, "shared_memory"]}
    starter = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    has_mpi = subprocess.run([asked.python, "-c", "import mpi4py"], capture_output=True).returncode == 0
    if starter and has_mpi:
        found["mpi"] = [starter, "--oversubscribe", "--bind-to", "none", "-np", "2", asked.python, script, "mpi"]
    else:
        print("without mpi4py, or mpirun, that side is left out")
    return found


def measure(command, kernel, size, steps, environment):
    done = subprocess.run([str(word) for word in (*command, kernel, size, steps)], env=environment, capture_output=True, text=True, timeout=300)
    told = re.search(r"^time ([0-9.]+) s, processor ([0-9.]+) s, check (\S+)$", done.stdout, flags=re.M)
    if done.returncode != 0 or told is None:
        sys.exit(f"{' '.join(map(str, command))} {kernel}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return float(told[1]), float(told[2]), float(told[3])


def compare(kernel, commands, asked, environment, which):
    """The seconds of each side, by round. `which`: 0, of the clock; 1, of the processor."""
    size, steps = KERNELS[kernel]
    seconds, order = {side: [] for side in commands}, list(commands)
    for _ in range(asked.rounds):
        checks = {}
        for side in order:
            *took, checks[side] = measure(commands[side], kernel, size, steps, environment)
            seconds[side].append(took[which])
        if max(checks.values()) - min(checks.values()) > 1e-6 * abs(max(checks.values())):
            sys.exit(f"{kernel}: the sides have different results: {checks}")
        order.append(order.pop(0))
    return seconds


def main():
    parser = argparse.ArgumentParser(description="Python on Quire beside C++ and other ways to share memory")
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    environment = {**os.environ, "PYTHONPATH": str((asked.build / "python").resolve()), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    commands, result = sides(asked), {}
    alone = {side: ["1" if word == "2" else word for word in commands[side]] for side in ("quire", "cpp")}
    print(f"{'':24}{'':32}{'least':>10}{'median':>10}   Python on Quire takes times")
    for kernel in KERNELS:
        for what, which, of in ((kernel, 0, commands), (f"{kernel}, processor", 1, alone)):
            result[what] = seconds = compare(kernel, of, asked, environment, which)
            for side, times in seconds.items():
                ratios = [own / other for own, other in zip(seconds["quire"], times)]
                told = "" if side == "quire" else f"{statistics.median(ratios):6.3f} (least {min(ratios):.3f}, most {max(ratios):.3f})"
                print(f"{what:24}{TITLES[side]:32}{min(times):8.3f} s{statistics.median(times):8.3f} s   {told}", flush=True)
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        asked.json.write_text(json.dumps({"rounds": asked.rounds, "sizes": KERNELS, "seconds": result}, indent=1) + "\n")


if __name__ == "__main__":
    main()
