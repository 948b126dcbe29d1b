# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: programs, and the rows that come of them. Data for run.py; nothing runs here.

A group's programs run in turn, again and again, so that both sides of a comparison see the same state of the machine.
A measurement is named "program key:name in its output". Programs with wall=True are also measured from outside, as
"key:wall", in milliseconds.
"""
import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Program:
    key: str
    command: tuple
    # job: under `quire run -n 2`; pair: two processes without Quire; plain: by itself; comparison: a script of a command `quire bench KEY`, which measures
    # by itself and tells it in KEY.json
    kind: str = "job"
    nodes: int = 2  # of a job
    job_options: tuple = ()
    environment: dict = field(default_factory=dict)
    full: tuple = ()  # more arguments,
    quick: tuple = ()  # and what stands in their place with --quick
    wall: bool = False
    told_by: str = None  # it prints no JSON: this pattern finds its seconds
    limit_s: int = 120  # it must end by then
    crowd: int = 0  # so many busy processes run beside it


@dataclass(frozen=True)
class Row:
    name: str
    value: str
    baseline: object = None  # a measurement, or a number
    target: float = None  # what the ratio value / baseline is compared to
    times: float = 1  # the baseline, a measurement, is taken so many times
    bound: str = "most"  # the ratio must be at "most" or at "least" the target
    minus: str = None  # a measurement that is taken off the value
    told: bool = False  # a reader needs it though it has no target: not only with --all

    def needs(self):
        """Keys of the programs that it comes of."""
        return {name.rpartition(":")[0] for name in (self.value, self.baseline, self.minus) if isinstance(name, str)}


@dataclass(frozen=True)
class Group:
    name: str
    about: str
    programs: list
    rows: list
    rounds: int = 3

    def in_short(self):
        """What of it has a target or must be told, in a third of the rounds; None if there is nothing."""
        rows = [row for row in self.rows if row.target is not None or row.told]
        needed = set().union(*(row.needs() for row in rows))
        programs = [program for program in self.programs if program.key in needed]
        return Group(self.name, self.about, programs, rows, max(min(self.rounds, 3), self.rounds // 3)) if rows else None


def fault_group(transport, target, four):
    few = ("--pages", "1024", "--rounds", "1")

    def job(key, read_ahead, nodes=2):
        return Program(key, ("quire_fault",), nodes=nodes, job_options=("--transport", transport),
                       environment={"QUIRE_READ_AHEAD": read_ahead}, quick=few)

    return Group(
        f"fault-{transport}", f"faults, 4 KiB pages in random order, {transport}",
        [Program("floor", ("floor_fault", "--transport", transport), "pair", quick=few),
         job("quire", "1"), job("plain", "0"), job("four", "1", 4)],
        [Row(f"read fault, {transport}", "quire:read_fault", "floor:read_fault", target),
         Row(f"read fault without read-ahead, {transport}", "plain:read_fault", "floor:read_fault", target),
         Row(f"read fault, frame never used, {transport}", "quire:first_read_fault", "floor:first_read_fault"),
         Row(f"write fault, upgrade at the home, {transport}", "quire:upgrade_fault_home", "quire:read_fault", 2),
         Row(f"write fault, upgrade elsewhere, {transport}", "quire:upgrade_fault_away", "quire:read_fault", 2),
         Row(f"write fault, page owned elsewhere, {transport}", "quire:write_fault", "quire:read_fault", 2),
         # Manager, owner and requester are three nodes: three messages where the floor has two, and the fourth node looks on.
         Row(f"read fault, owner at a third of 4 nodes, {transport}", "four:read_fault_third", "floor:read_fault", four, times=1.5),
         Row(f"write fault, owner at a third of 4 nodes, {transport}", "four:write_fault_third", "four:read_fault_third", 2),
         Row(f"write fault, copies on all of 4 nodes, {transport}", "four:upgrade_fault_of_all", "four:read_fault_third", 2)],
        rounds=5)


def encrypted_group():
    """What QUIRE_ENCRYPT costs where the network itself costs least: over TCP within one host."""
    few, large = ("--pages", "1024", "--rounds", "1"), ("--mebibytes", "64", "--rounds", "1")

    def job(key, program, encrypt, quick):
        return Program(key, program, job_options=("--transport", "tcp"), environment={"QUIRE_ENCRYPT": encrypt}, quick=quick)

    return Group(
        "encrypted", "messages that are encrypted, TCP",
        [job("sealed", ("quire_fault",), "1", few), job("open", ("quire_fault",), "0", few),
         job("sealed_sweep", ("quire_sweep", "--read", "all"), "1", large), job("open_sweep", ("quire_sweep", "--read", "all"), "0", large)],
        [Row("read fault, encrypted", "sealed:read_fault", "open:read_fault", 1.5),
         Row("write fault, encrypted", "sealed:write_fault", "open:write_fault", 1.5),
         Row("sweep, every word, encrypted", "sealed_sweep:sweep", "open_sweep:sweep")],
        rounds=5)


def sweep_group(transport):
    job = ("--transport", transport)
    few = ("--mebibytes", "64", "--rounds", "1")
    least = {"target": 0.7, "bound": "least"}
    return Group(
        f"sweep-{transport}", f"sequential sweep over 256 MiB homed elsewhere, {transport}",
        [Program("floor", ("floor_bandwidth", "--transport", transport), "pair", quick=few),
         Program("page", ("quire_sweep", "--read", "page"), job_options=job, quick=few),
         Program("all", ("quire_sweep", "--read", "all"), job_options=job, quick=few),
         Program("fresh", ("floor_bandwidth", "--fresh", "--transport", transport), "pair", quick=few)],
        [Row(f"sweep, a word a page, {transport}", "page:sweep", "floor:bandwidth", **least),
         Row(f"sweep, every word, {transport}", "all:sweep", "floor:bandwidth", **least),
         Row(f"first sweep, a word a page, {transport}", "page:sweep_first", "floor:bandwidth", **least),
         Row(f"first sweep, every word, {transport}", "all:sweep_first", "floor:bandwidth", **least),
         Row(f"bare transport into memory never used, {transport}", "fresh:bandwidth", "floor:bandwidth")])


def host_frames_group(how):
    rows, programs = [], []
    for n, fault, sweep in ((2, 0.5, 3), (4, None, None), (8, None, None)):
        shared, own = f"{how}-shared{n}", f"{how}-own{n}"
        rows += [Row(f"frames of 256 MiB that {n} nodes read, MB, {how}", f"{shared}:frames", 256 * 1.048576, 1.1, told=True),
                 Row(f"first read of what a neighbour has, {n} nodes, {how}", f"{shared}:first_read", f"{own}:first_read", fault),
                 Row(f"sweep of what a neighbour wrote, {n} nodes, {how}", f"{shared}:sweep", f"{own}:sweep", sweep, bound="least")]
        programs += [Program(key, ("quire_host_frames", "--consistency", how), nodes=n, environment={"QUIRE_HOST_FRAMES": on},
                             quick=("--mebibytes", "16", "--rounds", "1")) for key, on in ((shared, "1"), (own, "0"))]
    return Group(f"host-frames-{how}", f"nodes of one host read the same memory, {how}: frames of the host, and of each node", programs, rows)


def hands_group():
    """Memory that changes hands, each against the sweep of a reader in the same job, and without migratory units."""
    few = ("--mebibytes", "8", "--rounds", "2")

    def job(key, nodes, consistency, **more):
        return Program(key, ("quire_hands", "--consistency", consistency), nodes=nodes, quick=few, **more)

    off = {"environment": {"QUIRE_MIGRATORY": "0"}}
    rows = []
    for nodes in (2, 4):
        for consistency, target in (("release", 0.7), ("sequential", 0.85)):
            key = f"{consistency}{nodes}"
            rows += [Row(f"written in turn, {consistency}, {nodes} nodes", f"{key}:turns", f"{key}:sweep", target if nodes == 2 else None, bound="least",
                         told=True),
                     Row(f"alternating directions, {consistency}, {nodes} nodes", f"{key}:slabs", f"{key}:sweep"),
                     Row(f"a record under a lock, {consistency}, {nodes} nodes", f"{key}:record")]
    rows += [Row("written in turn, release, 2 nodes, against diffs", "release2:turns", "diffs:turns"),
             Row("alternating directions, release, 2 nodes, against diffs", "release2:slabs", "diffs:slabs"),
             Row("written in turn, release, 2 nodes: bytes a page", "release2:bytes_turns", 4096),
             Row("written in turn, release, 2 nodes: messages a page", "release2:messages_turns"),
             Row("written in turn, release, 2 nodes: local faults a page", "release2:local_faults_turns")]
    programs = [job(f"{c}{n}", n, c) for n in (2, 4) for c in ("release", "sequential")] + [job("diffs", 2, "release", **off)]
    small = {"quick": ("12", "3")}  # of stock programs: kinds of data that changes hands, against two threads of the stock runtime
    programs.append(Program("stock", ("openmp_hands",), "plain", environment={"OMP_NUM_THREADS": "2"}, **small))
    kinds = (("directions", "alternating directions, stock program", 2), ("wavefront", "wavefront by flags, stock program", 3),
             ("produced", "written by one and read by all, stock program", None), ("columns", "transposed, stock program", None),
             ("counted", "counted in a table beside vectors, stock program", None))
    for memory in ("sequential", "mixed", "auto"):
        for nodes in (2, 4):
            programs.append(Program(f"{memory}{nodes} stock", ("openmp_hands",), nodes=nodes, job_options=("--memory", memory),
                                    environment={"OMP_NUM_THREADS": str(nodes)}, **small))
            rows += [Row(f"{about}, {memory}, {nodes} nodes", f"{memory}{nodes} stock:{kind}", f"stock:{kind}",
                         target if (memory, nodes) == ("mixed", 2) else None) for kind, about, target in kinds]
    for nodes in (2, 4):
        programs.append(Program(f"mixed{nodes} unplanned", ("openmp_hands",), nodes=nodes, job_options=("--memory", "mixed"),
                                environment={"OMP_NUM_THREADS": str(nodes), "QUIRE_PLANS": "0"}, **small))
        rows += [Row(f"{about}, mixed, {nodes} nodes, against no plans", f"mixed{nodes} stock:{kind}", f"mixed{nodes} unplanned:{kind}")
                 for kind, about, _ in kinds]
    return Group("hands", "memory that changes hands", programs, rows)


def sync_group(transport):
    few = ("--count", "1000")
    return Group(
        f"sync-{transport}", f"synchronisation of 2 and 4 nodes, {transport}",
        [Program("floor", ("floor_exchange", "--transport", transport), "pair", quick=few),
         Program("quire", ("quire_sync",), job_options=("--transport", transport), quick=few),
         Program("turns", ("floor_turns",), "plain", quick=few),
         Program("four", ("quire_sync",), nodes=4, job_options=("--transport", transport), quick=few)],
        [Row(f"barrier, {transport}", "quire:barrier", "floor:exchange", 1.4),
         Row(f"lock + unlock, held last by the other node, {transport}", "quire:lock_unlock", "floor:exchange", 1.4),
         Row(f"atomic addition at the other node, {transport}", "quire:atomic", "floor:exchange"),
         Row(f"bare exchange with a page as reply, {transport}", "floor:page_exchange", "floor:exchange"),
         *four_sync_rows(transport)],
        rounds=5)


def four_sync_rows(transport):
    """Two hops for a barrier, three for a lock that is at a third node. Four nodes take turns on two cores: so do the processes of floor_turns, which
    share memory; over TCP it is the exchange of two that sleep for nobody."""
    barrier, lock = f"barrier of 4 nodes, {transport}", f"lock + unlock, held last by a third of 4 nodes, {transport}"
    if transport == "shm":
        return [Row(barrier, "four:barrier", "turns:barrier", 2.5), Row(lock, "four:lock_unlock", "turns:hop", 3, times=3)]
    return [Row(barrier, "four:barrier", "floor:exchange", 3), Row(lock, "four:lock_unlock", "floor:exchange", 3, times=1.5)]


def free_group(transport):
    job = {"job_options": ("--transport", transport), "quick": ("--rounds", "3", "--batches", "4")}
    return Group(
        f"free-{transport}", f"giving back memory of another node, {transport}",
        [Program("together", ("quire_free_speed",), **job),
         Program("each", ("quire_free_speed",), environment={"QUIRE_FREE_BATCH": "1"}, **job)],
        [Row(f"quire_free of another node's memory, {transport}", "together:free_there", 2, 1),
         Row(f"quire_free of another node's memory, against each by itself, {transport}", "together:free_there", "each:free_there"),
         Row(f"quire_malloc + quire_free of a node's own, {transport}", "together:malloc_free_here")],
        rounds=5)


def gc_group():
    """A graph of 10^6 objects, collected by nodes of this machine and, where libgc was there when this was built, by libgc with one thread that marks.
    Processor time, as it says the same on a busy machine."""
    few = ("--rounds", "3", "--objects", "50000")
    has_libgc = any(os.path.exists(folder + "/gc.h") for folder in ("/usr/include", "/usr/local/include"))
    programs = [Program("libgc", ("floor_gc",), "plain", quick=few)] if has_libgc else []
    programs += [Program(f"{n}", ("quire_gc_speed",), nodes=n, quick=few) for n in (1, 2, 4)]
    rows = [Row("processor time of a collection of 10^6 objects, against libgc", "1:gc_cpu", "libgc:gc_cpu", 1 / 0.7)] if has_libgc else []
    rows += [Row("pause of a collection of 10^6 objects, 2 nodes", "2:gc_pause", 150, 1)]
    rows += [Row(f"{what}, {n} nodes", f"{n}:{key}") for n in (1, 2, 4) for what, key in
             (("allocation of 40 bytes", "gc_make"), ("collection of 10^6 objects", "gc_collect"), ("messages of a collection of 10^6 objects", "gc_messages"))]
    return Group("gc", "garbage collection: a graph of 10^6 objects", programs, rows)


def containers_group():
    """Pages of a file as a container, against one process that reads and writes it; QUIRE_BENCH_DIRECTORY: where, on a disk."""
    where = ("--directory", os.environ.get("QUIRE_BENCH_DIRECTORY", "."))
    few = ("--bytes", "8M", "--rounds", "1")
    programs = [Program("floor", ("floor_container", *where), "plain", quick=few)]
    programs += [Program(f"{n}", ("quire_containers", *where), nodes=n, quick=few) for n in (1, 2, 4)]
    programs.append(Program("tcp", ("quire_containers", *where), nodes=2, job_options=("--transport", "tcp"), quick=few))
    rows = [Row("page fault on a file, at home, in the page cache, against userfaultfd and pread", "1:warm_fault", "floor:warm_fault", 1.3),
            Row("reading a file in order, not cached, against O_DIRECT into new frames", "1:cold_in_order", "floor:cold_in_order", 1.25),
            Row("4 nodes read one file, of the device's time", "4:all_read", 1 / 0.9, 1), Row("4 nodes read one file: bytes read, of its size", "4:all_read_bytes", told=True),
            Row("page fault on a file that another node has in memory, TCP, against the disk", "tcp:peer_fault", "floor:cold_page", 0.4),
            Row("writing 1 MiB and sync, at home, against pwrite and fdatasync", "2:write_sync", "floor:write_sync", 1.3),
            Row("writing 1 MiB and sync, on another node, against pwrite and fdatasync", "2:write_sync_remote", "floor:write_sync", 1.6)]
    return Group("containers", "files that all nodes use", programs, rows)


def queue_group():
    """A work queue by mutex and conditions; the lock is measured in the same job, in turns with the tasks."""
    programs = [Program(f"{n}", ("quire_queue",), nodes=n, quick=("--rounds", "3")) for n in (2, 4)]
    rows = [Row(f"a task through a queue of {n} nodes, against a lock that moves", f"{n}:task", f"{n}:lock_unlock", 5)
            for n in (2, 4)]
    rows += [Row(f"{what} a task, {n} nodes", f"{n}:{key}_task") for n in (2, 4)
             for what, key in (("messages", "messages"), ("read faults", "read_faults"), ("upgrade faults", "upgrade_faults"))]
    return Group("queue", "a work queue by a mutex and two conditions", programs, rows, rounds=5)


def hash_map_group():
    """Where the time of a sharded map goes: nodes that share pages, though no shard."""
    programs = [Program(f"{n}", ("quire_hash_map",), nodes=n, quick=("--operations", "2000")) for n in (1, 2, 4)]
    rows = [Row(f"an operation on a sharded map, {n} nodes against one", f"{n}:operation", "1:operation") for n in (2, 4)]
    rows += [Row(f"{what} an operation, {n} nodes", f"{n}:{key}_operation") for n in (2, 4)
             for what, key in (("messages", "messages"), ("bytes", "bytes"), ("read faults", "read_faults"), ("write faults", "write_faults"),
                               ("upgrade faults", "upgrade_faults"), ("us in faults", "fault_us"), ("us in locks", "lock_us"))]
    return Group("hash-map", "a hash map of 64 shards, each a std::unordered_map behind a mutex", programs, rows)


def transactions_group():
    """Transactions, and a bank by them and under a mutex."""
    quick = ("--times", "400", "--transfers", "200", "--rounds", "2")
    programs = [Program(f"{n}", ("quire_transactions",), nodes=n, quick=quick) for n in (1, 2, 4)]
    programs += [Program(f"{n} by token", ("quire_transactions",), nodes=n, environment={"QUIRE_COMMIT": "token"}, quick=quick) for n in (1, 2, 4)]
    rows = [Row("an empty transaction, us", "1:empty", 0.3, 1), Row("one that reads what is here, us", "1:read", 0.3, 1),
            Row("one that writes the same page, us", "1:write the same page", 2, 1),
            Row("one that writes another page each time, us", "1:write another page", 14, 1),
            Row("commit of a page that another node reads, against an upgrade", "2:commit of a page that another node reads", "2:upgrade of such a page", 1.3)]
    if os.path.exists("/usr/lib/x86_64-linux-gnu/libitm.so.1"):  # else floor_bank has not been built, perhaps
        programs.append(Program("libitm", ("floor_bank",), "plain", quick=("--transfers", "2000", "--rounds", "2")))
        rows += [Row(f"a transfer, 1 node, {what}, against gcc's transactions (libitm) in a plain process", f"1:bank {what}", f"libitm:bank {what}", told=True)
                 for what in ("uniform", "hot")]
        rows.append(Row("a transfer by gcc's transactions, 2 threads against one", "libitm:bank uniform, 2 threads", "libitm:bank uniform"))
    rows.append(Row("a transfer, 1 node, uniform, us", "1:bank uniform", 25, 1))
    rows += [Row(f"a transfer, {n} nodes, {what}, against a mutex", f"{n}:bank {what}", f"{n}:bank {what} under a mutex", target)
             for n in (2, 4) for what, target in (("uniform", 1), ("hot", 1.25))]
    rows += [Row(f"{what}, us, by token against by owners", f"1 by token:{what}", f"1:{what}") for what in ("write the same page", "write another page")]
    rows += [Row("commit of a page that another node reads, by token against by owners", "2 by token:commit of a page that another node reads",
                 "2:commit of a page that another node reads")]
    rows += [Row(f"a transfer, {n} nodes, {what}, by token against by owners", f"{n} by token:bank {what}", f"{n}:bank {what}")
             for n in (2, 4) for what in ("uniform", "hot")]
    return Group("transactions", "transactions, and a bank of accounts of a page each", programs, rows)


def plurix_group():
    """Figures 4 to 7 of the comparison of Kerrighed and Plurix: the best speed-ups on 12 nodes in virtual time, beside what they published; and two nodes of
    this machine."""
    program = Program("plurix", ("papers/plurix.py",), "comparison", quick=("--quick",), limit_s=3600)
    networks = (("paper", "Fast Ethernet"), ("gigabit", "gigabit Ethernet"), ("today", "100 Gbit/s"))
    ways = (("sequential", "sequential", "Kerrighed"), ("plain", "sequential by faults alone", "Kerrighed"), ("owners", "transactional", "Plurix"),
            ("token", "transactional by the token", "Plurix"))
    published = {"sor": ("SOR", {"Kerrighed": 5.8, "Plurix": 6.7}), "raytracer": ("ray tracer", {"Kerrighed": 11.77, "Plurix": 11.88})}
    rows = [Row(f"{about}, best speed-up on 12 nodes, model, {network}, {title}, against {whose}'s", f"plurix:{name} {prices} {way}", best[whose],
                bound="least", told=True)
            for name, (about, best) in published.items() for prices, network in networks for way, title, whose in ways]
    rows += [Row("SOR 4096 x 4096 of floats, 2 nodes, transactional against sequential", "plurix:sor owners 2", "plurix:sor sequential 2", 1.5),
             Row("ray tracer 2048 x 1536, 2 nodes, transactional against sequential", "plurix:raytracer owners 2", "plurix:raytracer sequential 2", 1.05)]
    return Group("plurix", "SOR and a ray tracer, sequential and transactional, as Kerrighed and Plurix were compared", [program], rows, rounds=1)


def start_group():
    ranges = [Program(f"range of {size}iB", ("quire_start",), environment={"QUIRE_RANGE": size}, wall=True)
              for size in ("64M", "64G")]
    regions = [Program(f"region of {size}iB", ("quire_start", "--region", f"{size}B"), wall=True) for size in ("64M", "64G")]
    rows = [Row(f"start and end, {p.key}, beyond the bare transport", f"{p.key}:wall", 100, 1, minus="bare:wall")
            for p in (*regions, *ranges)]
    rows += [Row(f"start and end, {large.key} against {small.key}", f"{large.key}:wall", f"{small.key}:wall", 1.1)
             for small, large in (regions, ranges)]
    return Group("start", "start and end of a job of two nodes",
                 [Program("bare", ("floor_start",), "pair", wall=True), *regions, *ranges], rows, rounds=15)


def nodes_group():
    """Start and memory by the number of nodes, all on this machine; nothing to compare with but fewer nodes."""
    counts = (2, 8, 32, 64)
    programs, rows = [], []
    for transport, most_ms in (("shm", 500), ("tcp", 700)):
        for n in counts:
            programs.append(Program(f"{n} {transport}", ("quire_nodes", "--talk"), nodes=n, wall=True,
                                    job_options=("--transport", transport, "--timeout", "100")))
            rows.append(Row(f"start, barrier and end of {n} nodes, {transport}", f"{n} {transport}:wall", *((most_ms, 1) if n == 64 else ())))
            rows.append(Row(f"quire_start() on {n} nodes, {transport}", f"{n} {transport}:session"))
            rows.append(Row(f"memory of a node's own, {n} nodes, {transport}", f"{n} {transport}:alone",
                            f"2 {transport}:alone" if n != 2 else None))
    return Group("nodes", "start and memory of a job of many nodes on this machine", programs, rows, rounds=3)


def app_group(name, about, full, quick, target=None, four=None, group=None, sharings=()):
    """`four`: the target of 4 nodes, which have the cores of two. `group`: its name, if not the program's. `sharings`: other ones than by pages."""
    return Group(
        group or name, about,
        [Program("openmp", (f"{name}_openmp", "--threads", "2", "--json"), "plain", full=full, quick=quick),
         Program("quire", (name, "--json"), full=full, quick=quick),
         Program("four", (name, "--json"), nodes=4, full=full, quick=quick)]
        + [Program(sharing, (name, "--json", "--sharing", sharing), full=full, quick=quick) for sharing in sharings],
        [Row(f"{about}, 2 nodes against OpenMP with 2 threads", "quire:time_s", "openmp:time_s", target, told=True),
         Row(f"{about}, 4 nodes against 2", "four:time_s", "quire:time_s", four, told=True)]
        + [Row(f"{about}, {sharing}, 2 nodes against OpenMP with 2 threads", f"{sharing}:time_s", "openmp:time_s") for sharing in sharings],
        rounds=5)


