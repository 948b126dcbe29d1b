#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dependents_test.py SOURCE: an edit of a header of src/core compiles few sources of the library again. A part of the core (core/core.hpp) is known to those
that use it, by a header of its own; what many ask of it is asked of the core, of a region, or by a small header beside it. Counts the sources that include a
header, directly or not, as `ninja -t deps` would where each source is compiled by itself."""
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import tree  # noqa: E402

ROOT = Path(sys.argv[1]).resolve()
MOST = 15
# Headers that are no part, and that many see by nature.
SEEN_BY_MANY = {
    "core": "the list of the parts, by which they reach one another",
    "configuration": "what a core is told at its start",
    "host": "what a core needs of its surroundings",
    "op": "what a thread asks of a core: each call of the API is one",
    "ops": "the same, of units and messages",
    "trace": "stamps on a fault's way, inlined into core.hpp",
    "region_slot": "a region, of which each step is; what follows are its members",
    "block": "a member of region_slot",
    "closed_pages": "a member of region_slot",
    "layouts": "a member of region_slot",
    "unit_layout": "a member of region_slot",
    "view_map": "a member of region_slot",
    "minipages/groups": "a member of region_slot",
    "minipages/minipages": "a member of region_slot",
    "minipages/view_states": "a member of region_slot",
    "thread_state": "what a core keeps for each thread, and a call notes; what follows are its members",
    "read_ahead": "a member of thread_state, and of fault_path",
    "waiting": "a member of thread_state: what a call notes that it waits for",
    "arrivals": "a member of the parts that take payloads",
    "kept_run": "a value that checkpoints go over",
    "region_rest": "a value that nodes send",
    "survival": "whatever synchronises, in or out, asks whether survivors put together what they have",
    "protocol_set": "whoever tells domains of an event, deaths too",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"\n]+)"', re.M)


def reached(name, direct, known):
    """All that a file includes."""
    if name not in known:
        known[name] = set()  # of a circle
        known[name] = set(direct.get(name, ())).union(*(reached(one, direct, known) for one in direct.get(name, ())))
    return known[name]


def dependents(texts):
    """{header: number of sources that include it}. `texts`: {path below src: text}."""
    direct = {name: [path for path in INCLUDE.findall(text) if path in texts] for name, text in texts.items()}
    known, counts = {}, {name: 0 for name in texts if name.endswith(".hpp")}
    for source in (name for name in texts if name.endswith(".cpp")):
        for header in reached(source, direct, known):
            counts[header] += 1
    return counts


def key_of(header):
    return header.removeprefix("core/").removesuffix(".hpp")


def measured():
    names = [name for name in tree.tracked(ROOT) if name.startswith("src/") and name.endswith((".cpp", ".hpp"))]
    counts = dependents({name.removeprefix("src/"): (ROOT / name).read_text() for name in names})
    return {key_of(name): count for name, count in counts.items() if name.startswith("core/")}


class Dependents(unittest.TestCase):
    def test_few_sources_include_a_part(self):
        counts = measured()
        self.assertGreater(len(counts), 40)
        wrong = [f"core/{name}.hpp: an edit compiles {count} sources, and may {MOST}" for name, count in sorted(counts.items())
                 if count > MOST and name not in SEEN_BY_MANY]
        wrong += [f"core/{name}.hpp: {counts.get(name, 0)} sources; take it out of SEEN_BY_MANY" for name in SEEN_BY_MANY if counts.get(name, 0) <= MOST]
        self.assertFalse(wrong, "\n".join(["", *wrong]))

    def test_the_check_counts_what_is_included_by_way_of_others(self):
        texts = {"core/a.hpp": "", "core/b.hpp": '#include "core/a.hpp"\n', "core/c.hpp": '#include "core/c.hpp"\n#include "base/x.hpp"\n',
                 "core/1.cpp": '#include "core/b.hpp"\n#include <array>\n', "core/2.cpp": '#include "core/a.hpp"\n#include "core/c.hpp"\n', "api/3.cpp": ""}
        self.assertEqual(dependents(texts), {"core/a.hpp": 2, "core/b.hpp": 1, "core/c.hpp": 1})
        self.assertEqual(key_of("core/minipages/groups.hpp"), "minipages/groups")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
