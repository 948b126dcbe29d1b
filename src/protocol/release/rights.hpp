// SPDX-License-Identifier: BSD-3-Clause
// What threads of this node may do with a unit whose content is here, and what becomes of what they write: twins,
// diffs, and the base copies of parallel blocks.
#pragma once

#include <cstdint>

#include "protocol/release/unit_table.hpp"

namespace quire::release {

class rights {
 public:
  explicit rights(unit_table& table) noexcept : table_(table) {}

  void allow(std::uint64_t unit, unit_state& s, access want, actions& out);
  void note_write(std::uint64_t unit, const unit_state& s);
  void write_here(std::uint64_t unit, unit_state& s);
  void keep_base(std::uint64_t unit, unit_state& s, actions& out);
  void tell_base(std::uint64_t unit, unit_state& s, actions& out);
  void close_home(std::uint64_t unit, unit_state& s, actions& out);
  /// What was changed goes to the home. With `keep` the twin stays, and is as the content.
  void send_diff(std::uint64_t unit, unit_state& s, bool keep, actions& out);
  /// It is of no use any more.
  void drop_twin(std::uint64_t unit, unit_state& s, actions& out);

  /// Where written units are found without faults: a thread here may have written `unit` since this was said last.
  void on_written(std::uint64_t unit);
  /// The diff that `send_diff` asked for, without `keep`, has something to say.
  void on_differs(std::uint64_t unit);

 private:
  [[nodiscard]] bool is_traced(std::uint64_t unit, const unit_state& s) const noexcept;
  void allow_frame(std::uint64_t unit, unit_state& s, access want, actions& out);

  unit_table& table_;
};

}  // namespace quire::release
