#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures ArgoDSM beside Quire, 2 nodes on this machine. Usage: run_argodsm.sh FOLDER, where a person has installed
# ArgoDSM (FOLDER/include/argo, FOLDER/lib). Variables: MPICXX (mpic++), BUILD (Quire's build folder), ROUNDS (3),
# MEBIBYTES of the sweep (256), MPIRUN (mpirun), and those of ArgoDSM, such as ARGO_LOAD_SIZE for the sweep.
#
# What was measured: ArgoDSM of commit bb137c0, with its MPI backend and its own optimisation, without its tests. Under
# its policy "first touch" it must answer for a page that nobody has touched yet that it has no home; as it stands that
# is an error, since node numbers are unsigned. Without that the applications do not run under the policy (apps.py).
argo=${1:?usage: run_argodsm.sh FOLDER, where ArgoDSM is installed}
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ -f "$argo/include/argo/argo.hpp" ] || { echo "run_argodsm: no ArgoDSM in $argo" >&2; exit 1; }

compiler=${MPICXX:-mpic++}
compile_measure "$compiler"
"$compiler" -std=c++17 -O2 -I "$bench" -I "$argo/include" -I "$argo/include/argo" -c "$bench/peers/argodsm.cpp" \
  -o "$work/argodsm.o"
"$compiler" "$work"/{measure,samples,argodsm}.o -L "$argo/lib" -Wl,-rpath,"$argo/lib" -largo -largobackend-mpi \
  -o "$work/argodsm"

# For single faults, ArgoDSM must not bring the pages around as well, which it does by default.
run_peer() {
  ARGO_LOAD_SIZE=1 "$bench/peers/mpi_run.sh" 2 "$work/argodsm" faults 16
  "$bench/peers/mpi_run.sh" 2 "$work/argodsm" sweep "${MEBIBYTES:-256}"
}
compare ArgoDSM
