# SPDX-License-Identifier: BSD-3-Clause
"""Locks and their like, for threads of all nodes. Without a name, all nodes make one together; with one, whoever comes first makes it. They may be pickled."""
from . import _checks, _errors, _native, _node, _values


class _Shared:
    _create = _destroy = None

    def __init__(self, *, name=None):
        self._make(name)

    def _make(self, name, *arguments):
        _node.start()
        create = type(self)._create
        if name is None:
            self.id = _values.on_node_0(lambda: create(*arguments))
            return
        made = create(*arguments)
        try:
            _native.publish(name, made)
        except _errors.Exists:
            type(self)._destroy(made)
            made = _native.lookup(name, 0)
        except Exception:
            type(self)._destroy(made)
            raise
        self.id = made

    @classmethod
    def _from(cls, number):
        _node.start()
        there = cls.__new__(cls)
        there.id = number
        return there

    def __reduce__(self):
        return type(self)._from, (self.id,)

    def __repr__(self):
        return f"<quire.{type(self).__name__} {self.id:#x}>"

    def destroy(self):
        """Ends it: nobody may use it any more."""
        type(self)._destroy(self.id)


class Lock(_Shared):
    """Mutual exclusion. Acquires and releases memory."""
    _create, _destroy = _native.mutex_create, _native.mutex_destroy

    def acquire(self, timeout=None):
        """True; False after `timeout` seconds (0: at once if somebody has it; None: never)."""
        if timeout is None:
            _native.mutex_lock(self.id)
            return True
        return _native.mutex_timed_lock(self.id, _checks.milliseconds(timeout))

    def release(self):
        """Gives the lock back. Error: the calling thread does not have it."""
        _native.mutex_unlock(self.id)

    def __enter__(self):
        _native.mutex_lock(self.id)
        return self

    def __exit__(self, *error):
        _native.mutex_unlock(self.id)


class _Half:
    def __init__(self, lock, take):
        self._lock, self._take = lock, take

    def __enter__(self):
        self._take(self._lock.id, -1)
        return self._lock

    def __exit__(self, *error):
        _native.rwlock_unlock(self._lock.id)


class RWLock(_Shared):
    """Many readers, or one writer: `with lock.read:`, `with lock.write:`."""
    _create, _destroy = _native.rwlock_create, _native.rwlock_destroy

    @property
    def read(self):
        """`with lock.read:` waits until nobody writes."""
        return _Half(self, _native.rwlock_read_lock)

    @property
    def write(self):
        """`with lock.write:` waits until nobody else has the lock."""
        return _Half(self, _native.rwlock_write_lock)


class Condition(_Shared):
    """A condition variable, with a Lock that the caller has."""
    _create, _destroy = _native.condition_create, _native.condition_destroy

    def wait(self, lock, timeout=None):
        """Releases the lock while it waits, and has it again. False after `timeout` seconds."""
        if not isinstance(lock, Lock):
            raise TypeError(f"lock is {lock!r}: the quire.Lock that this thread has is needed")
        return _native.condition_wait(self.id, lock.id, _checks.milliseconds(timeout))

    def notify(self):
        """Wakes one thread that waits."""
        _native.condition_notify_one(self.id)

    def notify_all(self):
        """Wakes all threads that wait."""
        _native.condition_notify_all(self.id)


class Barrier(_Shared):
    """A barrier of `threads` threads of whichever nodes. That of one thread of each node is quire.barrier()."""
    _create, _destroy = _native.barrier_create, _native.barrier_destroy

    def __init__(self, threads, name=None):
        self._make(name, _checks.count(threads, "threads", 1, 32))

    def wait(self):
        """Waits until as many threads as it has have called it. What each has written before, all see after it."""
        _native.barrier_wait(self.id)


class Event(_Shared):
    """Stays set, and lets all pass, until it is cleared."""
    _create, _destroy = _native.event_create, _native.event_destroy

    def set(self):
        """Lets all pass who wait, and who will."""
        _native.event_set(self.id)

    def clear(self):
        """Who waits from now on waits until the next set()."""
        _native.event_reset(self.id)

    def wait(self, timeout=None):
        """Waits until it is set: True; False after `timeout` seconds."""
        return _native.event_wait(self.id, _checks.milliseconds(timeout))


class Semaphore(_Shared):
    """A counting semaphore."""
    _create, _destroy = _native.semaphore_create, _native.semaphore_destroy

    def __init__(self, value=1, name=None):
        self._make(name, _checks.count(value, "value"))

    def acquire(self, timeout=None):
        """Takes one, when there is one: True; False after `timeout` seconds."""
        return _native.semaphore_acquire(self.id, _checks.milliseconds(timeout))

    def release(self, count=1):
        """Adds `count`."""
        _native.semaphore_release(self.id, _checks.count(count, "count", 1))

    def __enter__(self):
        self.acquire()
        return self

    def __exit__(self, *error):
        self.release()
