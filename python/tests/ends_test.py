# SPDX-License-Identifier: BSD-3-Clause
"""How jobs of Python programs end, and what may be beside."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

COMMAND = os.environ["PYQUIRE_COMMAND"]
os.environ.pop("PYTHONUNBUFFERED", None)  # lines of nodes come as wholes
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores it, and its children would


def job(program, nodes=2, *, options=(), interrupt_after=None):
    """Its status, what it wrote to standard output, and to standard error."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as file:
            file.write("import os, sys, time, signal\nimport numpy as np\nimport quire as q\n" + program)
        child = subprocess.Popen([COMMAND, "run", "-n", str(nodes), "--timeout", "60", *options, sys.executable, path], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, start_new_session=True)
        if interrupt_after is not None:
            assert child.stdout.readline() == interrupt_after + "\n"
            time.sleep(0.2)  # it may be anywhere by then
            child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=100)
        return child.returncode, out, err


def alone(program, *, interrupt_after=None):
    """The same of a plain Python, without `quire run`."""
    child = subprocess.Popen([sys.executable, "-c", "import os, sys, time, threading\nimport quire as q\n" + program], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        if interrupt_after is not None:
            assert child.stdout.readline() == interrupt_after + "\n"
            time.sleep(0.5)
            child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)
    finally:
        child.kill()
    return child.returncode, out, err


def lines(text):
    """Of several nodes, in whichever order they came."""
    return sorted(text.split())


