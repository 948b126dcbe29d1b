#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py --build BUILD [--rounds N] [--links A,B] [--output docs/predictions.md]: what `quire predict` says of programs, beside what they
take on two hosts: network namespaces of this machine, whose links have a rate (tbf), and a latency (relay.cpp holds packets). Takes root.
Each program runs N times on the hosts, and is predicted N times; the least of both are compared. What the network costs `quire bench
network` has measured between the same hosts. Where the system has autogroups, all this runs in one of its own with the largest weight: what
else runs on this machine hardly delays it."""

import argparse
import ctypes
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
import account
import by_model
import cost
from relayed import Hosts, RelayedHosts, ping

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
GIGABITS, HOLDS_US = (1, 10), (20, 50, 200)
LINKS = {**{f"{rate} Gbit/s": (rate, None) for rate in GIGABITS},
         **{f"{rate} Gbit/s, {hold} us": (rate, hold) for rate in GIGABITS for hold in HOLDS_US}}
MISSES = [
    "", "## Why some are missed", "",
    "The last column compares the real run's own record with the prediction: seconds of a node that are more or less than foretold, by what they went to.", "",
    "- *To send*: the processor time of a context in which a message leaves, beyond what it is between nodes that share memory. `quire bench network` "
    "measures it with a receiver that",
    "  looks all the time. In programs the sender often has to wake one, and does the receiving host's part of TCP as well here, since both are one "
    "machine.",
    "- *Messages that were taken late*: they found the receiver's one core computing, or among other messages, when `quire bench network` found it "
    "looking, or woke it alone.",
    "- *Without a core*: threads were ready and waited, as two nodes, their service threads and the relay share two cores. On machines of their own "
    "they would not.",
    "- *The relay* takes processor time for each packet that it holds: with it three are busy on two cores.",
    "- A bucket of tbf holds 64 KiB: on 1 Gbit/s what a program sends after a pause passes at once, and the prediction has it wait for the link.",
    "- Threads of OpenMP's runtime that wait at barriers count in the prediction's barriers, not always in the run's: less there is no gain."]


def usual(times):
    return times[len(times) // 4]  # as bench/job/network.cpp has it


def network_of(build, hosts, file):
    """What `quire bench network` says of them, by its words."""
    command = [f"{build}/bin/quire", "bench", "network", "--hosts", ",".join(hosts.addresses), "--agent", hosts.agent, "-o", file]
    subprocess.run(hosts.inside(1, command), stdout=subprocess.DEVNULL, timeout=120, check=True)
    lines = pathlib.Path(file).read_text().splitlines()
    return {word: float(number) for word, number in (line.split() for line in lines if not line.startswith("#"))}


def run_really(build, hosts, words, network):
    with tempfile.TemporaryDirectory() as folder:
        command = [f"{build}/bin/quire", "run", "--hosts", ",".join(hosts.addresses), "--agent", hosts.agent, "--timeout", "120", "-n", "2",
                   *words]
        subprocess.run(hosts.inside(1, command), env={**os.environ, "QUIRE_EVENTS": folder, "OMP_NUM_THREADS": "2"},
                       stdout=subprocess.DEVNULL, timeout=150, check=True)
        nodes = account.events(folder)
        return *account.account(nodes), account.sending(nodes), account.late_messages(nodes, network)


def sending_here(build, words):
    """What a context takes in which a message leaves, where nodes share this machine's memory: the record of a prediction has that."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([f"{build}/bin/quire", "run", "-n", "2", *words], env={**os.environ, "QUIRE_EVENTS": folder, "OMP_NUM_THREADS": "2"},
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=150, check=True)
        return account.sending(account.events(folder))[0]


def processor_s(process):
    """That a process has used."""
    words = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def predict(build, network, words):
    """On one node, and on two."""
    command = [f"{build}/bin/quire", "predict", "--json", "--network", network, "--cores", "1", "-n", "1,2", *words]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout)
    return told["predictions"]


def run_relayed(build, hosts, words, network):
    """(seconds, account, what sending took, late messages, processor time that the relay used)."""
    relay = getattr(hosts, "relay", None)
    before = processor_s(relay) if relay else 0
    told = run_really(build, hosts, words, network)
    return *told, processor_s(relay) - before if relay else 0


