#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# code_noexec.sh QUIRE PROGRAM FOLDER: code in memory that may not be run, as /dev/shm is mounted noexec: in a namespace of its own, where that may
# be made.
unshare -m --propagation private true || exit 77
said=$(unshare -m --propagation private sh -c 'mount -t tmpfs -o noexec tmpfs /dev/shm || exit 77
  exec "$1" run -n 2 --transport tcp --timeout 40 "$2" "$3" noexec' code_noexec "$@" 2>&1)
status=$?
echo "$said"
[ $status -eq 0 ] || exit $status
case $said in *FAILED* | *"ending the job"*) exit 1 ;; *"mounted noexec"*) exit 0 ;; *) exit 1 ;; esac
