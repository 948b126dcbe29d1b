#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures JIAJIA beside Quire, 2 nodes on this machine. Usage: run_jiajia.sh TREE, where TREE was made by
# build_jiajia.sh. Needs the libraries of libibverbs and librdmacm, though UDP is measured; no RDMA device, no ssh, no
# root. Variables: BUILD (Quire's build folder), ROUNDS (3), MEBIBYTES of the sweep (16; 64 at most, its cache),
# JIAJIA_LIBS (what its library needs). A round takes a minute on two busy cores.
jiajia=${1:?usage: run_jiajia.sh TREE}
MEBIBYTES=${MEBIBYTES:-16}
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
library=$jiajia/lib/linux/libjia.a
[ -f "$library" ] || { echo "run_jiajia: no $library" >&2; exit 1; }

compile_measure c++
cc -O2 -DLINUX -I "$bench" -I "$jiajia/src/include" -c "$bench/peers/jiajia.c" -o "$work/jiajia.o"
read -ra libraries <<< "${JIAJIA_LIBS:--lrdmacm -libverbs -lpthread}"
c++ -no-pie -Wl,--wrap=bind,--wrap=getifaddrs "$work"/{measure,samples,jiajia}.o "$library" "${libraries[@]}" \
  -o "$work/measure"

run_peer() { "$bench/peers/jiajia_run.sh" "$jiajia" 2 "$work/measure" all "$MEBIBYTES"; }
compare JIAJIA
