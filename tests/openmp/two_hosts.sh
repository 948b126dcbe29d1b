#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# two_hosts.sh QUIRE SETUP WANTED LINE PROGRAM [ARGUMENTS]: on two hosts, of which the second has done SETUP, a command, in mounts of its own, the program prints WANTED (\n: a new line),
# ends well, and the job's lines have LINE; where that is "no lines", there are none. In SETUP and ARGUMENTS FOLDER stands for a folder of this test, with an empty one in it, FOLDER/empty.
# The hosts are this machine. Skipped (77) where it allows no mounts.
quire=$1 setup=$2 wanted=$(printf '%b' "$3") line=$4
shift 4
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/empty" "$folder/locale" "$folder/locale/within"
cp -r /usr/lib/locale/C.utf8 "$folder/locale/quire.utf8" 2>/dev/null
setup=$(echo "$setup" | sed "s:FOLDER:$folder:g")
cat > "$folder/agent" <<END
#!/bin/sh
host=\$1
shift
[ "\$host" = b ] || exec sh -c "\$*"
exec unshare -m --propagation private sh -c '{ $setup; } && exec sh -c "\$1"' sh "\$*"
END
chmod +x "$folder/agent"
if ! "$folder/agent" b true 2>/dev/null; then
  echo "skipped: there are no mounts of one's own here"
  exit 77
fi
OMP_NUM_THREADS=4 LOCPATH="$folder/locale"
export OMP_NUM_THREADS LOCPATH
umask 022
program=$1
shift
found=$("$quire" run --hosts a,b --agent "$folder/agent" --timeout 60 "$program" $(echo "$@" | sed "s:FOLDER:$folder:g") 2>"$folder/lines" | sed "s:$folder:FOLDER:g")
lines=$(sed "s:$folder:FOLDER:g" "$folder/lines")
echo "printed: $found"
echo "lines: $lines"
[ "$found" = "$wanted" ] || { echo "instead of: $wanted"; exit 1; }
if [ "$line" = "no lines" ]; then
  [ -z "$lines" ]
else
  echo "$lines" | grep -q -e "$line"
fi
