#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Usage: check.sh BUILD SOURCE. Needs a finished build. Installs into a DESTDIR, moves the tree elsewhere, and uses it there.
set -euo pipefail
build=$1 source=$2
work=$build/install-test prefix=$build/install-test/moved
unset LD_LIBRARY_PATH
fail() { echo "$*" >&2; exit 1; }
rm -rf "$work"
mkdir -p "$work"
DESTDIR=$work/stage cmake --install "$build" --prefix /opt/quire-test >/dev/null
mv "$work/stage/opt/quire-test" "$prefix"
[ -z "$(find "$work/stage" -type f)" ] || fail "not below the prefix: $(find "$work/stage" -type f)"
libdir=$(dirname "$(dirname "$(find "$prefix" -name quire.pc)")")
! grep -rE "/opt/quire-test|$work" "$libdir/cmake" "$libdir/pkgconfig" || fail "files that name where the tree was installed"

echo "CMake package, plain C"
cmake -S "$source/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/consumer" >/dev/null
"$prefix/bin/quire" run -n 2 --timeout 60 "$work/consumer/consumer"

echo "quire config"
config() { "$prefix/bin/quire" config "$@"; }
[ "$(config --prefix)" = "$prefix" ] || fail "--prefix: $(config --prefix)"
[ "$(config --version)" = "$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --modversion quire)" ] || fail "--version: $(config --version)"
[ "$(config --cflags)" = "-I$prefix/include" ] || fail "--cflags: $(config --cflags)"
[ "$(config --libs --cflags)" = "$(config --cflags) -L$libdir -Wl,-rpath,$libdir -lquire" ] || fail "--libs: $(config --libs)"
for row in "prefix *$prefix" "cflags *$(config --cflags)" "pkg-config *PKG_CONFIG_PATH=$libdir/pkgconfig" "cmake *-DCMAKE_PREFIX_PATH=$prefix"; do
  config | grep -qx -- "$row" || fail "the table lacks: $row"
done
[ "$(config --cmakedir)" = "$libdir/cmake/quire" ] || fail "--cmakedir: $(config --cmakedir)"
[ "$(config --fortran)" = "$prefix/include/quire/quire.f90" ] && [ -f "$(config --fortran)" ] || fail "--fortran: $(config --fortran)"
# The build folder is a package too. A project without Fortran is told why it gets no module.
cmake -S "$source/consumer" -B "$work/of-the-build" "-Dquire_DIR=$("$build/bin/quire" config --cmakedir)" >/dev/null
if cmake -S "$source/consumer" -B "$work/no-fortran" -DCMAKE_PREFIX_PATH="$prefix" -DCOMPONENT=Fortran >"$work/error" 2>&1; then fail "Fortran in a project without it"; fi
grep -q "the project has no Fortran" "$work/error" || fail "$(cat "$work/error")"
mv "$prefix/include/quire/quire.h" "$work/"
if config --libs 2>"$work/error"; then fail "a tree without headers tells flags"; fi
grep -q "quire.h is missing" "$work/error" || fail "$(cat "$work/error")"
mv "$work/quire.h" "$prefix/include/quire/"
# A link to the command belongs to no other tree.
ln -s "$prefix/bin/quire" "$work/quire"
[ "$("$work/quire" config --prefix)" = "$prefix" ] || fail "through a link: $("$work/quire" config --prefix)"
mkdir -p "$work/alone/bin"
cp "$prefix/bin/quire" "$work/alone/bin/"
if "$work/alone/bin/quire" config --libs 2>"$work/error"; then fail "a command without its library tells flags"; fi
grep -q "libquire.so.0 is missing" "$work/error" || fail "$(cat "$work/error")"

