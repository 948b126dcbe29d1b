#!/usr/bin/env bash
# Usage: check.sh BUILD SOURCE. Needs a finished build.
set -euo pipefail
build=$1 source=$2
prefix=$build/install-test/prefix
rm -rf "$build/install-test"
mkdir -p "$prefix"
cmake --install "$build" --prefix "$prefix" >/dev/null

echo "CMake package"
cmake -S "$source/consumer" -B "$build/install-test/consumer" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$build/install-test/consumer" >/dev/null
"$prefix/bin/quire" run -n 2 --timeout 60 "$build/install-test/consumer/consumer"

echo "pkg-config, plain C"
libdir=$(dirname "$(find "$prefix" -name quire.pc)")
# The file names the configured prefix; this copy stands elsewhere.
flags=$(PKG_CONFIG_PATH=$libdir pkg-config --define-variable=prefix="$prefix" --cflags --libs quire)
# shellcheck disable=SC2086
cc -x c "$source/consumer/consumer.c" -o "$build/install-test/plain" $flags -Wl,-rpath,"$(dirname "$libdir")"
"$prefix/bin/quire" run -n 2 --timeout 60 "$build/install-test/plain"

echo "exported symbols"
library=$(find "$prefix" -name 'libquire.so')
# Quire's own have a version; what it defines in front of libc has none, so that prebuilt libraries find it, and is in libc.
nm -D --defined-only "$library" | awk '{print $3}' | grep -vE '^(quire_[a-z0-9_]+@@QUIRE_0|QUIRE_0)$' | sort >"$build/install-test/others"
# shellcheck disable=SC2016
libc=$(ldd "$library" | awk '$1 == "libc.so.6" {print $3}')
nm -D --defined-only "$libc" | awk '{print $3}' | sed 's/@.*//' | sort -u >"$build/install-test/libc"
extra=$(comm -23 "$build/install-test/others" "$build/install-test/libc")
[ -z "$extra" ] || { echo "symbols that nobody should see, or with a version: $extra" >&2; exit 1; }
grep -qx write "$build/install-test/others" || { echo "libquire does not define write" >&2; exit 1; }
[ "$(find "$prefix" -name 'quire.[17]' | wc -l)" -eq 2 ] || { echo "manual pages are missing" >&2; exit 1; }
rm -rf "$build/install-test"
