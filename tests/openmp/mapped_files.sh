#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mapped_files.sh QUIRE NODES PROGRAM: what the program has written to a shared mapping of a file is there when it has ended, in whatever way.
for how in return nexit fexit n_exit f_exit nquick fquick; do
  file=$(mktemp) || exit 1
  "$1" run -n "$2" --timeout 60 "$3" leave "$file" $how && "$3" look "$file"
  status=$?
  rm -f "$file"
  [ $status = 0 ] || { echo "$how: status $status"; exit 1; }
done
