// SPDX-License-Identifier: BSD-3-Clause
// What a node remembers of units that are leaving its memory (page_out.cpp). Driver's thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "core/op.hpp"
#include "core/region_slot.hpp"

namespace quire::core {

struct page_out_state {
  enum class way : std::uint8_t { stays, nowhere, to_disk, to_node };
  struct victim {
    region_slot* region = nullptr;
    std::uint64_t unit = 0;
    model::frame_use use = model::frame_use::none;
    way goes = way::nowhere;
    model::node_id taker{};      ///< to_node
    std::uint64_t until_ns = 0;  ///< to_node: how long to wait for it to go
  };
  struct peer {
    std::uint64_t room = 0;          ///< bytes that it is believed to have room for
    std::uint64_t ask_again_ns = 0;  ///< when it may be tried, though it had none
    std::uint64_t rest_ns = 0;       ///< how long it was not asked
  };

  void open(unsigned nodes, std::uint64_t limit);

  std::vector<victim> victims{};  ///< of the step under way
  std::vector<victim> moving{};   ///< another node has been asked to take them
  std::vector<peer> peers{};
  struct fault {
    region_slot* region = nullptr;
    std::uint64_t address = 0;
    bool write = false;
  };
  [[nodiscard]] bool anybody_starves() const noexcept { return first_starved != nullptr || !starved_faults.empty(); }
  /// Somebody must look again soon.
  [[nodiscard]] bool under_way() const noexcept { return !moving.empty() || anybody_starves(); }

  op* first_starved = nullptr;  ///< faults that wait for memory
  std::vector<fault> starved_faults{};  ///< the same, of threads that the kernel holds
  std::uint64_t disk_rests_until_ns = 0, sweep_again_ns = 0;
  bool refused = false;  ///< a node has had no room, and nothing has left since
};

}  // namespace quire::core
