# SPDX-License-Identifier: BSD-3-Clause
"""joblib's Parallel on nodes that start for it, and how calls end. joblib_test.py [FOLDER]: with the interpreter of a virtual environment; 77: there is none,
or no joblib."""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

if len(sys.argv) > 1 and "/" in sys.argv[-1]:
    python = os.path.join(sys.argv.pop(), "bin", "python3")
    if not os.path.exists(python):
        print(f"skipped: there is no {python} (scripts/setup.sh launchers)")
        sys.exit(77)
    os.execv(python, [python, *sys.argv])
try:
    import cloudpickle
    import joblib
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
try:
    import sklearn
except ImportError:
    sklearn = None
from concurrent.futures.process import BrokenProcessPool

import numpy as np
from joblib import Parallel, delayed

import quire as q
import quire.joblib
from quire import _dispatch, _jobs

COMMAND = os.environ["PYQUIRE_COMMAND"]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores it, and its children would
cloudpickle.register_pickle_by_value(sys.modules[__name__])
BEGIN = "import os, sys, time, signal\nimport joblib, quire as q, quire.joblib\nfrom joblib import Parallel, delayed\n" \
        "def stays(i): os.write(1, b'begun\\n'); time.sleep(600)\n"


def where(i):
    import quire as q
    return q.node, q.nodes, i


def look(x):
    import os
    return os.getpid(), x.ctypes.data, x.flags.writeable, float(x.sum())


def nested(i):
    import os
    from joblib import Parallel, delayed
    return os.getpid(), Parallel(n_jobs=2)(delayed(os.getpid)() for _ in range(i))


def fail(i):
    if i == 2:
        raise LookupError(f"task {i}")
    return i


def die(i):
    import os
    if i == 2:
        os._exit(3)
    return i


