#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py --build BUILD [--rounds N] [--links "A;B"] [--output docs/predictions.md]: what `quire predict` says of programs, beside what they
take on two hosts: network namespaces of this machine, whose links have a rate (tbf), and a latency (relay.cpp holds packets). Each host has a
core. Takes root. Each program runs N times on the hosts, and is predicted N times; the least of both are compared. What the network costs
`quire bench network` has measured between the same hosts. Where the system has autogroups, all this runs in one of its own with the largest
weight: what else runs on this machine hardly delays it. What has been measured is kept in BUILD/predictions.json: `--seconds S` measures for so
long, and the next call what is left; `--again` begins anew."""

import argparse
import ctypes
import datetime
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
METHOD = "messages of the recorded run take as long as on the link"  # of predictions: rows of another one are kept until they are measured anew
MISSES = [
    "", "## Why some are missed", "",
    "The last column compares the real run's own record with the prediction: seconds of a node that are more or less than foretold, by what they went to.", "",
    "- *To send*: the processor time of a context in which a message leaves, beyond what it is between nodes that share memory. `quire bench network` "
    "measures it after",
    "  work that leaves nothing in the caches. A program's message may find more there, or less; and the sender does the receiving host's part of TCP as "
    "well here, since both are one machine.",
    "- *Messages that were taken late*: they found the receiver's one core computing, or came behind others, when `quire bench network` found it looking, "
    "or woke it alone.",
    "- *Faults, barriers, locks, messages, and where it was predicted*: the run on these hosts waited, or sent, more or less often than one as it is "
    "predicted from (with the link's latency, but for †):",
    "  what a row's pages came with, and who met whose request, differs from run to run where nodes share pages. The prediction sends what was sent.",
    "- *Without a core*: threads were ready and waited. A host's one core serves its program, its service thread and, with a latency, the relay in turn; "
    "the prediction",
    "  has the service thread take time of the program's, but knows of no slices: a thread that is woken waits for the end of another one's.",
    "- *The relay* takes processor time for each packet that it holds, on the cores of the two hosts, whose threads lack it. What that is for a message is "
    "*beside*: the",
    "  prediction has threads that compute work so much longer. It knows nothing of a message that waits while the relay has another one in its hands.",
    "- A bucket of tbf holds 64 KiB: on 1 Gbit/s what a program sends after a pause passes at once, and the prediction has it wait for the link.",
    "- Threads of OpenMP's runtime that wait at barriers count in the prediction's barriers, not always in the run's: less there is no gain."]


def usual(times):
    return times[len(times) // 4]  # as bench/job/network.cpp has it


NETWORK_WORDS = ("latency_us", "send_us", "receive_us", "wake_us", "beside_us", "megabytes_a_second")


def network_of(build, hosts):
    """What `quire bench network` says of them, by its words."""
    with tempfile.NamedTemporaryFile("w", suffix=".network") as file:
        command = [f"{build}/bin/quire", "bench", "network", "--hosts", ",".join(hosts.addresses), "--agent", hosts.agent, "--seconds", "4", "-o",
                   file.name]
        subprocess.run(hosts.inside(1, command), stdout=subprocess.DEVNULL, timeout=120, check=True)
        lines = pathlib.Path(file.name).read_text().splitlines()
    return {word: float(number) for word, number in (line.split() for line in lines if not line.startswith("#"))}


def run_really(build, hosts, words, network):
    with tempfile.TemporaryDirectory() as folder:
        command = [f"{build}/bin/quire", "run", "--hosts", ",".join(hosts.addresses), "--agent", hosts.agent, "--timeout", "120", "-n", "2",
                   *words]
        subprocess.run(hosts.inside(1, command), env={**os.environ, "QUIRE_EVENTS": folder, "OMP_NUM_THREADS": "2"},
                       stdout=subprocess.DEVNULL, timeout=150, check=True)
        nodes = account.events(folder)
        seconds, told = account.account(nodes)
        return {"seconds": seconds, "account": told, "sending": account.sending(nodes), "waits": account.waits(nodes),
                "late": account.late_messages(nodes, network)}


def delay_of(network):
    """For which `quire predict` holds messages of two hosts back: QUIRE_DELAY."""
    return f"{sum(network[word] for word in ('latency_us', 'send_us', 'receive_us')):.3f}:{network['megabytes_a_second']:.3f}:1"


def record_here(build, words, network):
    """What a context takes in which a message leaves, and waits, where nodes share this machine's memory: as the record of a prediction has them."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([f"{build}/bin/quire", "run", "-n", "2", "--set", "host_frames=0", *words],
                       env={**os.environ, "QUIRE_EVENTS": folder, "OMP_NUM_THREADS": "2", "QUIRE_DELAY": delay_of(network)},
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=150, check=True)
        nodes = account.events(folder)
        return {"sends_here_us": account.sending(nodes)[0], "waits_here": account.waits(nodes)}


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
    """And the processor time that the relay used."""
    relay = getattr(hosts, "relay", None)
    before = processor_s(relay) if relay else 0
    told = run_really(build, hosts, words, network)
    return {**told, "relay_s": processor_s(relay) - before if relay else 0}


