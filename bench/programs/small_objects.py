# SPDX-License-Identifier: BSD-3-Clause
"""No library: what programs of Python make and forget all the time, objects of some words."""

import json

from data import tell


class Body:
    __slots__ = ("at", "speed")

    def __init__(self, at, speed):
        self.at, self.speed = at, speed


class Tree:
    def __init__(self, left, right):
        self.left, self.right = left, right


def tree(depth):
    return Tree(None, None) if depth == 0 else Tree(tree(depth - 1), tree(depth - 1))


def count(node):
    return 1 if node.left is None else 1 + count(node.left) + count(node.right)


def trees():
    return sum(count(tree(12)) for _ in range(20))


def bodies():
    all_of_them = [Body((i, i * 0.5), (0.25, -0.5)) for i in range(2000)]
    for _ in range(40):
        for one in all_of_them:
            one.at = (one.at[0] + one.speed[0], one.at[1] + one.speed[1])
    return sum(one.at[0] - one.at[1] for one in all_of_them)


def words():
    counts = {}
    for i in range(150_000):
        word = f"w{i * 7919 % 5003}"
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]


def texts():
    rows = [{"id": i, "name": "n" * (i % 30), "values": list(range(i % 20))} for i in range(4000)]
    return sum(len(row["values"]) for row in json.loads(json.dumps(rows)))


tell(lambda: (trees(), bodies(), words(), texts()))
