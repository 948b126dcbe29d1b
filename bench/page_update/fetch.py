# SPDX-License-Identifier: BSD-3-Clause
"""A page fetch in parts (ParADE, Figure 10): puts together when the accesses of node 1 began and ended (page_update_fetch) and
the time stamps of both nodes (QUIRE_FAULT_TRACE).
"""
import bisect
import statistics

PARTS = ("fault handler call", "protocol", "request transfer", "page preparation", "page transfer", "permission",
         "back to the access")


def stamps(lines):
    """What happened to each page, in order of time: {(point, page): [ns]}. The one region of the program has number 1."""
    result = {}
    for line in lines:
        point, region, unit, ns = line.split()
        if region == "1":
            result.setdefault((point, int(unit)), []).append(int(ns))
    return result


def first_between(times, begin, end):
    """The first of `times` in the interval; None if there is none."""
    at = bisect.bisect_left(times or [], begin)
    return times[at] if times and at < len(times) and times[at] <= end else None


def parts(home, here, unit, began, ended):
    """Nanoseconds of each part of one fetch; None where the access met no fault of its own. The kernel may let the thread go
    before the engine has stamped that it did, so that stamp counts at most until the end of the access."""
    entered = first_between(here.get(("entered", unit)), began, ended)
    asked = first_between(here.get(("asked", unit)), began, ended)
    received = first_between(home.get(("received", unit)), began, ended)
    if None in (entered, asked, received):
        return None
    decided = first_between(home.get(("decided", unit)), received, ended)
    replied = first_between(home.get(("replied", unit)), received, ended)
    arrived = first_between(here.get(("received", unit)), asked, ended)
    if None in (decided, replied, arrived):
        return None
    known = first_between(here.get(("decided", unit)), arrived, ended) or arrived
    woken = first_between(here.get(("woken", unit)), arrived, ended) or ended
    return (entered - began, (asked - entered) + (decided - received) + (known - arrived), received - asked, replied - decided,
            arrived - replied, woken - known, ended - woken)


def medians(accesses, home_lines, here_lines):
    """Median microseconds of each part, and of the whole."""
    home, here = stamps(home_lines), stamps(here_lines)
    rows, totals = [], []
    for line in accesses:
        unit, began, ended = map(int, line.split())
        row = parts(home, here, unit, began, ended)
        if row is not None:
            rows.append(row)
            totals.append(ended - began)
    if len(rows) < len(accesses) / 2:
        raise ValueError(f"of {len(accesses)} fetches only {len(rows)} have left their stamps")
    return [statistics.median(column) / 1000 for column in zip(*rows)], statistics.median(totals) / 1000
