#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py --build BUILD [--rounds N] [--output docs/predictions.md]: what `quire predict` says of programs, beside what they take on two
hosts: network namespaces of this machine, whose links have a rate (tbf). Takes root. Each program runs N times on the hosts, and is
predicted N times; both medians are told, and the least. The hosts share the cores of this machine with whatever else runs there: the
table says how long cores were busy with that."""

import argparse
import glob
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/launch"))
from namespaces import Hosts  # noqa: E402

PROGRAMS = {  # name: words behind build/bin/; {threads} as `quire predict` has it
    "sor": "sor --size 2048 --iterations 60",
    "cg": "cg --class W",
    "md": "md --size 2048 --steps 10",
    "ep": "ep --class W",
    "raytracer": "raytracer --width 512 --height 512",
    "sor, OpenMP": "sor_openmp --size 2048 --iterations 60 --threads {threads}",
    "ep, OpenMP": "ep_openmp --class W --threads {threads}",
    "md, OpenMP": "md_openmp --size 2048 --steps 10 --threads {threads}",
}
LINKS = {"1 Gbit/s": "1gbit", "10 Gbit/s": "10gbit"}
MET, ENDS = 8, 9  # record::event_type
THREADS = (1, 2, MET, ENDS)
EVENT, HEAD = struct.Struct("<BBHIQQQ"), struct.Struct("<5Q")

PING = """
import socket, sys, time
listener = socket.create_server(("{there}", 7000))
print("ready", flush=True)
s, _ = listener.accept()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(2000): s.sendall(s.recv(64))
left = 1 << 25
while left > 0: left -= len(s.recv(1 << 16))
s.sendall(b"x")
"""
ASK = """
import socket, time
s = socket.create_connection(("{there}", 7000))
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
times = []
for _ in range(2000):
    begin = time.perf_counter()
    s.sendall(b"x" * 64)
    s.recv(64)
    times.append(time.perf_counter() - begin)
