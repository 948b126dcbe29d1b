# SPDX-License-Identifier: BSD-3-Clause
"""What the model (docs/design/model.md) says of the programs that check.py predicts: access patterns written by hand, at the prices of a network
that was measured. The time that a program's step computes comes from a run on one node."""
import json
import subprocess

PATTERNS = {  # name in check.py: the sizes, and the option with the time of a step
    "sor": ("sor --sor-size 2048 --sor-iterations 60", "--sor-cell-ns"),
    "cg": ("cg --cg-rows 7000 --cg-row-elements 72.6 --cg-iterations 15", "--cg-element-ns"),
    "md": ("md --md-particles 2048 --md-steps 10", "--md-pair-ns"),
    "ep": ("ep --ep-batches 512", "--ep-pair-ns"),
    "raytracer": ("raytracer --raytracer-width 512 --raytracer-height 512", "--raytracer-pixel-ns"),
}
ONE_NS = 10.0  # a step of the first run, from which follows what it has to be


def run(build, pattern, nodes, options):
    words = [f"{build}/bench/quire_model", "--json", "--consistency", "sequential", "--nodes", str(nodes), "--app", *pattern.split(), *options]
    return json.loads(subprocess.run(words, capture_output=True, text=True, timeout=300, check=True).stdout)["time_s"]


def prices(network):
    """`network`: as `quire bench network` writes it. Microseconds and 10^6 bytes a second."""
    in_ns = {"--latency-ns": "latency_us", "--send-ns": "send_us", "--receive-ns": "receive_us", "--wake-ns": "wake_us"}
    return ["--network", "tcp", "--bandwidth-mbs", f"{network['megabytes_a_second']:.0f}",
            *(word for option, name in in_ns.items() for word in (option, f"{1000 * network[name]:.0f}"))]


def seconds(build, name, network, one_node_s):
    """Of a program on two nodes; None if the model has no pattern of it."""
    if name not in PATTERNS:
        return None
    pattern, step = PATTERNS[name]
    step_ns = ONE_NS * one_node_s / run(build, pattern, 1, [step, str(ONE_NS)])
    return run(build, pattern, 2, [step, f"{step_ns:.4f}", *prices(network)])
