#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""callbacks_test.py SOURCE [--rewrite | --count]: machines take events and return actions; they call nobody. What counts, in each folder of machines: virtual
functions that it declares, values that can be called (std::function, pointers to functions), classes that are templates of what they talk to, calls through an
interface that they were given, and flags against being called again meanwhile. callbacks.txt has what was there when this test came: it may not grow. --rewrite
records that it shrank, --count prints all."""
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import tree  # noqa: E402

ROOT = Path(sys.argv[1]).resolve()
LIST = Path(__file__).resolve().with_name("callbacks.txt")
FOLDERS = ("src/protocol/release", "src/protocol/sequential", "src/protocol/transaction", "src/services", "src/sync")
CARRY_OUT = ("src/services/node/",)  # what does as machines of the folder say: it has threads, and is none
PATTERNS = (
    r"\bvirtual\b(?!\s*~)",
    r"\bstd::(?:function|move_only_function|copyable_function|function_ref)\b|\bfunction_ref\s*<",
    r"\(\s*(?:\w+::)*\*\s*(?:const\s+)?\w*\s*\)\s*\(",  # a pointer to a function or a member
    r"\btemplate\s*<[^<>;{}()]*\b(?:Host|Effects|Core|World|Driver|Callback|Handler|Sink)\b[^<>;{}()]*>\s*(?:class|struct)\b",
    r"\bstd::exchange\(\s*\w+_\s*,\s*true\s*\)",
)
INTERFACE = r"\b(?:\w+::)*(?:effects|callbacks|hooks|delegate|listener|host|driver)\s*[&*]\s*(?:const\s+)?(\w+)"


def callbacks_of(sources):
    """How many a folder has: {name: text} of its sources."""
    codes = [tree.code_of(text) for text in sources.values()]
    given = {name for code in codes for name in re.findall(INTERFACE, code)}
    members = {name for name in given if name.endswith("_") or name == "effects"}
    calls = re.compile(r"\b(?:" + "|".join(sorted(members)) + r")\s*(?:\.|->)\s*\w+\s*\(") if members else None
    found = 0
    for code in codes:
        found += sum(len(re.findall(pattern, code)) for pattern in PATTERNS)
        found += len(calls.findall(code)) if calls else 0
    return found


def measured():
    """{folder: callbacks}, of folders that have any; and how many sources there are."""
    files = [name for name in tree.tracked(ROOT) if name.endswith(tree.CPP)]
    found, count = {}, 0
    for folder in FOLDERS:
        sources = {name: (ROOT / name).read_text() for name in files if name.startswith(folder + "/") and not name.startswith(CARRY_OUT)}
        count += len(sources)
        if number := callbacks_of(sources):
            found[folder] = number
    return found, count


CODE = """
struct effects { virtual void one() = 0; virtual ~effects() = default; };  // virtual
class machine {
  machine(protocol::domain::effects& to, std::function<void()> f) : to_(to) {}
  void step() { to_.one(); to_->two (1); other_.three(); if (std::exchange(busy_, true)) return; }
  void event() override;
  protocol::domain::effects& to_;
  void (*done_)(int) = nullptr;
  template <class F> void for_each(F&& f) const { f(1); }
};
template <class Host>
class other {};
"""


class Callbacks(unittest.TestCase):
    def test_machines_call_nobody_else(self):
        found, count = measured()
        self.assertGreater(count, 100)
        wrong = tree.compare(found, tree.read_list(LIST), "callbacks", LIST)
        self.assertFalse(wrong, "\n" + "\n".join(wrong) + "\nAn event goes in, and an action comes out (src/protocol/contract/domain_action.hpp)")

    def test_callbacks_are_found(self):
        self.assertEqual(callbacks_of({"a.hpp": CODE}), 7)
        self.assertEqual(callbacks_of({"a.hpp": "class a { void b() override; int c_ = d(e_); };"}), 0)


if __name__ == "__main__":
    if sys.argv[2:] == ["--rewrite"]:
        tree.rewrite(measured()[0], LIST)
    elif sys.argv[2:] == ["--count"]:
        for each in FOLDERS:
            print(f"callbacks of {each}: {measured()[0].get(each, 0)}")
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
