#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds ArgoDSM with its own flags (-O3) and its MPI backend, and installs it. Usage: build_argodsm.sh SOURCE FOLDER,
# where SOURCE is a clone of ArgoDSM (github.com/etascale/argodsm, bb137c0) with its submodule qd; it is left as it is.
# Variables: MPICC (mpicc), MPICXX (mpic++), JOBS (1).
#
# One condition is corrected: under its policy "first touch", asking for the home of a page that nobody has touched is
# an error since node numbers are unsigned, though it should give invalid_node_id; the first fault asks so of the pages
# that follow.
set -euo pipefail
source=$(realpath "${1:?usage: build_argodsm.sh SOURCE FOLDER}")
folder=${2:?usage: build_argodsm.sh SOURCE FOLDER}
[ -f "$source/src/argo.hpp" ] || { echo "build_argodsm: no ArgoDSM in $source" >&2; exit 1; }
[ -f "$source/submodules/qd/CMakeLists.txt" ] || { echo "build_argodsm: no $source/submodules/qd" >&2; exit 1; }
mkdir -p "$folder"
folder=$(realpath "$folder")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -r "$source" "$work/source"
rm -rf "$work/source/.git"  # its build would fetch the submodules again
sed -i '/node_id_t peek_homenode/,/throw/s/if(homenode >=/if(homenode != invalid_node_id \&\& homenode >=/' \
  "$work/source/src/data_distribution/first_touch_distribution.hpp"
cmake -S "$work/source" -B "$work/build" -DARGO_BACKEND_MPI=ON -DARGO_TESTS=OFF -DCMAKE_INSTALL_PREFIX="$folder" \
  -DCMAKE_C_COMPILER="${MPICC:-mpicc}" -DCMAKE_CXX_COMPILER="${MPICXX:-mpic++}"
cmake --build "$work/build" -j "${JOBS:-1}" --target install
