// SPDX-License-Identifier: BSD-3-Clause
// The table of interposed calls: one row a function of libc that Quire defines too. Rows stand where their functions
// are defined (files.cpp, names.cpp, ...); the linker puts them together.
//
// The names are exported without a version. The dynamic linker then takes them for whichever version of libc's a
// program or a prebuilt library asks for (libstdc++: write@GLIBC_2.2.5); with a version of Quire's own they would be
// passed over.
//
// Inside of libquire a function is meant by its own name, quire_own_NAME: where libc comes first in the order of
// libraries, NAME is libc's here too.
#pragma once

#include <atomic>

#include <quire/quire.h>

namespace quire::api::calls {

struct row {
  const char* name;
  void* own;
  std::atomic<void*> real;  ///< libc's, or that of another library which stands in front of libc; null: not looked up
};

static_assert(sizeof(row) == 3 * sizeof(void*));  // the linker puts them side by side, without gaps

/// Looks up what a row stands in front of. Null, and errno ENOSYS, if this libc has no such function.
[[nodiscard]] void* find_real(row& of) noexcept;

template <class Function>
[[nodiscard]] inline Function* real_of(row& of) noexcept {
  void* found = of.real.load(std::memory_order_relaxed);
  if (found == nullptr) [[unlikely]]
    found = find_real(of);
  return reinterpret_cast<Function*>(found);
}

/// All rows.
row* begin_rows() noexcept;
row* end_rows() noexcept;

}  // namespace quire::api::calls

#define QUIRE_HIDDEN __attribute__((visibility("hidden")))
#define QUIRE_TABLE_ROW(name, own)           \
  static ::quire::api::calls::row row_##name \
      __attribute__((section("quire_calls"), used, aligned(8))) = {#name, reinterpret_cast<void*>(&own), {nullptr}}

/// What libc's name stands for. Nothing calls it here, so `nothrow` says nothing; without it the compiler warns
/// wherever it has found that the function does not throw.
#define QUIRE_EXPORTED(name, own) asm(#name) __attribute__((alias(#own), nothrow))

/// Declares an interposed function and its row; the body of quire_own_NAME follows.
#define QUIRE_OWN(result, name, parameters)                                                          \
  extern "C" QUIRE_HIDDEN result quire_own_##name parameters;                                        \
  QUIRE_TABLE_ROW(name, quire_own_##name);                                                           \
  extern "C" QUIRE_API result quire_export_##name parameters QUIRE_EXPORTED(name, quire_own_##name); \
  extern "C" result quire_own_##name parameters

/// A second name of a function.
#define QUIRE_SAME(result, name, as, parameters)                                                   \
  extern "C" QUIRE_API result quire_export_##name parameters QUIRE_EXPORTED(name, quire_own_##as); \
  QUIRE_TABLE_ROW(name, quire_own_##as)
