// SPDX-License-Identifier: BSD-3-Clause
// Which libraries are a program's own, by their paths. No C++ library: the first caller runs before all constructors.
#pragma once

#include <string.h>

#include <initializer_list>

namespace quire::program::sites {

[[nodiscard]] inline const char* last_part(const char* path) noexcept {
  const char* const slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

[[nodiscard]] inline bool begins(const char* text, const char* with) noexcept {
  return strncmp(text, with, strlen(with)) == 0;
}

/// Where the system and its compilers have their libraries.
[[nodiscard]] inline bool is_in_system_folder(const char* path) noexcept {
  for (const char* folder : {"/lib/", "/lib64/", "/lib32/", "/usr/lib/", "/usr/lib64/", "/usr/libexec/"}) {
    if (begins(path, folder)) return true;
  }
  return false;
}

/// Run-time libraries of languages, wherever a compiler was installed; and libquire's own.
[[nodiscard]] inline bool is_of_a_compiler(const char* file) noexcept {
  for (const char* name : {"ld-linux", "libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "libgcc_s.so",
                           "libstdc++.so", "libc++.so", "libc++abi.so", "libunwind", "libgfortran.so", "libquadmath.so",
                           "libatomic.so", "libmvec.so", "libgomp.so", "libomp.so", "libiomp5.so", "libasan.so",
                           "libubsan.so", "libtsan.so", "liblsan.so", "libFortranRuntime", "libsvml.so", "libimf.so",
                           "libintlc.so", "libirng.so", "libirc.so", "libquire.so", "libquire_omp.so", "linux-vdso",
                           // As wheels of Python call them.
                           "libgomp-", "libomp-", "libiomp5-"}) {
    if (begins(file, name)) return true;
  }
  return false;
}

/// What compilers' checks call (-fsanitize=undefined): they go past libc for half of what they do, and so stay on their
/// node with the rest, too.
[[nodiscard]] inline bool is_of_a_sanitizer(const char* file) noexcept {
  for (const char* name : {"libasan.so", "libubsan.so", "libtsan.so", "liblsan.so", "libhwasan.so", "libclang_rt."}) {
    if (begins(file, name)) return true;
  }
  return false;
}

/// Heaps that take the place of malloc(3), or stand beside it: their data is of one node.
[[nodiscard]] inline bool is_of_an_allocator(const char* file) noexcept {
  for (const char* name : {"libtcmalloc", "libjemalloc", "libmimalloc", "librpmalloc", "libsnmalloc", "libhoard",
                           "libtbbmalloc", "libscudo", "libgc.so", "libgccpp.so"}) {
    if (begins(file, name)) return true;
  }
  return false;
}

/// What libquire itself loads, wherever it was installed, with what that needs: their data is of one node.
[[nodiscard]] inline bool is_loaded_by_quire(const char* file) noexcept {
  for (const char* name : {"libucp", "libucs", "libuct", "libucm", "libnuma.so", "libpmix", "libevent", "libhwloc",
                           "libfuse3", "libibverbs", "librdmacm", "libnl-", "libsodium"}) {
    if (begins(file, name)) return true;
  }
  return false;
}

}  // namespace quire::program::sites