class Ends(unittest.TestCase):
    def test_by_itself(self):
        self.assertEqual(job("print('here')", 3), (0, "here\n" * 3, ""))

    def test_sys_exit_0(self):
        self.assertEqual(job("q.barrier(); sys.exit(0)")[0], 0)

    def test_one_ends_much_later(self):
        status, out, err = job("a = q.zeros(1000); a[0] = 1\nif q.node == 1: time.sleep(1); print(a[0])")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, "1.0\n")

    def test_an_exception_ends_the_job(self):
        status, out, err = job("if q.node == 1: raise RuntimeError('this is wrong')\nq.barrier(); q.barrier(); print('not here')", 3)
        self.assertEqual((status, out), (1, ""))
        self.assertEqual(err.count("RuntimeError: this is wrong"), 1)
        self.assertIn("node 1", err)

    def test_an_import_error_of_one_node_ends_the_job(self):
        for before in ("", "q.barrier(); "):
            status, out, err = job(f"{before}\nif q.node == 1: import not_there\nq.barrier(); q.barrier(); print('not here')", 3)
            self.assertEqual((status, out), (1, ""))
            self.assertEqual(err.count("ModuleNotFoundError: No module named 'not_there'"), 1)
            self.assertIn("node 1", err)

    def test_so_does_one_before_the_package_is_there(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w") as file:
                file.write("import os\nif os.environ['QUIRE_JOB_NODE'] == '1': import not_there\nimport quire as q\nq.barrier()\nprint('not here')\n")
            done = subprocess.run([COMMAND, "run", "-n", "2", "--timeout", "60", sys.executable, path], capture_output=True, text=True, timeout=100,
                                  check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(done.stderr.count("ModuleNotFoundError: No module named 'not_there'"), 1)
        self.assertIn("node 1", done.stderr)

    def test_a_call_comes_before_the_package_is_imported(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w") as file:
                file.write("""
import os, sys, time
class Slow:
    def find_spec(self, name, *_):
        if name == "quire._arrays": time.sleep(1)
if os.environ["QUIRE_JOB_NODE"] == "1": sys.meta_path.insert(0, Slow())
import quire as q
def node(): return q.node
if q.node == 0: print(q.spawn(1, node).join())
q.barrier()
""")
            done = subprocess.run([COMMAND, "run", "-n", "2", "--timeout", "60", sys.executable, path], capture_output=True, text=True, timeout=100,
                                  check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"), done.stderr)

    def test_a_status_ends_the_job(self):
        status, out, err = job("if q.node == 0: sys.exit(3)\nq.barrier()")
        self.assertEqual((status, out), (3, ""), err)

    def test_a_death_is_an_exception(self):
        status, out, err = job("if q.node == 1: os.kill(os.getpid(), signal.SIGKILL)\n"
                               "try: q.barrier()\nexcept ConnectionError as e: print(type(e).__name__); sys.exit(7)")
        self.assertEqual(status, 128 + 9, err)

    def test_ctrl_c_in_a_barrier(self):
        status, out, err = job("print('here', flush=True) if q.node == 0 else 0\nif q.node == 0: q.barrier()\nwhile True:\n try: time.sleep(50)\n except KeyboardInterrupt: pass", interrupt_after="here")
        self.assertEqual(status, 130, err)
        self.assertIn("KeyboardInterrupt", err)
        self.assertIn("in barrier", err)

    def test_ctrl_c_in_a_lock(self):
        status, out, err = job("l = q.Lock()\nif q.node == 1: l.acquire()\nq.barrier()\nif q.node == 0: print('here', flush=True); l.acquire()\ntime.sleep(50)",
                               interrupt_after="here")
        self.assertEqual(status, 130, err)

    def test_ctrl_c_in_a_loop(self):
        status, out, err = job("if q.node == 0: print('here', flush=True)\nwhile True: pass", interrupt_after="here")
        self.assertEqual(status, 130, err)
        self.assertIn("KeyboardInterrupt", err)

    def test_a_failure_while_a_call_of_another_node_runs(self):
        status, out, err = job("""
flag = q.zeros(1, "i8")
def call():
    flag[0] = 1
    time.sleep(50)
if q.node == 0: q.spawn(1, call).join()
while flag[0] == 0: time.sleep(0.01)
raise RuntimeError('this is wrong')
""")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("this is wrong", err)

    def test_ctrl_c_that_the_program_wants(self):
        status, out, err = job("try:\n if q.node == 0: print('here', flush=True)\n while True: time.sleep(1)\n"
                               "except KeyboardInterrupt: print('caught')\nq.barrier()", interrupt_after="here")
        self.assertEqual((status, out), (0, "caught\ncaught\n"), err)

    def test_faulthandler(self):
        for program in ("import faulthandler; faulthandler.enable()", "q.barrier(); import faulthandler; faulthandler.enable()"):
            status, out, err = job(program + "\na = q.zeros((1000, 1000)); a[q.block(1000)] = 1; q.barrier(); print(a.sum())")
            self.assertEqual((status, out), (0, "1000000.0\n" * 2), err)
        status, out, err = job("import faulthandler, ctypes; faulthandler.enable(); ctypes.string_at(8) if q.node == 0 else q.barrier()")
        self.assertNotEqual(status, 0)
        self.assertIn("Fatal Python error: Segmentation fault", err)

    def test_serving_needs_no_gil(self):
        # One long call of C keeps the GIL of node 0, while node 1 gets its pages.
        status, out, err = job("""
a, flag = q.zeros((200, 512)), q.zeros(1, "i8", consistency="sequential")
n = 10 ** 7
while flag[0] != 3:
    q.barrier()
    if q.node == 0:
        a[:] = n
        q.barrier()
        flag[0] = 1
        sum(range(n))
        q.compare_exchange(flag, 0, 1, 2)
    else:
        q.barrier()
        while flag[0] == 0: pass
        total = a.sum()
        if q.compare_exchange(flag, 0, 1, 3)[0]: assert total == n * 200 * 512
    q.barrier()
    if q.node == 0 and flag[0] == 2: flag[0] = 0
    n *= 3
    q.barrier()
print("served")
""")
        self.assertEqual((status, out), (0, "served\n" * 2), err)

    def test_children(self):
        status, out, err = job("""
import subprocess, multiprocessing
def square(x): return x * x
if __name__ == "__main__":
    a = q.zeros(1000); a[0] = 5
    print(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout.strip())
    with multiprocessing.get_context("fork").Pool(2) as p: assert p.map(square, [1, 2, 3]) == [1, 4, 9]
    pid = os.fork()
    if pid == 0:
        try: q.barrier()
        except q.Error as e: os._exit(5)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
    pid = os.fork()
    if pid == 0: sys.exit(0)  # with Python's end, and no end of the job
    os.waitpid(pid, 0)
    q.barrier()
""")
        self.assertEqual((status, out), (0, "child\n" * 2), err)

    def test_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "alone.py")
            with open(path, "w") as file:
                file.write("import quire as q\na = q.zeros((1000, 1000)); a[:] = 1; q.barrier(); print(q.node, q.nodes, q.reduce(a.sum()))")
            for words in ((path,), ("-m", "quire", path)):
                self.assertEqual(subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60).stdout, "0 1 1000000.0\n")

    def test_as_a_module(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "a_module.py"), "w") as file:
                file.write("import sys, quire as q\nprint(__name__, sys.argv[1:], q.nodes)")
            done = subprocess.run([COMMAND, "run", "-n", "2", sys.executable, "-m", "quire", "-m", "a_module", "x"], capture_output=True, text=True, cwd=folder,
                                  env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), folder)))}, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (0, "__main__ ['x'] 2\n" * 2), done.stderr)
        self.assertEqual(subprocess.run([sys.executable, "-m", "quire"], capture_output=True, timeout=60).returncode, 2)

    def test_checkpoint_and_restart(self):
        with tempfile.TemporaryDirectory() as folder:
            program = f"""
if not q.restore({folder + '/state'!r}):
    a = q.zeros((300, 1000), name="a"); done = q.zeros(1, "i8", name="done")
else:
    a, done = q.array("a"), q.array("done")
assert (a == done[0]).all()
q.barrier()
a[q.block(300)] += 1
if q.node == 0: done[0] += 1
q.checkpoint({folder + '/state'!r})
q.barrier()
print(int(done[0]))
"""
            for turn, nodes in ((1, 2), (2, 3), (3, 1)):
                status, out, err = job(program, nodes)
                self.assertEqual((status, lines(out)), (0, [str(turn)] * nodes), err)

    def test_survivors_hear_of_a_death(self):
        status, out, err = job("""
lock = q.Lock()
q.barrier()
if q.node == 1:
    lock.acquire()
    os.kill(os.getpid(), signal.SIGKILL)
while q.alive(1): time.sleep(0.01)
q.barrier()  # of those that are left
try: lock.acquire()
except q.OwnerDied: print("the lock's owner is dead, and this node has it")
lock.release()
try: q.spawn(1, print)
except q.Lost: print("no thread there")
a = q.zeros((300, 1000), node=0)  # sequential: survivors need it; of nodes that live
a[q.block(300)] = 1
q.barrier()
assert a[:100].sum() == 100000
assert not q.alive(1) and q.alive(0)
""", 2, options=("--on-failure", "notify", "--transport", "tcp"))
        self.assertEqual(out, "the lock's owner is dead, and this node has it\nno thread there\n", err)

    def test_handlers_of_signals(self):
        # A handler of Python runs while the main thread waits for nobody, and when a wait is over; timers go on.
        status, out, err = job("""
came = []
signal.signal(signal.SIGUSR1, lambda *_: came.append(1))
signal.signal(signal.SIGALRM, lambda *_: came.append(2))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
a = q.zeros((500, 500))
for turn in range(30):
    os.kill(os.getpid(), signal.SIGUSR1)
    a[q.block(500)] += 1
    q.barrier()
    assert a.sum() == 250000 * (turn + 1)
    q.barrier()
end = time.monotonic() + 10  # a fast machine has done all that before the timer's first turn
while 2 not in came and time.monotonic() < end:
    time.sleep(0.001)
signal.setitimer(signal.ITIMER_REAL, 0)
assert came.count(1) == 30 and 2 in came, came
print("good")
""")
        self.assertEqual((status, out), (0, "good\n" * 2), err)

    def test_ctrl_c_while_a_thread_of_the_node_waits(self):
        # The main thread is in Python; another one waits for other nodes.
        status, out, err = job("import threading\nthreading.Thread(target=q.Event(name='never').wait, daemon=True).start()\n"
                               "if q.node == 0: print('here', flush=True)\nwhile True: time.sleep(1)", interrupt_after="here")
        self.assertEqual(status, 130, err)

    def test_ctrl_c_is_of_the_main_thread_whoever_has_started_the_node(self):
        status, out, err = alone("""
threading.Thread(target=lambda: q.Event().wait(), daemon=True).start()
try:
    print("here", flush=True)
    time.sleep(50)
except KeyboardInterrupt:
    time.sleep(1)  # longer than a thread that waits is given
    print("caught")
""", interrupt_after="here")
        self.assertEqual((status, out), (0, "caught\n"), err)

    def test_ctrl_c_while_the_end_waits_for_calls_of_other_nodes(self):
        status, out, err = alone("q.spawn(0, time.sleep, 1000)\ntime.sleep(0.5)\nprint('here', flush=True)", interrupt_after="here")
        self.assertEqual((status, out), (130, ""), err)
        self.assertIn("KeyboardInterrupt", err)

    def test_another_interpreter_of_the_process_is_no_node(self):
        try:
            import _xxsubinterpreters  # noqa: F401
        except ImportError:
            self.skipTest("this Python has no other interpreters")
        status, out, err = alone("""
import _xxsubinterpreters as others
try: others.run_string(others.create(), "import sys; sys.path[:] = %r\\nimport quire._native" % sys.path)
except Exception as error: print(error)
try: q.array("nobody", timeout=0)
except q.Error: print("good")
""")
        self.assertEqual(status, 0, out + err)
        self.assertRegex(out, "main interpreter only|does not support loading in subinterpreters")  # Python 3.12 asks no more
        self.assertIn("good\n", out)

    def test_ctrl_c_while_memory_is_used(self):
        status, out, err = job("a = q.zeros((2000, 500))\nif q.node == 0: print('here', flush=True)\nwhile True: a += 1", interrupt_after="here")
        self.assertEqual(status, 130, err)

    def test_an_exception_in_a_thread(self):
        # As in Python: it ends the thread, and not the program.
        status, out, err = job("import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start(); t.join()\nq.barrier(); print('here')")
        self.assertEqual((status, out), (0, "here\n" * 2), err)
        self.assertEqual(err.count("ZeroDivisionError"), 2)

    def test_the_end_with_threads_that_go_on(self):
        # Daemons that use arrays, a lock that is held, an opened container, handlers of atexit: the interpreter ends, and the job.
        status, out, err = job("""
import atexit, threading
a, lock, log = q.zeros(100000), q.Lock(), q.open("log", "a")
atexit.register(lambda: (log.append(b"x"), print("end", float(a[0]) >= 0)))
def goes_on():
    while True: a[:] += 1
for body in goes_on, goes_on, q.Event(name="never").wait: threading.Thread(target=body, daemon=True).start()
if q.node == 0: lock.acquire()
time.sleep(0.2)
""")
        self.assertEqual((status, out), (0, "end True\n" * 2), err)

    def test_multiprocessing_by_spawn(self):
        status, out, err = job("""
import multiprocessing
def square(x): return x * x
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as p: print(p.map(square, [1, 2, 3]))
    q.barrier()
""")
        self.assertEqual((status, out), (0, "[1, 4, 9]\n" * 2), err)

    def test_pickles(self):
        status, out, err = job("""
import copy, pickle
a, lock = q.zeros(4, name="a"), q.Lock()
a[:] = 7
q.barrier()
b, c = pickle.loads(pickle.dumps((a, lock)))
assert (b == a).all() and not np.shares_memory(a, b) and c.id == lock.id  # a pickle has the content: it may go anywhere
assert (copy.deepcopy(a) == a).all()
def adds(x, by): x[q.node] += by; return x
q.barrier()
if q.node == 0:
    for node in range(q.nodes): assert q.spawn(node, adds, a[:], 3).join() is not None
    assert (a[:q.nodes] == 10).all(), a  # arrays of the job go to other nodes as they are
    d = q.spawn(q.nodes - 1, lambda x: x[1:], a).join()
    assert np.shares_memory(d, a) and d.shape == (3,)
    assert np.shares_memory(q.spawn(1, lambda x: x.T[::-1], q.array("a").reshape(2, 2)).join(), a)
    private = np.ones(3)
    assert not q.spawn(1, adds, private, 1).join() is private and (private == 1).all()
    for error in (q.PeerLost("gone"), q.FileMissing(2, "no file"), q.TimedOut("late")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)
q.barrier()
print("good")
""")
        self.assertEqual((status, out), (0, "good\n" * 2), err)

    def test_nothing_leaks(self):
        # Creations and frees: neither shared memory, nor descriptors, nor memory of the process.
        program = """
def all_there_is():
    with open("/proc/self/statm") as f: pages = int(f.read().split()[1])
    return pages * 4096, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))
def turn(i):
    q.free(q.zeros(1 << 17 if i % 10 == 0 else 300, name="one" if i % 30 == 0 else None))
    made = (q.Lock, q.RWLock, q.Event, q.Semaphore, q.Condition)[i % 5]()
    q.barrier()
    if q.node == i % q.nodes: made.destroy()
for i in range(1000): turn(i)
before = all_there_is()
for i in range(3000): turn(i)
after = all_there_is()
assert after[0] - before[0] < 3 << 20 and after[1:] == before[1:], (before, after)
print("good")
"""
        for nodes in (1, 2):
            status, out, err = job(program, nodes)
            self.assertEqual((status, out), (0, "good\n" * nodes), err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
