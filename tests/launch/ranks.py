#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Starts processes that meet by QUIRE_RENDEZVOUS, as something does that knows nothing of Quire, and does nothing more for them:

    ranks.py [--as quire|torchrun|kubernetes] [--late RANK] N PROGRAM...

Its status is that of the first rank that fails, 128 and the signal's number for one that is killed; after all have ended.
"""
import argparse
import os
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time


def free_port():
    """Below those that the system gives to connections."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as tried:
            try:
                tried.bind(("", port))
                return port
            except OSError:
                pass


def place(kind, port, rank, size, secret):
    """What such a starter puts into the environment; in torchrun's case beside the port that torch uses itself."""
    if kind == "torchrun":
        return {"QUIRE_RENDEZVOUS": f":{port}", "MASTER_ADDR": "localhost", "MASTER_PORT": str(port - 1), "RANK": str(rank), "WORLD_SIZE": str(size),
                "QUIRE_SECRET": secret}
    if kind == "kubernetes":
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write(secret + "\n")
        return {"QUIRE_RENDEZVOUS": f"localhost:{port}", "JOB_COMPLETION_INDEX": str(rank), "QUIRE_SIZE": str(size), "QUIRE_SECRET_FILE": file.name}
    return {"QUIRE_RENDEZVOUS": f"127.0.0.1:{port}", "QUIRE_RANK": str(rank), "QUIRE_SIZE": str(size), "QUIRE_SECRET": secret}


def main():
    words = argparse.ArgumentParser()
    words.add_argument("size", type=int)
    words.add_argument("--as", dest="kind", default="quire", choices=["quire", "torchrun", "kubernetes"])
    words.add_argument("--late", type=int, default=-1)
    words.add_argument("program", nargs=argparse.REMAINDER)
    asked = words.parse_args()
    port, secret = free_port(), secrets.token_hex(16)
    others = {"QUIRE_RENDEZVOUS_TIMEOUT": "40", **os.environ}
    ranks, files = {}, []
    for rank in sorted(range(asked.size), key=lambda rank: rank == asked.late):
        if rank == asked.late:
            time.sleep(0.5)
        own = place(asked.kind, port, rank, asked.size, secret)
        files.append(own.get("QUIRE_SECRET_FILE"))
        ranks[rank] = subprocess.Popen(asked.program, env={**others, **own})
    status = 0
    while ranks:
        for rank, process in list(ranks.items()):
            ended = process.poll()
            if ended is not None:
                del ranks[rank]
                status = status or (ended if ended >= 0 else 128 - ended)
        time.sleep(0.02)
    for file in filter(None, files):
        os.unlink(file)
    sys.exit(status)


if __name__ == "__main__":
    main()