times.sort()
begin = time.perf_counter()
s.sendall(bytes(1 << 25))
s.recv(1)
print(times[len(times) // 4] / 2 * 1e6, (1 << 25) / (time.perf_counter() - begin) / 1e6)
"""


def measure(hosts):
    """(half a round trip in us, 10^6 bytes a second) between host 1 and host 2, by TCP."""
    python = [sys.executable, "-c"]
    server = subprocess.Popen(hosts.inside(2, [*python, PING.format(there=hosts.addresses[1])]), stdout=subprocess.PIPE, text=True)
    try:
        server.stdout.readline()
        told = subprocess.run(hosts.inside(1, [*python, ASK.format(there=hosts.addresses[1])]), capture_output=True, text=True,
                              timeout=60, check=True)
        return tuple(float(word) for word in told.stdout.split())
    finally:
        server.kill()
        server.wait()


def times_of(folder):
    """(seconds from when all nodes had met until the last thread's end, all on one clock; for how long of these the thread that did so
    longest waited for a core)."""
    met, ends, longest = [], [], 0
    for path in glob.glob(f"{folder}/quire.*.events"):
        with open(path, "rb") as file:
            taken = HEAD.unpack(file.read(128)[:40])[4]
            content = file.read(taken * EVENT.size)
        first, last = {}, {}
        for kind, _, peer, waited_us, _, ns, _ in EVENT.iter_unpack(content):
            met += [ns] * (kind == MET)
            ends += [ns] * (kind == ENDS)
            if kind == MET or (kind in THREADS and met):
                first.setdefault(peer, waited_us)
                last[peer] = waited_us
        longest = max([longest, *((last[one] - first[one]) % (1 << 32) / 1e6 for one in first)])
    return (max(ends) - max(met)) / 1e9, longest


def run_really(build, hosts, words):
    with tempfile.TemporaryDirectory() as folder:
        command = [f"{build}/bin/quire", "run", "--hosts", ",".join(hosts.addresses), "--agent", hosts.agent, "--timeout", "120", "-n", "2",
                   *words]
        subprocess.run(hosts.inside(1, command), env={**os.environ, "QUIRE_EVENTS": folder, "OMP_NUM_THREADS": "2"},
                       stdout=subprocess.DEVNULL, timeout=150, check=True)
        return times_of(folder)


def predict(build, network, words):
    command = [f"{build}/bin/quire", "predict", "--json", "--network", network, "--cores", "1", "-n", "2", *words]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout)
    return told["predictions"][0]


def others_busy(seconds):
    """Processor time of this machine that others used in a while, in cores."""
    def busy():
        with open("/proc/stat") as file:
            user, nice, system = (int(word) for word in file.readline().split()[1:4])
        return (user + nice + system) / os.sysconf("SC_CLK_TCK")
    before = busy()
    time.sleep(seconds)
    return (busy() - before) / seconds


def check(build, rounds):
    rows = []
    for link, rate in LINKS.items():
        with Hosts(2, rate) as hosts, tempfile.NamedTemporaryFile("w", suffix=".network") as file:
            half, rate_mbs = measure(hosts)
            # Half a round trip is what sender and receiver do, and the latency: of namespaces there is next to none.
            file.write(f"latency_us 0\nsend_us {half / 2:.3f}\nreceive_us {half / 2:.3f}\nmegabytes_a_second {rate_mbs:.1f}\n")
            file.flush()
            for name, text in PROGRAMS.items():
                words = f"{build}/bin/{text}".split()
                busy = others_busy(1)
                real, told = [], []
                for _ in range(rounds):
                    real.append(run_really(build, hosts, [word.replace("{threads}", "2") for word in words]))
                    told.append(predict(build, file.name, words))
                seconds = [one["seconds"] for one in told]
                walls = [wall for wall, _ in real]
                rows.append({"link": link, "program": name, "real": min(walls), "real_median": statistics.median(walls),
                             "waited": min(real)[1], "without": min(wall - waited for wall, waited in real),
                             "told": min(seconds), "told_median": statistics.median(seconds), "half_us": half, "mbs": rate_mbs,
                             "least": min(one["least_seconds"] for one in told), "most": max(one["most_seconds"] for one in told),
                             "busy": busy})
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def page(rows, rounds):
    lines = ["# Predictions, and what came", "",
             f"Made by `bench/predict/check.py` on {os.cpu_count()} cores, {rounds} rounds. Two nodes on two hosts, which are network namespaces "
             "of one machine,", "with links of a rate. Real: the least of the rounds, with the median in brackets. In a core: the least of the "
             "rounds without the time for which the thread that", "waited longest waited for a core of this machine, where other programs run as "
             "well (busy: cores that they used just before); what their turns do to nodes that wake each other it still has.",
             "The difference is that of the least prediction to each of the two; the first counts, where the machine is not busy.", "",
             "| link | program | real, s | in a core, s | predicted, s | range, s | to real | to in a core | within 10 % of real | busy |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    good = 0
    for r in rows:
        off, inside = r["told"] / r["real"] - 1, r["told"] / r["without"] - 1
        good += abs(off) <= 0.1
        lines.append(f"| {r['link']} | {r['program']} | {r['real']:.3f} ({r['real_median']:.3f}) | {r['without']:.3f} | {r['told']:.3f} "
                     f"({r['told_median']:.3f}) | {r['least']:.3f} to {r['most']:.3f} | {100 * off:+.0f} % | {100 * inside:+.0f} % | "
                     f"{'yes' if abs(off) <= 0.1 else '**no**'} | {r['busy']:.1f} |")
    lines += ["", f"Within 10 % of real runs: {good} of {len(rows)}.", ""]
    networks = {r["link"]: r for r in rows}
    lines += [f"{link}: half a round trip of TCP took {r['half_us']:.0f} us, a stream came with {r['mbs']:.0f} MB/s." for link, r in networks.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[2])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/predictions.md")
    asked = parser.parse_args()
    asked.output.write_text(page(check(asked.build.resolve(), asked.rounds), asked.rounds))


if __name__ == "__main__":
    main()
