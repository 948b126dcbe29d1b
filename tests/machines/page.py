# SPDX-License-Identifier: BSD-3-Clause
"""The page of what ran on which kernel, from the rows that run.py keeps."""

import re

HEAD = """# Kernels

Written by `tests/machines/run.py --document docs/machines.md` (`make machines`); `tests/machines/README.md` says what each case is.
Virtual machines with Debian's kernels run the programs of a build, on one machine and on two: by default (`auto`) and with `--detect segv`, as root and as
an ordinary user.
"""


def version_key(row):
    return [int(part) for part in row["release"].replace("-", ".").replace("+", ".").split(".") if part.isdigit()]


class Notes:
    """Errors, each once, under numbers; without addresses."""

    def __init__(self):
        self.texts = []

    def cell(self, row):
        if row is None:
            return ""
        if row["verdict"] == "right":
            return "right"
        text = re.sub(r"quire\[\d+\]", "quire[n]", re.sub(r"0x[0-9a-f]{4,}", "0x...", row["verdict"]))
        if text not in self.texts:
            self.texts.append(text)
        return f"**wrong** ({self.texts.index(text) + 1})"


def escaped(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def results_table(rows, notes):
    """A line for each case and detector; a column for each user."""
    lines, done = ["| case | detector | root | ordinary user |", "| --- | --- | --- | --- |"], []
    for row in rows:
        key = (row["case"], row["detector"])
        if key in done:
            continue
        done.append(key)
        by_user = {other["user"]: other for other in rows if (other["case"], other["detector"]) == key}
        lines.append(f"| {escaped(row['title'])} | {row['detector']} | {notes.cell(by_user.get('root'))} | {notes.cell(by_user.get('user'))} |")
    return lines


def info_table(rows):
    """What `quire info` says, to both users where they are told different things."""
    told = {row["user"]: dict(row["info"]) for row in rows if row.get("info")}
    names = [name for user in told for name in told[user]]
    if not names:
        return []
    lines = ["", "| `quire info` | root | ordinary user |", "| --- | --- | --- |"]
    for name in dict.fromkeys(names):
        lines.append("| " + " | ".join([escaped(name)] + [escaped(told.get(user, {}).get(name, "")) for user in ("root", "user")]) + " |")
    return lines


def page(results, order):
    """The text of the page; cases as in `order`."""
    lines, rows = [HEAD], sorted(results["rows"], key=lambda row: (version_key(row), order.index(row["case"]), row["detector"]))
    about = {row["release"]: row["about"] for row in rows}
    for release in dict.fromkeys(row["release"] for row in rows):
        notes, here = Notes(), [row for row in rows if row["release"] == release]
        facts = about[release]
        lines += [f"## Linux {here[0]['kernel']}", "", f"Debian's {release}, by qemu with {facts['accelerator']}; {facts['date']}, commit {facts['commit']}."]
        for hosts, heading in ((1, "One machine, `quire run -n 2`:"), (2, "Two machines, `quire run --hosts`:")):
            some = [row for row in here if row["hosts"] == hosts]
            lines += ["", heading, "", *results_table(some, notes)] if some else []
        lines += [""] * bool(notes.texts) + [f"{number}. `{text.replace('`', chr(39))}`" for number, text in enumerate(notes.texts, 1)]
        lines += info_table(here) + [""]
    return "\n".join(lines).rstrip() + "\n"
