// SPDX-License-Identifier: BSD-3-Clause
// The content that threads of this node have written, or may be writing: own_words.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "core/region_slot.hpp"

namespace quire::core {

class core;

struct words_reader {
  /// The words at `offset` of a region. Others may be writing them. Driver's thread.
  virtual void read(const region_slot& r, std::uint64_t offset, std::span<const std::uint64_t> words) noexcept = 0;

 protected:
  ~words_reader() = default;
};

/// Reads the content of all units that this node may write, or has written last. Application thread.
void look_at_own_words(core& node, words_reader& reader) noexcept;

}  // namespace quire::core
