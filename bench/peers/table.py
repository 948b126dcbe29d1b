# SPDX-License-Identifier: BSD-3-Clause
"""Prints two files of measurements (lines of JSON) side by side. Called by common.sh: table.py PEER PEERS_FILE QUIRES_FILE."""
import json
import statistics
import sys


def medians(path):
    """Median over the rounds, by name. Lines that are not JSON are what the system itself has to say."""
    found, units = {}, {}
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith('{"name"'):
                entry = json.loads(line)
                found.setdefault(entry["name"], []).append(entry["median"])
                units[entry["name"]] = entry["unit"]
    return {name: statistics.median(values) for name, values in found.items()}, units


def main():
    peer, (theirs, units), (ours, _) = sys.argv[1], medians(sys.argv[2]), medians(sys.argv[3])
    if not theirs.keys() & ours.keys():
        sys.exit("peers: nothing was measured")
    print(f"{'median':<18} {'unit':<5} {peer:>10} {'Quire':>10}  {peer} / Quire")
    for name in (n for n in theirs if n in ours):
        print(f"{name:<18} {units[name]:<5} {theirs[name]:>10.4g} {ours[name]:>10.4g}  {theirs[name] / ours[name]:.3g}")


if __name__ == "__main__":
    main()
