# SPDX-License-Identifier: BSD-3-Clause
"""The ledger of simulators (docs/simulated.md): how many seeds and steps each test has done in soaks, all runs together. A run adds what it has done
without a failure: `scripts/soak/run.py --only simulators --steps docs/simulated.md`."""
import re
from collections import Counter

HEAD = """# What the simulators have done

Seeds that soaks have tried, and steps of the simulated jobs under them: an event of the network, a thread that goes on, or a node that drives. Each run
of `scripts/soak/run.py --only simulators --steps docs/simulated.md` adds what it has done; rounds that fail are not counted. What a test is for
stands at the head of its file in `tests/sim`.

| simulator | seeds | steps |
| --- | --- | --- |
"""
ROW = re.compile(r"^\| `([\w.]+)` \| ([\d,]+) \| ([\d,]+) \|$", re.M)


def read(text):
    """(seeds, steps), counters by simulator."""
    seeds, steps = Counter(), Counter()
    for name, tried, done in ROW.findall(text):
        seeds[name] += int(tried.replace(",", ""))
        steps[name] += int(done.replace(",", ""))
    return seeds, steps


def page(seeds, steps):
    rows = "".join(f"| `{name}` | {seeds[name]:,} | {steps[name]:,} |\n" for name in sorted(seeds | steps) if name)
    return HEAD + rows + f"| all | {sum(seeds.values()):,} | {sum(steps.values()):,} |\n"


def add(file, seeds, steps):
    """To what the file has; returns all steps."""
    before = read(file.read_text() if file.exists() else "")
    all_seeds, all_steps = before[0] + +seeds, before[1] + +steps
    file.write_text(page(all_seeds, all_steps))
    return sum(all_steps.values())
