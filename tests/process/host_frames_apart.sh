#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# host_frames_apart.sh QUIRE N PROGRAM...: frames of a host (QUIRE_HOST_FRAMES=1) are those of one job, one user and one set of namespaces. Two jobs at a
# time do not meet. Where files may not be long all go on apart. A node in a PID namespace of its own, or of another user, goes on as a host
# by itself, and says so; for both one has to be root.
quire=$1 nodes=$2
shift 2

ends_well() {
  what=$1 status=$2 lines=$3
  [ "$status" = 0 ] && return
  echo "$what: status $status: $lines"
  exit 1
}

other=$(mktemp) || exit 1
trap 'rm -f "$other"' EXIT
"$quire" run -n "$nodes" --timeout 60 "$@" >"$other" 2>&1 &
second=$!
lines=$("$quire" run -n "$nodes" --timeout 60 "$@" 2>&1)
ends_well "the first of two jobs" $? "$lines"
wait $second
ends_well "the second of two jobs" $? "$(cat "$other")"

# apart TEXT COMMAND...: node 1 is started by the command, and says why it is apart.
apart() {
  text=$1
  shift
  lines=$("$quire" run -n "$nodes" --timeout 60 --transport tcp sh -c '
    test "$QUIRE_JOB_NODE" = 1 || exec "$0" partly
    exec "$@" "$0" partly' "$program" "$@" 2>&1)
  ends_well "$*" $? "$lines"
  echo "$lines" | grep -q "$text" || { echo "$*: nobody says '$text': $lines"; exit 1; }
}

program=$1
# Files may not be as long as the range: each node has frames of its own, and says so.
lines=$(ulimit -f 1048576; "$quire" run -n "$nodes" --timeout 60 "$program" apart 2>&1)
ends_well "short files" $? "$lines"
echo "$lines" | grep -q "this node has frames of its own" || { echo "short files: nobody says it: $lines"; exit 1; }

[ "$(id -u)" = 0 ] && unshare --pid --fork true 2>/dev/null || exit 0
apart "is in other PID namespaces" unshare --pid --fork --kill-child
apart "is another user's" setpriv --reuid 65534 --clear-groups
