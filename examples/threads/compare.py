#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""compare.py COMMAND -- COMMAND: runs both, one after the other. Both have to end well, and to print the same but for the seconds that they took.

    compare.py build/examples/threads/heat 200 256 4 -- build/bin/quire run -n 2 build/examples/heat 200 256 2
"""
import re
import subprocess
import sys


def printed(command):
    """What a command prints, without the time that it took."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    sys.stdout.write(done.stdout)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    lines = [line for line in done.stdout.splitlines() if not re.fullmatch(r"\d+\.\d+ s", line)]
    if not lines or len(lines) == len(done.stdout.splitlines()):
        sys.exit(f"{' '.join(command)}: a result and the time that it took are missing")
    return lines


def main():
    words = sys.argv[1:]
    middle = words.index("--")
    one, other = printed(words[:middle]), printed(words[middle + 1:])
    if one != other:
        sys.exit(f"they differ:\n  {one}\n  {other}")


if __name__ == "__main__":
    main()
