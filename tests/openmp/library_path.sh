#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# library_path.sh QUIRE PROGRAM: on two hosts, this machine, of which the second has another LD_LIBRARY_PATH, libraries lie at the same addresses, and
# PROGRAM ends well; in it the variable is what it was.
quire=$1 program=$2
unset LD_LIBRARY_PATH
export OMP_NUM_THREADS=2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cat > "$folder/agent" <<'END'
#!/bin/sh
host=$1
shift
[ "$host" = a ] || { LD_LIBRARY_PATH=$OTHER_PATH; export LD_LIBRARY_PATH; }
exec sh -c "$*"
END
chmod +x "$folder/agent"
for elements in 1 20 60 150 300; do
  OTHER_PATH=/nowhere/$(printf "%0${elements}d" 0 | sed 's/0/zero:\/none\/other/g')
  export OTHER_PATH
  "$quire" run --hosts a,b --agent "$folder/agent" --timeout 60 "$program" library_path > "$folder/out" 2> "$folder/lines" ||
    { echo "$elements folders: status $?"; cat "$folder/out" "$folder/lines"; exit 1; }
  printf 'none\n%s\n' "$OTHER_PATH" > "$folder/wanted"
  cmp "$folder/out" "$folder/wanted" || { cat "$folder/out"; exit 1; }
done
