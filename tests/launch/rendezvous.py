# SPDX-License-Identifier: BSD-3-Clause
"""Cases with nobody's launcher: ranks that meet by QUIRE_RENDEZVOUS."""

import os
import pathlib
import re
import secrets
import signal
import socket
import struct
import sys
import threading
import time

from namespaces import Hosts
from others import others_go_on
from ranks import free_port
from suite import program, quire, run_stock, run_suite
from support import Failed, Job, require, run, run_well

RANKS = [sys.executable, "-B", os.path.join(os.path.dirname(os.path.abspath(__file__)), "ranks.py")]
SECRET = secrets.token_hex(16)
FRAMES = pathlib.Path(__file__).resolve().parents[2] / "src/bootstrap/local/frame.hpp"
VERSION = int(re.search(r"protocol_version = (\d+);", FRAMES.read_text())[1])


def environment_of(rank, size, port, **more):
    return {"QUIRE_RENDEZVOUS": f"127.0.0.1:{port}", "QUIRE_RANK": str(rank), "QUIRE_SIZE": str(size), "QUIRE_SECRET": SECRET,
            "QUIRE_RENDEZVOUS_TIMEOUT": "20", **more}


def start(rank, size, port, *words, **more):
    return Job([program("launcher_program"), *(words or ("exchange", "10"))], environment_of(rank, size, port, **more))


