#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A stencil, conjugate gradients and k-means in Python with numba, loop for loop what kernels.cpp does in C++, on memory that two processes share in one of
three ways. compare.py runs them.

    quire run -n 2 python3 kernels.py quire stencil|cg|k_means SIZE STEPS
    mpirun -n 2 python3 kernels.py mpi ...                         a shared window of mpi4py
    python3 kernels.py shared_memory ...                           multiprocessing.shared_memory, and processes of multiprocessing

One thread a process. The first prints the time of the steps, without that for compiling them, its thread's processor time in them, and a number that all
must agree on."""
import os
import sys
import time

for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numba  # noqa: E402
import numpy as np  # noqa: E402

CLUSTERS, DIMENSIONS, PROCESSES = 16, 8, 2
compiled = numba.njit(nogil=True)


# ---- The memory of all processes ------------------------------------------------------------------------------------------

class OfQuire:
    def __init__(self):
        import quire
        self._quire, self.rank, self.size = quire, quire.node, quire.nodes
        self.barrier, self.reduce = quire.barrier, quire.reduce

    def zeros(self, shape):
        return self._quire.zeros(shape)

    def end(self):
        pass


class OfMpi:
    def __init__(self):
        from mpi4py import MPI
        self._mpi, self._comm, self._windows = MPI, MPI.COMM_WORLD, []
        self.rank, self.size = self._comm.rank, self._comm.size

    def barrier(self):
        for window in self._windows:
            window.Sync()
        self._comm.Barrier()
        for window in self._windows:
            window.Sync()

    def reduce(self, value):
        if not isinstance(value, np.ndarray):
            return self._comm.allreduce(value)
        total = np.empty_like(value)
        self._comm.Allreduce(value, total)
        return total

    def zeros(self, shape):
        length = int(np.prod(shape)) * 8
        window = self._mpi.Win.Allocate_shared(length if self.rank == 0 else 0, 8, comm=self._comm)
        window.Lock_all()
        memory, _ = window.Shared_query(0)
        self._windows.append(window)
        array = np.ndarray(shape, float, buffer=memory)
        if self.rank == 0:
            array[:] = 0
        self.barrier()
        return array

    def end(self):
        for window in self._windows:
            window.Unlock_all()
            window.Free()


class OfSharedMemory:
    def __init__(self, rank, barrier, names):
        self.rank, self.size, self._names, self._blocks = rank, PROCESSES, names, []
        self.barrier = barrier.wait
        self._parts = self.zeros((PROCESSES, CLUSTERS * (DIMENSIONS + 1)))

    def zeros(self, shape):
        from multiprocessing import shared_memory
        length = int(np.prod(shape)) * 8
        name = f"{self._names}{len(self._blocks)}"
        if self.rank == 0:
            self._blocks.append(shared_memory.SharedMemory(name, create=True, size=length))
            self.barrier()
        else:
            self.barrier()
            self._blocks.append(shared_memory.SharedMemory(name))
        array = np.ndarray(shape, float, buffer=self._blocks[-1].buf)
        self.barrier()
        return array

    def reduce(self, value):
        flat = np.atleast_1d(value)
        self._parts[self.rank, :flat.size] = flat
        self.barrier()
        total = self._parts[:, :flat.size].sum(axis=0)
        self.barrier()
        return total if isinstance(value, np.ndarray) else float(total[0])

    def end(self):
        del self._parts
        self.barrier()
        for block in self._blocks if self.rank == 0 else ():
            block.unlink()
        os._exit(0) if self.rank != 0 else None  # arrays still lie in the blocks, which Python complains of


# ---- The loops --------------------------------------------------------------------------------------------------------------

@compiled
def sweep(to, of, first, last):
    for i in range(first, last):
        for j in range(1, of.shape[1] - 1):
            to[i, j] = 0.25 * (of[i - 1, j] + of[i + 1, j] + of[i, j - 1] + of[i, j + 1])


@compiled
def multiply(q, p, first, last):
    total = 0.0
    for i in range(first, last):
        for j in range(1, p.shape[1] - 1):
            value = 4 * p[i, j] - p[i - 1, j] - p[i + 1, j] - p[i, j - 1] - p[i, j + 1]
            q[i - first, j] = value
            total += value * p[i, j]
    return total


@compiled
def advance(x, r, p, q, alpha, first, last):
    total = 0.0
    for i in range(first, last):
        for j in range(1, p.shape[1] - 1):
            x[i - first, j] += alpha * p[i, j]
            r[i - first, j] -= alpha * q[i - first, j]
            total += r[i - first, j] * r[i - first, j]
    return total


@compiled
def turn(p, r, beta, first, last):
    for i in range(first, last):
        for j in range(1, p.shape[1] - 1):
            p[i, j] = r[i - first, j] + beta * p[i, j]


@numba.njit(nogil=True, fastmath={"contract"})  # products and sums in one instruction, as C compilers do
def assign(sums, points, centres, first, last):
    for i in range(first, last):
        best = 0
        nearest = np.inf
        for c in range(CLUSTERS):
            distance = 0.0
            for d in range(DIMENSIONS):
                apart = points[i, d] - centres[c, d]
                distance += apart * apart
            if distance < nearest:
                nearest = distance
                best = c
        for d in range(DIMENSIONS):
            sums[best, d] += points[i, d]
        sums[best, DIMENSIONS] += 1


# ---- The programs -----------------------------------------------------------------------------------------------------------

def block(world, low, high):
    count = high - low
    return low + count * world.rank // world.size, low + count * (world.rank + 1) // world.size


def seconds_of(world, steps):
    world.barrier()
    start, processor = time.perf_counter(), time.thread_time()
    steps()
    world.barrier()
    return time.perf_counter() - start, time.thread_time() - processor


def stencil(world, n, steps):
    arrays = [world.zeros((n, n)), world.zeros((n, n))]
    first, last = block(world, 1, n - 1)
    sweep(np.zeros((3, n)), np.zeros((3, n)), 1, 2)
    own = slice(*block(world, 0, n))
    for a in arrays:
        a[own] = 0
        if world.rank == 0:
            a[0] = 100

    def go():
        for _ in range(steps):
            sweep(arrays[1], arrays[0], first, last)
            world.barrier()
            arrays.reverse()
    seconds = seconds_of(world, go)
    return seconds, world.reduce(float(arrays[0][own].sum()))


def cg(world, n, steps):
    p = world.zeros((n, n))
    first, last = block(world, 1, n - 1)
    x, r, q = (np.zeros((last - first, n)) for _ in range(3))
    small = np.zeros((3, n))
    multiply(small[:1], small, 1, 2), advance(small[:1], small[:1], small, small[:1], 0.5, 1, 2), turn(small, small[:1], 0.5, 1, 2)
    rows, columns = np.mgrid[first:last, 1:n - 1]
    r[:, 1:-1] = 1.0 / (n + rows + columns)
    p[first:last] = r
    state = [world.reduce(float((r * r).sum()))]

    def go():
        square = state[0]
        for _ in range(steps):
            alpha = square / world.reduce(multiply(q, p, first, last))
            following = world.reduce(advance(x, r, p, q, alpha, first, last))
            turn(p, r, following / square, first, last)
            square = following
            world.barrier()
    seconds = seconds_of(world, go)
    return seconds, world.reduce(float(x.sum()))


def k_means(world, n, steps):
    points = world.zeros((n, DIMENSIONS))
    first, last = block(world, 0, n)
    points[first:last] = np.arange(first, last)[:, None] * (np.arange(DIMENSIONS) + 3) * 7919 % 10007 / 10007
    centres = np.arange(CLUSTERS)[:, None] * (np.arange(DIMENSIONS) + 3) * 7919 % 10007 / 10007
    sums = np.zeros((CLUSTERS, DIMENSIONS + 1))
    assign(sums, points, centres, first, first)

    def go():
        for _ in range(steps):
            sums[:] = 0
            assign(sums, points, centres, first, last)
            all_sums = world.reduce(sums.reshape(-1)).reshape(sums.shape)
            centres[:] = all_sums[:, :DIMENSIONS] / np.maximum(1, all_sums[:, DIMENSIONS:])
    seconds = seconds_of(world, go)
    return seconds, float(centres.sum())


def work(world, kernel, size, steps):
    seconds, check = {"stencil": stencil, "cg": cg, "k_means": k_means}[kernel](world, size, steps)
    if world.rank == 0:
        print(f"time {seconds[0]:.6f} s, processor {seconds[1]:.6f} s, check {check:.9g}", flush=True)
    world.end()


def work_of_rank(rank, barrier, names, arguments):
    work(OfSharedMemory(rank, barrier, names), *arguments)


def main():
    way, kernel, size, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if way == "quire":
        work(OfQuire(), kernel, size, steps)
    elif way == "mpi":
        work(OfMpi(), kernel, size, steps)
    else:
        import multiprocessing
        context = multiprocessing.get_context("spawn")
        barrier, names = context.Barrier(PROCESSES), f"kernels-{os.getpid()}-"
        others = [context.Process(target=work_of_rank, args=(rank, barrier, names, (kernel, size, steps))) for rank in range(PROCESSES)]
        for other in others:
            other.start()
        for other in others:
            other.join()
        sys.exit(max(abs(other.exitcode) for other in others))


if __name__ == "__main__":
    main()