def check_programs(build, rounds, hosts, file, network):
    for name, text in PROGRAMS.items():
        words = f"{build}/bin/{text}".split()
        real, alone, told = [], [], []
        for _ in range(rounds):
            with_threads = [word.replace("{threads}", "2") for word in words]
            real.append(run_relayed(build, hosts, with_threads, network))
            one, two = predict(build, file, words)
            alone.append(one["seconds"])
            told.append(two)
        seconds, best = [one[0] for one in real], min(real, key=lambda one: one[0])
        foretold = [one["seconds"] for one in told]
        yield {"program": name, "real": min(seconds), "real_median": statistics.median(seconds), "told": min(foretold),
               "told_median": statistics.median(foretold), "least": min(one["least_seconds"] for one in told),
               "most": max(one["most_seconds"] for one in told), "model": by_model.seconds(build, name, network, min(alone)),
               "account": best[1], "late": best[3], "relay_s": best[4],
               "sends_us": best[2][0], "sends": best[2][1], "sends_here_us": sending_here(build, with_threads), "send_us": network["send_us"],
               "told_account": account.of_prediction(min(told, key=lambda one: one["seconds"]))}


def others_busy(seconds):
    """Processor time of this machine that others use for a while, in cores."""
    def busy():
        with open("/proc/stat") as file:
            user, nice, system = (int(word) for word in file.readline().split()[1:4])
        return (user + nice + system) / os.sysconf("SC_CLK_TCK")
    before = busy()
    time.sleep(seconds)
    return (busy() - before) / seconds


def check(build, rounds, links):
    """(rows, what each link costs)."""
    rows, networks = [], {}
    with RelayedHosts(build, 0) as hosts:
        bare_us = usual(ping(hosts))
    for link in links:
        rate, hold = LINKS[link]
        with Hosts(2, f"{rate}gbit") if hold is None else RelayedHosts(build, hold, 1000 * rate) as hosts, \
                tempfile.NamedTemporaryFile("w", suffix=".network") as file:
            networks[link] = network_of(build, hosts, file.name)
            if hold is not None:
                networks[link].update(ping_us=usual(ping(hosts)), wanted_us=bare_us + 2 * hold)
            for row in check_programs(build, rounds, hosts, file.name, networks[link]):
                rows.append({"link": link, **row})
                print(rows[-1], file=sys.stderr, flush=True)
    return rows, networks


def is_right(row, who="told"):
    return abs(row[who] / row["real"] - 1) <= 0.1


def beside_the_model(rows):
    """A line: which of the two is nearer to real runs."""
    both = [r for r in rows if r["model"] is not None]
    off = {who: [abs(r[who] / r["real"] - 1) for r in both] for who in ("told", "model")}
    nearer = sum(t < m for t, m in zip(off["told"], off["model"]))
    return (f"Of the {len(both)} rows that the model of [model.md](design/model.md) tells, too, with patterns written by hand, it is within 10 % in "
            f"{sum(is_right(r, 'model') for r in both)}, predictions in {sum(map(is_right, both))}. The prediction is nearer in {nearer}; "
            f"median difference {100 * statistics.median(off['told']):.0f} %, the model's {100 * statistics.median(off['model']):.0f} %.")


