#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program that uses MPI, ArgoDSM's among them, on this machine. Usage: mpi_run.sh NODES PROGRAM [ARGUMENT...].
# Variables: MPIRUN (mpirun; that of the MPI with which the program was built), LIMIT_S (300), and those of ArgoDSM.
set -euo pipefail
nodes=${1:?usage: mpi_run.sh NODES PROGRAM [ARGUMENT...]}
run=("${MPIRUN:-mpirun}" -np "$nodes")
if [[ $("${run[0]}" --version) == *"Open MPI"* ]]; then
  # Its own choice for one-sided communication answers only while the target happens to call MPI, and cannot do with one
  # node.
  run+=(--oversubscribe --mca osc ucx)
  [ "$(id -u)" -ne 0 ] || run+=(--allow-run-as-root)
fi
exec timeout -k 5 "${LIMIT_S:-300}" "${run[@]}" "${@:2}"