def diff_group():
    few = ("--rounds", "40", "--units", "4096")
    rows = []
    for suffix, where in (("", "hot"), ("_cold", "cold")):
        rows += [Row(f"encode, 0 words changed, {where}", f"best:encode_0_words{suffix}", f"best:memcmp{suffix}"),
                 Row(f"encode, all bytes changed, {where}", f"best:encode_whole{suffix}", f"best:memcmp{suffix}")]
        for name, key in (("1 word", "1_word"), ("8 words", "8_words"), ("64 words", "64_words"),
                          ("64 words in a row", "64_words_in_a_row"), ("512 words in part", "512_words")):
            rows += [Row(f"{verb}, {name} changed, {where}", f"best:{verb}_{key}{suffix}", f"best:memcpy{suffix}")
                     for verb in ("encode", "apply")]
        rows += [Row(f"merge of a block, 64 words changed, {where}", f"best:merge_64_words{suffix}", f"best:memcpy{suffix}"),
                 Row(f"look for overlaps, 64 words changed, {where}", f"best:overlap_64_words{suffix}", f"best:memcmp{suffix}"),
                 Row(f"encode, 64 words changed, {where}, portable against best", f"portable:encode_64_words{suffix}",
                     f"best:encode_64_words{suffix}")]
    return Group("diff", "diffs of a unit of 4 KiB, ns a unit",
                 [Program("best", ("quire_diff",), "plain", quick=few),
                  Program("portable", ("quire_diff", "--variant", "portable"), "plain", quick=few)], rows)


