#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sequential consistency, after the measurements of Kerrighed beside Plurix (Figures 4 and 6): speed-ups of SOR and of a ray tracer on 1 to 12 nodes in
virtual time, and on two nodes of this machine; prints tables, and writes kerrighed.json and kerrighed.html. Started by `quire bench kerrighed`.
"""
import sys
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
sys.path.append(str(Path(__file__).resolve().parent.parent))
from comparison import main  # noqa: E402
from speed_ups import PLAIN, SEQUENTIAL, Published, measure, tables  # noqa: E402

PUBLISHED = {"sor": (Published("Kerrighed", 4, 5.8),), "raytracer": (Published("Kerrighed", 6, 11.77),)}

PAGE = SimpleNamespace(
    TITLE="Kerrighed", HEADING="Kerrighed's speed-ups on Quire",
    ABOUT="Figures 4 and 6 of the comparison of Kerrighed and Plurix, section 4: 12 Athlon XP 2500+ with Fast Ethernet. What is marked as published is "
          "theirs; all else was measured or, where it says so, computed in virtual time when this page was made.",
    tables=tables)


if __name__ == "__main__":
    sys.exit(main("kerrighed", __doc__.split("Started")[0], lambda wanted: measure(wanted, (SEQUENTIAL, PLAIN), PUBLISHED), PAGE))
