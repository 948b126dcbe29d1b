# SPDX-License-Identifier: BSD-3-Clause
"""The evaluation as tables and figures, of what multiview.py has measured."""
import paper
from tables import Table, bars, lines, number

TITLE = "Sharing below a page"
HEADING = "Sharing below a page: Millipage's evaluation on Quire"
ABOUT = ("Tables and figures follow Itzkovitz and Schuster, MultiView and Millipage (OSDI 1999), section 4. What is marked as published is theirs, from "
         "machines of that time; all else was measured or, where it says so, computed in virtual time when this page was made.")

PAGE = 4096
GRANULARITY = {"sor": "a row, {}", "is": "{}", "water": "a molecule, {}", "lu": "a block, {}", "tsp": "a tour, {}"}


def size(count):
    for unit, name in ((1 << 20, "MB"), (1 << 10, "KB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} bytes"


def spread(row):
    """Median, and the least in brackets."""
    return "-" if row is None else f"{number(row['median'])} ({number(row['min'])})"


def published(value):
    if isinstance(value, tuple):
        return f"{value[0]} to {value[1]}"
    return "-" if value is None else str(value)


def tables(found):
    yield from overheads(found["overheads"])
    yield costs(found["costs"])
    yield copies(found["costs"])
    if found["applications"]:  # an installed tree has none
        yield characteristics(found)
        yield speed_ups(found["applications"])
        yield from modelled_speed_ups(found)
        yield counts(found)
        yield chunks(found)
        yield modelled_chunks(found["model"])
    yield targets(found["targets"])
    yield sharing(found["sharing"])


# ---- Figure 5

def overheads(rows):
    for what in ("bytes", "words"):
        for skewed in (True, False):
            chosen = {(r["views"], r["bytes"]): r for r in rows if r["what"] == what and r["skewed"] == skewed}
            views, sizes = sorted({v for v, _ in chosen}), sorted({b for _, b in chosen})
            series = {size(b): [(v, chosen[v, b]["ratio"]) for v in views] for b in sizes}
            yield Table(f"Figure 5: reading {what} through n views, {'skewed' if skewed else 'one behind the other'}",
                        "time, to that of one view: median of the rounds (of the least times of both). Published: at most 1.04 up to 32 views of bytes",
                        ["views", *map(size, sizes)],
                        [[v, *(f"{chosen[v, b]['ratio']:.2f} ({chosen[v, b]['least']:.2f})" for b in sizes)] for v in views],
                        [("", lines(series, "views", "time, to one view", powers=True))])


# ---- Table 1

def half(row):
    return {key: row[key] / 2 for key in ("median", "min")}


def answer(exchange, short):
    """What is left of an exchange without its short request. None where other work on the machine has drowned the difference."""
    left = {key: exchange[key] - short[key] / 2 for key in ("median", "min")}
    return left if min(left.values()) > 0 else None


def costs(found):
    machine, shm, tcp = found["machine"], *(found["by_transport"][t] for t in ("shm", "tcp"))
    nanoseconds = {k: v / 1000 for k, v in machine["diff"].items() if k in ("median", "min")}
    model = found["model"]["published prices"]
    rows = [("access fault", machine["access fault"], None, None), ("get protection", None, None, None),
            ("set protection", machine["set protection"], None, None), ("header message", half(shm["exchange"]), half(tcp["exchange"]), None),
            *((f"data message, {name}", *(answer(t[f"exchange {bytes_}"], t["exchange"]) for t in (shm, tcp)), None)
              for name, bytes_ in (("0.5 KB", 512), ("1 KB", 1024), ("4 KB", PAGE))),
            ("minipage lookup", shm["lookup"], None, None)]
    rows += [(f"read {b}", shm[f"read {b}"], tcp[f"read {b}"], model[f"read {b}"]) for b in (128, 4096)]
    rows += [(f"write {b}", shm[f"write {b} 0"], tcp[f"write {b} 0"], model[f"write {b} 0"]) for b in (128, 4096)]
    rows += [("barrier", shm["barrier"], tcp["barrier"], model["barrier 2"]), ("lock and unlock", shm["lock_unlock"], tcp["lock_unlock"], model["lock"]),
             ("diff of 4 KB", nanoseconds, None, None)]
    return Table("Table 1: basic costs", "microseconds: median (least). Fault, protection, lookup and diff (64 words changed, not in a cache) need no "
                 "transport, and stand under shared memory; Quire never asks for a protection. A write fetches what one other node has. Messages: of the "
                 "bare transport. Last: Quire's protocol in virtual time at the published prices",
                 ["operation", "published", "shared memory", "TCP", "virtual"],
                 [[name, published(paper.COSTS[name]), spread(a), spread(b), number(c)] for name, a, b, c in rows])


def copies(found):
    """Writes that take copies away, and barriers, by the number of nodes."""
    more = {int(n): f for n, f in found["nodes"].items()}
    here = {2: found["by_transport"]["shm"], **more}
    rows = []
    for b in (128, 4096):
        for k in range(7):
            real = here.get(k + 2, {}).get(f"write {b} {k}")
            rows.append([f"write {b}, {k} more copies", k + 2, spread(real), *(number(found["model"][m].get(f"write {b} {k}")) for m in found["model"])])
    for n in range(2, 9):
        virtual = [number(model.get(f"barrier {n}")) for model in found["model"].values()]
        rows.append([f"barrier, {n} nodes", n, spread(here.get(n, {}).get("barrier")), *virtual])
    return Table("Writes by copies, barriers by nodes",
                 "microseconds. Real: over shared memory, where there are more nodes than cores they wait for these too; virtual: by prices. Published: writes "
                 f"{published(paper.COSTS['write 128'])} (128 bytes) and {published(paper.COSTS['write 4096'])} (4 KB), barriers "
                 f"{published(paper.COSTS['barrier'])} on 1 to 8 nodes",
                 ["operation", "nodes", "real", *(f"virtual: {m}" for m in found["model"])], rows)


# ---- Table 2

def characteristics(found):
    rows = []
    ways = {(r["application"], r["way"]): r for r in found["applications"]}
    for name, element in found["elements"].items():
        run = ways.get((name, "minipages"), ways.get((name, "pages")))
        if run is None:
            continue
        inputs, memory, views, granularity, barriers, locks = paper.APPLICATIONS[name]
        own_views = 1 if element > PAGE // 2 else PAGE // ((element + 15) // 16 * 16)
        rows.append([name.upper(), inputs, run["problem"], memory, size(run["region_bytes"]), views, own_views, granularity,
                     GRANULARITY[name].format(size(element)), barriers, number(run["barriers"] / max(run["nodes"], 1)), published(locks),
                     number(run["locks"])])
    both = [title for what in ("input", "memory", "views", "granularity", "barriers", "locks") for title in (what + ", published", what)]
    return Table("Table 2: applications", "first what is published, then Quire's, of a job of two nodes from start to end: the size of regions (TSP's have "
                 "room for more tours than are used), barriers of each node, locks of all. SOR and LU compute with doubles", ["application", *both], rows)


# ---- Figure 6

def speed_ups(rows):
    chosen = [r for r in rows if r["way"] in ("serial", "OpenMP, 2 threads", "1 node", "pages", "minipages")]
    parallel = [r for r in chosen if r["way"] != "serial"]
    return Table("Figure 6: speed-ups on two nodes of this machine", "against the serial program in the same round: median (best); counters of the whole job",
                 ["application, way", "seconds", "speed-up", "messages", "faults", "competing requests"],
                 [[f"{r['application']}, {r['way']}", number(r["time_s"]), f"{r['speed_up']:.2f} ({r['best']:.2f})",
                   *((number(r["messages_sent"]), number(faults(r)), number(r["competing_requests"])) if r["nodes"] == 2 else ("-",) * 3)] for r in chosen],
                 [("", bars([(f"{r['application']}, {r['way']}", [r["speed_up"]]) for r in parallel], ("speed-up",)))])


def faults(row):
    return row["read_faults"] + row["write_faults"] + row["upgrade_faults"]


def modelled_speed_ups(found):
    rows = [r for r in found["model"] if r["way"] in ("pages", "minipages")]
    for prices in dict.fromkeys(r["prices"] for r in rows):
        series = {}
        for r in rows:
            if r["prices"] == prices:
                series.setdefault(f"{r['application']}, {r['way']}", []).append((r["nodes"], r["speed_up"]))
        nodes = sorted({n for curve in series.values() for n, _ in curve})
        slow = f" Processors are taken to be {found['slower']} times slower than here: that is assumed, not published" if "published" in prices else ""
        yield Table(f"Figure 6 in virtual time: {prices}", "speed-ups against one node of the model. The protocols are the real ones; programs are short "
                    "models of the applications' accesses, locks and barriers, which compute as long as the serial program took here "
                    "(bench/multiview/patterns.hpp)." + slow,
                    ["application, way", *(f"{n} nodes" for n in nodes)],
                    [[name, *(f"{dict(curve)[n]:.2f}" for n in nodes)] for name, curve in series.items()], [("", lines(series, "nodes", "speed-up"))])


def counts(found):
    """Whether the model counts right."""
    real = {(r["application"], r["way"]): r for r in found["applications"] if r["nodes"] == 2}
    model = {(r["application"], r["way"]): r for r in found["model"] if r["nodes"] == 2 and r["prices"] == "shared memory"}
    both = [k for k in real if k in model]
    asked = lambda run: number(run["read_faults"] + run["write_faults"])
    return Table("The model beside the programs, two nodes", "messages and faults from the end of the set-up to that of the computation. Each node of the "
                 "model has a core to itself. TSP's model is rough: it searches nothing",
                 ["application, way", "messages", "model", "MB", "model", "faults", "model"],
                 [[", ".join(k), number(real[k]["computing"]["messages"]), number(model[k]["messages"]), number(real[k]["computing"]["bytes"] / 1e6),
                   number(model[k]["bytes"] / 1e6), asked(real[k]["computing"]), asked(model[k])] for k in both])


# ---- Figure 7

def chunks(found):
    rows = [r for r in found["applications"] if r["application"] == "water" and r["nodes"] == 2]
    return Table("Figure 7: WATER by chunk, on two nodes of this machine",
                 "efficiency: speed-up / 2, median (best). minipages: a molecule in each; chunk=N: N of them. Published: " + paper.CHUNKS,
                 ["units", "seconds", "efficiency", "messages", "MB", "faults", "competing requests"],
                 [[r["way"], number(r["time_s"]), f"{r['speed_up'] / 2:.2f} ({r['best'] / 2:.2f})", number(r["messages_sent"]), number(r["bytes_sent"] / 1e6),
                   number(faults(r)), number(r["competing_requests"])] for r in rows],
                 [("efficiency", bars([(r["way"], [r["speed_up"] / 2]) for r in rows], ("efficiency",)))])


def modelled_chunks(model):
    rows = [r for r in model if r["application"] == "water" and r["nodes"] == max(m["nodes"] for m in model)]
    ways, prices = list(dict.fromkeys(r["way"] for r in rows)), list(dict.fromkeys(r["prices"] for r in rows))
    order = sorted(ways, key=lambda w: (w == "composed", w == "pages", w != "minipages", w))
    cell = {(r["way"], r["prices"]): r for r in rows}
    nodes = rows[0]["nodes"]
    chunk = {"minipages": 1, "pages": 6, **{w: int(w.split("=")[1]) for w in ways if "=" in w}}
    series = {p: [(chunk[w], cell[w, p]["speed_up"] / nodes) for w in order if w in chunk] for p in prices}
    first = {w: cell[w, prices[0]] for w in order}
    return Table(f"Figure 7 in virtual time: WATER by chunk, on {nodes} nodes", "efficiency; messages and competing requests at the first prices. Chunks of 4 "
                 "and 5 molecules have a page each. Published: " + paper.CHUNKS,
                 ["units", *prices, "messages", "competing requests"],
                 [[w, *(f"{cell[w, p]['speed_up'] / nodes:.2f}" for p in prices), first[w]["messages"], first[w]["competing_requests"]] for w in order],
                 [("efficiency by molecules in a chunk; 6: pages", lines(series, "molecules in a chunk", "efficiency"))])


# ---- Targets

def targets(rows):
    sign = {"most": "<=", "least": ">="}
    return Table("Targets", "both sides in one run: median of the rounds' ratios, by which a target is met; and the ratio of the least times of both",
                 ["what", "median", "of the least", "target", "meets"],
                 [[r["name"], number(r["median"]), number(r["least"]), f"{sign[r['bound']]} {r['target']:g}", "yes" if r["meets"] else "NO"] for r in rows])


def sharing(found):
    names = list(found["shm"])
    return Table("False sharing and sweeps", "median (least)", ["what", "unit", "shared memory", "TCP"],
                 [[n, found["shm"][n]["unit"], spread(found["shm"][n]), spread(found["tcp"][n])] for n in names])