def rendezvous():
    """Ranks by Quire's variables, torchrun's and Kubernetes'; late ones; programs of all kinds."""
    for kind, size, late in (("quire", 1, -1), ("quire", 4, 0), ("torchrun", 3, 2), ("kubernetes", 3, 0)):
        told = run_well([*RANKS, "--as", kind, "--late", str(late), str(size), program("launcher_program"), "exchange", "40000"], 40).out
        require(sorted(told.split("\n"))[1:] == [f"node {i} of {size}, {size} here" for i in range(size)], told)
    run_suite([["contract_sync_program"], ["stress_program", "1"]], [*RANKS, "3"])
    run_suite([["contract_sync_program"]], [*RANKS, "3"], environment={"QUIRE_TRANSPORT": "tcp"})
    run_suite([["contract_sync_program"]], [*RANKS, "2"], environment={"QUIRE_POOL": "fork"})
    run_stock([*RANKS, "3", quire(), "exec"])
    # The innermost launcher counts; a program that a node starts is no node.
    told = run_well([quire(), "run", "-n", "2", program("launcher_program"), "exchange", "10"], 30, environment=environment_of(0, 9, 1)).out
    require(sorted(told.split("\n"))[1:] == ["node 0 of 2, 2 here", "node 1 of 2, 2 here"], told)
    run_well([*RANKS, "2", program("launcher_program"), "environment"], 30)
    # torchrun's and Kubernetes' variables alone change nothing.
    told = run_well([program("launcher_program"), "exchange", "10"], 10,
                    environment={"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "1", "JOB_COMPLETION_INDEX": "1"}).out
    require(told == "node 0 of 1, 1 here\n", told)


def rendezvous_hosts():
    """Between hosts: by TCP."""
    with Hosts(3) as hosts:
        jobs = []
        port = free_port()
        for rank in (1, 2, 0):
            own = environment_of(rank, 3, port, QUIRE_TRANSPORT="tcp", QUIRE_RENDEZVOUS=f"{hosts.addresses[0]}:{port}")
            jobs.append(Job(hosts.inside(rank + 1, [program("contract_sync_program")]), own))
        for job in jobs:
            result = job.finish(60)
            require(result.status == 0, result)
        hosts.require_traffic(100_000)


def expect(job, status, *texts, limit=30):
    """Ends with a status (None: any other than 0), and says all this in one line."""
    result = job.finish(limit)
    require(result.status == status if status is not None else result.status not in (0, -signal.SIGKILL), result)
    require(any(all(text in line for text in texts) for line in result.err.split("\n")), f"{texts} are not in {result}")
    return result


def rendezvous_refused():
    """Nonsense, a rank that never comes, comes twice, with another size or secret; a port in use: a line on all, and nobody waits for long."""
    port = free_port()
    for wrong, text in (({"QUIRE_SIZE": "0"}, "QUIRE_SIZE=0 is not allowed"), ({"QUIRE_RANK": "2"}, "the ranks of this job are 0 to 1"),
                        ({"QUIRE_SIZE": "1152921504606846976"}, "is not allowed"), ({"QUIRE_RENDEZVOUS": "127.0.0.1"}, "HOST:PORT"),
                        ({"QUIRE_SECRET": ""}, "without a secret anybody could join"), ({"QUIRE_SECRET": "short"}, "has 5 characters")):
        expect(start(0, 2, port, **wrong), 43, text, limit=10)

    # Never: rank 0 says so after its limit, to all.
    jobs = [start(rank, 4, port, QUIRE_RENDEZVOUS_TIMEOUT="2") for rank in (0, 2)]
    for job in jobs:
        result = expect(job, 43, "within 2 seconds (QUIRE_RENDEZVOUS_TIMEOUT) 2 of 4 ranks have come to rank 0; missing: 1, 3")
        require(2 <= result.seconds < 8, result)
    # No rank 0; a name that nobody knows.
    result = expect(start(1, 2, port, QUIRE_RENDEZVOUS_TIMEOUT="1"), 43, "rank 1 has not reached rank 0 at 127.0.0.1:", "within 1 seconds",
                    "Connection refused")
    require(result.seconds < 8, result)
    expect(start(1, 2, port, QUIRE_RENDEZVOUS="no-such-host.invalid:29600", QUIRE_RENDEZVOUS_TIMEOUT="1"), 43, "host no-such-host.invalid: ")

    # Twice, before all are there.
    jobs = [start(0, 3, port), start(1, 3, port), start(1, 3, port)]
    for job in jobs:
        expect(job, 43, "rank 1 has come twice: node 1 (pid ", limit=10)
    # Later: only the third is turned away.
    jobs = [start(rank, 2, port, "news") for rank in range(2)]
    for job in jobs:
        require(job.process.stdout.readline() == "ready\n", "it is not ready")
    expect(start(1, 2, port), 43, "rank 1 has come twice: node 1 (pid ", "all 2 ranks of the job have come before", limit=10)
    require(all(job.process.poll() is None for job in jobs), "a late rank has ended the job")
    for job in jobs:
        job.kill()
    for job in jobs:
        job.finish(10)

    # Another size; another secret, which the others hear of, and which does not end the start.
    jobs = [start(0, 3, port), start(1, 4, port)]
    for job in jobs:
        expect(job, 43, "says that the job has 4 ranks; node 0 says 3", limit=10)
    jobs = [start(rank, 3, port) for rank in range(2)]
    expect(start(2, 3, port, QUIRE_SECRET="f" * 32), 43, "rank 0 at 127.0.0.1:", "knows another secret than rank 2", limit=10)
    jobs.append(start(2, 3, port))
    for job in jobs[:2]:
        expect(job, 0, "a process at 127.0.0.1, which calls itself rank 2, knows another secret than rank 0, and was turned away")
    require(jobs[2].finish(10).status == 0, "the right one has not joined")

    # A port in use: by something that says nothing, or something else.
    with socket.create_server(("127.0.0.1", port)) as other:
        expect(start(0, 2, port), 43, f"rank 0 cannot listen on port {port}: Address already in use", limit=15)
        expect(start(1, 2, port, QUIRE_RENDEZVOUS_TIMEOUT="1"), 43, "something listens there, and does not speak as rank 0", limit=15)

        def greet():
            while True:  # the first was the silent one's
                connection = other.accept()[0]
                try:
                    connection.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n" * 3)
                except OSError:
                    pass
        threading.Thread(target=greet, daemon=True).start()
        expect(start(1, 2, port), 43, "is not rank 0 at 127.0.0.1", limit=15)


def siphash(key, text):
    mask = (1 << 64) - 1
    v = [key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573]

    def turn(x, by):
        return (x << by | x >> (64 - by)) & mask

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & mask
            v[1] = turn(v[1], 13) ^ v[0]
            v[0] = turn(v[0], 32)
            v[2] = (v[2] + v[3]) & mask
            v[3] = turn(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & mask
            v[3] = turn(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & mask
            v[1] = turn(v[1], 17) ^ v[2]
            v[2] = turn(v[2], 32)

    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


class Stranger:
    """A process that knows the secret, and is no node of this build."""

    WHAT = 0x3130564452514951

    def __init__(self, port, rank, secret=SECRET):
        key = tuple(siphash((0x72656e64657a766f, half), secret.encode()) for half in (1, 2))
        self.socket = socket.create_connection(("127.0.0.1", port), 5)
        what, *first = struct.unpack("<3Q", self.socket.recv(24, socket.MSG_WAITALL))
        require(what == self.WHAT, f"rank 0 says {what:x}")
        mine = (12, 34)
        proof = siphash(key, struct.pack("<7Q", self.WHAT, 1, *first, rank, *mine))
        self.socket.sendall(struct.pack("<5Q", self.WHAT, rank, *mine, proof))
        self.verdict = struct.unpack("<2Q", self.socket.recv(16, socket.MSG_WAITALL))

    def say(self, kind, node, payload):
        self.socket.sendall(struct.pack("<IiI", kind, node, len(payload)) + payload)

    def hello(self, rank, size, build, version=VERSION):
        words = (struct.pack("<Iiii5Q", version, rank, size, 77, 0, 0, 0, 0, 0), b"somewhere", build, b"")
        self.say(1, rank, b"".join(struct.pack("<I", len(word)) + word for word in words))

    def heard(self):
        """All that comes until the end of the connection."""
        text = b""
        try:
            while piece := self.socket.recv(4096):
                text += piece
        except ConnectionResetError:
            pass
        return text.decode(errors="replace")


def rank_0(port, size, **more):
    """It listens when this returns."""
    job = start(0, size, port, **more)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            return job
        except OSError:
            time.sleep(0.02)
    raise Failed("rank 0 does not listen")


def rendezvous_strangers():
    """Another build, what no node says, floods of connections: a line, and the job starts or ends at once."""
    port = free_port()
    for hello in ((1, 2, b"0.0.9", 6), (1, 2, b"0.1.0", 5)):
        job = rank_0(port, 2)
        other = Stranger(port, 1)
        other.hello(*hello)
        require("node 1 (pid 77 on somewhere) runs another build of Quire (" in other.heard(), "it is not told")
        expect(job, 43, "runs another build of Quire (" + hello[2].decode(), limit=10)
    for nonsense in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100):
        job = rank_0(port, 2)
        other = Stranger(port, 1)
        other.socket.sendall(nonsense)
        other.socket.shutdown(socket.SHUT_WR)
        other.heard()
        last = start(1, 2, port)
        for one in (last, job):
            require(one.finish(20).status == 0, "nonsense has ended the start")
    # Connections that say nothing, or the wrong thing, take no place from others.
    job = rank_0(port, 2)
    silent = [socket.create_connection(("127.0.0.1", port), 5) for _ in range(200)]
    for one in silent[:20]:
        try:
            one.sendall(b"x" * 100)
        except OSError:
            pass
    last = start(1, 2, port)
    for one in (last, job):
        result = one.finish(20)
        require(result.status == 0, result)
    require(result.err.count("turned away a connection from 127.0.0.1") <= 1, result)
    for one in silent:
        one.close()


def start_death(port, what="compute", size=3, **more):
    """Ranks of death_program, by rank, once all are at work."""
    jobs = [Job([program("death_program"), what], environment_of(rank, size, port, **more)) for rank in range(size)]
    for rank, job in enumerate(jobs):
        line = job.process.stdout.readline()
        require(line.startswith(f"node {rank} is {job.process.pid}"), f"not at work: {line}")
    return jobs


def rendezvous_deaths():
    """A rank is killed, rank 0 is, one is stopped, one exits: all others end with a line that names it."""
    port = free_port()
    for victim in (2, 0):
        for transport in ("shm", "tcp"):
            jobs = start_death(port, QUIRE_TRANSPORT=transport)
            jobs[victim].kill()
            for rank, job in enumerate(jobs):
                if rank == victim:
                    job.finish(10)
                    continue
                result = expect(job, None, f"node {victim} (pid {jobs[victim].process.pid} on ", "this node ends", limit=10)
                require(f"quire[{rank}]: " in result.err, result)
    # One that is stopped is ended too, as its host has others; also rank 0, of which some hear only that it has ended.
    for victim in (1, 0):
        jobs = start_death(port, QUIRE_PEER_TIMEOUT="2")
        os.kill(jobs[victim].process.pid, signal.SIGSTOP)
        told = [expect(job, None, f"node {victim} (pid {jobs[victim].process.pid} on ", limit=20).err for job in jobs if job is not jobs[victim]]
        require(sum("does not answer: nothing was heard" in one for one in told) >= (2 if victim else 1), told)
        require(jobs[victim].finish(10).status == -signal.SIGKILL, "the node that was stopped is left")
    # Before all are there.
    first = rank_0(port, 3)
    member = Stranger(port, 1)
    member.hello(1, 3, run([quire(), "--version"], 10).out.split()[1].encode())
    member.socket.close()
    expect(first, 43, "node 1 (pid 77 on somewhere) has ended before all 3 ranks had come", limit=10)
    # Who has left is no victim, and who has heard of a death passes it on as the cause.
    told = run([*RANKS, "3", program("launcher_program"), "late", "1"], 20)
    require(told.status == 5 and told.out.count("finished") == 2, told)
    told = run([*RANKS, "3", program("launcher_program"), "unleft", "1"], 20)
    require(told.out.count('news: node_died 1 "node 1 (pid ') == 2, told)
    others_go_on([*RANKS, "3"])


def survivors_rendezvous():
    """Ranks on three hosts, each by itself."""
    with Hosts(3) as hosts:
        port = free_port()
        script = "".join(f"QUIRE_RANK={rank} {' '.join(hosts.inside(rank + 1, [])[:4])} \"$0\" \"$@\" & " for rank in range(3))
        environment = {name: value for name, value in environment_of(0, 3, port, QUIRE_TRANSPORT="tcp", QUIRE_RENDEZVOUS=f"{hosts.addresses[0]}:{port}").items()
                       if name != "QUIRE_RANK"}
        others_go_on(["sh", "-c", script + "wait"], environment=environment)
        hosts.require_traffic(20_000)
        hosts.require_nothing_left()
        # A host that is cut off is not dead: nobody goes on without it.
        jobs = []
        for rank in range(3):
            own = environment_of(rank, 3, port, QUIRE_TRANSPORT="tcp", QUIRE_RENDEZVOUS=f"{hosts.addresses[0]}:{port}", QUIRE_ON_FAILURE="notify",
                                 QUIRE_PEER_TIMEOUT="2", TEST_VICTIM="2")
            jobs.append(Job(hosts.inside(rank + 1, [program("survive_program"), "compute"]), own))
        for job in jobs:
            require(" is " in job.process.stdout.readline(), "not at work")
        hosts.pull_cable(3)
        for rank, job in enumerate(jobs):
            result = job.finish(60)
            require(result.status != 0 and "hears of" not in result.out and "does not answer" in result.err, f"rank {rank}: {result}")
        hosts.require_nothing_left()


def survivors_most():
    """As many nodes as may survive others: a line between each two of different hosts."""
    with Hosts(2) as hosts:
        port = free_port()
        jobs = [Job(hosts.inside(rank % 2 + 1, [program("survive_program"), "idle"]),
                    environment_of(rank, 64, port, QUIRE_TRANSPORT="tcp", QUIRE_RENDEZVOUS=f"{hosts.addresses[0]}:{port}", QUIRE_ON_FAILURE="notify",
                                   QUIRE_PEER_TIMEOUT="20", TEST_VICTIM="5")) for rank in range(64)]
        for rank, job in enumerate(jobs):
            line = job.process.stdout.readline()
            require(line.startswith(f"node {rank} is "), f"not at work: {line}")
            if rank == 5:
                victim = int(line.split()[-1])
        os.kill(victim, signal.SIGKILL)
        for rank, job in enumerate(jobs):
            result = job.finish(90)
            require(rank == 5 or (result.status == 0 and "hears of 5\n" in result.out), f"rank {rank}: {result}")
        hosts.require_nothing_left()


CASES = (survivors_rendezvous, survivors_most, rendezvous, rendezvous_hosts, rendezvous_refused, rendezvous_strangers, rendezvous_deaths)