def written_group():
    rows = [Row(f"{way}, {count} pages {place} in {size} MiB", f"quire:{size}_MiB {count} {key} {name} all",
                f"quire:{size}_MiB {count} {key} fault all")
            for size in (64, 1024) for count in (1, 10, 100, 1000, 10000)
            for key, place in (("scattered", "scattered"), ("in_a_row", "in a row"))
            for name, way in (("scan", "scan"), ("scan_copy", "scan and copy"))]
    return Group("written", "learning which pages were written, ns a page: by scans, against faults",
                 [Program("quire", ("quire_written",), "plain", quick=("--rounds", "2"))], rows, rounds=1)


def release_group(transport):
    # Homes that stay, and copies that go: what a notice costs is not hidden by updates.
    job = {"job_options": ("--transport", transport), "environment": {"QUIRE_MOVE_HOMES": "0", "QUIRE_UPDATES": "0"}}
    rows = [Row(f"barrier with {count} dirty pages beyond an empty one, {transport}", f"quire:barrier_{count}",
                f"quire:floor_{count}", minus="quire:barrier_0") for count in (100, 1000, 10000)]
    rows += [Row(f"writing {count} pages of which copies are here, {transport}", f"quire:write_{count}", f"quire:floor_{count}")
             for count in (100, 1000, 10000)]
    rows += [Row(f"release with 1000 dirty pages beyond an empty one, {transport}", "quire:release_1000", "quire:floor_1000",
                 minus="quire:release_0"),
             Row(f"acquire with 1000 write notices beyond an empty one, {transport}", "quire:acquire_1000",
                 "quire:floor_1000", minus="quire:acquire_0"),
             Row(f"phase of false sharing, release against sequential, {transport}", "quire:phase_release",
                 "quire:phase_sequential"),
             Row(f"pages moved in a phase of false sharing, {transport}", "quire:moved_release", 1, 0)]
    rows += [Row(f"barrier of 4 nodes with 1000 dirty pages beyond an empty one, {transport}", "four:barrier_1000", "four:floor_1000", minus="four:barrier_0"),
             Row(f"phase of false sharing of 4 nodes, release against sequential, {transport}", "four:phase_release", "four:phase_sequential"),
             Row(f"pages moved in a phase of false sharing of 4 nodes, {transport}", "four:moved_release", 1, 0)]
    return Group(f"release-{transport}", f"release consistency, pages of 4 KiB, {transport}; the floor is memcpy, diff and apply",
                 [Program("quire", ("quire_release",), quick=("--rounds", "5"), **job),
                  Program("four", ("quire_release",), nodes=4, full=("--rounds", "10"), quick=("--rounds", "3"), **job)], rows)


