# SPDX-License-Identifier: BSD-3-Clause
"""Nodes write words of their own on one unit, at lines that the report has to name (report_languages.py)."""
import quire as q

words = q.zeros(128, "i8", consistency="sequential")
if q.node == 0:
    q.label(words, "words")


def even(step):
    words[0] += step  # planted: even


def odd(step):
    words[64:72] += step  # planted: odd


for step in range(200):
    (even if q.node % 2 == 0 else odd)(step)
    q.barrier()
