#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes Debian packages of a build (BUILD/deb), and tries them on a Debian that has nothing else of Quire: installs them by apt, so that what they depend on is
# what they get, compiles and runs programs as docs/guide says, and purges them: nothing may be left.
# The packages that were fetched for it are kept in ~/.cache/quire. Needs root.
# Exit status 77: there is no debootstrap, or nothing can be fetched.
#   scripts/deb.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
source scripts/clean_debian.sh
fail() { echo "deb: $*" >&2; exit 1; }

if [ "${2:-}" != inside ]; then
  rm -rf "$build/deb"
  (cd "$build" && cpack -G DEB -B deb >deb.log 2>&1) || { cat "$build/deb.log"; fail "cpack failed"; }
  ls -l "$build"/deb/*.deb
  depends=$(dpkg-deb -f "$build"/deb/libquire0_*.deb Depends Recommends)
  grep -q libucx0 <<<"$depends" && grep -q libpmix2 <<<"$depends" || fail "libquire0 lacks what it loads by itself: $depends"
  if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$build"/deb/*.deb
  else
    echo "deb: there is no lintian: the packages are not linted"
  fi
  can_make_debian || { echo "deb: debootstrap needs to be installed, and root" >&2; exit 77; }
  # In a mount namespace of its own, so that nothing stays mounted.
  exec unshare --mount --propagation private "scripts/deb.sh" "$build" inside
fi

make_debian "$build/deb.log"
mkdir -p "$cache/archives/partial"
mkdir -p "$root/packages" "$root/program"
mount --bind "$build/deb" "$root/packages"
mount --bind "$cache/archives" "$root/var/cache/apt/archives"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
rm -f "$root/etc/apt/apt.conf.d/docker-clean"
cp examples/guide/first.c examples/guide/heat.py examples/openmp/jacobi.c "$root/program/"
apt="apt-get -qq -o Binary::apt-get::APT::Keep-Downloaded-Packages=true"

inside "$apt update && $apt install -y --no-install-recommends apt-utils gcc libc6-dev pkg-config >/dev/null 2>&1" || { echo "deb: nothing can be fetched" >&2; exit 77; }
echo "== the library and the command alone"
inside "$apt install -y --no-install-recommends /packages/libquire0_*.deb /packages/quire_*.deb >/dev/null
  quire info >/dev/null
  quire run -n 2 true
  if quire config --libs 2>/tmp/why; then exit 1; fi
  grep -q libquire-dev /tmp/why && rm /tmp/why"
echo "== programs"
inside "$apt install -y --no-install-recommends /packages/*.deb >/dev/null
  cd /program
  cc first.c -o first \$(pkg-config --cflags --libs quire) && quire run -n 2 --timeout 60 ./first && ./first
  cc first.c -o first \$(quire config --cflags --libs) && quire run -n 2 --timeout 60 --transport tcp ./first
  quire run -n 2 --timeout 60 python3 heat.py
  cc -fopenmp -O2 jacobi.c -o jacobi -lm && OMP_NUM_THREADS=4 quire run -n 2 --timeout 60 ./jacobi 64 10
  python3 -m py_compile /usr/lib/python3/dist-packages/quire/*.py"
echo "== nothing is left"
inside "$apt purge -y libquire0 libquire-dev quire python3-quire >/dev/null; ldconfig
  left=\$(find / -xdev \( -path /program -o -path /packages -o -path /proc -o -path /var/log -o -path /var/cache -o -path /var/lib/apt \) -prune -o \( -iname 'quire*' -o -iname 'lib*quire*' -o -iname '*-quire*' \) -print)
  [ -z \"\$left\" ] || { echo \"\$left\"; exit 1; }
  if ldconfig -p | grep quire; then exit 1; fi" || fail "a purge leaves something behind"
echo "deb: installed, tried and purged on a Debian $suite"
