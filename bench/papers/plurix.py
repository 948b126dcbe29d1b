#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sequential and transactional consistency, after the comparison of Kerrighed and Plurix (Figures 4 to 7): speed-ups of SOR and of a ray tracer on 1 to
12 nodes in virtual time, and on two nodes of this machine; prints tables, and writes plurix.json and plurix.html. Started by `quire bench plurix`.
"""
import sys
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
sys.path.append(str(Path(__file__).resolve().parent.parent))
from comparison import main  # noqa: E402
from speed_ups import PLAIN, SEQUENTIAL, Published, Way, measure, tables  # noqa: E402

# One for each way to commit (quire_model --commit).
WAYS = (SEQUENTIAL, PLAIN,
        Way("owners", "transactional", ("--consistency", "transactional", "--commit", "owners"), ("--consistency", "transactional")),
        Way("token", "transactional, by the token", ("--consistency", "transactional", "--commit", "token"), ("--consistency", "transactional"),
            environment=("QUIRE_COMMIT=token",)))

PUBLISHED = {"sor": (Published("Kerrighed", 4, 5.8), Published("Plurix", 5, 6.7)),
             "raytracer": (Published("Kerrighed", 6, 11.77), Published("Plurix", 7, 11.88))}

PAGE = SimpleNamespace(
    TITLE="Sequential and transactional consistency", HEADING="Sequential and transactional consistency: Kerrighed's and Plurix's figures on Quire",
    ABOUT="Figures 4 to 7 of the comparison of Kerrighed and Plurix, section 4: 12 Athlon XP 2500+ with Fast Ethernet. What is marked as published is theirs; "
          "all else was measured or, where it says so, computed in virtual time when this page was made. With its smallest matrix Plurix turned back at "
          "8 nodes.",
    tables=tables)


if __name__ == "__main__":
    sys.exit(main("plurix", __doc__.split("Started")[0], lambda wanted: measure(wanted, WAYS, PUBLISHED), PAGE))