def myoan_group():
    # What MYOAN sends: nothing; request, reply; request, reply, end; and one to the owner more; 32 invalidations and their
    # answers besides.
    counts = (("1_write_created_on_managers_node", 0), ("2_write_created_elsewhere", 2), ("3_write_remote_owner_is_manager", 3),
              ("4_write_remote_owner_elsewhere", 4), ("5_read_remote_owner_elsewhere", 4))
    few = ("--pages", "20")
    rows = [Row(f"MYOAN case {name[0]}: messages", f"three:messages_{name}", count or 1, 1) for name, count in counts]
    rows.append(Row("MYOAN case 6: messages", "many:messages_6_write_to_a_copy_of_many", 66, 1))
    return Group("myoan", "MYOAN's Table 1: messages of a fault",
                 [Program("three", ("quire_myoan",), nodes=3, environment={"QUIRE_READ_AHEAD": "0"}, quick=few),
                  Program("many", ("quire_myoan",), nodes=33, environment={"QUIRE_READ_AHEAD": "0"},
                          full=("--pages", "50"), quick=("--pages", "5"))], rows, rounds=1)


def consistency_group(name, about, full, quick, target, four):
    """`four`: the target of release consistency on 4 nodes against 2, which have as many cores."""
    programs = [Program("openmp", (f"{name}_openmp", "--threads", "2", "--json"), "plain", full=full, quick=quick)]
    rows = []
    for how in ("sequential", "release", "scan", "blocks"):
        programs.append(Program(how, (name, "--json", "--consistency", how), full=full, quick=quick))
        rows.append(Row(f"{about}, {how}, against OpenMP", f"{how}:time_s", "openmp:time_s", target if how == "release" else None))
    programs.append(Program("tcp", (name, "--json", "--consistency", "release"), job_options=("--transport", "tcp"), full=full, quick=quick))
    rows.append(Row(f"{about}, release over TCP, against shared memory", "tcp:time_s", "release:time_s"))
    for how in ("sequential", "release", "blocks"):
        for nodes in (1, 4):
            programs.append(Program(f"{how} {nodes}", (name, "--json", "--consistency", how), nodes=nodes, full=full, quick=quick))
            rows.append(Row(f"{about}, {how}, {nodes} nodes against 2", f"{how} {nodes}:time_s", f"{how}:time_s",
                            four if (how, nodes) == ("release", 4) else None))
    for what, key in (("messages", "messages"), ("bytes", "bytes"), ("read faults", "read_faults"), ("write faults", "write_faults")):
        for nodes in ("", " 4"):
            rows += [Row(f"{about}, {what}, {how} against sequential,{nodes or ' 2'} nodes", f"{how}{nodes}:{key}", f"sequential{nodes}:{key}")
                     for how in ("release", "blocks")]
    return Group(f"{name}-consistency", f"{about} by consistency, 1, 2 and 4 nodes", programs, rows, rounds=15)