if [ -d "$build/python" ]; then
  echo "Python package, wherever the tree is"
  python=$(sed -n 's/^quire_python_on_path:[^=]*=//p' "$build/CMakeCache.txt")
  "$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
  [ "$(config --pythonpath)" = "$libdir/quire/python" ] || fail "--pythonpath: $(config --pythonpath)"
  found=$(cd / && PYTHONPATH=$(config --pythonpath) "$python" -c 'import quire as q; print(q.node, q.__file__)') || fail "it cannot be imported"
  [ "$found" = "0 $libdir/quire/python/quire/__init__.py" ] || fail "another package: $found"
  found=$(cd / && "$prefix/bin/quire" run -n 2 --timeout 60 "$python" -c '
import quire as q
a = q.zeros(2)
a[q.node] = q.node + 1
q.barrier()
if q.node == 0: print(a.sum(), q.__file__)') || fail "quire run $python cannot import it"
  [ "$found" = "3.0 $libdir/quire/python/quire/__init__.py" ] || fail "under quire run: $found"
fi

echo "which library a program gets"
other=$work/other
mkdir "$other"
cp "$libdir/libquire.so.0" "$other/"
compile() { # NAME FLAGS...
  # shellcheck disable=SC2046
  cc "$source/consumer/where.c" -o "$work/$1" $(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --cflags --libs quire) "${@:2}"
}
expect() { # FOLDER COMMAND...
  local found
  found=$("${@:2}") || fail "failed: ${*:2}"
  [ "$found" = "$1/libquire.so.0" ] || fail "$found, not one in $1: ${*:2}"
}
compile plain
compile runpath -Wl,-rpath,"$other"
compile rpath -Wl,-rpath,"$other",--disable-new-dtags
# shellcheck disable=SC2016
compile origin '-Wl,-rpath,$ORIGIN/other'
compile gone -Wl,-rpath,"$work/nowhere"
if ldd "$work/plain" | grep -q "libquire.*not found"; then
  if "$work/plain" 2>/dev/null; then fail "a program without a path has found the library by itself"; fi
fi
run=("$prefix/bin/quire" run -n 1 --timeout 60)
expect "$libdir/quire" "${run[@]}" "$work/plain"
expect "$libdir/quire" "${run[@]}" "$work/gone"
expect "$libdir/quire" env PATH="$work:$PATH" "${run[@]}" plain
expect "$libdir/quire" env LD_LIBRARY_PATH="$work/nowhere" "${run[@]}" "$work/plain"
expect "$other" env LD_LIBRARY_PATH="$other" "${run[@]}" "$work/plain"
for program in runpath rpath origin; do expect "$other" "${run[@]}" "$work/$program"; done
expect "$build/src" "$build/bin/quire" run -n 1 --timeout 60 "$work/plain"
# shellcheck disable=SC2016
printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >"$work/agent"
chmod +x "$work/agent"
expect "$libdir/quire" "${run[@]}" --hosts a --agent "$work/agent" "$work/plain"
# What does not need it is started as it would be without `quire run`.
# shellcheck disable=SC2016
[ "$("${run[@]}" sh -c 'echo "${LD_LIBRARY_PATH-unset}"')" = unset ] || fail "LD_LIBRARY_PATH is set for a shell"

echo "stand-ins for OpenMP runtimes"
for name in libgomp.so.1 libomp.so.5 libomp.so libiomp5.so; do [ -f "$libdir/quire/openmp/$name" ] || fail "$name is not installed"; done
beside=$(find "$libdir/quire" -mindepth 1 -maxdepth 1 ! -name 'libquire.so.*' ! -name openmp ! -name python)
[ -z "$beside" ] || fail "$beside is in a folder of LD_LIBRARY_PATH"

echo "documented commands"
python3 "$source/documented.py" "$prefix" "$build/bin/quire" "$source/../.." "$work/documented"

echo "exported symbols"
library=$libdir/libquire.so
# Quire's own have a version; what it defines in front of libc has none, so that prebuilt libraries find it, and is in libc.
# The new kind of libc's conditions has the version by which libc tells it from the old one.
nm -D --defined-only "$library" | awk '{print $3}' | grep -vE '^(quire_[a-z0-9_]+@@QUIRE_0|QUIRE_0|GLIBC_2.3.2)$' |
  sed -E 's/^(pthread_cond_[a-z]+)@@GLIBC_2.3.2$/\1/' | sort >"$work/others"
# shellcheck disable=SC2016
libc=$(ldd "$library" | awk '$1 == "libc.so.6" {print $3}')
nm -D --defined-only "$libc" | awk '{print $3}' | sed 's/@.*//' | sort -u >"$work/libc"
extra=$(comm -23 "$work/others" "$work/libc")
[ -z "$extra" ] || fail "symbols that nobody should see, or with a version: $extra"
grep -qx write "$work/others" || fail "libquire does not define write"
[ "$(find "$prefix" -name 'quire.[17]' | wc -l)" -eq 2 ] || fail "manual pages are missing"
cmp "$source/../../LICENSE" "$prefix/share/doc/quire/LICENSE" || fail "the license is missing"
rm -rf "$work"
