# SPDX-License-Identifier: BSD-3-Clause
"""The comparison as tables: for the screen, and as one HTML page with plots. Takes what page_update.py has measured."""
import html as escape

from fetch import PARTS

COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#9c755f")

def number(value):
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


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
    """Title, note, columns, rows."""
    yield "Basic operations, 4 KiB", "microseconds, median (mean)", *cost_table(found["costs"], "4K")
    yield "Basic operations, 64 MiB", "microseconds, median (mean)", *cost_table(found["costs"], "64M")
    yield ("A fault, random pages", "microseconds, median: delivery, permission, return",
           *fault_table(found["faults"], [f"fault: {p}" for p in ("to the handler", "permission", "back", "all")]))
    for threads in ("1 thread", "2 threads"):
        yield (f"Permissions, a page at a time, {threads} running", "microseconds, median",
               *fault_table(found["faults"], [f"1 page, {threads}: {c}" for c in
                                              ("none to read", "read to write", "write to read", "read to none")]))
        yield (f"Permissions, 1024 pages at a time, {threads} running", "microseconds a page, median",
               *fault_table(found["faults"], [f"1024 pages, {threads}: {c}" for c in
                                              ("none to read", "read to write", "write to read", "read to none")]))
    limits = [[" ".join(n.split()[:2]), f"{row['median']:.0f}", row["unit"].split(", ")[1]]
              for n, row in found["faults"].items() if n.endswith("alternating states")]
    yield "Pages in alternating states", "where each scheme breaks", ["pool, detector", "pages", "then"], limits
    yield ("A page fetch from another node", "microseconds: medians of the parts, by time stamps, and of the whole",
           ["pool, detector", *PARTS, "total", "ratio to default"],
           [[f"{r['pool']} {r['detector']}", *map(number, r["parts"]), number(r["total"]), f"{r['ratio']:.2f}"] for r in found["fetches"]])
    yield ("Properties of the pools", "each found out here; addresses: of the program's process, for each shared byte; copy after "
           "sync(): a page written again, compared with before", *property_table(found))
    yield ("Start and end of a job of one node", "milliseconds, median", ["pool", "region of 4 KB", "region of 64 MB"],
           [[p, number(t["4KB"]), number(t["64MB"])] for p, t in found["starts"].items()])
    yield ("Applications, 2 threads a node", "seconds, median; every pool and detector gave the same result",
           ["application, nodes", *(f"{p} {d}" for p, d in pairs_of(found))], application_rows(found, "time_s"))
    yield ("Initialisation of the applications", "seconds of a run beyond its computation: start, memory, data, end",
           ["application, nodes", *(f"{p} {d}" for p, d in pairs_of(found))], application_rows(found, "start_s"))
    yield ("Faults in race", "for each read fault that asked for a page, how many threads joined it",
           ["application, nodes", *(f"{p} {d}" for p, d in pairs_of(found))], application_rows(found, "racing_ratio"))


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


def text(found):
    m = found["machine"]
    lines = [f"{m['processor']}, {m['cores']} cores, Linux {m['kernel']}, commit {m['commit']}, load {m['load']:.1f}, {m['date']}"]
    for title, note, columns, rows in tables(found):
        widths = [max(len(str(row[i])) for row in [columns, *rows]) for i in range(len(columns))]
        lines += ["", f"{title} ({note})"]
        for row in [columns, *rows]:
            lines.append("  " + row[0].ljust(widths[0]) + "".join("  " + str(c).rjust(w) for c, w in zip(row[1:], widths[1:])))
    if found["left_out"]:
        lines += ["", "not built, so left out: " + ", ".join(found["left_out"])]
    return "\n".join(lines)


def bars(rows, parts):
    """Horizontal bars in parts, as SVG. Rows: label, values."""
    longest = max(sum(max(v, 0) for v in values) for _, values in rows) or 1
    height, left, width = 24, 170, 640
    out = [f'<svg width="{left + width + 80}" height="{height * (len(rows) + 1) + 10}" role="img">']
    for i, (label, values) in enumerate(rows):
        y, x = i * height, float(left)
        out.append(f'<text x="{left - 8}" y="{y + 16}" text-anchor="end">{escape.escape(label)}</text>')
        for value, colour in zip(values, COLOURS):
            w = max(value, 0) / longest * width
            out.append(f'<rect x="{x:.1f}" y="{y + 3}" width="{w:.1f}" height="{height - 6}" fill="{colour}"/>')
            x += w
        out.append(f'<text x="{x + 6:.1f}" y="{y + 16}">{number(sum(values))}</text>')
    x, y = left, len(rows) * height + 8
    for part, colour in zip(parts, COLOURS):
        out.append(f'<rect x="{x}" y="{y}" width="10" height="10" fill="{colour}"/>'
                   f'<text x="{x + 14}" y="{y + 10}">{escape.escape(part)}</text>')
        x += 30 + 7 * len(part)
    return "".join(out) + "</svg>"


def html(found, style):
    m = found["machine"]
    out = ["<!doctype html><meta charset='utf-8'><title>How pages get updated</title>", f"<style>{style}</style>",
           "<h1>How pages get updated: the methods compared</h1>",
           f"<p>{escape.escape(m['processor'])}, {m['cores']} cores, Linux {m['kernel']}, commit {m['commit']}, {m['date']}"
           f"{', --quick' if found['quick'] else ''}. The tables follow ParADE's papers (Table 1, Figures 10 to 15).</p>"]
    for title, note, columns, rows in tables(found):
        out.append(f"<h2>{escape.escape(title)}</h2><p class='note'>{escape.escape(note)}</p>")
        if title.startswith("A page fetch"):
            out.append(bars([(f"{r['pool']} {r['detector']}", r["parts"]) for r in found["fetches"]], PARTS))
        if title.startswith("Applications"):
            for name in dict.fromkeys(r["application"] for r in found["applications"]):
                most = max(r["nodes"] for r in found["applications"] if r["application"] == name)
                chosen = [(f"{r['pool']} {r['detector']}", [r["time_s"]]) for r in found["applications"]
                          if r["application"] == name and r["nodes"] == most]
                out.append(f"<p>{name}, {most} nodes</p>" + bars(chosen, ("seconds",)))
        cells = "".join("<tr>" + "".join(f"<td>{escape.escape(str(c))}</td>" for c in row) + "</tr>" for row in rows)
        out.append("<table><tr>" + "".join(f"<th>{escape.escape(c)}</th>" for c in columns) + f"</tr>{cells}</table>")
    if found["left_out"]:
        out.append(f"<p class='note'>Not built, so left out: {', '.join(found['left_out'])}</p>")
    return "\n".join(out)