def model_group():
    """Whether the model counts what the applications count: as many iterations, nodes and rows."""
    both = ("sequential", "release")
    applications = (("sor", "SOR 4096 x 4096", both, ("--size", "4096"), ("--sor-iterations", "20")),
                    ("cg", "CG, class A", both, ("--class", "A"), ("--cg-iterations", "15")),
                    ("md", "MD, 2048 particles", both, (), ("--md-steps", "10")),
                    ("helmholtz", "Helmholtz 1000 x 1000", both, (), ("--helmholtz-iterations", "100")),
                    ("ep", "EP, class W", ("sequential",), ("--class", "W"), ()),
                    ("raytracer", "ray tracer 1024 x 768", ("sequential",), ("--width", "1024", "--height", "768"), ()))
    # The machine that the real ones run on. The same work takes it up to 4 % more or less processor time (a half sweep of SOR, 80 % of 300).
    machine = ("--network", "shm", "--cores", str(len(os.sched_getaffinity(0))), "--unevenness", "0.04", "--runs", "5")
    programs, rows = [], []
    for name, about, consistencies, real, modelled in applications:
        for how in consistencies:
            for nodes in (2, 4):
                key = f"{name} {how} {nodes}"
                programs += [Program(f"{key} real", (name, "--json", "--consistency", how, *real), nodes=nodes),
                             Program(f"{key} model", ("quire_model", "--json", *machine, "--app", name, "--consistency", how,
                                                      "--nodes", str(nodes), *modelled), "plain")]
                rows += [Row(f"{about}, {how}, {nodes} nodes: {what}, real against the model", f"{key} real:{what}", f"{key} model:{what}")
                         for what in ("messages", "bytes")]
    return Group("model", "messages and bytes of the applications, against the model's", programs, rows, rounds=3)


