# SPDX-License-Identifier: BSD-3-Clause
"""Runs of quire_model as one SVG: messages, bytes and speed-up by number of nodes, a column for each application. No
dependencies; text and colours are in the file itself.
"""
import html
import math

COLOURS = {"sequential": "#4e79a7", "release": "#e15759"}
TITLES = {"sor": "SOR", "cg": "CG", "md": "MD", "helmholtz": "Helmholtz", "raytracer": "ray tracer"}
ROWS = (("messages", "messages"), ("bytes", "bytes"), ("speed_up", "speed-up"))
WIDTH, HEIGHT = 250, 170  # of a panel
LEFT, TOP, GAP_X, GAP_Y, BOTTOM = 62, 78, 64, 34, 62


def short(value):
    """1000 as 1 k, 1e6 as 1 M; for marks at powers of ten."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g} {letter}"
    return f"{value:g}"


def plain(value):
    return f"{value:,g}"


class Scale:
    """Logarithmic, between whole powers of `base`."""

    def __init__(self, values, base, length):
        powers = [math.log(v, base) for v in values]
        self.low, self.high = math.floor(min(powers) + 1e-9), math.ceil(max(powers) - 1e-9)
        self.high = max(self.high, self.low + 1)
        self.base, self.length = base, length

    def at(self, value):
        return (math.log(value, self.base) - self.low) / (self.high - self.low) * self.length

    def marks(self, most=7):
        step = math.ceil((self.high - self.low + 1) / most)
        return [self.base ** p for p in range(self.low, self.high + 1, step)]


def text(x, y, what, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(what)}</text>'


def panel(left, top, runs, key, title, x, bottom):
    """One diagram: a line for each consistency. `x`: the scale of nodes; bottom: whether to name its marks."""
    is_speed_up = key == "speed_up"
    shown = [r for r in runs if r[key] > 0]
    if not shown:
        return []
    values = [r[key] for r in shown] + ([r["nodes"] for r in shown] if is_speed_up else [])
    name = plain if is_speed_up else short
    y = Scale(values, 2 if is_speed_up else 10, HEIGHT)
    out = [f'<g transform="translate({left},{top})">']
    for mark in y.marks():
        at = HEIGHT - y.at(mark)
        out += [f'<line class="grid" x1="0" x2="{WIDTH}" y1="{at:.1f}" y2="{at:.1f}"/>', text(-6, at + 4, name(mark), "end", ' class="mark"')]
    for mark in x.marks(11):
        at = x.at(mark)
        out.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{HEIGHT}"/>')
        if bottom:
            out.append(text(at, HEIGHT + 16, plain(mark), more=' class="mark"'))
    if is_speed_up:
        ends = [min(r["nodes"] for r in shown), max(r["nodes"] for r in shown)]
        out.append(f'<polyline class="ideal" points="{" ".join(f"{x.at(n):.1f},{HEIGHT - y.at(n):.1f}" for n in ends)}"/>')
    for consistency, colour in COLOURS.items():
        points = [(x.at(r["nodes"]), HEIGHT - y.at(r[key])) for r in shown if r["consistency"] == consistency]
        if not points:
            continue
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        out.append(f'<polyline class="line" stroke="{colour}" points="{line}"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.4" fill="{colour}"/>' for a, b in points]
    out.append(text(WIDTH / 2, -9, title, more=' class="title"'))
    return [*out, "</g>"]


def svg(runs, caption):
    """`runs` as quire_model --json prints them, `caption`: lines below the diagrams."""
    runs = sorted((r for r in runs if r["nodes"] > 1), key=lambda r: r["nodes"])
    applications = [a for a in TITLES if any(r["application"] == a for r in runs)]
    x = Scale([r["nodes"] for r in runs], 2, WIDTH)
    width = LEFT + len(applications) * (WIDTH + GAP_X) - GAP_X + 24
    height = TOP + len(ROWS) * (HEIGHT + GAP_Y) - GAP_Y + BOTTOM + 16 * len(caption)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
           "<title>Messages, bytes and speed-up by number of nodes</title>",
           "<style>text{font:12px sans-serif;fill:#222}.title{font-weight:bold}.mark{font-size:10.5px}.grid{stroke:#e4e4e4}"
           ".line{fill:none;stroke-width:2}.ideal{fill:none;stroke:#999;stroke-dasharray:4 3}</style>",
           f'<rect width="{width}" height="{height}" fill="#fff"/>']
    at = LEFT
    for name, colour in COLOURS.items():
        out += [f'<line x1="{at}" x2="{at + 22}" y1="26" y2="26" stroke="{colour}" stroke-width="2"/>',
                text(at + 28, 30, f"{name} consistency", "start")]
        at += 190
    out += [f'<line class="ideal" x1="{at}" x2="{at + 22}" y1="26" y2="26"/>', text(at + 28, 30, "ideal speed-up", "start")]
    for column, application in enumerate(applications):
        mine = [r for r in runs if r["application"] == application]
        for row, (key, name) in enumerate(ROWS):
            out += panel(LEFT + column * (WIDTH + GAP_X), TOP + row * (HEIGHT + GAP_Y), mine, key,
                         f"{TITLES[application]}: {name}", x, row + 1 == len(ROWS))
    bottom = TOP + len(ROWS) * (HEIGHT + GAP_Y) - GAP_Y
    out.append(text((width + LEFT) / 2 - 12, bottom + 36, "nodes"))
    out += [text(LEFT, bottom + 58 + 16 * i, line, "start") for i, line in enumerate(caption)]
    return "\n".join([*out, "</svg>"]) + "\n"
