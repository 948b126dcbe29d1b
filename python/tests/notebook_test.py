# SPDX-License-Identifier: BSD-3-Clause
"""%%quire in a kernel of Jupyter: a real one, in a process of its own, which a job's death does not end. Exit status 77: ipykernel is not installed."""
import os
import queue
import sys
import time
import unittest

try:
    import ipykernel  # noqa: F401
    from jupyter_client.manager import start_new_kernel
except ImportError:
    print("ipykernel and jupyter_client are not installed: no kernel can be started")
    sys.exit(77)

os.environ.pop("PYTHONUNBUFFERED", None)


class Notebook(unittest.TestCase):
    def setUp(self):
        self.manager, self.client = start_new_kernel(kernel_name="python3")
        self.pid = self.cell("import os; os.getpid()")[0]
        self.cell("%load_ext quire")

    def tearDown(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=False)

    def cell(self, source, interrupt_after=None):
        """(the result as text, or None; the output; the error as text, or None)"""
        wanted = self.client.execute(source)
        value, output, error, until = None, "", None, time.monotonic() + 100
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except queue.Empty:
                self.assertTrue(self.manager.is_alive(), "the kernel has died")
                self.assertLess(time.monotonic(), until, f"no end of {source!r}: {output}")
                continue
            if message["parent_header"].get("msg_id") != wanted:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "execute_result":
                value = content["data"]["text/plain"]
            elif kind == "stream":
                output += content["text"]
                if interrupt_after is not None and interrupt_after in output:
                    interrupt_after = None
                    self.manager.interrupt_kernel()
            elif kind == "error":
                error = f"{content['ename']}: {content['evalue']}\n" + "\n".join(content["traceback"])
            elif kind == "status" and content["execution_state"] == "idle":
                return value, output, error

    def test_cells(self):
        value, output, error = self.cell("%%quire -n 2\na = q.zeros(10)\na[q.node] = q.node + 1\nq.barrier()\nprint('node', q.node)\nfloat(a.sum())")
        self.assertEqual((value, error), ("[3.0, 3.0]", None))
        # Names stay, on each node; what is sent goes to all; the results into a variable.
        self.cell("factor = 10")
        self.assertEqual(self.cell("%%quire --send factor -o found\ndef f():\n    return a[q.node] * factor\nf()")[2], None)
        self.assertEqual(self.cell("[float(x) for x in found]")[0], "[10.0, 20.0]")
        self.assertEqual(self.cell("%%quire\nq.spawn(1 - q.node, f).join()\nNone")[2], None)
        self.assertIn("node 0", self.cell("%%quire\nprint('node', q.node)")[1])
        # Mistakes: the job goes on, and says where they are.
        error = self.cell("%%quire\nx = 1\nx / 0")[2]
        self.assertIn("ZeroDivisionError", error)
        self.assertIn("cell 5 on all nodes", error)
        self.assertIn("SyntaxError", self.cell("%%quire\nx = (")[2])
        self.assertIn("ValueError", self.cell("%%quire --nonsense\nx")[2])
        self.assertIn("no variable 'nobody'", self.cell("%%quire --send nobody\nx")[2])
        self.assertEqual(self.cell("%%quire\nx")[0], "[1, 1]")
        # Another number of nodes is another job, and nothing of the first is left.
        self.assertEqual(self.cell("%%quire -n 1\nq.nodes")[0], "[1]")
        self.assertIn("NameError", self.cell("%%quire\nx")[2])
        self.assertEqual(self.cell("%quire --stop")[2], None)
        self.assertEqual(self.cell("import quire; quire._node._started")[0], None)

    def test_a_death_does_not_end_the_kernel(self):
        self.assertIn("BrokenProcessPool", self.cell("%%quire -n 2\nimport os\nif q.node == 1: os.kill(os.getpid(), 9)\nq.barrier()")[2])
        self.assertEqual(self.cell("os.getpid()")[0], self.pid)
        self.assertEqual(self.cell("%%quire\nq.nodes")[0], "[2, 2]")  # another job, of as many nodes
        self.assertIn("KeyError", self.cell("%%quire\nif q.node == 1: raise KeyError('of node 1')\nq.barrier(); q.barrier()")[2])
        self.assertEqual(self.cell("%%quire\nq.nodes")[0], "[2, 2]")

    def test_an_interrupt(self):
        out = self.cell("%%quire -n 2\nimport time\nprint('here', flush=True)\nif q.node == 0: q.barrier()\ntime.sleep(1000)", interrupt_after="here")
        self.assertRegex(out[2], "KeyboardInterrupt|BrokenProcessPool")
        self.assertEqual(self.cell("os.getpid()")[0], self.pid)
        self.assertEqual(self.cell("%%quire\nq.nodes")[0], "[2, 2]")


if __name__ == "__main__":
    unittest.main(verbosity=2)
