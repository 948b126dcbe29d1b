#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures JIAJIA beside Quire, 2 nodes on this machine. Usage: run_jiajia.sh FOLDER, where a person has installed
# JIAJIA, laid out as its sources are (FOLDER/src/include, FOLDER/lib/linux/libjia.a, FOLDER/apps/.jiaconf). Needs the
# libraries of libibverbs and librdmacm, though UDP is measured; no RDMA device, no ssh, no root. Variables: BUILD
# (Quire's build folder), ROUNDS (3), MEBIBYTES of the sweep (16; 64 at most, its cache), JIAJIA_LIBS (what its library
# needs). A round takes a minute on two busy cores.
#
# What was measured: M-JIAJIA of commit 38a93f5, optimised (-O2), with its statistics, over UDP. Its log of every message
# was off, and its limits were raised: a node may be home to 65,000 pages (it has 16,384, which is less than half of
# SOR's grid), and may cache 16,384 (it has 1,024, and cannot replace a page that was written). A full message with diffs
# must be sent from where it is: as it stands the address comes from a variable that has that value only by chance, and
# no longer under -O2.
jiajia=${1:?usage: run_jiajia.sh FOLDER, where JIAJIA is installed}
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
