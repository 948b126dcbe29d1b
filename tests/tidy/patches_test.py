#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""patches_test.py SOURCE: the bugs that `make mutations` puts back can still be put: each patch applies to today's sources, without fuzz."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()


def told(root, patches):
    """What git has against them; nothing if all is well."""
    wrong = []
    for patch in patches:
        run = subprocess.run(["git", "apply", "--check", patch], cwd=root, capture_output=True, text=True)
        if run.returncode:
            wrong.append(f"{patch.name}: {run.stderr.strip()}")
    return wrong


class Patches(unittest.TestCase):
    def test_patches_apply(self):
        patches = sorted((ROOT / "scripts" / "mutations" / "patches").glob("*.patch"))
        self.assertGreater(len(patches), 100)
        wrong = told(ROOT, patches)
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_the_check_sees_what_does_not_apply(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "a.txt").write_text("one\n")
            for name, line in (("good", "one"), ("bad", "two")):
                (root / name).write_text(f"# of a bug\n\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-{line}\n+three\n")
            self.assertEqual([text.split(":")[0] for text in told(root, [root / "good", root / "bad"])], ["bad"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
