// SPDX-License-Identifier: BSD-3-Clause
// The linkers that a node knows by name: those of the program, and the built-in ones. Application threads.
#pragma once

#include <quire/linker.h>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace quire::container {

inline constexpr std::size_t most_linkers = 64, longest_linker = 31;
inline constexpr std::size_t largest_grain = 2u << 20;
inline constexpr const char* memory_linker = "memory";  ///< of which there is no struct

class linker_table {
 public:
  /// Has the built-in ones.
  linker_table();
  /// QUIRE_INVALID, QUIRE_EXISTS, QUIRE_LIMIT, with a sentence that names `call`. Copied.
  [[nodiscard]] base::status add(const char* call, const quire_linker& linker);
  /// The same of a function (quire_linker_register_function()).
  [[nodiscard]] base::status add_function(const char* name, std::size_t grain,
                                          int (*fill)(void*, std::uint64_t, void*, std::size_t), void* context);
  /// Stays where it is. Null if there is none.
  [[nodiscard]] const quire_linker* find(std::string_view name) const noexcept;

 private:
  struct function {
    int (*fill)(void*, std::uint64_t, void*, std::size_t) = nullptr;
    void* context = nullptr;
  };
  struct row {
    std::string name{};
    quire_linker linker{};
    function of{};
  };
  [[nodiscard]] base::status check(const char* call, const quire_linker& linker) const;
  [[nodiscard]] base::status place(const char* call, const quire_linker& linker, const function& of);
  void add_own(const quire_linker& linker);

  mutable std::mutex mutex_{};
  std::size_t count_ = 0, own_ = 0;
  std::array<std::unique_ptr<row>, most_linkers + 2> rows_{};
};

}  // namespace quire::container