def programs_group():
    """The examples of docs/guide/programs.md: on Quire, against the same program with two threads of one process."""
    sizes = (("word_count", ("8000000",), ("100000",)), ("sample_sort", ("6000000",), ("100000",)), ("page_rank", ("400000",), ("10000",)),
             ("work_queue", ("9",), ("5",)), ("k_means", ("500000",), ("10000",)), ("heat", ("300", "1024"), ("50", "256")))
    programs, rows = [], []
    for name, full, quick in sizes:
        def program(key, folder, threads, kind="job", nodes=2):
            return Program(f"{name} {key}", (f"examples/{folder}{name}",), kind, nodes, full=(*full, threads), quick=(*quick, threads), told_by=EXAMPLE_TIME)
        programs += [program("threads", "threads/", "2", "plain"), program("one", "", "2", nodes=1), program("two", "", "1"), program("four", "", "1", nodes=4)]
        rows += [Row(f"{name}, 1 node of 2 threads against 2 threads without Quire", f"{name} one:time_s", f"{name} threads:time_s", 1.3),
                 Row(f"{name}, 2 nodes of a thread against 2 threads without Quire", f"{name} two:time_s", f"{name} threads:time_s", 1.1),
                 Row(f"{name}, 4 nodes of a thread against 2", f"{name} four:time_s", f"{name} two:time_s", 1.2)]
    return Group("programs", "six programs of the guide, against the same with threads of one process", programs, rows, rounds=9)