def words_of(build, name):
    """And with the number of threads."""
    words = f"{build}/bin/{PROGRAMS[name]}".split()
    return words, [word.replace("{threads}", "2") for word in words]


def check_program(build, rounds, hosts, file, network, name):
    """A row of the table, but for its link."""
    words, with_threads = words_of(build, name)
    real, alone, told = [], [], []
    for _ in range(rounds):
        real.append(run_relayed(build, hosts, with_threads, network))
        one, two = predict(build, file, words)
        alone.append(one["seconds"])
        told.append(two)
    seconds, best = [one["seconds"] for one in real], min(real, key=lambda one: one["seconds"])
    foretold, likely = [one["seconds"] for one in told], min(told, key=lambda one: one["seconds"])
    return {"program": name, "rounds": rounds, "made": datetime.date.today().isoformat(), "real": min(seconds),
            "real_median": statistics.median(seconds), "told": min(foretold), "told_median": statistics.median(foretold),
            "least": min(one["least_seconds"] for one in told), "most": max(one["most_seconds"] for one in told),
            "model": by_model.seconds(build, name, network, min(alone)), "account": best["account"], "late": best["late"], "relay_s": best["relay_s"],
            "sends_us": best["sending"][0], "sends": best["sending"][1], "send_us": network["send_us"],
            "waits": best["waits"],
            "told_account": account.of_prediction(likely), "told_messages": likely["messages"]}


def others_busy(seconds):
    """Processor time of this machine that others use for a while, in cores."""
    def busy():
        with open("/proc/stat") as file:
            user, nice, system = (int(word) for word in file.readline().split()[1:4])
        return (user + nice + system) / os.sysconf("SC_CLK_TCK")
    before = busy()
    time.sleep(seconds)
    return (busy() - before) / seconds


class Measured:
    """What has been measured so far: a file that outlives this process, written with each row."""

    def __init__(self, file):
        self.file = file
        self.all = {"rows": [], "networks": {}, "costs": None, "bare_us": None}
        if file.exists():
            self.all.update(json.loads(file.read_text()))
        for row in self.all["rows"]:  # of a page before the way was noted
            row.setdefault("method", "messages of the recorded run had no latency")
            row.setdefault("why", "")

    def __getattr__(self, name):
        return self.all[name]

    def has(self, link, program):
        return any((r["link"], r["program"], r["method"]) == (link, program, METHOD) for r in self.all["rows"])

    def put(self, row):
        """In the place of an older one."""
        self.add(rows=[*(r for r in self.all["rows"] if (r["link"], r["program"]) != (row["link"], row["program"])), row])

    def add(self, **what):
        self.all.update(what)
        self.all["rows"].sort(key=lambda r: (list(LINKS).index(r["link"]), list(PROGRAMS).index(r["program"])))
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.all))
        new.replace(self.file)

    def add_network(self, link, figures):
        self.add(networks={one: {**self.all["networks"], link: figures}[one] for one in LINKS if one == link or one in self.all["networks"]})


