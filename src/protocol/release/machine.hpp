// SPDX-License-Identifier: BSD-3-Clause
// Home-based lazy release consistency as a machine without I/O, for the units of one region on one node: twins, diffs
// to homes at a release, invalidation at an acquire, homes that move. After Zhou, Iftode and Li, "Performance
// Evaluation of Two Home-Based Lazy Release Consistency Protocols" (OSDI 1996), and ParADE, section 5.2 (multi-threaded
// nodes, migratory home). README.md has the table of transitions; node.hpp is the part that all regions of a node
// share: intervals and notices.
//
// Called on the driver's thread by the engine, and by the simulator. What it does is done by its parts, which share a
// table of units; each knows those above it in the list of members, and none below. Diffs and notices do not come as
// messages of a unit: node.hpp and the engine unpack them and call homes::on_diff, copies::on_notice,
// copies::on_release.
#pragma once

#include <quire/quire.h>

#include <cstdint>
#include <utility>

#include "base/fault_heap.hpp"
#include "model/machine.hpp"
#include "protocol/release/blocks.hpp"
#include "protocol/release/broadcast.hpp"
#include "protocol/release/change.hpp"
#include "protocol/release/copies.hpp"
#include "protocol/release/grants.hpp"
#include "protocol/release/homes.hpp"
#include "protocol/release/interval.hpp"
#include "protocol/release/kept.hpp"
#include "protocol/release/loss.hpp"
#include "protocol/release/migratory.hpp"
#include "protocol/release/paging.hpp"
#include "protocol/release/pinning.hpp"
#include "protocol/release/rights.hpp"
#include "protocol/release/state.hpp"
#include "protocol/release/unit_table.hpp"
#include "protocol/release/update.hpp"

namespace quire::release {

inline constexpr model::protocol_id id{QUIRE_RELEASE};

class machine final : public model::machine {
 public:
  /// The tables have shape.units elements, zero at first, and outlive the machine; so does `open`. `claims`: where the
  /// shape has members.
  machine(const region_shape& shape, unit_state* units, interval& open, claim* claims = nullptr)
      : model::machine(id), table_(shape, units, open, claims) {}
  /// The table lasts as long as the machine.
  void own(base::fault_ptr<machine_tables> tables) noexcept {
    table_.lone.use(tables->lone.data());
    own_ = std::move(tables);
  }

  [[nodiscard]] release::rights& rights() noexcept { return rights_; }
  [[nodiscard]] kept_units& kept() noexcept { return kept_; }
  [[nodiscard]] home_updates& updates() noexcept { return updates_; }
  [[nodiscard]] release::copies& copies() noexcept { return copies_; }
  [[nodiscard]] release::homes& homes() noexcept { return homes_; }
  [[nodiscard]] release::blocks& blocks() noexcept { return blocks_; }
  [[nodiscard]] page_locks& pins() noexcept override { return pins_; }
  [[nodiscard]] broadcasts& pushes() noexcept override { return pushes_; }
  [[nodiscard]] page_out& frames() noexcept override { return frames_; }
  [[nodiscard]] handovers& successor() noexcept override { return handovers_; }
  [[nodiscard]] release::losses& losses() noexcept override { return losses_; }

  fault_outcome on_fault(std::uint64_t unit, access want, actions& out, unsigned /*lost*/ = 0) override {
    return copies_.on_fault(unit, want, out);
  }
  /// Comes to be read, whatever it is wanted for: a unit that is mapped for writing counts as written.
  bool on_read_ahead(std::uint64_t unit, access, bool withhold, actions& out, bool /*guessed*/ = false) override {
    return copies_.on_read_ahead(unit, withhold, out);
  }
  [[nodiscard]] bool was_ahead_in_vain(std::uint64_t unit) const noexcept override {
    return table_.units[unit].useless != 0;
  }
  bool on_hint(std::uint64_t unit, access want, actions& out) override { return copies_.on_hint(unit, want, out); }
  bool on_fault_around(std::uint64_t unit, actions& out) override { return copies_.on_fault_around(unit, out); }
  void on_atomic(const message& call, actions& out) override { homes_.on_atomic(call, out); }
  void on_operated(std::uint64_t unit) override { homes_.on_operated(unit); }
  void on_message(const message& m, actions& out) override;

