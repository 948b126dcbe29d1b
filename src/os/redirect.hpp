// SPDX-License-Identifier: BSD-3-Clause
// Calls of one loaded library to another go through a table of addresses; this exchanges addresses in such tables: of
// UCX (libucs), by transport/ucx/gate.cpp before UCX opens anything, and of all libraries, by src/libc. Nothing is
// undone. Application threads; the dynamic linker's lock is held meanwhile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace quire::os {

struct redirection {
  const char* function;  ///< of libc, such as "connect"
  void* instead;
};

/// Makes every loaded library whose file name begins with `library` call these instead. How many of the redirections it
/// has found.
[[nodiscard]] unsigned redirect(const char* library, std::span<const redirection> calls) noexcept;

struct replacement {
  const char* function;
  void* instead;
  void* old;   ///< what the linker has found; entries with another address are left alone
  bool first;  ///< and would find for entries that are filled at the first call
};

/// The entries of libraries that were looked at, until one is unloaded: another one may come where it was. A program
/// that loads hundreds of libraries would else read the names of all of them hundreds of times. What stands in an entry
/// is looked at each time: another thread may be loading its library. The dynamic linker's lock is held.
class looked_at {
 public:
  struct entry {
    std::uintptr_t slot;
    std::uint32_t call;  ///< which of the replacements
    bool undefined;      ///< the library itself has no such function
  };
  /// Of the library with these program headers; none if they are not known. `unloaded`: libraries so far.
  [[nodiscard]] std::optional<std::span<const entry>> entries_of(const void* library,
                                                                 unsigned long long unloaded) noexcept;
  /// After it, of a library that is not known: each of its entries, and the end. What there is no room for stays
  /// unknown.
  void add(const entry& e) noexcept;
  void finish(const void* library) noexcept;

 private:
  struct of_library {
    const void* headers;
    std::size_t first, count;
  };
  std::array<of_library, 1024> libraries_{};
  std::array<entry, 16384> entries_{};
  std::size_t libraries_count_ = 0, entries_count_ = 0, added_ = 0;
  unsigned long long unloaded_ = 0;
};

/// Makes the program and all loaded libraries, but the one that `not_here` is an address in, call these instead.
/// `calls` are in order of their names, and the same for one `before`.
void redirect_everywhere(std::span<const replacement> calls, const void* not_here, looked_at& before) noexcept;

}  // namespace quire::os
