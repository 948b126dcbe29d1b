#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds JIAJIA in a copy of its source. Usage: build_jiajia.sh SOURCE TREE, where SOURCE is a clone of M-JIAJIA
# (github.com/Youpen-y/jiajia, 38a93f5); it is left as it is. Needs the headers of libibverbs and librdmacm, though UDP
# is used.
#
# What is changed: the log of every message is off. The message with diffs, when full, is sent from where it is rather
# than from a variable that has that value only by chance, without -O2. A node may be home to 65,000 pages (it has
# 16,384, which is less than half of SOR's grid), and may cache 16,384 (it has 1,024, and cannot replace a page that was
# written).
set -euo pipefail
source=${1:?usage: build_jiajia.sh SOURCE TREE} tree=${2:?usage: build_jiajia.sh SOURCE TREE}
[ -f "$source/src/include/jia.h" ] || { echo "build_jiajia: no JIAJIA in $source" >&2; exit 1; }
rm -rf "$tree"
cp -r "$source" "$tree"
sed -i 's/verbose_log = 3/verbose_log = 0/' "$tree/src/include/tools.h"
sed -i '/^void savediff/,/^}/s/queue(slot,/queue(diffmsg[hosti],/' "$tree/src/mem/memsyn.c"
sed -i 's/define Homepages 16384/define Homepages 65000/' "$tree/src/include/mem.h"
make -C "$tree/lib/linux" clean all CPPFLAGS=-O2 CFLAGS="-I../../src/include -DLINUX -DDOSTAT -DCachepages=16384"