  [[nodiscard]] const region_shape& shape() const noexcept { return table_.shape; }
  [[nodiscard]] const unit_state& unit(std::uint64_t u) const noexcept { return table_.units[u]; }
  /// The first unit of its page, by which newest_twins name it.
  [[nodiscard]] std::uint64_t first_beside(std::uint64_t u) const noexcept { return table_.shape.first_beside(u); }
  /// What the twins of its page count for.
  [[nodiscard]] std::uint64_t twins_beside(std::uint64_t first) const noexcept;
  [[nodiscard]] const counters& count() const noexcept { return table_.count; }
  /// Where messages for the home go from here.
  [[nodiscard]] unit_table::way way_of(std::uint64_t unit) const noexcept { return table_.way_of(unit); }
  [[nodiscard]] bool is_home(std::uint64_t unit) const noexcept { return table_.is_home(unit); }
  /// Where this node believes the home to be.
  [[nodiscard]] node_id home_of(std::uint64_t unit) const noexcept {
    return is_home(unit) ? shape().self : way_of(unit).to;
  }
  [[nodiscard]] node_id authority_of(std::uint64_t unit) const noexcept override { return home_of(unit); }
  [[nodiscard]] access mapped(std::uint64_t u) const noexcept override { return unit(u).mapped(); }
  [[nodiscard]] bool awaits_content(std::uint64_t u) const noexcept override {
    const unit_state& s = unit(u);
    return s.asked != 0 && s.pending() != access::none && s.is_home == 0 && s.valid == 0;
  }
  [[nodiscard]] bool is_written(std::uint64_t u) const noexcept override { return unit(u).written != 0; }
  [[nodiscard]] bool keeps(std::uint64_t u) const noexcept override { return is_home(u); }
  [[nodiscard]] bool has_content(std::uint64_t u) const noexcept override { return is_home(u) || unit(u).valid != 0; }
  [[nodiscard]] std::uint64_t units() const noexcept override { return shape().units; }
  [[nodiscard]] std::uint64_t outstanding() const noexcept override { return table_.outstanding; }
  /// Units for which there is anything to give.
  [[nodiscard]] model::used_units used() const noexcept override { return table_.used; }
  [[nodiscard]] bool knows(std::uint64_t u) const noexcept override { return unit(u).touched != 0; }
  void forget() noexcept override;
  void on_frames_apart() noexcept override;
  /// Everything that must hold for one unit on this node alone; the simulator adds what must hold across nodes.
  [[nodiscard]] bool is_valid(std::uint64_t unit) const noexcept;

 private:
  base::fault_ptr<machine_tables> own_{};
  unit_table table_;
  migratory_units migratory_{table_};
  release::rights rights_{table_};
  kept_units kept_{table_, rights_};
  home_updates updates_{table_, rights_, kept_};
  release::copies copies_{table_, rights_, kept_};
  grants grants_{table_};
  release::homes homes_{table_, rights_, updates_, copies_, grants_, migratory_};
  page_locks pins_{table_, rights_, copies_, homes_, grants_};
  broadcasts pushes_{table_, rights_};
  page_out frames_{table_, homes_};
  handovers handovers_{table_};
  release::blocks blocks_{table_, rights_, copies_};
  release::losses losses_{table_, rights_, homes_};
};

/// The machine of a region that this protocol decides for; null if another one does.
[[nodiscard]] inline machine* in_charge(model::machine* m) noexcept {
  return m != nullptr && m->protocol() == id ? static_cast<machine*>(m) : nullptr;
}

}  // namespace quire::release
