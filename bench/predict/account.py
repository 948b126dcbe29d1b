# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a run went, by its own record (src/record/events.hpp), beside where the prediction has it: why a prediction is missed."""
import bisect
import glob
import struct

ASKS, GOES_ON, CONTEXTS, COMES, LEAVES, MET, ENDS = 1, 2, (3, 4, 5), 4, 6, 8, 9  # record::event_type
KINDS = ("other", "faults", "barriers", "locks")  # record::asked
EVENT, HEAD = struct.Struct("<BBHIQQQ"), struct.Struct("<5Q")
LEAST_WORK = 0.01  # of the time: other threads are Quire's, as in tools/predict/replay.cpp


def events(folder):
    """By node: (type, kind, peer, us without a core, key, ns, processor ns), in order."""
    nodes = []
    for path in sorted(glob.glob(f"{folder}/quire.*.events")):
        with open(path, "rb") as file:
            taken = HEAD.unpack(file.read(128)[:40])[4]
            nodes.append(list(EVENT.iter_unpack(file.read(taken * EVENT.size))))
    return nodes


def add(to, what, seconds):
    to[what] = to.get(what, 0) + seconds


def account_of_thread(thread, met_ns):
    """Seconds since all nodes had met. Without a core: part of the others, but of work, which is processor time."""
    told = {}
    before = asked = None
    for kind, of, _, no_core_us, _, ns, processor_ns in thread:
        if before is not None and ns > met_ns:
            share = (ns - max(met_ns, before[0])) / max(1, ns - before[0])
            add(told, "without a core", share * (no_core_us - before[2]) / 1e6)
            if kind == GOES_ON and asked is not None:
                add(told, KINDS[min(asked, 3)], (ns - max(met_ns, before[0])) / 1e9)
            else:
                add(told, "work", share * (processor_ns - before[1]) / 1e9)
        if kind == ASKS:
            asked = of
        before = (ns, processor_ns, no_core_us)
    return told


def threads_of(node):
    threads = {}
    for e in node:
        if e[0] in (ASKS, GOES_ON, MET, ENDS):
            threads.setdefault(e[2], []).append(e)
    return list(threads.values())


def is_programs(thread, told, seconds):
    return any(e[0] == MET for e in thread) or told.get("work", 0) > LEAST_WORK * seconds


def account(nodes):
    """(seconds from when all nodes had met until the last thread's end, what a node did and waited for in that time)."""
    met_ns = max(e[5] for n in nodes for e in n if e[0] == MET)
    seconds = (max(e[5] for n in nodes for e in n if e[0] == ENDS) - met_ns) / 1e9
    told = {}
    for n in nodes:
        for thread in threads_of(n):
            one = account_of_thread(thread, met_ns)
            if is_programs(thread, one, seconds):
                for what, amount in one.items():
                    add(told, what, amount / len(nodes))
    return seconds, told


def waits(nodes):
    """What a node's threads have waited for since all had met: (how often, us in the mean)."""
    met_ns = max(e[5] for n in nodes for e in n if e[0] == MET)
    seconds = (max(e[5] for n in nodes for e in n if e[0] == ENDS) - met_ns) / 1e9
    took = {}
    for n in nodes:
        for thread in threads_of(n):
            if not is_programs(thread, account_of_thread(thread, met_ns), seconds):
                continue
            for a, b in zip(thread, thread[1:]):
                if a[0] == ASKS and b[0] == GOES_ON and a[5] >= met_ns:
                    took.setdefault(KINDS[min(a[1], 3)], []).append((b[5] - a[5]) / 1e3)
    return {what: (len(each) / len(nodes), sum(each) / len(each)) for what, each in took.items()}


def sending(nodes):
    """(us of processor time that a context takes in which a message leaves, how many of them a node had), since all had met."""
    met_ns = max(e[5] for n in nodes for e in n if e[0] == MET)
    took = []
    for n in nodes:
        senders = {e[6] for e in n if e[0] == LEAVES}
        took += [e[6] / 1e3 for place, e in enumerate(n, 1) if e[0] in CONTEXTS and place in senders and e[5] > met_ns]
    return (sum(took) / len(took), len(took) / len(nodes)) if took else (0, 0)


