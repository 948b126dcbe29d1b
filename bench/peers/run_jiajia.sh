#!/usr/bin/env bash
# Measures JIAJIA beside Quire, 2 nodes on this machine. Usage: run_jiajia.sh TREE HOSTS, where TREE is JIAJIA's source tree with
# the library built (TREE/src/include/jia.h, TREE/lib/linux/libjia.a) and HOSTS is a folder with its .jiahosts (two lines that both mean
# this machine; it logs in by ssh without a password) and .jiaconf, if it has one. Variables: BUILD (Quire's build
# folder), ROUNDS (3), MEBIBYTES of the sweep (16: its shared memory is small), JIAJIA_LIBS (what its library needs).
jiajia=${1:?usage: run_jiajia.sh TREE HOSTS}
hosts=${2:?usage: run_jiajia.sh TREE HOSTS}
MEBIBYTES=${MEBIBYTES:-16}
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
library=$jiajia/lib/linux/libjia.a
[ -f "$library" ] || { echo "run_jiajia: no $library" >&2; exit 1; }
[ -f "$hosts/.jiahosts" ] || { echo "run_jiajia: no .jiahosts in $hosts" >&2; exit 1; }

compile_measure c++
cc -O2 -DLINUX -I "$bench" -I "$jiajia/src/include" -c "$bench/peers/jiajia.c" -o "$work/jiajia.o"
read -ra libraries <<< "${JIAJIA_LIBS:--lrdmacm -libverbs -lpthread}"
c++ -no-pie "$work"/{measure,samples,jiajia}.o "$library" "${libraries[@]}" -o "$work/jiajia"
cp "$hosts/.jiahosts" "$work"
[ ! -f "$hosts/.jiaconf" ] || cp "$hosts/.jiaconf" "$work"

run_peer() (
  cd "$work"
  timeout -k 5 300 ./jiajia all "$MEBIBYTES"
)
compare JIAJIA
