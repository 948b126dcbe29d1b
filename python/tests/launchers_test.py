# SPDX-License-Identifier: BSD-3-Clause
"""`python -m quire program.py` under the launchers of others: Open MPI's mpirun, Hydra's mpiexec, Slurm's srun; and where nobody's launcher starts the
nodes: examples/start. launchers_test.py CASE; exit status 77 where the launcher is not installed."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "launch"))
from ranks import free_port  # noqa: E402
from slurm import Slurm  # noqa: E402
from support import Job, adopt_orphans, end_children, need_program, require, run, run_well, skip  # noqa: E402

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


START = os.path.join(HERE, "..", "..", "examples", "start")


def rendezvous():
    programs([sys.executable, "-B", os.path.join(HERE, "..", "..", "tests", "launch", "ranks.py"), "2"])
    # Ctrl-C while it waits for others.
    alone = {"QUIRE_RENDEZVOUS": f"127.0.0.1:{free_port()}", "QUIRE_RANK": "1", "QUIRE_SIZE": "2", "QUIRE_SECRET": "0123456789abcdef"}
    words = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nprint('waits', flush=True)\nimport quire"
    waiting = Job([sys.executable, "-c", words], alone)
    require(waiting.process.stdout.readline() == "waits\n", "it has not begun")
    time.sleep(1)
    waiting.kill(signal.SIGINT)
    result = waiting.finish(20)
    require(result.status in (-signal.SIGINT, 1, 130), result)


def kubernetes():
    """What the description of the pods says, each with an environment that Kubernetes makes of it."""
    with open(os.path.join(START, "indexed_job.yaml")) as file:
        text = file.read()
    environment = dict(re.findall(r"- name: (QUIRE_\w+)\n +value: \"?([^\"\s]+)", text))
    size = int(re.search(r"completions: (\d+)", text).group(1))
    host, port = environment["QUIRE_RENDEZVOUS"].split(":")
    job, service = re.findall(r"^  name: (\S+)", text, re.MULTILINE)[1], re.search(r"subdomain: (\S+)", text).group(1)
    require(int(environment["QUIRE_SIZE"]) == size and f"parallelism: {size} " in text, "not all pods run at the same time")
    require(host == f"{job}-0.{service}" and int(port) < 32768, f"{host} is no name of the pod with index 0")
    folder = os.path.dirname(environment["QUIRE_SECRET_FILE"])
    require(f"mountPath: {folder}\n" in text, f"{folder} is not mounted")
    with tempfile.NamedTemporaryFile("w") as secret:
        secret.write("0123456789abcdef0123456789abcdef\n")
        secret.flush()
        environment.update(QUIRE_RENDEZVOUS=f"localhost:{free_port()}", QUIRE_SECRET_FILE=secret.name, QUIRE_RENDEZVOUS_TIMEOUT="30")
        pods = [Job([*PYTHON, os.path.join(START, "rows.py")], {**environment, "JOB_COMPLETION_INDEX": str(i)}) for i in reversed(range(size))]
        results = [pod.finish(60) for pod in pods]
    require(all(one.status == 0 for one in results) and results[-1].out == "4 nodes, the sum 250000\n", "\n".join(map(str, results)))


def torchrun():
    starter = need_program("torchrun", "python3-torch")
    if run([starter, "--standalone", "--nproc_per_node", "1", "--no_python", "true"], 60).status != 0:
        skip("this torchrun starts nothing")
    told = run_well([os.path.join(START, "torchrun.sh"), "2", os.path.join(START, "rows.py")], 100,
                    environment={"QUIRE_RENDEZVOUS": f":{free_port()}"}).out
    require("2 nodes, the sum 150000\n" in told, told)


def example(module, name):
    """With the interpreter that has the package, this one or that of scripts/setup.sh launchers."""
    wheels = os.path.join(HERE, "..", "..", ".cache", "joblib", "bin", "python3")
    for python in (sys.executable, wheels):
        if os.path.exists(python) and subprocess.run([python, "-c", f"import {module}"], capture_output=True, timeout=100).returncode == 0:
            break
    else:
        skip(f"{module} is not installed (pip install {module})")
    told = run_well([python, os.path.join(START, name), "2"], 150).out
    require(told == "[(0, 2), (1, 2)]\n[4999950000.0, 4999950000.0]\n[2499950000.0, 2499950000.0]\n", told)


def dask():
    example("distributed", "dask_workers.py")


def ray():
    example("ray", "ray_workers.py")


adopt_orphans()
try:
    {"mpirun": mpirun, "hydra": hydra, "slurm": slurm, "rendezvous": rendezvous, "kubernetes": kubernetes, "torchrun": torchrun, "dask": dask,
     "ray": ray}[sys.argv[1]]()
finally:
    end_children()
