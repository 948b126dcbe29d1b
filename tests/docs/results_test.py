#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""results_test.py SOURCE: bench/results.py on a recorded sample, and on what it has to refuse."""
import copy
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
ROOT = Path(sys.argv[1]).resolve()
sys.path += [str(ROOT / "bench"), str(ROOT / "bench" / "model")]
import model  # noqa: E402
import results  # noqa: E402
import run  # noqa: E402
import suite  # noqa: E402

SAMPLE = json.loads((Path(__file__).resolve().parent / "results_sample.json").read_text())


class Results(unittest.TestCase):
    def test_page_has_all_that_was_measured(self):
        page = results.page(SAMPLE)
        for key in results.ABOUT:
            self.assertIn(f"| {key} | {SAMPLE['about'][key]} |", page)
        self.assertIn("1 of 2 targets are met.\n- missed: lock + unlock, shm\n", page)
        self.assertEqual([line for line in page.splitlines() if line.startswith("## ")], ["## sync-shm", "## idle"])
        self.assertIn("| barrier, shm | us | 1.5 | 1.25 | 1 | 1.5 | ≤ 1.5 | yes |", page)
        self.assertIn("| lock + unlock, shm | us | 2250 | 2.1 | 1.5 | 1500 | ≤ 1.5 | **no** |", page)
        self.assertIn("| processor time | % | 0.01 | 0.01 |  |  |  |  |", page)

    def test_what_shows_little_is_refused(self):
        for change in (lambda r: r["about"].update(complete=False), lambda r: r["failures"].append("sync-shm: quire_sync: died"),
                       lambda r: r["rows"].clear()):
            wrong = copy.deepcopy(SAMPLE)
            change(wrong)
            self.assertRaises(results.Refused, results.page, wrong)
        partial = copy.deepcopy(SAMPLE)
        partial["about"]["complete"] = False
        self.assertIn("Not a whole run", results.page(partial, partial=True))

    def test_runner_writes_what_the_page_needs(self):
        facts = run.about()
        self.assertEqual(sorted([*facts, "complete"]), sorted(SAMPLE["about"]))

    def test_seconds_of_an_example(self):
        self.assertEqual(run.seconds_in("200 steps: right\n0.1250 s\n", suite.EXAMPLE_TIME)["median"], 0.125)
        self.assertEqual(run.seconds_in(" Class = A\n Time in seconds =                     1.36\n", suite.NPB_TIME)["median"], 1.36)
        for wrong in ("200 steps: right\n", "0.1 s\n0.2 s\n", "it took 0.1 s\n"):
            self.assertRaises(run.Failed, run.seconds_in, wrong, suite.EXAMPLE_TIME)

    def test_rows_compare_with_baselines(self):
        runner = run.Runner(ROOT, quick=True)
        for key, value in (("floor:exchange", 2), ("quire:lock", 9), ("quire:empty", 3)):
            key, name = key.split(":")
            runner.note(key, {"name": name, "unit": "us", "median": value, "min": value})
        for row, ratio, meets in ((suite.Row("a", "quire:lock", "floor:exchange", 5), 4.5, True),
                                  (suite.Row("b", "quire:lock", "floor:exchange", 2.9, times=1.5), 3, False),
                                  (suite.Row("c", "quire:lock", "floor:exchange", 4, bound="least"), 4.5, True),
                                  (suite.Row("d", "quire:lock", 4, 1, minus="quire:empty"), 1.5, False)):
            made = runner.row(row)
            self.assertEqual((made["ratio"], made["meets"]), (ratio, meets), row)

    def test_rows_of_the_suite_have_programs(self):
        for group in suite.GROUPS:
            keys = [p.key for p in group.programs]
            self.assertEqual(len(keys), len(set(keys)), group.name)
            for row in group.rows:
                self.assertLessEqual(row.needs(), set(keys), f"{group.name}: {row.name}")

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            build, page = Path(folder), Path(folder) / "results.md"
            (build / "bench").mkdir()
            command = [sys.executable, str(ROOT / "bench" / "results.py"), "--build", folder, "--output", str(page)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn("bench/run.py writes it", done.stderr)
            (build / "bench" / "results.json").write_text(json.dumps(SAMPLE))
            subprocess.run(command, capture_output=True, check=True, timeout=60)
            self.assertEqual(page.read_text(), results.page(SAMPLE))

    def test_page_of_the_model(self):
        runs = [{"application": a, "consistency": c, "nodes": n, "messages": 1000 * n, "bytes": 5, "speed_up": n * 0.5, "time_s": 1 / n,
                 "network": "ib", "prices": {"latency_ns": 1000}} for n in (1, 64) for a, c in (("sor", "release"), ("cg", "sequential"))]
        constructs = [{"application": c, "nodes": n, "time_s": n * 2e-5} for c in model.CONSTRUCTS for n in (2, 64)]
        page = model.page(runs, constructs, "0123 of a day")
        self.assertIn("Commit 0123 of a day, network ib.", page)
        self.assertIn("## Messages\n\n| nodes | 1 | 64 |\n| --- | ---: | ---: |\n| CG, sequential | 1,000 | 64,000 |\n| SOR, release | 1,000 | 64,000 |\n", page)
        self.assertIn("| SOR, release | 0.5 | 32 |", page)
        self.assertIn("| latency_ns | 1000 |", page)
        self.assertIn("| nodes | 2 | 64 |\n| --- | ---: | ---: |\n| barrier | 2 | 64 |\n", page)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