def replicas_group():
    """What it costs to keep content on two nodes: time, messages and bytes, with against without."""
    applications = (("sor", "SOR 4096 x 4096", ("--size", "4096", "--iterations", "20"), ("--size", "1024", "--iterations", "5")),
                    ("cg", "CG, class A", ("--class", "A"), ("--class", "S")),
                    ("md", "MD, 2048 particles", (), ("--steps", "2")))
    ways = (("once", ()), ("twice", ("--replicas", "1")))
    programs, rows = [], []
    for name, about, full, quick in applications:
        for key, options in ways:
            programs.append(Program(f"{name} {key}", (name, "--json"), job_options=options, full=full, quick=quick))
        rows += [Row(f"{about}, replicas: {what}", f"{name} twice:{key}", f"{name} once:{key}")
                 for what, key in (("time", "time_s"), ("messages", "messages"), ("bytes", "bytes"))]
    few = ("--count", "1000")
    programs += [Program(f"sync {key}", ("quire_sync",), job_options=options, quick=few) for key, options in ways]
    rows.append(Row("lock + unlock, held last by the other node, replicas", "sync twice:lock_unlock", "sync once:lock_unlock"))
    return Group("replicas", "content on two nodes, against on one; 2 nodes, shared memory", programs, rows, rounds=5)


def openmp_group():
    """Stock programs under `quire run`: constructs by themselves, the six applications' OpenMP versions, and, where QUIRE_NPB names a folder that has them,
    NPB's class A as gcc makes them (NPB3.0-omp-C, `make suite`; bin/cg.A and so on)."""
    def under(key, command, nodes, memory="sequential", **more):
        return Program(key, command, nodes=nodes, job_options=("--memory", memory), environment={"OMP_NUM_THREADS": str(nodes)}, **more)

    def stock(key, command, **more):
        return Program(key, command, "plain", environment={"OMP_NUM_THREADS": "2"}, **more)

    few, costs = {"quick": ("200",)}, ("openmp_costs",)
    programs = [stock("stock", costs, **few), under("two", costs, 2, **few), under("two mixed", costs, 2, "mixed", **few), under("four", costs, 4, **few),
                stock("stock start", ("openmp_costs", "0"), wall=True), under("start", ("openmp_costs", "0"), 2, wall=True)]
    constructs = (("region_with_sum", "parallel region with a sum"), ("barrier", "barrier"), ("single", "single"), ("critical", "critical section"), ("atomic", "atomic addition"),
                  ("fifty_iterations", "dynamic loop of 50 iterations"), ("hundred_tasks", "region of 100 tasks"))
    at_most = (("empty parallel region", "region", 9), ("parallel region that reads three values", "region_with_values", 9),
               ("parallel region with a local sum", "region_with_local_sum", 9), ("lock and a word that it guards", "lock", 3),
               ("locks of one page", "small_lock", 3), ("atomic addition to words of a table", "atomic_of_table", 3))
    rows = [Row(f"{about}, 2 nodes", f"two:{key}", most_us, 1) for about, key, most_us in at_most]
    rows += [Row("parallel region with a local sum, 2 nodes, mixed", "two mixed:region_with_local_sum", 9, 1),
             Row("barrier with nothing to tell, 2 nodes, mixed against sequential", "two mixed:barrier", "two:barrier", 1.1),
             Row("empty parallel region, 4 nodes", "four:region", told=True),
             Row("start and end beyond the plain program, 2 nodes", "start:wall", 150, 1, minus="stock start:wall")]
    rows += [Row(f"{about}, {n} nodes against the stock runtime", f"{key}:{name}", f"stock:{name}") for name, about in constructs for n, key in ((2, "two"), (4, "four"))]
    sizes = (("sor", "SOR 4096 x 4096", ("--size", "4096"), ("--size", "1024", "--iterations", "5")), ("cg", "CG, class A", ("--class", "A"), ("--class", "S")),
             ("ep", "EP, class W", ("--class", "W"), ("--class", "S")), ("helmholtz", "Helmholtz 1000 x 1000", (), ("--iterations", "5")),
             ("md", "MD, 2048 particles", (), ("--steps", "2")), ("raytracer", "ray tracer 1024 x 768", ("--width", "1024", "--height", "768"), ("--samples", "1")))
    for name, about, full, quick in sizes:
        programs.append(Program(f"{name} quire", (name, "--json"), full=full, quick=quick))
        for memory in ("sequential", "mixed"):
            programs.append(under(f"{name} {memory}", (f"{name}_openmp", "--threads", "2", "--json"), 2, memory, full=full, quick=quick))
            rows.append(Row(f"{about}, OpenMP on 2 nodes, {memory}, against its version for Quire", f"{name} {memory}:time_s", f"{name} quire:time_s",
                            1.1 if memory == "mixed" else None))
    targets = {"cg": (1.6, 1.25), "ep": (1.05, 1.05), "ft": (2.5, 1.5), "is": (2, 1.5), "mg": (2, 1.4), "lu": (1.6, 1.3), "bt": (1.6, 1.3), "sp": (1.6, 1.3)}
    folder = os.environ.get("QUIRE_NPB")
    for name, wanted in targets.items() if folder else ():
        command = (f"{folder}/bin/{name}.A",)
        programs.append(stock(f"npb {name}", command, told_by=NPB_TIME))
        for memory, target in zip(("sequential", "mixed"), wanted):
            programs += [under(f"npb {name} {memory} {n}", command, n, memory, told_by=NPB_TIME) for n in (2, 4)]
            rows += [Row(f"NPB {name.upper()}, class A, {memory}, {n} nodes against the stock runtime with 2 threads", f"npb {name} {memory} {n}:time_s", f"npb {name}:time_s",
                         target if n == 2 else None, told=True) for n in (2, 4)]
    return Group("openmp", "stock OpenMP programs on several nodes, a thread on each", programs, rows, rounds=5)


