#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Litmus tests and axioms. A program is a list of threads of accesses; an execution of it says which write each read
has found (rf), in which order each location was written (co), and which release came before which acquire (so). A model
is a file of models/, in the part of herd's language that `Model` reads. `allowed(program, model)` tries all executions.

Pure; a program of eight accesses has some thousands of executions at most."""
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

MODELS = Path(__file__).resolve().parent / "models"


@dataclass(frozen=True)
class Access:
    thread: int
    place: int      # in its thread
    kind: str       # "W" or "R"
    location: int
    value: int = 0  # of a write
    section: int = -1  # accesses of a thread with the same number are one critical section, or one transaction


class Model:
    """A model's file: `let NAME = E`, `acyclic E as NAME`, `irreflexive E as NAME`. E of names, | & \\ ; * (of two sets),
    and behind an expression ^+ ^-1 ?; parentheses."""
    TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*)|(\^\+|\^-1|\?|[|&\\;*()]))")

    def __init__(self, text):
        text = re.sub(r"\(\*.*?\*\)", "", text, flags=re.S)
        self.title = re.match(r'\s*"([^"]*)"', text).group(1)
        rows = re.findall(r"^(let|acyclic|irreflexive)\s+(.*)$", text, flags=re.M)
        self.steps = []
        for what, rest in rows:
            name, expression = re.split(r"\s*=\s*", rest, maxsplit=1) if what == "let" else rest.split(" as ")[::-1]
            self.steps.append((what, name.strip(), self._parse(expression)))

    def _parse(self, text):
        tokens, at = [], 0
        text = text.strip()
        while at < len(text):
            found = self.TOKEN.match(text, at)
            if not found:
                raise ValueError(f"cannot read {text[at:]!r}")
            tokens.append(found.group(1) or found.group(2))
            at = found.end()
        tree, rest = self._any(tokens, 0)
        if rest != len(tokens):
            raise ValueError(f"what is {tokens[rest:]}?")
        return tree

    # From the weakest binding to the strongest, as in herd: | ; & \ *
    LEVELS = ["|", ";", "\\", "&", "*"]

    def _any(self, tokens, at, level=0):
        if level == len(self.LEVELS):
            return self._one(tokens, at)
        left, at = self._any(tokens, at, level + 1)
        while at < len(tokens) and tokens[at] == self.LEVELS[level]:
            right, at = self._any(tokens, at + 1, level + 1)
            left = (self.LEVELS[level], left, right)
        return left, at

    def _one(self, tokens, at):
        if tokens[at] == "(":
            tree, at = self._any(tokens, at + 1)
            if tokens[at] != ")":
                raise ValueError("a parenthesis is open")
        else:
            tree = tokens[at]
        at += 1
        while at < len(tokens) and tokens[at] in ("^+", "^-1", "?"):
            tree, at = (tokens[at], tree), at + 1
        return tree, at

    def broken_by(self, names, count):
        """The first axiom that an execution breaks; None: it is allowed. `names`: sets and relations of accesses
        0..count-1."""
        names = dict(names)
        for what, name, tree in self.steps:
            value = self._value(tree, names, count)
            if what == "let":
                names[name] = value
            elif any(a == b for a, b in (closure(value) if what == "acyclic" else value)):
                return name
        return None

    def _value(self, tree, names, count):
        if isinstance(tree, str):
            return names[tree]
        what, *parts = tree
        a, *rest = (self._value(p, names, count) for p in parts)
        if what == "|":
            return a | rest[0]
        if what == "&":
            return a & rest[0]
        if what == "\\":
            return a - rest[0]
        if what == "*":
            return {(x, y) for x in a for y in rest[0]}
        if what == ";":
            return {(x, z) for x, y in a for w, z in rest[0] if y == w}
        if what == "^-1":
            return {(y, x) for x, y in a}
        if what == "?":
            return a | {(x, x) for x in range(count)}
        return closure(a)


def closure(relation):
    after = {}
    for a, b in relation:
        after.setdefault(a, set()).add(b)
    closed = set()
    for a in after:
        seen, todo = set(), list(after[a])
        while todo:
            b = todo.pop()
            if b not in seen:
                seen.add(b)
                todo.extend(after.get(b, ()))
        closed.update((a, b) for b in seen)
    return closed


def read_model(name):
    return Model((MODELS / f"{name}.cat").read_text())


def executions(program, locks=False, barriers=False):
    """All of them, as (names for Model.broken_by, outcome). The outcome: the values of reads in the order of threads,
    then what each location holds in the end. `locks`: sections are critical sections of one mutex, in each order.
    `barriers`: all threads meet after each of their accesses."""
    accesses = [a for thread in program for a in thread]
    count = len(accesses)
    number = range(count)
    locations = sorted({a.location for a in accesses})
    writes = {l: [i for i in number if accesses[i].kind == "W" and accesses[i].location == l] for l in locations}
    reads = [i for i in number if accesses[i].kind == "R"]
    po = {(i, j) for i in number for j in number
          if accesses[i].thread == accesses[j].thread and accesses[i].place < accesses[j].place}
    names = {"po": po, "W": {i for i in number if accesses[i].kind == "W"}, "R": set(reads),
             "loc": {(i, j) for i in number for j in number if accesses[i].location == accesses[j].location},
             "ext": {(i, j) for i in number for j in number if accesses[i].thread != accesses[j].thread},
             "tx": {(i, j) for i in number for j in number
                    if accesses[i].thread == accesses[j].thread and accesses[i].section == accesses[j].section >= 0},
             "F": {i for i in number if accesses[i].location == locations[-1]}}
    sections = sorted({(a.thread, a.section) for a in accesses if a.section >= 0}) if locks else []
    members = {s: [i for i in number if (accesses[i].thread, accesses[i].section) == s] for s in sections}
    orders = [o for o in itertools.permutations(sections)
              if all(o.index(a) < o.index(b) for a in o for b in o if a[0] == b[0] and a[1] < b[1])]
    met = {(i, j) for i in number for j in number if barriers and accesses[i].place < accesses[j].place}
    for order in orders or [()]:
        so = met | {(i, j) for k, s in enumerate(order) for t in order[k + 1:] for i in members[s] for j in members[t]}
        for cos in itertools.product(*(itertools.permutations(writes[l]) for l in locations)):
            co = {(x, y) for one in cos for k, x in enumerate(one) for y in one[k + 1:]}
            for found in itertools.product(*([None] + writes[accesses[r].location] for r in reads)):
                rf = {(w, r) for w, r in zip(found, reads) if w is not None}
                # A read of the value from before is before all writes: fr of it cannot come from rf.
                first = {(r, w) for f, r in zip(found, reads) if f is None for w in writes[accesses[r].location]}
                values = tuple(0 if w is None else accesses[w].value for w in found)
                last = tuple(accesses[one[-1]].value if one else 0 for one in cos)
                yield {**names, "rf": rf, "co": co, "so": so, "initial": first}, (values, last)


class WithInitial(Model):
    """fr has reads of what was there before any write, too: herd has a write for these."""

    def broken_by(self, names, count):
        return super().broken_by(names, count)

    def _value(self, tree, names, count):
        value = super()._value(tree, names, count)
        return value | names["initial"] if tree == (";", ("^-1", "rf"), "co") else value


def allowed(program, model, locks=False, barriers=False):
    """All outcomes that the model allows."""
    count = sum(len(t) for t in program)
    found = {}
    for names, outcome in executions(program, locks, barriers):
        if found.get(outcome) is not True:
            found[outcome] = model.broken_by(names, count) or True
    return {o for o, why in found.items() if why is True}


def model_of(name):
    return WithInitial((MODELS / f"{name}.cat").read_text())


# ---- Machines that do what the axioms say of these two models, to compare

def interleavings(program, buffers=False):
    """Outcomes of all interleavings; with `buffers` each thread's stores wait in a queue of its own (TSO)."""
    locations = sorted({a.location for t in program for a in t})
    outcomes, seen = set(), set()
    todo = [(tuple(0 for _ in program), tuple(() for _ in program), tuple(0 for _ in locations), ())]
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        at, queues, memory, values = state
        over = True
        for t, thread in enumerate(program):
            if queues[t]:
                over = False
                (l, v), *rest = queues[t]
                todo.append((at, queues[:t] + (tuple(rest),) + queues[t + 1:], memory[:l] + (v,) + memory[l + 1:], values))
            if at[t] == len(thread):
                continue
            over = False
            a = thread[at[t]]
            l, next_at = locations.index(a.location), at[:t] + (at[t] + 1,) + at[t + 1:]
            if a.kind == "W" and buffers:
                queue = queues[t] + ((l, a.value),)
                todo.append((next_at, queues[:t] + (queue,) + queues[t + 1:], memory, values))
            elif a.kind == "W":
                todo.append((next_at, queues, memory[:l] + (a.value,) + memory[l + 1:], values))
            else:
                own = [v for x, v in queues[t] if x == l]
                todo.append((next_at, queues, memory, values + ((t, at[t], own[-1] if own else memory[l]),)))
        if over:
            outcomes.add((tuple(v for _, _, v in sorted(values)), memory))
    return outcomes
