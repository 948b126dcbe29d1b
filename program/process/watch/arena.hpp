// SPDX-License-Identifier: BSD-3-Clause
// Memory for stubs, at places that jumps dictate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace quire::program::watch {

class arena {
 public:
  arena() = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  /// Unless keep() was called, all of it goes.
  ~arena();
  /// So many bytes that begin in [first, first + count); 0: there is no room. To be written until keep().
  [[nodiscard]] std::uint64_t take(std::uint64_t first, std::uint64_t count, std::size_t bytes);
  /// The memory is code from now on, for good. False: the system does not allow it.
  [[nodiscard]] bool keep() noexcept;

 private:
  struct block {
    std::uint64_t first = 0, used = 0;
  };
  [[nodiscard]] bool map(std::uint64_t at);
  std::vector<block> blocks_{};
  std::set<std::uint64_t> used_by_others_{};  ///< jumps dictate the same places again and again
  bool kept_ = false;
};

}  // namespace quire::program::watch