EXAMPLE_TIME = r"^(\d+\.\d+) s$"  # of an example, which prints a result and `0.1234 s`
NPB_TIME = r"^ *Time in seconds *= *(\d+\.\d+)$"

GROUPS = [
    fault_group("shm", 1.4, 2.5),
    fault_group("tcp", 1.3, 2),
    encrypted_group(),
    sweep_group("shm"), sweep_group("tcp"),
    hands_group(), host_frames_group("sequential"), host_frames_group("release"),
    sync_group("shm"),
    sync_group("tcp"),
    free_group("shm"), free_group("tcp"),
    gc_group(),
    containers_group(),
    queue_group(),
    hash_map_group(),
    transactions_group(),
    plurix_group(),
    start_group(),
    nodes_group(),
    diff_group(),
    written_group(),
    app_group("sor", "SOR 4096 x 4096", ("--size", "4096", "--iterations", "20"), ("--size", "4096", "--iterations", "5"),
              1.05, 1.1),
    app_group("raytracer", "ray tracer 1024 x 768", ("--width", "1024", "--height", "768"),
              ("--width", "1024", "--height", "768", "--samples", "1"), 1.05, 1.05),
    app_group("cg", "CG, class A", ("--class", "A"), ("--class", "S"), four=1.25),
    app_group("ep", "EP, class W", ("--class", "W"), ("--class", "S")),
    app_group("helmholtz", "Helmholtz 1000 x 1000", (), ("--iterations", "5"), four=1.25),
    app_group("md", "MD, 2048 particles", (), ("--steps", "2")),
    app_group("sor", "SOR 32768 x 64", ("--size", "32768", "--columns", "64"), ("--size", "4096", "--columns", "64", "--iterations", "5"), 1.1,
              group="sor-short-rows", sharings=("minipages", "adaptive", "chunk=4")),
    app_group("is", "IS, class A", ("--class", "A"), ("--class", "S"), 1.1),
    app_group("is", "IS, 2^23 keys of 2^9 values", ("--class", "millipage"), ("--class", "S"), group="is-millipage",
              sharings=("minipages", "adaptive", "composed", "chunk=4")),
    app_group("lu", "LU 1024 x 1024", ("--size", "1024"), ("--size", "256"), 1.1),
    app_group("water", "WATER, 512 molecules", (), ("--steps", "2"), 1.2, 1.25, sharings=("minipages", "adaptive", "composed", "chunk=2", "chunk=3")),
    app_group("tsp", "TSP, 19 cities", (), ("--size", "12", "--alone", "7"), 1.1, sharings=("minipages", "adaptive", "chunk=4", "chunk=13")),
    release_group("shm"),
    release_group("tcp"),
    myoan_group(),
    replicas_group(),
    model_group(),
    consistency_group("sor", "SOR 4096 x 4096", ("--size", "4096"), ("--size", "4096", "--iterations", "5"), 1.05, 1.1),
    consistency_group("helmholtz", "Helmholtz 1000 x 1000", (), ("--iterations", "5"), 1.05, 1.1),
    consistency_group("md", "MD, 2048 particles", (), ("--steps", "2"), 1.05, 1.1),
    consistency_group("ep", "EP, class W", ("--class", "W"), ("--class", "S"), 1.05, 1.1),
    consistency_group("cg", "CG, class A", ("--class", "A"), ("--class", "S"), 1.3, 1.1),
    programs_group(),
    openmp_group(),
    Group("arrays", "a stencil over three arrays of a node's own",
          [Program("quire", ("quire_arrays",), nodes=1, quick=("--rounds", "3"))],
          [Row("arrays in regions", "quire:regions", "quire:private", 1.05),
           Row("private arrays at 64 MiB from each other", "quire:private_64_MiB_apart", "quire:private")]),
    Group("crowded", "CG, class S, beside two processes that take what they get of the cores",
          [Program("alone", ("cg", "--class", "S", "--json")),
           Program("crowded", ("cg", "--class", "S", "--json"), crowd=2)],
          [Row("CG, class S, in a crowd, against alone", "crowded:time_s", "alone:time_s", 4)], rounds=5),
    Group("idle", "a started job of two nodes that does nothing", [Program("quire", ("quire_idle",), quick=("--seconds", "1"))],
          [Row("idle node", "quire:idle", 0.5, 1)]),
    Group("page-out", "counting up a word of each page of 48 MiB, with 16 MiB of memory a node",
          [Program(key, ("quire_page_out",), nodes=nodes, job_options=options, quick=("--passes", "2"))
           for key, nodes, options in (("memory", 1, ()), ("disk", 1, ("--memory-limit", "16M")),
                                       ("nodes", 4, ("--memory-limit", "16M")))],
          [Row(f"page {where}, {how.replace('_', ' ')}", f"{key}:page_out_{how}", baseline, told=True)
           for how in ("in_order", "at_random")
           for key, where, baseline in (("memory", "in memory", None), ("disk", "to the file and back", None),
                                        ("nodes", "to other nodes and back", f"disk:page_out_{how}"))]),
    Group("busy", "reading from a node whose program computes", [Program("quire", ("quire_busy",), quick=("--seconds", "0.3"))],
          [Row("read fault while the home computes", "quire:busy_read_fault", 30, 1)]),
]
