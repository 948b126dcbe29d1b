#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# other_node.sh QUIRE FILE OTHER TEXT PROGRAM [ARGUMENTS]: on the second of two hosts OTHER stands in the place of FILE; where OTHER is "none", an empty
# folder in the place of the folder FILE. The job ends with an error whose lines have TEXT. The hosts are this machine; the second has mounts of its own. Skipped (77) where that is not allowed.
quire=$1 file=$2 other=$3 text=$4
shift 4
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cat > "$folder/agent" <<END
#!/bin/sh
host=\$1
shift
[ "\$host" = b ] || exec sh -c "\$*"
exec unshare -m --propagation private sh -c 'mount --bind "$folder/other" "$file" && exec sh -c "\$1"' sh "\$*"
END
chmod +x "$folder/agent"
if [ "$other" = none ]; then
  mkdir "$folder/other"
else
  cp "$other" "$folder/other"
fi
if ! "$folder/agent" b true 2>/dev/null; then
  echo "skipped: there are no mounts of one's own here"
  exit 77
fi
OMP_NUM_THREADS=4
export OMP_NUM_THREADS
lines=$("$quire" run --hosts a,b --agent "$folder/agent" --timeout 60 "$@" 2>&1)
status=$?
echo "$lines"
echo "status $status"
[ $status != 0 ] && [ $status != 124 ] && echo "$lines" | grep -q -e "$text"