class Limit:
    """Of time: the next piece of work begins if it fits, should it take as long as the longest of its kind so far."""

    def __init__(self, seconds):
        self.until = time.monotonic() + seconds if seconds else None
        self.longest = {"row": 8, "network": 16, "cost": 40}

    def allows(self, *kinds):
        return self.until is None or time.monotonic() + sum(self.longest[kind] for kind in kinds) < self.until

    def timed(self, kind, function, *arguments):
        begin = time.monotonic()
        told = function(*arguments)
        self.longest[kind] = max(self.longest[kind], time.monotonic() - begin)
        return told


def hosts_of(build, link):
    rate, hold = LINKS[link]
    return Hosts(2, f"{rate}gbit", own_cores=True) if hold is None else RelayedHosts(build, hold, 1000 * rate, own_cores=True)


def measured_network(build, hosts, link):
    """The relay holds each packet: figures that have less than that are of something else, and are measured again."""
    hold = LINKS[link][1]
    pings = {} if hold is None else {"ping_us": usual(ping(hosts))}
    for _ in range(3):
        figures = network_of(build, hosts)
        if figures["latency_us"] + figures["send_us"] + figures["receive_us"] >= (hold or 0):
            return {**figures, **pings}
        print(f"{link}: {figures} is less than what packets are held for", file=sys.stderr, flush=True)
    raise RuntimeError(f"{link}: quire bench network tells less than what packets are held for")


def bare_ping_us(build):
    """Of a relay that holds nothing."""
    with RelayedHosts(build, 0, own_cores=True) as hosts:
        return usual(ping(hosts))


def check(build, rounds, links, programs, kept, limit):
    """Measures what `kept` has not, as long as there is time."""
    busy = others_busy(1)
    for link in links:
        left = [one for one in programs if not kept.has(link, one)]
        if not left or not limit.allows("row", *[] if link in kept.networks else ["network"]):
            continue
        if kept.bare_us is None and LINKS[link][1] is not None:
            kept.add(bare_us=bare_ping_us(build))
        with hosts_of(build, link) as hosts, tempfile.NamedTemporaryFile("w", suffix=".network") as file:
            if link not in kept.networks:
                kept.add_network(link, limit.timed("network", measured_network, build, hosts, link))
            network = kept.networks[link]
            file.write("".join(f"{word} {network[word]}\n" for word in NETWORK_WORDS))
            file.flush()
            for program in left:
                if not limit.allows("row"):
                    return
                row = {"link": link, "method": METHOD, "busy": busy, **limit.timed("row", check_program, build, rounds, hosts, file.name, network, program),
                       **record_here(build, words_of(build, program)[1], network)}
                kept.put({**row, "why": "" if is_right(row) else account.reason(row)})
                print(row, file=sys.stderr, flush=True)


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


def program_of(row):
    return row["program"] + ("" if row["method"] == METHOD else " †")


def within(rows):
    now = [r for r in rows if r["method"] == METHOD]
    return (f"Within 10 % of real runs: {sum(map(is_right, rows))} of {len(rows)}"
            + ("." if len(now) == len(rows) else f"; of those without †, {sum(map(is_right, now))} of {len(now)}."))


def when(rows):
    days = sorted({r["made"] for r in rows})
    return f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"


