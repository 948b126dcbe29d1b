# SPDX-License-Identifier: BSD-3-Clause
"""What a prediction costs where it is made: time, and the memory of all processes, beside those of the program on one node."""
import os
import subprocess
import time

NODES = 16
PROGRAM = "sor --size 4096 --iterations 40"  # 128 MiB of shared memory
MOST_TIME, MOST_MEMORY = 3, 1.5  # times the program's own on one core times nodes; times one copy


def below(pid):
    """The processes that a process has made, and theirs."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                for child in file.read().split():
                    found += [int(child), *below(child)]
    except OSError:
        pass
    return found


def memory_mib(pid):
    """Of a process, what it shares counted in parts."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
    except (OSError, StopIteration):
        return 0


def run(words):
    """(seconds, MiB at most)."""
    begin, most = time.monotonic(), 0
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        most = max(most, sum(map(memory_mib, below(process.pid))))
        time.sleep(0.02)
    if process.returncode:
        raise RuntimeError(f"{words}: status {process.returncode}")
    return time.monotonic() - begin, most


def measure(build):
    program = [f"{build}/bin/{PROGRAM.split()[0]}", *PROGRAM.split()[1:]]
    own_s, own_mib = run([f"{build}/bin/quire", "run", "-n", "1", *program])
    seconds, mib = run([f"{build}/bin/quire", "predict", "-n", str(NODES), *program])
    return {"own_s": own_s, "own_mib": own_mib, "seconds": seconds, "mib": mib}


def lines(c):
    time_is, memory_is = c["seconds"] / (c["own_s"] * NODES), c["mib"] / c["own_mib"]
    return ["", "## What it costs", "",
            f"`quire predict -n {NODES} {PROGRAM}` took {c['seconds']:.1f} s and {c['mib']:.0f} MiB at most; the program on one node {c['own_s']:.1f} s and "
            f"{c['own_mib']:.0f} MiB.",
            f"That is {time_is:.2f} times its time on one node times nodes (at most {MOST_TIME}: {'kept' if time_is <= MOST_TIME else '**missed**'}), and "
            f"{memory_is:.2f} times its memory (at most {MOST_MEMORY}: {'kept' if memory_is <= MOST_MEMORY else '**missed**'})."]
