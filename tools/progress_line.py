# SPDX-License-Identifier: BSD-3-Clause
"""What shows that something goes on: on a terminal one line that changes, in a log a line every ten seconds."""
import shutil
import sys
import time

LOG_EVERY_S = 10


class ProgressLine:
    def __init__(self):
        self.terminal = sys.stdout.isatty()
        self.start = time.monotonic()
        self.shown = self.start
        self.line = False

    def passed(self):
        """Seconds since its beginning."""
        return time.monotonic() - self.start

    def is_due(self):
        return self.terminal or time.monotonic() - self.shown >= LOG_EVERY_S

    def show(self, text):
        self.shown = time.monotonic()
        if self.terminal:
            print("\r\x1b[K" + text[:shutil.get_terminal_size().columns - 1], end="", flush=True)
            self.line = True
        else:
            print(text, flush=True)

    def pass_on(self, text):
        """What stays."""
        self.clear()
        print(text, flush=True)

    def clear(self):
        if self.line:
            print("\r\x1b[K", end="", flush=True)
            self.line = False
