// SPDX-License-Identifier: BSD-3-Clause
// Page-out (KOAN): page_out.cpp. Driver's thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/fault_heap.hpp"
#include "core/frame_queue.hpp"
#include "core/op.hpp"
#include "core/region_slot.hpp"
#include "model/message.hpp"

namespace quire::core {

class core;

/// What a node remembers of frames that are leaving its memory.
struct page_out_state {
  enum class way : std::uint8_t { stays, nowhere, to_disk, to_node, to_backing };
  struct victim {
    region_slot* region = nullptr;
    std::uint64_t frame = 0;
    model::frame_use use = model::frame_use::none;
    way goes = way::nowhere;
    model::node_id taker{};      ///< to_node
    std::uint64_t until_ns = 0;  ///< to_node: how long to wait for it to go
  };
  struct peer {
    std::uint64_t room = 0;          ///< bytes that it is believed to have room for
    std::uint64_t ask_again_ns = 0;  ///< when it may be tried, though it had none
    std::uint64_t rest_ns = 0;       ///< how long it was not asked
    bool takes_nothing = false;      ///< as it has answered last

    [[nodiscard]] bool refuses(std::uint64_t now) const noexcept { return takes_nothing && now < ask_again_ns; }
  };

  void open(unsigned nodes, std::uint64_t limit);

  base::fault_vector<victim> victims{};  ///< of the step under way
  base::fault_vector<victim> moving{};   ///< another node has been asked to take them
  base::fault_vector<peer> peers{};
  struct fault {
    region_slot* region = nullptr;
    std::uint64_t address = 0;
    bool write = false;
  };
  [[nodiscard]] bool anybody_starves() const noexcept { return first_starved != nullptr || !starved_faults.empty(); }
  /// Somebody must look again.
  [[nodiscard]] bool under_way() const noexcept { return !moving.empty() || anybody_starves(); }

  op* first_starved = nullptr;                 ///< faults that wait for memory
  base::fault_vector<fault> starved_faults{};  ///< the same, of threads that the kernel holds
  std::uint64_t disk_rests_until_ns = 0, sweep_again_ns = 0, press_again_ns = 0;
  bool refused = false;    ///< a node has had no room, and nothing has left since
  bool some_went = false;  ///< of those in `moving`, so far
};

class pager {
 public:
  explicit pager(core& node) : core_(node) {}
  void open(unsigned nodes, std::uint64_t limit) { page_out_.open(nodes, limit); }

  /// Gives up frames while there are too many.
  void page_out() noexcept;
  /// Somebody must look again;
  [[nodiscard]] bool under_way() const noexcept { return page_out_.under_way(); }
  /// and soon: who starves until a store has written something is told when it has.
  [[nodiscard]] bool is_restless() const noexcept;

  /// Units that this node is to have.
  void on_units(region_slot& r, const model::message& m) noexcept {
    m.kind == model::message_kind::please_take ? take_over(r, m) : take_homes(r, m);
  }
  /// A node that was asked to take units has answered.
  void on_room(const model::message& m) noexcept;
  /// A store could not write what was to leave: it stays.
  void on_flush_failed(const region_slot& r, int error) noexcept;

  /// The region goes.
  void forget(const region_slot& r) noexcept {
    std::erase_if(page_out_.moving, [&](const page_out_state::victim& v) { return v.region == &r; });
    std::erase_if(page_out_.starved_faults, [&](const page_out_state::fault& f) { return f.region == &r; });
  }

  // Threads that ask for more while there is far too much.
  /// Whether it is too much to go on, and will be less in a moment: what goes to other nodes, or to stores, is still on
  /// its way.
  [[nodiscard]] bool starved() const noexcept;
  /// More has to leave.
  [[nodiscard]] bool is_over() const noexcept;
  /// Gives up frames until there are few enough, or no more can go.
  void make_room() noexcept;
  /// The same for a thread that faults on a unit. One that has a frame asks for no more.
  [[nodiscard]] bool starves(const region_slot& r, std::uint64_t unit) const noexcept;
  void starve(op& o) noexcept;
  void starve(region_slot& r, std::uint64_t address, bool write) noexcept {
    page_out_.starved_faults.push_back({&r, address, write});
  }

 private:
  /// Another node is short of memory, and asks this one to take units.
  void take_over(region_slot& r, const model::message& m) noexcept;
  /// This node alone has written units, and is offered their homes: as many as there is room for.
  void take_homes(region_slot& r, const model::message& m) noexcept;
  [[nodiscard]] model::frame_use use_of(const region_slot& r, std::uint64_t frame) const noexcept;
  void unmap(region_slot& r, std::uint64_t frame) noexcept;
  void drop_copies(region_slot& r, std::uint64_t frame) noexcept;
  [[nodiscard]] bool next_of(frame_queue& from, frame_queue::entry& e) noexcept;
  [[nodiscard]] std::uint64_t choose(frame_queue& from, std::uint64_t goal) noexcept;
  void leave() noexcept;
  void leave_together(std::span<page_out_state::victim> run) noexcept;
  [[nodiscard]] model::node_id find_taker(std::uint64_t now, std::uint64_t bytes) noexcept;
  [[nodiscard]] page_out_state::way way_of_backed(region_slot& r, std::uint64_t frame) noexcept;
  void sweep_unused(frame_queue& from) noexcept;
  void settle_moves() noexcept;
  void rest(page_out_state::peer& peer) noexcept;
  [[nodiscard]] bool has_same_memory(model::node_id node) const noexcept;
  void press() noexcept;
  void feed() noexcept;

  core& core_;
  page_out_state page_out_{};
};

}  // namespace quire::core
