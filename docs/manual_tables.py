#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""manual_tables.py QUIRE [--check]: writes the entries of COUNTERS and of the ENVIRONMENT sections of docs/quire.7 anew, in the words of the tables that
the command QUIRE has (quire info --counters, --options). --check only compares, and ends with 1 if they differ."""
import json
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "quire.7"
ENTRY = re.compile(r"^\.TP\n\.B (\w+)\n(?:(?!\.TP|\.SH).*\n)*", flags=re.M)
ENVIRONMENT = {"programs": "ENVIRONMENT", "starts": "ENVIRONMENT WITHOUT A LAUNCHER", "experiments": "ENVIRONMENT FOR EXPERIMENTS"}
COUNTERS = "COUNTERS"


def escaped(text):
    return text.replace("-", "\\-")


def counter_entries(rows):
    return [f".TP\n.B {row['name']}\n{escaped(row['meaning'])}.\n" for row in rows]


def option_entries(rows):
    def text(row):
        return f"{escaped(row['meaning'])}.\n.br\n{escaped(row['legal'])}; default {escaped(row['default'] or 'none')}.\n"
    return [f".TP\n.B {row['variable']}\n{text(row)}" for row in rows]


def with_section(page, title, entries):
    """The page, whose section `title` ends with these entries."""
    head, heading, rest = page.partition(f".SH {title}\n")
    body, end, tail = rest.partition("\n.SH ")
    begin = ENTRY.split(body + "\n", 1)[0]
    return head + heading + begin + "".join(entries).rstrip("\n") + end + tail


def with_tables(page, counters, options):
    page = with_section(page, COUNTERS, counter_entries(counters))
    for use, title in ENVIRONMENT.items():
        page = with_section(page, title, option_entries([row for row in options if row["for"] == use]))
    return page


def table(quire, which):
    return json.loads(subprocess.run([quire, "info", which, "--json"], capture_output=True, text=True, check=True, timeout=60).stdout)


def main():
    page = PAGE.read_text()
    wanted = with_tables(page, table(sys.argv[1], "--counters"), table(sys.argv[1], "--options"))
    if "--check" not in sys.argv:
        PAGE.write_text(wanted)
    elif page != wanted:
        sys.exit("docs/quire.7 has other tables than the command: docs/manual_tables.py build/bin/quire writes them")


if __name__ == "__main__":
    main()