class Joblib(unittest.TestCase):
    def tearDown(self):
        quire.joblib.shutdown()

    def test_tasks_are_on_nodes(self):
        with joblib.parallel_backend("quire", n_jobs=2):
            found = Parallel()(delayed(where)(i) for i in range(50))
            self.assertEqual([i for _, _, i in found], list(range(50)))
            self.assertEqual({nodes for _, nodes, _ in found}, {2})
            pools = list(quire.joblib._pools.values())
            Parallel(n_jobs=2)(delayed(where)(i) for i in range(4))
            self.assertEqual(list(quire.joblib._pools.values()), pools)  # they live on
        from quire import _node
        self.assertIsNone(_node._started)  # this process is no node

    def test_how_many(self):
        backend = quire.joblib.QuireBackend(nodes=3)
        self.assertEqual([backend.effective_n_jobs(n) for n in (1, 2, 3, 4, -1, -2, -9, None)], [1, 2, 3, 3, 3, 2, 1, 3])
        self.assertEqual(quire.joblib.QuireBackend().effective_n_jobs(5), 5)
        self.assertEqual(quire.joblib._pools, {})  # nothing was started
        with self.assertRaises(ValueError):
            backend.effective_n_jobs(0)

    def test_nested_calls_are_threads(self):
        with joblib.parallel_backend("quire", n_jobs=2):
            for process, inner in Parallel()(delayed(nested)(i) for i in range(6)):
                self.assertEqual(set(inner) - {process}, set())

    def test_an_array_of_several_tasks_is_there_once(self):
        x = np.arange(1 << 18, dtype=float)
        with joblib.parallel_backend("quire", n_jobs=2):
            found = Parallel(batch_size=1)(delayed(look)(x) for _ in range(12))
        self.assertEqual({one[3] for one in found}, {float(x.sum())})
        shared = [one for one in found if not one[2]]
        self.assertGreaterEqual(len(shared), 10)  # but for the first
        self.assertEqual(len({at for _, at, _, _ in shared}), 1)
        self.assertTrue(x.flags.writeable)

    def test_an_exception_comes_with_its_traceback(self):
        for own in (True, False):
            with joblib.parallel_backend("quire", n_jobs=2):
                with self.assertRaisesRegex(LookupError, "task 2") as caught:
                    Parallel(batch_size=1 if own else "auto")(delayed(fail)(i) for i in range(20))
                self.assertRegex(str(caught.exception.__cause__), r"on node \d\n(.|\n)*in fail")
                self.assertEqual(Parallel()(delayed(fail)(i) for i in range(2)), [0, 1])

    def test_a_node_that_dies_is_an_exception(self):
        with joblib.parallel_backend("quire", n_jobs=2):
            with self.assertRaises(BrokenProcessPool):
                Parallel(batch_size=1)(delayed(die)(i) for i in range(20))
            self.assertEqual(Parallel()(delayed(die)(i) for i in range(2)), [0, 1])  # another job

    def test_a_pool_of_the_callers(self):
        with q.Pool(2) as pool:
            with joblib.parallel_backend("quire", pool=pool):
                self.assertEqual({one[1] for one in Parallel()(delayed(where)(i) for i in range(9))}, {2})
                with self.assertRaises(LookupError):
                    Parallel(batch_size=1)(delayed(fail)(i) for i in range(20))
            self.assertEqual(len(pool.run(where, 1)), 2)  # it lives
            self.assertEqual(quire.joblib._pools, {})

    def leave(self, pool, node):
        told = subprocess.run([COMMAND, "leave", str(pool.job), str(node)], capture_output=True, text=True, timeout=60)
        self.assertEqual(told.stdout, f"node {node} has left job {pool.job}\n", told.stderr)

    def test_a_node_leaves_a_pool_of_the_callers(self):
        with q.Pool(3, options=("--on-failure", "notify")) as pool:
            self.leave(pool, 1)
            with self.assertRaises(_jobs.Left):  # the pool hears of it
                pool._submit_to(1, abs, 1).result(timeout=60)
            with joblib.parallel_backend("quire", pool=pool):
                self.assertEqual({one[0] for one in Parallel(batch_size=1)(delayed(where)(i) for i in range(50))}, {0, 2})
            self.leave(pool, 2)
            stored = _dispatch.on_pool(pool).store(2, np.arange(10))
            self.assertEqual(pool.submit(lambda: float(q._arrays.at_place(stored[0], (10,), np.dtype(int), (8,)).sum())).result(timeout=60), 45)

    def test_a_node_leaves_a_job_that_was_started_here(self):
        with joblib.parallel_backend("quire", n_jobs=2, options=("--on-failure", "notify")):
            Parallel()(delayed(where)(i) for i in range(4))
            pool, = quire.joblib._pools.values()
            self.leave(pool, 1)
            for _ in range(2):
                self.assertEqual({one[0] for one in Parallel(batch_size=1)(delayed(where)(i) for i in range(20))}, {0})
            self.assertEqual(list(quire.joblib._pools.values()), [pool])

    def test_a_time_limit(self):
        with joblib.parallel_backend("quire", n_jobs=2):
            with self.assertRaises(Exception) as caught:
                Parallel(timeout=0.2)(delayed(time.sleep)(600) for _ in range(4))
        self.assertIn("TimeoutError", type(caught.exception).__name__)

    @unittest.skipUnless(hasattr(joblib, "parallel_config"), "this joblib has no generators of results")
    def test_generators(self):
        with joblib.parallel_config("quire", n_jobs=2):
            self.assertEqual([i for _, _, i in Parallel(return_as="generator")(delayed(where)(i) for i in range(30))], list(range(30)))
            self.assertEqual(sorted(i for _, _, i in Parallel(return_as="generator_unordered")(delayed(where)(i) for i in range(30))), list(range(30)))
            with Parallel(return_as="generator") as parallel:
                self.assertEqual(len(list(parallel(delayed(where)(i) for i in range(5)))), 5)
                self.assertEqual(len(list(parallel(delayed(where)(i) for i in range(5)))), 5)

    def test_mistakes(self):
        with self.assertRaisesRegex(TypeError, "a quire.Pool is needed"):
            joblib.parallel_backend("quire", pool=2)
        for wrong in ({"hosts": ["a", "b"]}, {"options": "--stats"}, {"nodes": "2"}):
            with self.assertRaisesRegex(TypeError, f"{list(wrong)[0]} is"):
                joblib.parallel_backend("quire", **wrong)
        with joblib.parallel_backend("quire", nodes=2, options=("--no-such-option",)), self.assertRaisesRegex(BrokenProcessPool, "no-such-option"):
            Parallel()(delayed(where)(i) for i in range(3))
        with joblib.parallel_backend("quire", n_jobs=2), self.assertRaisesRegex(TypeError, "pickle"):
            Parallel()(delayed(str)(threading.Lock()) for _ in range(3))

    @unittest.skipIf(sklearn is None, "scikit-learn is not installed")
    def test_scikit_learn(self):
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV
        x = np.random.default_rng(0).random((10_000, 16))
        y = (x.sum(axis=1) > 8).astype(int)

        def results():
            search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1, 10]}, cv=3, n_jobs=2).fit(x, y)
            forest = RandomForestClassifier(6, n_jobs=2, random_state=1).fit(x, y)
            return search.cv_results_["mean_test_score"].tolist(), forest.predict_proba(x).tolist()
        wanted = results()
        with joblib.parallel_backend("quire", n_jobs=2):
            self.assertEqual(results(), wanted)


