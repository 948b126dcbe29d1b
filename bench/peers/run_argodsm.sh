#!/usr/bin/env bash
# Measures ArgoDSM beside Quire, 2 nodes on this machine. Usage: run_argodsm.sh FOLDER, where ArgoDSM was installed with its MPI
# backend (FOLDER/include/argo, FOLDER/lib). Needs mpic++ and mpirun. Variables: BUILD (Quire's build folder), ROUNDS (3),
# MEBIBYTES of the sweep (256), and those of ArgoDSM, such as ARGO_LOAD_SIZE for the sweep.
argo=${1:?usage: run_argodsm.sh FOLDER OF THE INSTALLED ARGODSM}
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ -f "$argo/include/argo/argo.hpp" ] || { echo "run_argodsm: no ArgoDSM in $argo" >&2; exit 1; }

compile_measure mpic++
mpic++ -std=c++17 -O2 -I "$bench" -I "$argo/include" -I "$argo/include/argo" -c "$bench/peers/argodsm.cpp" -o "$work/argodsm.o"
mpic++ "$work"/{measure,samples,argodsm}.o -L "$argo/lib" -Wl,-rpath,"$argo/lib" -largo -largobackend-mpi -o "$work/argodsm"

as_root=()
[ "$(id -u)" -ne 0 ] || as_root=(--allow-run-as-root)
# For single faults, ArgoDSM must not bring the pages around as well, which it does by default.
run_peer() {
  local run=(timeout -k 5 300 mpirun "${as_root[@]}" -np 2 --oversubscribe)
  ARGO_LOAD_SIZE=1 "${run[@]}" "$work/argodsm" faults 16
  "${run[@]}" "$work/argodsm" sweep "${MEBIBYTES:-256}"
}
compare ArgoDSM
