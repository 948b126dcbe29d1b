# SPDX-License-Identifier: BSD-3-Clause
"""Under which settings programs are run: each choice follows from a random.Random. Only settings that are allowed together."""

K, M = 1 << 10, 1 << 20
UNITS = (4 * K, 4 * K, 4 * K, 16 * K, 64 * K, 256 * K, 512 * K, 1 * M, 2 * M)
# file and sysv are not for userfaultfd; fork is for the whole job only.
POOLS = {pool: ("userfault", "thread", "segv") for pool in ("memfd", "posix", "mdup", "fork")} | {"file": ("segv",), "sysv": ("segv",)}
POOL_NUMBERS = {"memfd": 1, "file": 2, "posix": 3, "sysv": 4, "mdup": 5}
DETECTOR_NUMBERS = {"userfault": 1, "thread": 2, "segv": 3}
SCAN = 4
SCANNED = ("memfd", "posix", "mdup")  # pools whose written pages the kernel remembers


def size(bytes_):
    return f"{bytes_ // M}M" if bytes_ % M == 0 else f"{bytes_ // K}K"


class Settings:
    """Settings of one job: how many nodes, how they talk, what pages are made of, what is limited."""

    def __init__(self, draw, most_nodes=8):
        self.nodes = min(most_nodes, draw.choice((1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 8)))
        self.transport = draw.choice(("shm", "shm", "tcp"))
        self.pool = draw.choice(("memfd", "memfd", "memfd", *POOLS))
        self.detector = draw.choice(POOLS[self.pool])
        self.unit = draw.choice(UNITS)
        self.memory_limit = draw.choice((16, 32, 100)) * max(self.unit, 256 * K) if draw.random() < 0.35 else 0
        self.replicas = False
        self.sets = {}
        if draw.random() < 0.3:
            self.sets["twin_limit"] = size(draw.choice((64 * K, self.unit + 64 * K, 2 * self.unit + 64 * K, 5 * self.unit + 64 * K)))
        for name in ("read_ahead", "learn_writes", "move_homes", "updates", "migratory"):
            if draw.random() < 0.2:
                self.sets[name] = "0"
        if draw.random() < 0.2:
            self.sets["spin_us"] = draw.choice(("0", "50", "2000"))
        if draw.random() < 0.3:
            self.sets["unit"] = size(draw.choice(UNITS[:6]))  # of quire_malloc()'s memory

    def with_replicas(self):
        """Content on two nodes, where the survivors of a death go on: not with every setting."""
        self.replicas = True
        self.transport, self.memory_limit, self.nodes = "tcp", 0, max(2, self.nodes)
        if self.pool == "fork":
            self.pool = "memfd"
        if self.detector == "thread":
            self.detector = "segv"
        return self

    def options(self):
        words = ["-n", str(self.nodes), "--transport", self.transport, "--pool", self.pool, "--detect", self.detector]
        if self.memory_limit:
            words += ["--memory-limit", size(self.memory_limit)]
        if self.replicas:
            words += ["--replicas", "1"]
        for name, value in self.sets.items():
            words += ["--set", f"{name}={value}"]
        return words

    def region_of_its_own(self, draw):
        """Pool and detector of one region, by their numbers in quire.h; 0: those of the job."""
        if self.pool == "fork" or draw.random() < 0.7:
            return 0, 0
        pool = draw.choice(tuple(POOL_NUMBERS))
        return POOL_NUMBERS[pool], DETECTOR_NUMBERS[draw.choice(POOLS[pool])]