def page(kept):
    rows, networks, busy = kept.rows, kept.networks, max(r["busy"] for r in kept.rows)
    rounds = sorted({r["rounds"] for r in rows})
    lines = ["# Predictions, and what came", "",
             f"Made by `bench/predict/check.py` {when(rows)} on {os.cpu_count()} cores, {' or '.join(map(str, rounds))} "
             f"round{'s' if rounds != [1] else ''} a row: {len(rows)} of {len(LINKS) * len(PROGRAMS)} rows. "
             "Two nodes on two hosts, which are network namespaces of one machine with a core each,",
             "and links of a rate (tbf), or of a rate and a latency (a relay that holds each packet). Real and predicted: the least of the "
             "rounds, with the median in brackets;", "the difference is that of the least ones. There were no machines for 4, 8 and 16 nodes with a "
             "core each.", f"Before, other programs kept {busy:.1f} cores busy"
             + (": these figures are not those of a quiet machine." if busy > 0.2 else "."), "",
             "| link | program | real, s | predicted, s | range, s | difference | within 10 % | model, s | more or less than foretold, of a node |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    lines += [f"| {r['link']} | {program_of(r)} | {r['real']:.3f} ({r['real_median']:.3f}) | {r['told']:.3f} ({r['told_median']:.3f}) | "
              f"{r['least']:.3f} to {r['most']:.3f} | {100 * (r['told'] / r['real'] - 1):+.0f} % | {'yes' if is_right(r) else '**no**'} | "
              f"{'' if r['model'] is None else format(r['model'], '.3f')} | {r['why']} |"
              for r in rows]
    for method in sorted({r["method"] for r in rows} - {METHOD}):
        lines += ["", f"†: {sum(r['method'] == method for r in rows)} rows of an earlier way to predict, in which {method}; now {METHOD}."]
    lines += ["", within(rows), "", beside_the_model(rows), "", "## The networks", "",
              "As `quire bench network` measured them between the two hosts. A ping is answered by the other host's kernel; it should take as long "
              "as without a hold, and twice the hold.", "",
              "| link | latency, us | sending, us | receiving, us | waking, us | beside, us | MB/s | ping, us | should be, us |",
              "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for link, n in networks.items():
        pings = f"{n['ping_us']:.0f} | {kept.bare_us + 2 * LINKS[link][1]:.0f}" if "ping_us" in n else " | "
        lines.append(f"| {link} | {n['latency_us']:.1f} | {n['send_us']:.1f} | {n['receive_us']:.1f} | {n['wake_us']:.1f} | "
                     f"{n.get('beside_us', 0):.1f} | {n['megabytes_a_second']:.0f} | {pings} |")
    return "\n".join(lines + MISSES + (cost.lines(kept.costs) if kept.costs else [])) + "\n"


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
    parser.add_argument("--seconds", type=float, help="end after so long; the next call goes on")
    parser.add_argument("--again", action="store_true", help="forget what was measured before")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--links", default=";".join(LINKS), help="some of them, with ; between")
    parser.add_argument("--programs", default=";".join(PROGRAMS), help="some of them, likewise")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/predictions.md")
    asked = parser.parse_args()
    links = asked.links.split(";")
    if unknown := [link for link in links if link not in LINKS]:
        parser.error(f"--links {unknown[0]}: one of {'; '.join(LINKS)}")
    if unknown := [one for one in asked.programs.split(";") if one not in PROGRAMS]:
        parser.error(f"--programs {unknown[0]}: one of {'; '.join(PROGRAMS)}")
    build, limit = asked.build.resolve(), Limit(asked.seconds)
    file = build / "predictions.json"
    if asked.again:
        file.unlink(missing_ok=True)
    kept = Measured(file)
    keep_to_itself()
    if kept.costs is None and limit.allows("cost"):
        kept.add(costs=cost.measure(build))
    check(build, asked.rounds, links, asked.programs.split(";"), kept, limit)
    if kept.rows:
        asked.output.write_text(page(kept))
    left = [f"{link}: {one}" for link in links for one in asked.programs.split(";") if not kept.has(link, one)]
    print(f"{len(kept.rows)} rows, {len(left)} are left" + ("" if kept.costs else ", and the cost"), file=sys.stderr)


if __name__ == "__main__":
    main()
