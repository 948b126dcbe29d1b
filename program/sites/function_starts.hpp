// SPDX-License-Identifier: BSD-3-Clause
// Where functions begin, by the table that unwinders search (.eh_frame_hdr; LSB, Core Generic, 10.6.2): compilers make
// an entry for each function, in stripped files too. So a place in code can be decoded from its function's start on.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "program/sites/elf_view.hpp"

namespace quire::program::sites {

class function_starts {
 public:
  explicit function_starts(const elf_view& elf) noexcept {
    for (const Elf64_Phdr& s : elf.segments()) {
      if (s.p_type != PT_GNU_EH_FRAME) continue;
      constexpr std::array usual = {std::byte{1}, std::byte{0x1b}, std::byte{0x03}, std::byte{0x3b}};
      const auto head = elf.table<std::byte>(s.p_offset, usual.size());
      const auto count = elf.table<std::uint32_t>(s.p_offset + 8, 1);
      if (head.empty() || count.empty() || !std::equal(usual.begin(), usual.end(), head.begin())) return;
      address_ = s.p_vaddr;
      entries_ = elf.table<entry>(s.p_offset + 12, count[0]);
    }
  }

  /// The last start that is not behind `address`; 0: none is known.
  [[nodiscard]] std::uint64_t before(std::uint64_t address) const noexcept {
    const auto after = std::upper_bound(entries_.begin(), entries_.end(), address,
                                        [this](std::uint64_t a, const entry& e) { return a < start_of(e); });
    return after == entries_.begin() ? 0 : start_of(*(after - 1));
  }

  /// The first one behind `address`; 0: none is known.
  [[nodiscard]] std::uint64_t after(std::uint64_t address) const noexcept {
    const auto next = std::upper_bound(entries_.begin(), entries_.end(), address,
                                       [this](std::uint64_t a, const entry& e) { return a < start_of(e); });
    return next == entries_.end() ? 0 : start_of(*next);
  }

 private:
  /// Both from the table's own address on.
  struct entry {
    std::int32_t start, description;
  };
  [[nodiscard]] std::uint64_t start_of(const entry& e) const noexcept {
    return address_ + static_cast<std::uint64_t>(std::int64_t{e.start});
  }

  std::uint64_t address_ = 0;
  std::span<const entry> entries_{};
};

}  // namespace quire::program::sites
