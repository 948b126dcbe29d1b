#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# limited.sh QUIRE NODES TEXT PROGRAM [ARGUMENTS]: as refused.sh, with the limit LIMIT, an option of prlimit(1). One of processes counts all of a user:
# then it runs as a user of its own, which takes root (77: skipped).
refused=$(dirname "$0")/refused.sh
case $LIMIT in
  --nproc=*)
    [ "$(id -u)" = 0 ] || { echo "skipped: only root can become somebody else"; exit 77; }
    user=$((100000 + $$))
    exec setpriv --reuid=$user --regid=$user --clear-groups prlimit "$LIMIT" "$refused" "$@" ;;
esac
exec prlimit "$LIMIT" "$refused" "$@"
