// SPDX-License-Identifier: BSD-3-Clause
// QUIRE_CHECK=pointers: words in shared memory that look like pointers to private memory of this node. Application
// threads; one looks for all that come meanwhile.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_set>

#include "core/core.hpp"

namespace quire::api {

class pointer_check {
 public:
  /// From now on private memory lies elsewhere on each node. At the start, before the engine is made.
  explicit pointer_check(unsigned node);
  /// Looks through what this node may write or has written last, and reports the first few words that were not there
  /// before.
  void look(core::core& core);
  /// How many there were, if any.
  void tell_total() const noexcept;

 private:
  static constexpr std::size_t most_told = 8;
  std::mutex looking_{};
  std::unordered_set<std::uint64_t> found_{};  ///< addresses of words
};

}  // namespace quire::api
