#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# limited.sh QUIRE NODES TEXT PROGRAM [ARGUMENTS]: as refused.sh, with the limit LIMIT, an option of prlimit(1), or pids.max=N of a control group. A limit
# of processes counts all of a user: then it runs as a user of its own. Both take root (77: skipped).
refused=$(dirname "$0")/refused.sh
case $LIMIT in
  --nproc=*)
    [ "$(id -u)" = 0 ] || { echo "skipped: only root can become somebody else"; exit 77; }
    user=$((100000 + $$))
    exec setpriv --reuid=$user --regid=$user --clear-groups prlimit "$LIMIT" "$refused" "$@" ;;
  pids.max=*)
    # What is started here counts, too.
    group=/sys/fs/cgroup/pids/quire-test-$$
    mkdir "$group" 2>/dev/null || { echo "skipped: making a control group takes root, and version 1 of them"; exit 77; }
    echo "${LIMIT#*=}" >"$group/pids.max" && echo $$ >"$group/cgroup.procs" && "$refused" "$@"
    status=$?
    echo $$ >/sys/fs/cgroup/pids/cgroup.procs
    rmdir "$group" && exit $status
    exit 1 ;;
esac
exec prlimit "$LIMIT" "$refused" "$@"
