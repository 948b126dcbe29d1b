// SPDX-License-Identifier: BSD-3-Clause
// What threads of a node wait for, and what they hold, as a node tells it (`quire run --timeout`, SIGQUIT). Records are
// plain bytes: both ends are the same build. Pure; the engine fills them in, the launcher or the node itself makes
// sentences of them (report.hpp).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace quire::waits {

enum class what : std::uint8_t {
  // A thread waits, in the call `name`:
  object = 1,  ///< for a synchronisation object; `node` keeps it
  all_nodes,   ///< for the other nodes: a call in which a thread of each takes part
  memory,      ///< for a unit of shared memory, at address `object`; `node` is asked first
  answer,      ///< for `node` to answer
  something,   ///< for something else
  // And for no thread that waits:
  holds,     ///< `thread` has locked `object`
  right,     ///< this node has the right to lock `object`, and no thread of it does
  arrivals,  ///< this node keeps barrier `object`: `number` threads of `node` have come, `of` are to come in all
};

inline constexpr std::uint16_t no_node = 0xffff;
inline constexpr std::uint32_t no_thread = ~std::uint32_t{0};

struct record {
  what kind{};
  std::uint16_t node = no_node;
  std::uint32_t thread = no_thread;  ///< quire_thread(); none: the thread has no number yet
  std::uint32_t tid = 0;             ///< the kernel's number of it; 0: not known
  std::uint32_t number = 0, of = 0;
  std::uint64_t waited_ms = 0;
  std::uint64_t object = 0;
  char name[32] = {};   ///< of the call, or of the access
  char label[72] = {};  ///< of the object, or of the unit

  void set_name(const char* text) noexcept { std::strncpy(name, text, sizeof name - 1); }
  void set_label(const char* text) noexcept { std::strncpy(label, text, sizeof label - 1); }
  [[nodiscard]] bool is_wait() const noexcept { return kind < what::holds; }
};
static_assert(std::is_trivially_copyable_v<record>);

/// A node tells of so many threads that wait, and of so much else, at most.
inline constexpr std::size_t most_waits = 128, most_others = 256;

[[nodiscard]] inline std::string pack(const std::vector<record>& records) {
  return {reinterpret_cast<const char*>(records.data()), records.size() * sizeof(record)};
}
/// Whole records of what a node has sent; texts are ended.
[[nodiscard]] std::vector<record> unpack(std::string_view bytes);

}  // namespace quire::waits