class Ends(unittest.TestCase):
    def run_it(self, program, *before, interrupt=False):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w") as file:
                file.write(BEGIN + program)
            child = subprocess.Popen([*before, sys.executable, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
            try:
                if interrupt:
                    self.assertEqual(child.stdout.readline(), "begun\n")
                    child.send_signal(signal.SIGINT)
                out, err = child.communicate(timeout=60)
            finally:
                child.kill()
            return child.returncode, out, err

    def test_ctrl_c(self):
        status, out, err = self.run_it("""
if __name__ == "__main__":
    with joblib.parallel_backend("quire", n_jobs=2):
        try: Parallel()(delayed(stays)(i) for i in range(4))
        except KeyboardInterrupt: print("interrupted")
        print(Parallel()(delayed(abs)(i) for i in range(4)))
""", interrupt=True)
        self.assertEqual(status, 0, err)
        self.assertIn("interrupted\n[0, 1, 2, 3]", out)

    def test_ctrl_c_in_a_job(self):
        status, _, err = self.run_it("""
if q.node == 0:
    with joblib.parallel_backend("quire"): Parallel()(delayed(stays)(i) for i in range(4))
q.barrier()
""", COMMAND, "run", "-n", "2", "--timeout", "60", interrupt=True)
        self.assertNotIn(status, (0, 124), err)
        self.assertIn("KeyboardInterrupt", err)

    def test_a_node_of_a_job_that_dies(self):
        status, _, err = self.run_it("""
def die(i): os.kill(os.getpid(), 9) if q.node == 1 else time.sleep(0.01)
if q.node == 0:
    with joblib.parallel_backend("quire"): Parallel(batch_size=1)(delayed(die)(i) for i in range(40))
q.barrier()
""", COMMAND, "run", "-n", "2", "--timeout", "60")
        self.assertNotIn(status, (0, 124), err)
        self.assertIn("node 1", err)

    def test_an_exception_that_nobody_catches(self):
        status, _, err = self.run_it("""
def fail(i):
    if i == 2: raise LookupError("of a task")
    time.sleep(600 if i == 3 else 0)
if q.node == 0:
    with joblib.parallel_backend("quire"): Parallel(batch_size=1)(delayed(fail)(i) for i in range(40))
q.barrier()
""", COMMAND, "run", "-n", "2", "--timeout", "60")
        self.assertEqual(status, 1, err)
        self.assertIn("LookupError: of a task", err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
