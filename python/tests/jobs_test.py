# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that a plain Python starts: quire.run() and quire.Pool."""
import concurrent.futures
import contextlib
import gc
import io
import multiprocessing
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures.process import BrokenProcessPool
from unittest import mock

import quire as q
from quire import _errors, _jobs, _threads, _worker

os.environ.pop("PYTHONUNBUFFERED", None)  # lines of nodes come as wholes

try:
    import cloudpickle
except ImportError:
    cloudpickle = None


def fills(value):
    import numpy as np
    import quire as q
    a = q.zeros((1000, 100))
    a[q.block(1000)] = q.node + value
    q.barrier()
    return q.node, float(a.sum()), np.arange(3)


if cloudpickle is not None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])


@unittest.skipIf(cloudpickle is None, "cloudpickle is not installed: functions of this file cannot be sent")
class Jobs(unittest.TestCase):
    def test_run(self):
        results = q.run(fills, 3, (1,))
        self.assertEqual([r[:2] for r in results], [(i, float(100 * (333 + 2 * 333 + 3 * 334))) for i in range(3)])
        self.assertEqual(list(results[0][2]), [0, 1, 2])

    def test_exceptions_come_here(self):
        def fails():
            import quire as q
            if q.node == 1:
                raise LookupError("of node 1")
            q.barrier()  # for ever
        with self.assertRaisesRegex(LookupError, "of node 1") as caught:
            q.run(fails, 2)
        self.assertIn("in fails", str(caught.exception.__cause__))

    def test_exceptions_that_cannot_be_made_again(self):
        class OfTwo(Exception):
            def __init__(self, one, two):
                super().__init__(f"{one} and {two}")

        class NoPickle(Exception):
            def __reduce__(self):
                raise ValueError("never")

        def fails(error):
            raise error("this", "that")
        with q.Pool(1) as pool:
            for error in (OfTwo, NoPickle):
                with self.assertRaisesRegex(q.RemoteError, error.__name__ + ".*this") as caught:
                    pool.submit(fails, error).result(timeout=60)
                self.assertIn("in fails", str(caught.exception.__cause__))
            self.assertEqual(pool.submit(lambda: 5).result(timeout=60), 5)  # the node lives

    def test_without_standard_output(self):
        with contextlib.redirect_stdout(None):
            self.assertEqual(q.run(lambda: print("words\n" * 100_000) or 7, 1, options=("--timeout", "60")), [7])

    def test_what_nodes_write(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            q.run(lambda: print("words of a node\n", end=""), 2)
        self.assertEqual(out.getvalue(), "words of a node\n" * 2)

    def test_pool(self):
        with q.Pool(2) as pool:
            self.assertEqual(pool.nodes, 2)
            self.assertEqual(list(pool.map(lambda i: i * i, range(100))), [i * i for i in range(100)])
            first = pool.run(fills, 5)
            self.assertEqual([r[0] for r in first], [0, 1])

            def keeps():
                import quire as q
                a = q.zeros(10, name="kept")
                a[q.node] = 1
                q.barrier()

            def finds():
                import quire as q
                return q.array("kept", timeout=0).sum()
            pool.run(keeps)
            self.assertEqual(pool.submit(finds).result(), 2)
            with self.assertRaises(ZeroDivisionError):
                pool.submit(lambda: 1 / 0).result()
            self.assertIsInstance(pool, concurrent.futures.Executor)
        with self.assertRaises(RuntimeError):
            pool.submit(fills, 1)

    def test_nodes_leave_a_pool(self):
        def begins():
            import quire as q
            q.zeros((60, 1000), name="rows")

        def works(i):
            import quire as q
            q.array("rows", timeout=0)[i] += i
            return q.node

        def finds(i):
            import quire as q
            return float(q.array("rows", timeout=0)[i].sum())
        with q.Pool(3, options=("--on-failure", "notify")) as pool:
            pool.run(begins)
            first = [pool.submit(works, i) for i in range(60)]
            with concurrent.futures.ThreadPoolExecutor() as others:
                leave = [os.environ["PYQUIRE_COMMAND"], "leave", str(pool.job)]
                asked = [others.submit(subprocess.run, [*leave, str(node)], capture_output=True, text=True, timeout=60) for node in (1, 2)]
                for node, told in zip((1, 2), asked):
                    self.assertEqual(told.result().stdout, f"node {node} has left job {pool.job}\n", told.result().stderr)
            self.assertIn(0, {future.result(timeout=60) for future in first})
            self.assertEqual(pool.run(lambda: __import__("quire").node), [0])
            self.assertEqual(pool.nodes, 1)
            self.assertEqual([pool.submit(finds, i).result(timeout=60) for i in range(60)], [1000.0 * i for i in range(60)])
            stays = subprocess.run([*leave, "0"], capture_output=True, text=True, timeout=60)
            self.assertIn("node 0 stays", stays.stderr)

    def test_a_node_leaves_within_a_call(self):
        with q.Pool(2, options=("--on-failure", "notify")) as pool:
            self.assertTrue(pool._submit_to(1, lambda: __import__("quire").leave()).result(timeout=60))
            self.assertEqual(pool.run(lambda: __import__("quire").node), [0])
            self.assertEqual({pool.submit(lambda: __import__("quire").node).result(timeout=60) for _ in range(20)}, {0})
            self.assertEqual(pool.nodes, 1)

    def test_a_death_does_not_kill_this_process(self):
        with q.Pool(2) as pool:
            waits = [pool.submit(lambda: __import__("os")._exit(3)), *[pool.submit(fills, i) for i in range(3)]]
            with self.assertRaises(BrokenProcessPool) as caught:
                waits[0].result(timeout=60)
            self.assertIn("node", str(caught.exception))
            for other in waits[1:]:
                with self.assertRaises(BrokenProcessPool):
                    other.result(timeout=60)
            with self.assertRaises(BrokenProcessPool):
                pool.submit(fills, 1)
        with self.assertRaises(BrokenProcessPool):
            q.run(lambda: __import__("os").kill(__import__("os").getpid(), 9), 2)

    def test_on_hosts(self):
        with tempfile.TemporaryDirectory() as folder:
            agent = os.path.join(folder, "agent")  # in the place of ssh: HOST WORDS...
            with open(agent, "w") as file:
                file.write('#!/bin/sh\nshift\nexec env -u PYTHONPATH -u PYQUIRE_PARENT sh -c "$*"\n')
            os.chmod(agent, 0o755)
            self.assertEqual([r[0] for r in q.run(fills, 2, (1,), hosts="one,two", options=("--agent", agent))], [0, 1])

    def test_a_failure_in_one_node_ends_a_pool_in_which_others_wait(self):
        def fails():
            import quire as q
            if q.node == 1:
                raise LookupError("of node 1")
            q.barrier()  # for ever
        with q.Pool(2) as pool:
            with self.assertRaisesRegex(LookupError, "of node 1"):
                pool.run(fails)
            with self.assertRaises(BrokenProcessPool):
                pool.submit(fills, 1).result(timeout=60)

    def test_nothing_stays(self):
        def has():
            gc.collect()  # what a test before this one has left in a cycle
            return len(os.listdir("/proc/self/fd")), threading.active_count()
        q.run(fills, 1, (1,))
        before = has()
        for _ in range(3):
            q.run(fills, 1, (1,))
        self.assertEqual(has(), before)

    def test_mistakes(self):
        for nodes in (0, -1):
            with self.assertRaises(ValueError):
                q.run(fills, nodes)
        with self.assertRaises(BrokenProcessPool) as caught:
            q.run(fills, 2, options=("--no-such-option",))
        self.assertIn("no-such-option", str(caught.exception))
        with self.assertRaises(TypeError):
            q.run(fills, 2, (open(os.devnull),))
        for wrong in ({"options": "--stats"}, {"hosts": ["a", "b"]}):
            with self.assertRaisesRegex(TypeError, "hosts|options"):
                q.run(fills, 2, (1,), **wrong)

    def test_the_job_ends_when_this_process_is_killed(self):
        program = "import os, quire, time\npool = quire.Pool(2)\npool.run(os.getpid)\nprint(pool._job.process.pid, flush=True)\n" \
                  "pool.run(time.sleep, 600)"
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
            try:
                job = int(parent.stdout.readline())
                time.sleep(0.5)
            finally:
                parent.kill()
        for _ in range(200):
            if not os.path.exists(f"/proc/{job}"):
                break
            time.sleep(0.1)
        self.assertFalse(os.path.exists(f"/proc/{job}"), "quire run is still there")
        left = [name for name in os.listdir("/proc") if name.isdigit() and self._runs_worker_of(name, job)]
        self.assertEqual(left, [])

    @staticmethod
    def _runs_worker_of(number, job):
        try:
            with open(f"/proc/{number}/environ", "rb") as environment, open(f"/proc/{number}/cmdline", "rb") as words:
                return b"quire._worker" in words.read() and f"QUIRE_RUN={job}".encode() in environment.read()
        except OSError:
            return False

    def test_this_process_is_no_node(self):
        from quire import _node
        self.assertIsNone(_node._started)


class Answers:
    """In the place of a connection to a node: what it answers, when the test says so."""

    def __init__(self):
        self.asked = threading.Event()
        self._all = queue.Queue()
        self.answer, self.close = self._all.put, lambda: None

    def send_bytes(self, _):
        self.asked.set()

    def recv_bytes(self):
        return self._all.get(timeout=30)


class Ends(unittest.TestCase):
    def test_what_a_node_that_leaves_has_not_begun_is_done_though_others_have_ended(self):
        nodes = [Answers(), Answers()]
        with mock.patch.object(_jobs, "_Job", lambda *_: mock.Mock(connections=nodes)):
            pool = q.Pool(2)
        first = pool._submit_to(0, abs, -6)
        self.assertTrue(nodes[0].asked.wait(30))
        second = pool.submit(abs, -7)
        self.assertTrue(nodes[1].asked.wait(30))
        end = threading.Thread(target=pool.shutdown, daemon=True)
        end.start()
        nodes[0].answer(_threads.dumps((True, 6)))
        self.assertEqual(first.result(timeout=30), 6)
        pool._threads[0].join(0.5)  # nothing is left to do, but node 1 has not answered
        nodes[1].answer(_jobs.LEFT)
        nodes[0].answer(_threads.dumps((True, 7)))
        self.assertEqual(second.result(timeout=30), 7)
        end.join(30)
        self.assertFalse(end.is_alive())


class Leaving(unittest.TestCase):
    """A node that somebody wants to leave, and that something keeps."""

    def setUp(self):
        self.here, self.parent = multiprocessing.Pipe()
        self.tried, self.wanted = 0, True
        for name, value in (("_LOOK_S", 0.05), ("_AGAIN_S", 0), ("_native", mock.Mock(leave_wanted=lambda: self.wanted)),
                            ("_node", mock.Mock(leave=self.leave, has_left=lambda: False))):
            patch = mock.patch.object(_worker, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def leave(self):
        self.tried += 1
        if self.never:
            self.wanted = False  # as of quire_leave()
            raise _errors.Error("never")
        if self.tried == 3:
            self.parent.send_bytes(b"call")
        return False

    def test_tries_again_when_it_has_nothing_else_to_do(self):
        self.never = False
        leaving = _worker._Leaving()
        self.parent.send_bytes(b"call")
        self.assertEqual(_worker._next(self.here, leaving), b"call")
        self.assertEqual(self.tried, 1)
        for _ in range(5):
            self.parent.send_bytes(b"call")
            self.assertEqual(_worker._next(self.here, leaving), b"call")
        self.assertEqual(self.tried, 1)
        self.assertEqual(_worker._next(self.here, leaving), b"call")
        self.assertEqual(self.tried, 3)

    def test_tries_once_if_it_never_can(self):
        self.never = True
        leaving = _worker._Leaving()
        self.assertEqual([leaving.succeeds(True) for _ in range(5)], [False] * 5)
        self.assertEqual(self.tried, 1)
        self.wanted = True  # somebody asks again, when what kept it may be gone
        self.assertEqual([leaving.succeeds(False) for _ in range(5)], [False] * 5)
        self.assertEqual(self.tried, 2)

    def test_tries_at_last_though_there_is_always_a_call(self):
        self.never = False
        leaving = _worker._Leaving()
        self.assertFalse(leaving.succeeds(False))
        self.assertFalse(leaving.succeeds(False))
        self.assertEqual(self.tried, 1)
        with mock.patch.object(_worker, "_AT_LAST_S", 0):
            self.assertFalse(leaving.succeeds(False))
        self.assertEqual(self.tried, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
