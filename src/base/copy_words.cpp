// SPDX-License-Identifier: BSD-3-Clause
#include "base/copy_words.hpp"

#include <cstdint>

namespace quire::base {
namespace {

// No templates: they drop the alignment of a type.
using one_word [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;
#if defined(__x86_64__)
/// In one register: each is loaded and stored as a whole where it is aligned.
using words [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]] = std::uint64_t;
#else
using words = one_word;
#endif

/// Keeps the compiler from making a memcpy() of a loop, and from loading twice.
void each_once() noexcept { asm volatile("" ::: "memory"); }

void copy_some(std::byte* to, const std::byte* from) noexcept {
  *reinterpret_cast<words*>(to) = *reinterpret_cast<const words*>(from);
  each_once();
}

void copy_word(std::byte* to, const std::byte* from) noexcept {
  *reinterpret_cast<one_word*>(to) = *reinterpret_cast<const one_word*>(from);
  each_once();
}

}  // namespace

void copy_words(void* to, const void* from, std::size_t bytes) noexcept {
  auto* into = static_cast<std::byte*>(to);
  const auto* at = static_cast<const std::byte*>(from);
  constexpr std::size_t some = sizeof(words), turn = 4 * some;
  for (; bytes >= turn; bytes -= turn, into += turn, at += turn) {
    for (std::size_t i = 0; i < turn; i += some) copy_some(into + i, at + i);
  }
  for (; bytes >= sizeof(one_word); bytes -= sizeof(one_word), into += sizeof(one_word), at += sizeof(one_word))
    copy_word(into, at);
  for (; bytes != 0; --bytes, ++into, ++at) {
    *into = *at;
    each_once();
  }
}

}  // namespace quire::base
