# SPDX-License-Identifier: BSD-3-Clause
"""The table of all mutations (docs/mutations.md): a row for each finder of each patch. It says how a bug was found when it was last tried, so that a run
of all of them, which takes hours, can be made in parts."""
import re
from dataclasses import dataclass
from pathlib import Path

HEAD = """# Bugs that are put back

Bugs of the past, and some that were only ever put in to see them noticed: each is a patch of `scripts/mutations/patches` against today's sources.
This page has what finds each, and after how many seeds from 1 on; "its test" is one without seeds. Empty: not tried since it was put in.
Made by `scripts/mutations/run.py --page docs/mutations.md`, which also goes on where it was ended (`--missing`); the test `docs.mutations` compares
the rows with the patches. {tried}

| bug | what is wrong | tried by | found after |
| --- | --- | --- | --- |
"""
ROW = re.compile(r"\| `(?P<name>[^`]+)` \| (?P<bug>.+) \| `(?P<finder>[^`]+)` \| (?P<outcome>.*?) ?\|$")


@dataclass
class Mutation:
    """A patch and its header."""
    file: Path
    bug: str
    commit: str
    finders: list

    @property
    def name(self):
        return self.file.stem


@dataclass
class Row:
    name: str
    bug: str
    finder: str
    outcome: str = ""

    @property
    def found(self):
        return self.outcome.endswith(("seeds", "seed", "its test"))

    def text(self):
        return f"| `{self.name}` | {self.bug} | `{self.finder}` | {self.outcome} |"


def read(file):
    header = dict(re.findall(r"^(bug|commit|finder|also): (.+)$", file.read_text().split("\n--- ")[0], re.MULTILINE))
    return Mutation(file, header["bug"], header["commit"], [header[key] for key in ("finder", "also") if key in header])


def outcome_of(one):
    if not one.found:
        return "not found" if one.said == "not found" else one.said.split(":")[0].lower()
    if ":" in one.program:
        return "its test"
    return f"{one.seeds:,} seed{'' if one.seeds == 1 else 's'}"


def rows_after(mutation, outcomes):
    """Of a patch that was tried."""
    if len(outcomes) != len(mutation.finders):  # it does not apply, or build
        return [Row(mutation.name, mutation.bug, finder, outcome_of(outcomes[0])) for finder in mutation.finders]
    return [Row(mutation.name, mutation.bug, o.program, outcome_of(o)) for o in outcomes]


def rows_in(text):
    return [Row(**found.groupdict()) for found in map(ROW.match, text.splitlines()) if found]


def rows_of(file, known):
    """By name; of those that the page has already, what it says."""
    before = {(r.name, r.finder): r.outcome for r in rows_in(file.read_text() if file and file.exists() else "")}
    return {name: [Row(name, m.bug, finder, before.get((name, finder), "")) for finder in m.finders] for name, m in known.items()}


def tried_of(rows):
    """In a sentence."""
    tried = sum(bool(row.outcome) for row in rows)
    return f"Of {len(rows)} rows {tried} {'was' if tried == 1 else 'were'} tried so far."


def write(file, rows):
    all_rows = [row for name in sorted(rows) for row in rows[name]]
    file.write_text(HEAD.format(tried=tried_of(all_rows)) + "".join(row.text() + "\n" for row in all_rows))
