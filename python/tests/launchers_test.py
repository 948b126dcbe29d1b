# SPDX-License-Identifier: BSD-3-Clause
"""`python -m quire program.py` under the launchers of others: Open MPI's mpirun, Hydra's mpiexec, Slurm's srun. launchers_test.py CASE; exit status 77
where the launcher is not installed."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "launch"))
from slurm import Slurm  # noqa: E402
from support import adopt_orphans, end_children, need_program, require, run, run_well  # noqa: E402

PYTHON = [sys.executable, "-m", "quire"]
FAILS = "import quire as q\nif q.node == 1: raise RuntimeError('this is wrong')\nq.barrier()\n"


def programs(start, environment=None):
    """Those of the package's tests run; an exception on one node ends the job."""
    for name in ("values", "sync"):
        run_well([*start, *PYTHON, os.path.join(HERE, f"{name}_program.py")], 100, environment=environment)
    told = run_well([*start, *PYTHON, "-m", "timeit", "-n1", "-r1", "-s", "import os, quire as q", "os.write(1, b'%d %d\\n' % (q.node, q.nodes))"], 60, environment=environment).out
    require(sum(line in ("0 2", "1 2") for line in told.splitlines()) == 2, told)
    failing = os.path.join(os.environ["PYQUIRE_SCRATCH"], "fails.py")
    with open(failing, "w") as file:
        file.write(FAILS)
    result = run([*start, *PYTHON, failing], 60, environment=environment)
    require(result.status != 0 and "RuntimeError: this is wrong" in result.err, result)


def mpirun():
    starter = need_program("mpirun.openmpi", "openmpi-bin")
    programs([starter, "--oversubscribe", "--bind-to", "none", "-np", "2"],
             {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})


def hydra():
    programs([need_program("mpiexec.hydra", "mpich"), "-n", "2"])


def slurm():
    with Slurm() as cluster:
        for plugin in ("pmix", "pmi2"):
            programs(["srun", "-N", "2", "-n", "2", "--cpu-bind=none", f"--mpi={plugin}"], {**cluster.environment, "QUIRE_TRANSPORT": "tcp"})


adopt_orphans()
try:
    {"mpirun": mpirun, "hydra": hydra, "slurm": slurm}[sys.argv[1]]()
finally:
    end_children()
