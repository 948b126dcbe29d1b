# SPDX-License-Identifier: BSD-3-Clause
"""Starting the programs that measure, for run.py and the commands of `quire bench`."""
import os
import signal
import subprocess


class Failed(Exception):
    """A program did not do what it should."""


def output_of(command, environment=None, limit_s=120):
    """Standard output. The whole process group ends with the time limit, and when this program is interrupted."""
    words = [str(word) for word in command]
    child = subprocess.Popen(words, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, process_group=0)
    try:
        out, err = child.communicate(timeout=limit_s)
    except BaseException as e:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        if isinstance(e, subprocess.TimeoutExpired):
            raise Failed(f"no end after {limit_s} s: {' '.join(words)}") from e
        raise
    if child.returncode != 0:
        raise Failed(f"{' '.join(words)}: exit status {child.returncode}\n{err.strip()}")
    return out