def waits_of(node, met_ns, seconds):
    """When a thread of the program waited, in order: (from, to), ns."""
    waits = []
    for thread in threads_of(node):
        if is_programs(thread, account_of_thread(thread, met_ns), seconds):
            waits += [(a[5], b[5]) for a, b in zip(thread, thread[1:]) if b[0] == GOES_ON]
    return sorted(waits)


def waits_at(waits, ns):
    at = bisect.bisect(waits, (ns, 1 << 63))
    return any(begin <= ns <= end for begin, end in waits[max(0, at - 4):at])


def late_messages(nodes, network):
    """Of messages to a node that waits, and to one that computes: (how many, us from leaving until taken, us foretold)."""
    met_ns = max(e[5] for n in nodes for e in n if e[0] == MET)
    seconds = (max(e[5] for n in nodes for e in n if e[0] == ENDS) - met_ns) / 1e9
    waits = [waits_of(n, met_ns, seconds) for n in nodes]
    told = {}
    for here, there in ((0, 1), (1, 0)):
        left = [e for e in nodes[here] if e[0] == LEAVES and e[2] == there]
        came = [e for e in nodes[there] if e[0] == COMES and e[2] == here]
        for a, b in zip(left, came):
            if a[5] < met_ns:
                continue
            computes = not waits_at(waits[there], a[5])
            foretold = sum(network[word] for word in ("latency_us", "send_us", "receive_us")) + a[3] / network["megabytes_a_second"]
            one = told.setdefault("a node that computes" if computes else "a node that waits", [0, 0, 0])
            one[0] += 1
            one[1] += (b[5] - a[5]) / 1e3
            one[2] += foretold + (network["wake_us"] if computes else 0)
    return {where: (number, took / number, foretold / number) for where, (number, took, foretold) in told.items()}


def of_prediction(told):
    """The same of one prediction of `quire predict --json`."""
    each = told["seconds"] * told["threads"] / told["nodes"] / 100
    return {what: each * told[f"{what}_percent"] for what in ("work", *KINDS)}


def reason(row):
    """Of a miss: what the run spent more, or less, of than was foretold, the most first; and what had no core meanwhile."""
    real, told = row["account"], row["told_account"]
    off = row["real"] - row["told"]
    more = sorted(((real.get(what, 0) - told.get(what, 0), what) for what in ("work", *KINDS)), key=lambda one: -abs(one[0]))
    parts = [f"{what} {by:+.3f} s" for by, what in more if abs(by) > 0.2 * abs(off)][:3]
    extra_us = row["sends_us"] - row["sends_here_us"]
    if (by := (extra_us - row["send_us"]) * row["sends"] / 1e6) > 0.1 * abs(off):
        parts.append(f"to send took {extra_us:.1f} us a time, {row['send_us']:.1f} foretold: {by:+.3f} s")
    for what, (number, took_us) in row["waits"].items():
        before = row["waits_here"].get(what, (0, 0))[0]
        if what != "other" and abs(number - before) * took_us / 1e6 > 0.2 * abs(off):
            parts.append(f"{number:.0f} {what} of {took_us:.0f} us, and {before:.0f} where it was predicted")
    messages = sum(number for number, _, _ in row["late"].values())
    if abs(messages / max(1, row["told_messages"]) - 1) > 0.1:
        parts.append(f"{messages} messages, {row['told_messages']} where it was predicted")
    for where, (number, took_us, foretold_us) in row["late"].items():
        if number * (took_us - foretold_us) / 2e6 > 0.1 * abs(off):
            parts.append(f"{number} messages to {where} were taken after {took_us:.0f} us, {foretold_us:.0f} foretold")
    no_core = real.get("without a core", 0)
    if no_core > 0.2 * abs(off):
        parts.append(f"its threads were {no_core:.3f} s without a core")
    if row.get("relay_s", 0) > 0.2 * abs(off):
        parts.append(f"the relay used {row['relay_s']:.3f} s of one")
    if abs(row["real_median"] / row["real"] - 1) > 0.1:
        parts.append("rounds differ by more than is missed" if abs(row["real_median"] - row["real"]) > abs(off) else "rounds differ")
    return "; ".join(parts)
