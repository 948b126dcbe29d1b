# SPDX-License-Identifier: BSD-3-Clause
"""Locks and their like."""
import pickle
import threading

import quire as q

n, me = q.nodes, q.node
a = q.zeros(8)
lock, named = q.Lock(), q.Lock(name="guard")
assert q.gather(named.id) == [named.id] * n
for _ in range(50):
    with lock:
        a[0] += 1
q.barrier()
assert a[0] == 50 * n

# Threads of one node, too; the GIL is free while one waits.
def work():
    for _ in range(20):
        with named:
            a[1] += 1
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
q.barrier()
assert a[1] == 80 * n, a[1]

if me == 0:
    lock.acquire()
q.barrier()
if me != 0:
    assert lock.acquire(timeout=0) is False and lock.acquire(timeout=0.01) is False
    try:
        lock.release()
        raise AssertionError("released another's lock")
    except q.Error:
        pass
q.barrier()
if me == 0:
    lock.release()
copy = pickle.loads(pickle.dumps(lock))
with copy:
    pass
q.barrier()

both = q.RWLock()
with both.read:
    q.barrier()  # all read at a time
with both.write:
    a[2] += 1
q.barrier()
assert a[2] == n

event, slots, meeting, condition = q.Event(), q.Semaphore(0), q.Barrier(2 * n), q.Condition()
assert event.wait(timeout=0) is False and slots.acquire(timeout=0.01) is False
q.barrier()
if me == 0:
    a[3] = 7
    event.set()
    slots.release(n)
assert event.wait() is True and slots.acquire() is True
with lock:
    assert a[3] == 7
other = threading.Thread(target=meeting.wait)
other.start()
meeting.wait()
other.join()

# A queue of one place.
if me == 0:
    for i in range(10 * (n - 1)):
        with lock:
            while a[4] != 0:
                condition.wait(lock)
            a[4] = i + 1
            condition.notify_all()
else:
    for _ in range(10):
        with lock:
            while a[4] == 0:
                condition.wait(lock)
            a[5] += a[4]
            a[4] = 0
            condition.notify_all()
q.barrier()
m = 10 * (n - 1)
assert a[5] == m * (m + 1) // 2
with lock:
    assert condition.wait(lock, timeout=0.01) is False
q.barrier()
if me == 0:
    lock.destroy()
q.barrier()
try:
    lock.acquire()
    raise AssertionError("a lock that was destroyed")
except q.Error as error:
    assert str(error)
