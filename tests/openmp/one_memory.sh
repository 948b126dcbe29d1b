#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# one_memory.sh QUIRE PROGRAM: flags that nodes set in turn, on a page of static data under mixed memory: where the nodes have one memory each asks once for
# a page, and where they are apart the page goes from one to the other.
quire=$1 program=$2
export OMP_NUM_THREADS=4
counts=$(mktemp) || exit 1
trap 'rm -f "$counts"' EXIT
for together in 0 1; do
  QUIRE_HOST_FRAMES=$together "$quire" run -n 2 --timeout 60 --memory mixed "--stats=$counts" "$program" || exit 1
  python3 - "$counts" $together <<'CHECK' || exit 1
import json, sys
total, together = json.load(open(sys.argv[1]))["total"], sys.argv[2] == "1"
faults = total["read_faults"] + total["write_faults"] + total["upgrade_faults"]
print("one memory:" if together else "apart:", faults, "page faults")
sys.exit(faults > 100 if together else faults < 400)
CHECK
done
