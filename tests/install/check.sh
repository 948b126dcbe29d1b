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
expected='^(quire_[a-z0-9_]+|QUIRE_0|p?(read|write)(64)?|p?(read|write)v(64)?|recv|recvfrom|recvm?msg|recvmmsg|send|sendto|sendm?msg|sendmmsg|fread|fwrite|syscall|pthread_sigmask|sigprocmask|sigaction|signal|__(read|pread|pread64|recv|recvfrom|fread)_chk)$'
extra=$(nm -D --defined-only "$(find "$prefix" -name 'libquire.so')" | awk '{print $3}' | sed 's/@.*//' | grep -vE "$expected" || true)
[ -z "$extra" ] || { echo "symbols that nobody should see: $extra" >&2; exit 1; }
[ "$(find "$prefix" -name 'quire.[17]' | wc -l)" -eq 2 ] || { echo "manual pages are missing" >&2; exit 1; }
rm -rf "$build/install-test"
