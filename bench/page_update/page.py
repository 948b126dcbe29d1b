# SPDX-License-Identifier: BSD-3-Clause
"""The comparison as tables, of what page_update.py has measured."""
from fetch import PARTS
from tables import Table, bars, number

TITLE = "How pages get updated"
HEADING = "How pages get updated: the methods compared"
ABOUT = "The tables follow ParADE's papers (Table 1, Figures 10 to 15)."


def cost_table(costs, size):
    """Rows of pools, columns of operations: medians, and means in brackets."""
    pools, operations = [], []
    for name in costs:
        if f" {size} " not in name:
            continue
        pool, operation = name.split(f" {size} ")
        pools += [pool] * (pool not in pools)
        operations += [operation] * (operation not in operations)
    order = [o for o in ("create", "fill", "map", "second view", "copy, first", "copy", "protect none", "protect read-write",
                         "unmap", "remove") if o in operations]
    cell = lambda row: f"{number(row['median'])} ({number(row['mean'])})" if row else "-"
    return ["pool", *order], [[p, *(cell(costs.get(f"{p} {size} {o}")) for o in order)] for p in pools]


def fault_table(faults, what):
    kinds = []
    for name in faults:
        kind = " ".join(name.split()[:2])
        kinds += [kind] * (kind not in kinds)
    return ["pool, detector", *what], [[k, *(number(faults[f"{k} {w}"]["median"]) if f"{k} {w}" in faults else "-" for w in what)]
                                       for k in kinds]


def tables(found):
    yield Table("Basic operations, 4 KiB", "microseconds, median (mean)", *cost_table(found["costs"], "4K"))
    yield Table("Basic operations, 64 MiB", "microseconds, median (mean)", *cost_table(found["costs"], "64M"))
    yield Table("A fault, random pages", "microseconds, median: delivery, permission, return",
                *fault_table(found["faults"], [f"fault: {p}" for p in ("to the handler", "permission", "back", "all")]))
    changes = ("none to read", "read to write", "write to read", "read to none")
    for threads in ("1 thread", "2 threads"):
        yield Table(f"Permissions, a page at a time, {threads} running", "microseconds, median",
                    *fault_table(found["faults"], [f"1 page, {threads}: {c}" for c in changes]))
        yield Table(f"Permissions, 1024 pages at a time, {threads} running", "microseconds a page, median",
                    *fault_table(found["faults"], [f"1024 pages, {threads}: {c}" for c in changes]))
    limits = [[" ".join(n.split()[:2]), f"{row['median']:.0f}", row["unit"].split(", ")[1]]
              for n, row in found["faults"].items() if n.endswith("alternating states")]
    yield Table("Pages in alternating states", "where each scheme breaks", ["pool, detector", "pages", "then"], limits)
    yield Table("A page fetch from another node", "microseconds: medians of the parts, by time stamps, and of the whole",
                ["pool, detector", *PARTS, "total", "ratio to default"],
                [[f"{r['pool']} {r['detector']}", *map(number, r["parts"]), number(r["total"]), f"{r['ratio']:.2f}"] for r in found["fetches"]],
                [("", bars([(f"{r['pool']} {r['detector']}", r["parts"]) for r in found["fetches"]], PARTS))])
    yield Table("Properties of the pools", "each found out here; addresses: of the program's process, for each shared byte; copy after "
                "sync(): a page written again, compared with before", *property_table(found))
    yield Table("Start and end of a job of one node", "milliseconds, median", ["pool", "region of 4 KB", "region of 64 MB"],
                [[p, number(t["4KB"]), number(t["64MB"])] for p, t in found["starts"].items()])
    columns = ["application, nodes", *(f"{p} {d}" for p, d in pairs_of(found))]
    yield Table("Applications, 2 threads a node", "seconds, median; every pool and detector gave the same result", columns,
                application_rows(found, "time_s"), list(application_bars(found)))
    yield Table("Initialisation of the applications", "seconds of a run beyond its computation: start, memory, data, end", columns,
                application_rows(found, "start_s"))
    yield Table("Faults in race", "for each read fault that asked for a page, how many threads joined it", columns,
                application_rows(found, "racing_ratio"))


def application_bars(found):
    """Of each, those on the most nodes."""
    for name in dict.fromkeys(r["application"] for r in found["applications"]):
        most = max(r["nodes"] for r in found["applications"] if r["application"] == name)
        chosen = [(f"{r['pool']} {r['detector']}", [r["time_s"]]) for r in found["applications"]
                  if r["application"] == name and r["nodes"] == most]
        yield f"{name}, {most} nodes", bars(chosen, ("seconds",))


def property_table(found):
    yes = lambda value: "not tried" if value is None else "yes" if value else "no"
    rows = []
    for p in found["properties"]:
        pool = p["name"].split(",")[0]
        fastest = min((r["ratio"] for r in found["fetches"] if r["pool"] == pool), default=None)
        start = found["starts"].get(pool)
        rows.append([p["name"], p["detectors"], number(p["addresses_per_byte"]), yes(p["holds_64_gib"]),
                     number(start["64MB"] - start["4KB"]) if start else "-", number(p["copy_after_sync"]), str(p["left_after_kill"]),
                     yes(p["content_after_kill"]), f"{fastest:.2f}" if fastest else "-"])
    return ["pool", "detectors", "addresses", "holds 64 GiB", "start of 64 MB, ms", "copy after sync()", "left after kill -9",
            "content known after kill -9", "best fetch, ratio to default"], rows


def pairs_of(found):
    return list(dict.fromkeys((r["pool"], r["detector"]) for r in found["applications"]))


def application_rows(found, key):
    rows = {}
    for r in found["applications"]:
        rows.setdefault(f"{r['application']}, {r['nodes']}", {})[r["pool"], r["detector"]] = number(r[key])
    return [[name, *(cells.get(pair, "-") for pair in pairs_of(found))] for name, cells in rows.items()]
