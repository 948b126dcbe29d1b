# SPDX-License-Identifier: BSD-3-Clause
"""What a network costs: `quire bench network` between hosts whose link has a rate, and the relay of bench/predict, whose wire has a latency."""

import json
import os
import pathlib
import sys

import suite
from namespaces import Hosts
from suite import program, quire
from support import require, run, run_well

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench/predict"))
from relayed import RelayedHosts, ping  # noqa: E402


def figures_of(file):
    with open(file) as text:
        return {word: float(number) for word, number in (line.split() for line in text if not line.startswith("#"))}


def bench_network():
    with Hosts(2, "200mbit") as hosts:
        where = ["--hosts", ",".join(hosts.addresses), "--agent", hosts.agent]
        file = os.path.join(hosts.folder, "network")
        told = run_well([quire(), "bench", "network", *where, "--seconds", "4", "-o", file], 60).out
        require(f"quire predict --network {file}" in told, told)
        found = figures_of(file)
        require(15 < found["megabytes_a_second"] < 26, f"200 Mbit/s are not {found}")
        require(0 < found["send_us"] + found["receive_us"] + found["latency_us"] < 5000 and found["wake_us"] >= 0, f"{found}")
        told = json.loads(run_well([quire(), "predict", "--json", "-n", "2", "--network", file, program("predict_program"), "turns", "50"], 60).out)
        require(abs(told["network"]["megabytes_a_second"] / found["megabytes_a_second"] - 1) < 1e-3, told)

        # As nodes of a job that something else has started.
        inside = os.path.join(hosts.folder, "inside")
        run_well([quire(), "run", *where, "-n", "3", quire(), "bench", "network", "--seconds", "1", "-o", inside], 60)
        require(set(figures_of(inside)) == set(found), "the file is another one")
        hosts.require_nothing_left()

        result = run([quire(), "bench", "network", *where, "--seconds", "0.5", "-o", "/no/such/folder/file"], 60)
        require(result.status == 125 and "cannot write /no/such/folder/file" in result.err, result)
    result = run([quire(), "run", "-n", "2", quire(), "bench", "network"], 60)
    require(result.status != 0 and "a network is between two" in result.err, result)
    result = run([quire(), "bench", "network"], 60)
    require(result.status != 0 and "quire bench network --hosts a,b" in result.err, result)


def relay():
    """Each packet is held, there and back."""
    with RelayedHosts(suite.build, 4000) as hosts:
        held_us = ping(hosts, 50)[0]
    require(8000 <= held_us < 20000, f"a ping took {held_us} us where packets were held for 4000 us")
    with RelayedHosts(suite.build, 50, 100) as hosts:
        where = ["--hosts", ",".join(hosts.addresses), "--agent", hosts.agent]
        file = os.path.join(hosts.folder, "network")
        run_well([quire(), "bench", "network", *where, "--seconds", "3", "-o", file], 60)
        require(1 < figures_of(file)["megabytes_a_second"] < 13, "100 Mbit/s are not so many")
        hosts.require_nothing_left()


CASES = (bench_network, relay)
