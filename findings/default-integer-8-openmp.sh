#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# gfortran -fdefault-integer-8 and OpenMP's procedures, with LLVM's libomp, which exports the names of libgomp's interface (GOMP_*).
# Expected guess: libomp takes the place of libgomp in a Fortran program, as it does in one of C.
# Behaviour: with `use omp_lib`, gfortran calls omp_set_num_threads_8_ for an argument of 8 bytes. libgomp has these names; libomp has none of them, and
# the program ends with "undefined symbol" at its first call of one.
# Seen on: gfortran 12.2, libomp 14. Exit status 1: this system does otherwise; 77: gfortran or libomp is missing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
libomp=$(ls /usr/lib/llvm-*/lib/libomp.so.5 /usr/lib/*/libomp.so.5 2>/dev/null | head -1 || true)
command -v gfortran >/dev/null && [ -n "$libomp" ] || { echo "gfortran or libomp.so.5 is missing"; exit 77; }
cat >"$folder/it.f90" <<'F'
program it
  use omp_lib
  integer :: wanted, got
  wanted = 2
  call omp_set_num_threads(wanted)
  got = 0
!$omp parallel reduction(+ : got)
  got = got + 1
!$omp end parallel
  print '(i0, a)', got, ' threads'
end program
F
names() { nm -D --defined-only "$1" | grep -c 'omp_[a-z_]*_8_\(@\|$\)' || true; }
libgomp=$(gfortran -print-file-name=libgomp.so)
echo "names that end in _8_: libgomp $(names "$libgomp"), libomp $(names "$libomp")"
for flag in "" -fdefault-integer-8; do
  gfortran -fopenmp $flag -o "$folder/it" "$folder/it.f90"
  echo "gfortran $flag: with libgomp: $("$folder/it")"
  ln -sf "$libomp" "$folder/libgomp.so.1"
  with=$(LD_BIND_NOW=1 LD_LIBRARY_PATH=$folder "$folder/it" 2>&1 | tail -1 || true)
  echo "gfortran $flag: with libomp in its place: ${with##*/}"
  rm "$folder/libgomp.so.1"
  results+=("$with")
done
[ "${results[0]}" = "2 threads" ] && [[ ${results[1]} == *"undefined symbol: omp_set_num_threads_8_"* ]]
