# SPDX-License-Identifier: BSD-3-Clause
"""Tables for the screen, and as one HTML page with figures in SVG, which needs nothing beside itself."""
import html as escape
import math
from pathlib import Path
from typing import NamedTuple

COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#9c755f", "#edc948", "#ff9da7", "#bab0ac")


class Table(NamedTuple):
    title: str
    note: str
    columns: list
    rows: list
    figures: list = []  # of the HTML page: titles and SVG


def number(value):
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def about(found):
    m = found["machine"]
    return f"{m['processor']}, {m['cores']} cores, Linux {m['kernel']}, commit {m['commit']}, load {m['load']:.1f}, {m['date']}" + \
        (", --quick" if found["quick"] else "")


def text(found, tables):
    lines = [about(found)]
    for t in tables:
        widths = [max(len(str(row[i])) for row in [t.columns, *t.rows]) for i in range(len(t.columns))]
        lines += ["", f"{t.title} ({t.note})"]
        for row in [t.columns, *t.rows]:
            lines.append("  " + str(row[0]).ljust(widths[0]) + "".join("  " + str(c).rjust(w) for c, w in zip(row[1:], widths[1:])))
    if found.get("left_out"):
        lines += ["", "left out: " + "; ".join(found["left_out"])]
    return "\n".join(lines)


def html(found, title, heading, intro, tables):
    style = (Path(__file__).resolve().parent / "page.css").read_text()
    out = [f"<!doctype html><meta charset='utf-8'><title>{escape.escape(title)}</title>", f"<style>{style}</style>",
           f"<h1>{escape.escape(heading)}</h1>", f"<p>{escape.escape(about(found))}. {escape.escape(intro)}</p>"]
    for t in tables:
        out.append(f"<h2>{escape.escape(t.title)}</h2><p class='note'>{escape.escape(t.note)}</p>")
        out += [(f"<p>{escape.escape(name)}</p>" if name else "") + figure for name, figure in t.figures]
        cells = "".join("<tr>" + "".join(f"<td>{escape.escape(str(c))}</td>" for c in row) + "</tr>" for row in t.rows)
        out.append("<table><tr>" + "".join(f"<th>{escape.escape(str(c))}</th>" for c in t.columns) + f"</tr>{cells}</table>")
    if found.get("left_out"):
        out.append(f"<p class='note'>Left out: {escape.escape('; '.join(found['left_out']))}</p>")
    return "\n".join(out)


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


def lines(series, across, up, powers=False):
    """Curves with their points, as SVG. Series: {label: [(x, y)]}; `powers`: x is drawn by its logarithm. The y axis begins at 0."""
    points = [p for s in series.values() for p in s]
    if not points:
        return ""
    place = (lambda x: math.log2(x)) if powers else float
    left, top, width, height = 60, 10, 560, 300
    low, high = min(place(x) for x, _ in points), max(place(x) for x, _ in points)
    most = max(y for _, y in points) or 1
    at_x = lambda x: left + (place(x) - low) / ((high - low) or 1) * width
    at_y = lambda y: top + height - y / most * height
    out = [f'<svg width="{left + width + 280}" height="{top + height + 50}" role="img">']
    for i in range(5):
        y = most * i / 4
        out.append(f'<line x1="{left}" x2="{left + width}" y1="{at_y(y):.1f}" y2="{at_y(y):.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{at_y(y) + 4:.1f}" text-anchor="end">{number(y)}</text>')
    for x in sorted({x for x, _ in points}):
        out.append(f'<text x="{at_x(x):.1f}" y="{top + height + 18}" text-anchor="middle">{x:g}</text>')
    out.append(f'<text x="{left + width / 2}" y="{top + height + 40}" text-anchor="middle">{escape.escape(across)}</text>'
               f'<text x="14" y="{top + height / 2}" text-anchor="middle" transform="rotate(-90 14 {top + height / 2})">{escape.escape(up)}</text>')
    for i, (label, curve) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in curve)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3" fill="{colour}"/>' for x, y in curve]
        y = top + 14 + 18 * i
        out.append(f'<rect x="{left + width + 20}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
                   f'<text x="{left + width + 36}" y="{y}">{escape.escape(label)}</text>')
    return "".join(out) + "</svg>"
