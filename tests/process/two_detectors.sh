#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# two_detectors.sh QUIRE FILTER TRANSPORT PROGRAM...: jobs of two nodes with every pair of detectors, and where one of the nodes has no userfaultfd
# (FILTER takes it away), end as WANTED says, a status; 0 otherwise.
quire=$1 filter=$2 transport=$3
shift 3
wanted=${WANTED:-0}
OMP_NUM_THREADS=4
export OMP_NUM_THREADS
"$filter" true || exit 77

# job NODE-0 NODE-1 PROGRAM...: a detector; `none`: no userfaultfd; `any`: nothing is asked for
job() {
  first=$1 second=$2
  shift 2
  lines=$("$quire" run -n 2 --timeout 60 --transport "$transport" sh -c '
    how=$0
    test "$QUIRE_JOB_NODE" = 0 || how=$1
    filter=$2
    shift 2
    case $how in
      none) exec "$filter" "$@" ;;
      any) exec "$@" ;;
      *) QUIRE_DETECT=$how exec "$@" ;;
    esac' "$first" "$second" "$filter" "$@" 2>&1)
  status=$?
  [ $status = "$wanted" ] && return
  echo "$first and $second: status $status instead of $wanted: $lines"
  exit 1
}

for lacks in "none any" "any none"; do
  job ${lacks} "$@"
  echo "$lines" | grep -q "all nodes take detector 'segv'" || { echo "$lacks: nobody says so: $lines"; exit 1; }
done
for one in userfault thread segv; do
  for other in userfault thread segv; do
    [ $one = $other ] || job $one $other "$@"
  done
done