def page(rows, networks, rounds, busy, costs):
    lines = ["# Predictions, and what came", "",
             f"Made by `bench/predict/check.py` on {os.cpu_count()} cores, {rounds} rounds. Two nodes on two hosts, which are network namespaces "
             "of one machine,", "with links of a rate (tbf), or of a rate and a latency (a relay that holds each packet). Real and predicted: the least of the "
             "rounds, with the median in brackets;", "the difference is that of the least ones. There were no machines for 4, 8 and 16 nodes with a "
             "core each.", f"Before, other programs kept {busy:.1f} cores busy"
             + (": these figures are not those of a quiet machine." if busy > 0.2 else "."), "",
             "| link | program | real, s | predicted, s | range, s | difference | within 10 % | model, s | more or less than foretold, of a node |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    lines += [f"| {r['link']} | {r['program']} | {r['real']:.3f} ({r['real_median']:.3f}) | {r['told']:.3f} ({r['told_median']:.3f}) | "
              f"{r['least']:.3f} to {r['most']:.3f} | {100 * (r['told'] / r['real'] - 1):+.0f} % | {'yes' if is_right(r) else '**no**'} | "
              f"{'' if r['model'] is None else format(r['model'], '.3f')} | {'' if is_right(r) else account.reason(r)} |"
              for r in rows]
    lines += ["", f"Within 10 % of real runs: {sum(map(is_right, rows))} of {len(rows)}.", "", beside_the_model(rows), "", "## The networks", "",
              "As `quire bench network` measured them between the two hosts. A ping is answered by the other host's kernel; it should take as long "
              "as without a hold, and twice the hold.", "",
              "| link | latency, us | sending, us | receiving, us | waking, us | MB/s | ping, us | should be, us |",
              "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for link in dict.fromkeys(r["link"] for r in rows if r["link"] not in networks):  # of a round that was ended
        lines.append(f"| {link} | not kept | {rows[[r['link'] for r in rows].index(link)]['send_us']:.1f} | | | | | |")
    for link, n in networks.items():
        pings = f"{n['ping_us']:.0f} | {n['wanted_us']:.0f}" if "ping_us" in n else " | "
        lines.append(f"| {link} | {n['latency_us']:.1f} | {n['send_us']:.1f} | {n['receive_us']:.1f} | {n['wake_us']:.1f} | "
                     f"{n['megabytes_a_second']:.0f} | {pings} |")
    return "\n".join(lines + MISSES + cost.lines(costs)) + "\n"


def together(file, rows, networks, busy):
    """With what the file has of other links and programs, in the order of LINKS; the file has all then."""
    kept = json.loads(file.read_text()) if file.exists() else {"rows": [], "networks": {}, "busy": 0}
    new = {(r["link"], r["program"]) for r in rows}
    rows = sorted([r for r in kept["rows"] if (r["link"], r["program"]) not in new] + rows, key=lambda r: list(LINKS).index(r["link"]))
    networks = {**kept["networks"], **networks}
    networks = {link: networks[link] for link in LINKS if link in networks}
    busy = max(busy, kept["busy"])
    file.write_text(json.dumps({"rows": rows, "networks": networks, "busy": busy}))
    return rows, networks, busy


def keep_to_itself():
    """Goes on in a session, and so in an autogroup, of its own; the caller waits for it and ends as it ends."""
    child = os.fork()
    if child:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it gets one when this process ends
        status = os.waitpid(child, 0)[1]
        sys.exit(os.waitstatus_to_exitcode(status) & 0xff)
    ctypes.CDLL(None).prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG
    os.setsid()
    try:
        pathlib.Path("/proc/self/autogroup").write_text("-20")
    except OSError as why:
        print(f"no group of its own for these processes ({why}): the machine should be idle", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[2])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--links", default=";".join(LINKS), help="some of them, with ; between")
    parser.add_argument("--programs", default=";".join(PROGRAMS), help="some of them, likewise")
    parser.add_argument("--rows", type=pathlib.Path, help="keep what was measured here, and add to what it has: the page can be made in pieces")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/predictions.md")
    asked = parser.parse_args()
    links = asked.links.split(";")
    if unknown := [link for link in links if link not in LINKS]:
        parser.error(f"--links {unknown[0]}: one of {'; '.join(LINKS)}")
    if unknown := [one for one in asked.programs.split(";") if one not in PROGRAMS]:
        parser.error(f"--programs {unknown[0]}: one of {'; '.join(PROGRAMS)}")
    for one in set(PROGRAMS) - set(asked.programs.split(";")):
        del PROGRAMS[one]
    busy = others_busy(3)
    keep_to_itself()
    build = asked.build.resolve()
    costs = cost.measure(build)
    with tempfile.TemporaryDirectory() as folder:  # what has been measured when this is ended is not lost
        kept = asked.rows or pathlib.Path(folder) / "rows"
        for link in links:
            rows, networks, most_busy = together(kept, *check(build, asked.rounds, [link]), busy)
            asked.output.write_text(page(rows, networks, asked.rounds, most_busy, costs))


if __name__ == "__main__":
    main()
