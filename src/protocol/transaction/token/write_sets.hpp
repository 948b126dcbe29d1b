// SPDX-License-Identifier: BSD-3-Clause
// What commits have written, as nodes tell each other: runs of units, in messages of a bounded size. They come from
// several nodes in any order, and are applied in that of their numbers. Pure. Driver's thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/fault_heap.hpp"
#include "model/message.hpp"
#include "protocol/transaction/domain.hpp"
#include "protocol/transaction/token/state.hpp"

namespace quire::transaction::token {

/// Of consecutive units. As it travels.
struct written_run {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t life = 0;  ///< of the region, of all that have had this number (domain::on_region)
  std::uint16_t region = 0;
  std::uint16_t unused[3] = {};
  friend bool operator==(const written_run&, const written_run&) = default;
};
static_assert(sizeof(written_run) == 24);

using written_runs = base::fault_vector<written_run>;

/// Adds units, which come in ascending order, to runs.
void add(written_runs& to, const written_unit& w, std::uint32_t life);

struct write_set {
  commit_number number = 0;
  node_id by{};
  bool whole = false;  ///< the last of its messages has come
  written_runs runs{};
};

/// Those that have come, and cannot be applied yet.
class write_sets {
 public:
  static constexpr std::size_t most_runs = 512 / sizeof(written_run);  ///< of a message

  /// A part of one: m.a is its number, m.b is not 0 in the last one. False if that is nonsense.
  [[nodiscard]] bool on_part(const model::message& m, std::span<const std::byte> value, commit_number applied);
  /// The one of this number, if it has come whole; it is forgotten here.
  [[nodiscard]] bool take(commit_number number, write_set& to);
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

 private:
  base::fault_vector<write_set> all_{};  ///< few: of no two the same number
};

}  // namespace quire::transaction::token
