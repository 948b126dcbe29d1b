#!/usr/bin/env bash
# Measures JIAJIA beside Quire, 2 nodes on this machine. Usage: run_jiajia.sh TREE, where TREE is a clone of M-JIAJIA
# (github.com/Youpen-y/jiajia, 38a93f5) with the library built. That needs the headers and libraries of libibverbs and
# librdmacm, though UDP is measured; no RDMA device, no ssh, no root. So it was built, from the folder above TREE:
#   sed -i 's/verbose_log = 3/verbose_log = 0/' TREE/src/include/tools.h
#   sed -i '/^void savediff/,/^}/s/queue(slot,/queue(diffmsg[hosti],/' TREE/src/mem/memsyn.c
#   make -C TREE/lib/linux clean all CPPFLAGS=-O2 CFLAGS="-I../../src/include -DLINUX -DDOSTAT -DCachepages=16384"
# The first line turns off its log of every message; the second one gives a variable a value that is there without -O2 only by
# chance. Its cache is made as large as a node's memory may be (it has 4 MiB): it cannot replace a page that was written.
# Variables: BUILD (Quire's build folder), ROUNDS (3), MEBIBYTES of the sweep (16; below 64), JIAJIA_LIBS (what its library
# needs). The nodes are at 127.0.0.1 and 127.0.0.2, with UDP ports from 10000 on. A round takes a minute on two busy cores.
jiajia=${1:?usage: run_jiajia.sh TREE}
MEBIBYTES=${MEBIBYTES:-16}
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
library=$jiajia/lib/linux/libjia.a
[ -f "$library" ] || { echo "run_jiajia: no $library" >&2; exit 1; }

compile_measure c++
cc -O2 -DLINUX -I "$bench" -I "$jiajia/src/include" -c "$bench/peers/jiajia.c" -o "$work/jiajia.o"
read -ra libraries <<< "${JIAJIA_LIBS:--lrdmacm -libverbs -lpthread}"
c++ -no-pie -Wl,--wrap=bind,--wrap=getifaddrs "$work"/{measure,samples,jiajia}.o "$library" "${libraries[@]}" -o "$work/measure"

mkdir "$work/login"
for name in ssh scp; do ln -s "$bench/peers/jiajia_login.sh" "$work/login/$name"; done
printf '%s\n' '127.0.0.1 user password' '127.0.0.2 user password' > "$work/.jiahosts"
cp "$jiajia/apps/.jiaconf" "$work"

# Node 1 writes what it measures to a file. When a node dies, the other one waits for ever. Both nodes stay in the process group
# of the script (--foreground), so that what ends the group ends them.
run_peer() (
  cd "$work"
  rm -rf home
  mkdir home
  status=0
  PATH=$work/login:$PATH JIAJIA_HOME=$work/home JIAJIA_ADDRESS=127.0.0.1 \
    timeout --foreground -k 5 300 ./measure all "$MEBIBYTES" || status=$?
  if [ -f home/pid ]; then
    timeout 10 tail --pid="$(cat home/pid)" -f /dev/null || kill -KILL "$(cat home/pid)" || true
    cat home/jianode/measure/measure.log
    [ "$status" -eq 0 ] || tail home/jianode/measure/measure.err >&2
  fi
  exit "$status"
)
compare JIAJIA
