# SPDX-License-Identifier: BSD-3-Clause
"""Actors of Ray become the nodes of one job: their methods share arrays. ray_workers.py [ACTORS]"""
import os
import secrets
import socket
import sys

import ray


@ray.remote
class Node:
    def address(self):
        with socket.socket() as found:
            found.bind(("", 0))
            return f"{ray.util.get_node_ip_address()}:{found.getsockname()[1]}"

    def join(self, rank, size, where, secret):
        os.environ.update(QUIRE_RENDEZVOUS=where, QUIRE_RANK=str(rank), QUIRE_SIZE=str(size), QUIRE_SECRET=secret)
        import quire as q  # the process joins here, and is a node until its end
        return q.node, q.nodes

    def fill(self, n):
        import quire as q
        plate = q.zeros(n, name="plate")  # collective: a method of each actor calls it
        mine = q.block(n)
        plate[mine] = range(mine.start, mine.stop)
        q.barrier()
        return float(plate.sum())

    def half(self):
        import quire as q
        return float(q.array("plate")[::2].sum())  # a later call finds it by its name, and nothing is sent


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    ray.init(num_cpus=size, include_dashboard=False, log_to_driver=True, logging_level="error")
    nodes = [Node.remote() for _ in range(size)]
    where, secret = ray.get(nodes[0].address.remote()), secrets.token_hex(16)
    print(ray.get([node.join.remote(rank, size, where, secret) for rank, node in enumerate(nodes)]))
    print(ray.get([node.fill.remote(100_000) for node in nodes]))
    print(ray.get([node.half.remote() for node in nodes]))
    # An actor whose handle goes ends as a process that exits does; all leave the job together.
    ends = [node.__ray_terminate__.remote() for node in nodes]
    ray.wait(ends, num_returns=size, timeout=30)
    ray.shutdown()
