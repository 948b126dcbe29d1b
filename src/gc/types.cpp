// SPDX-License-Identifier: BSD-3-Clause
#include "gc/types.hpp"

#include <algorithm>

namespace quire::gc {

std::uint64_t layout_of(std::uint64_t bytes, std::span<const std::uint32_t> offsets) noexcept {
  constexpr std::uint64_t basis = 0xcbf29ce484222325u, prime = 0x100000001b3u;  // FNV-1a, by words
  std::uint64_t sum = (basis ^ bytes) * prime;
  for (const std::uint32_t offset : offsets) sum = ((sum ^ offset) * prime) ^ sum >> 29;
  return sum | 1;
}

std::array<char, longest_name + 1> name_record(std::string_view name) noexcept {
  std::array<char, longest_name + 1> made{};
  name.copy(made.data(), longest_name);
  return made;
}

const char* why_no_type(std::uint64_t bytes, std::span<const std::uint32_t> offsets) noexcept {
  if (bytes == 0) return "an element has 0 bytes";
  if (bytes > 1u << 30) return "an element has more than 1 GiB";
  if (offsets.size() > most_references) return "an element has more than 100 references";
  std::uint64_t before = 0;
  for (const std::uint32_t offset : offsets) {
    if (offset % sizeof(std::uint64_t) != 0 || bytes % sizeof(std::uint64_t) != 0)
      return "references are not aligned to 8 bytes";
    if (offset < before) return "the offsets of references are not in ascending order, or one is named twice";
    if (std::uint64_t{offset} + sizeof(std::uint64_t) > bytes) return "a reference lies beyond the end of the element";
    before = std::uint64_t{offset} + sizeof(std::uint64_t);
  }
  return nullptr;
}

void type_table::set(unsigned number, std::uint64_t bytes, std::span<const std::uint32_t> offsets) {
  if (all_.size() <= number) all_.resize(number + 1);
  all_[number] = {bytes, {offsets.begin(), offsets.end()}};
}

registrar::answer registrar::add(std::string_view name, std::uint64_t layout, unsigned beyond) {
  const auto key = name_record(name);
  if (const auto found = names_.find(key); found != names_.end())
    return {found->second.layout == layout ? outcome::good : outcome::differs, found->second.number};
  last_ = std::max(last_, beyond);
  if (last_ >= most_) return {outcome::full, 0};
  names_.emplace(key, entry{++last_, layout});
  return {outcome::good, last_};
}

}  // namespace quire::gc
