// SPDX-License-Identifier: BSD-3-Clause
// The executable and its libraries as the dynamic linker has mapped them at the start. What is loaded later, by Quire
// or by dlopen(3), is not among them.
#pragma once

#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace quire::program {

/// Addresses [first, end).
struct data_range {
  std::uint64_t first = 0, end = 0;
};

/// Nothing is set in one that describe() has not made, so that room for many is no part of the file of this library.
struct module {
  static constexpr std::size_t most_data = 8;
  const char* name = nullptr;  ///< its path; empty: the executable
  std::uint64_t base = 0;
  std::uint64_t after_relocation = 0;
  std::array<data_range, most_data> writable{};  ///< one a segment, upwards
  std::size_t writable_count = 0;
  std::uint64_t code_first = 0, code_end = 0;
  std::uint64_t sum = 0;  ///< of its build-id and of where its parts lie
  char build[44] = {};    ///< its build-id, in hexadecimal; empty: its linker has given it none
  ElfW(Dyn) * dynamic = nullptr;
  const void* thread_data = nullptr;    ///< what its thread-local variables begin with
  std::uint64_t thread_data_bytes = 0;  ///< 0: it has none
  std::uint64_t thread_data_alignment = 0;
  bool known = false;       ///< libc's, a compiler's, an allocator's or Quire's: its code does nothing to the program's
                            ///< memory that Quire does not know
  bool runs_stack = false;  ///< it may have code on stacks: the dynamic linker has made them executable
  bool programs = false;    ///< the executable, or a library of the program's own: neither the system's nor Quire's

  /// An entry of its dynamic section; null if there is none.
  [[nodiscard]] ElfW(Dyn) * entry(std::int64_t tag) const noexcept;
  /// Whole pages that are written after relocation: linkers make a segment of its own for what is aligned to more than
  /// a page, and there is nothing between two.
  [[nodiscard]] std::span<const data_range> data() const noexcept { return {writable.data(), writable_count}; }
};

/// The executable's file, to be read: `quire exec` may have mapped it itself, and is what /proc/self/exe names then.
[[nodiscard]] const char* own_file() noexcept;
[[nodiscard]] bool placed_by_exec() noexcept;
/// In the order of loading, the executable first. The first call looks, before anything runs that could load more.
[[nodiscard]] std::span<module> modules() noexcept;

/// Libraries of the user's LD_PRELOAD, as `quire exec` has kept it, that have functions with names of libc's are not
/// the program's from now on. libc has no environment yet.
void leave_out_preloaded(const char* const* environment) noexcept;

/// A build-id for people.
[[nodiscard]] inline const char* build_of(const char* build) noexcept {
  return build[0] != 0 ? build : "without a build-id";
}

/// libquire_omp.
[[nodiscard]] const module* own_module() noexcept;

/// A module that was loaded later. The executable's is its first.
[[nodiscard]] module describe(const dl_phdr_info& info) noexcept;

/// Whether the library at a path is neither the system's, nor a compiler's or Quire's.
[[nodiscard]] bool is_programs_own(const char* path) noexcept;

/// The number that an entry of the dynamic section holds; 0 if there is none.
[[nodiscard]] inline std::uint64_t value(const module& of, std::int64_t tag) noexcept {
  const auto* const entry = of.entry(tag);
  return entry != nullptr ? entry->d_un.d_val : 0;
}

}  // namespace quire::program
