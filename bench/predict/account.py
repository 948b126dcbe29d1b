# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a run went, by its own record (src/record/events.hpp), beside where the prediction has it: why a prediction is missed."""
import glob
import struct

ASKS, GOES_ON, MET, ENDS = 1, 2, 8, 9  # record::event_type
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


def account(nodes):
    """(seconds from when all nodes had met until the last thread's end, what a node did and waited for in that time)."""
    met_ns = max(e[5] for n in nodes for e in n if e[0] == MET)
    seconds = (max(e[5] for n in nodes for e in n if e[0] == ENDS) - met_ns) / 1e9
    told = {}
    for n in nodes:
        threads = {}
        for e in n:
            if e[0] in (ASKS, GOES_ON, MET, ENDS):
                threads.setdefault(e[2], []).append(e)
        for thread in threads.values():
            one = account_of_thread(thread, met_ns)
            if any(e[0] == MET for e in thread) or one.get("work", 0) > LEAST_WORK * seconds:
                for what, amount in one.items():
                    add(told, what, amount / len(nodes))
    return seconds, told


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
    no_core = real.get("without a core", 0)
    if no_core > 0.2 * abs(off):
        parts.append(f"its threads were {no_core:.3f} s without a core")
    if row.get("relay_s", 0) > 0.2 * abs(off):
        parts.append(f"the relay used {row['relay_s']:.3f} s of one")
    if abs(row["real_median"] / row["real"] - 1) > 0.1:
        parts.append("rounds differ by more than is missed" if abs(row["real_median"] - row["real"]) > abs(off) else "rounds differ")
    return "; ".join(parts)
