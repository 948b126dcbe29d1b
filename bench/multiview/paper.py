# SPDX-License-Identifier: BSD-3-Clause
"""What is published of Millipage (Itzkovitz and Schuster, OSDI 1999): eight Pentium II of 300 MHz, Windows NT, Myrinet. Not measured here."""

# Table 1 and section 4.2, microseconds; (a, b): from the least to the most.
COSTS = {
    "access fault": 26, "get protection": 7, "set protection": 12, "header message": 12, "data message, 0.5 KB": 22, "data message, 1 KB": 34,
    "data message, 4 KB": 90, "minipage lookup": 7, "read 128": 204, "read 4096": 314, "write 128": (212, 366), "write 4096": (327, 480),
    "barrier": (59, 153), "lock and unlock": (67, 80), "diff of 4 KB": 250,
}

# Table 2: input, shared memory, views, sharing granularity, barriers, locks.
APPLICATIONS = {
    "sor": ("32768 x 64 matrices", "8 MB", 16, "a row, 256 bytes", 21, None),
    "is": ("2^23 numbers, 2^9 values", "2 KB", 8, "256 bytes", 90, None),
    "water": ("512 molecules", "336 KB", 6, "a molecule, 672 bytes", 29, 6720),
    "lu": ("1024 x 1024 matrix, 32 x 32 blocks", "8 MB", 1, "a block, 4 KB", 577, None),
    "tsp": ("19 cities, recursion level 12", "785 KB", 27, "a tour, 148 bytes", 3, 681),
}

CHUNKS = "best at 4 or 5 molecules in a chunk; 21 competing requests without chunks, 601 with pages"  # section 4.4
