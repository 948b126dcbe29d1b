# SPDX-License-Identifier: BSD-3-Clause
"""The core's contract, as programs for every launcher: what tests/process runs under `quire run` on one machine."""

import os
import time

from support import require, run, run_well

build = ""  # the build folder; set once by launch_test.py


def quire():
    return os.path.join(build, "bin", "quire")


def program(name):
    return os.path.join(build, "tests", "litmus" if name.startswith("litmus") else "process", name)


# By one launcher, with `make test-all`. Each with its arguments, and with variables of its own where it needs some. What is about one machine only is left out:
# pools, kernels' features, memory maps.
WHOLE = [
    ["contract_pages_program"], ["contract_heap_program"], ["contract_atomics_program"], ["contract_sync_program"],
    ["contract_names_program"], ["contract_locking_program"], ["contract_release_program"], ["contract_produce_program"],
    ["contract_counters_program"], ["contract_doubles_program"],
    ["contract_locking_program", "release"], ["contract_produce_program", "release"],
    ["contract_page_out_program", "mixed", {"QUIRE_MEMORY_LIMIT": "4M"}],
    ["facade_program"], ["system_calls_program"], ["stress_program", "2"], ["litmus_program", "message_passing", "64"],
]
# As long as all the others.
LONG = [["race_free_program"], ["contract_change_program"], ["contract_block_program"], ["contract_block_program", "release"]]
# Where the network is slow: pages, messages and diffs, each way of synchronising, and all at random.
REPRESENTATIVE = [["contract_pages_program"], ["contract_heap_program"], ["contract_sync_program"],
                  ["contract_locking_program"], ["contract_release_program"], ["stress_program", "1"]]
# Of tests/openmp, by gcc, which know nothing of Quire: how they end, and what they print, is the stock runtime's.
ENDS_WITH_5 = ["openmp_constructs_O3_pie", "words", "5"]
STOCK = [["openmp_jacobi", "64", "20"], ENDS_WITH_5]
# By each launcher: the environment reaches the nodes, and all at random.
PAGED_OUT = ["contract_page_out_program", "mixed", {"QUIRE_MEMORY_LIMIT": "4M"}]
REACHED = [PAGED_OUT, ["stress_program", "1"]]
# By Quire's own starter, too: pages, and each way of synchronising. By the launchers with `make test-all`.
PASSED_ON = [["contract_pages_program"], ["contract_sync_program"], ["contract_release_program"], *REACHED]
SHORT = [["contract_sync_program"], ["contract_release_program"], ["stress_program", "1"]]


def run_suite(suite, start, limit=120, environment=None, **how):
    """`start` begins each command line; `environment` is for the launcher, which has to pass on what begins with QUIRE_."""
    begin = time.monotonic()
    for name, *rest in suite:
        words = [word for word in rest if isinstance(word, str)]
        own = {key: value for word in rest if isinstance(word, dict) for key, value in word.items()}
        run_well([*start, program(name), *words], limit, environment={**(environment or {}), **own}, **how)
    print(f"  {len(suite)} programs: {time.monotonic() - begin:.1f} s", flush=True)


def run_stock(start, programs=None, limit=60, environment=None, **how):
    """Programs with OpenMP, as they are: `start` begins a command line of four nodes or fewer."""
    programs = programs or STOCK
    threads = {"OMP_NUM_THREADS": "4"}
    begin = time.monotonic()
    for name, *words in programs:
        path = os.path.join(build, "tests", "openmp", name)
        if not os.path.exists(path):
            print("  without programs with OpenMP: they have not been built", flush=True)
            return
        wanted = run([path, *words], limit, environment=threads)
        found = run([*start, path, *words], limit, environment={**(environment or {}), **threads}, **how)
        require(found.out == wanted.out and found.status == wanted.status, f"{found}\nwith the stock runtime: {wanted}")
    print(f"  {len(programs)} programs with OpenMP: {time.monotonic() - begin:.1f} s", flush=True)
