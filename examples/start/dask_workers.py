# SPDX-License-Identifier: BSD-3-Clause
"""The workers of a Dask cluster become the nodes of one job: tasks on them share arrays. dask_workers.py [WORKERS]"""
import os
import secrets
import socket
import sys

from dask.distributed import Client, LocalCluster


def free_port():
    with socket.socket() as found:
        found.bind(("", 0))
        return found.getsockname()[1]


def join(rank, size, where, secret):
    os.environ.update(QUIRE_RENDEZVOUS=where, QUIRE_RANK=str(rank), QUIRE_SIZE=str(size), QUIRE_SECRET=secret)
    import quire as q  # the process joins here, and is a node until its end
    return q.node, q.nodes


def fill(rank, n):
    import quire as q
    plate = q.zeros(n, name="plate")  # collective: a task on each worker calls it
    mine = q.block(n)
    plate[mine] = range(mine.start, mine.stop)
    q.barrier()
    return float(plate.sum())


def half(rank):
    import quire as q
    return float(q.array("plate")[::2].sum())  # a later task finds it by its name, and nothing is sent


def on_all(client, workers, function, *arguments):
    """One task on each worker, at the same time."""
    tasks = [client.submit(function, rank, *arguments, workers=[worker], pure=False) for rank, worker in enumerate(workers)]
    return client.gather(tasks)


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    with LocalCluster(n_workers=size, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
        host = workers[0].split("://")[1].rsplit(":", 1)[0]
        port = client.submit(free_port, workers=workers[:1]).result()
        print(on_all(client, workers, join, size, f"{host}:{port}", secrets.token_hex(16)))
        print(on_all(client, workers, fill, 100_000))
        print(on_all(client, workers, half))
