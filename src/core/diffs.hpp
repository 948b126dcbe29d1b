// SPDX-License-Identifier: BSD-3-Clause
// Diffs on their way: made here and gathered by destination into messages, applied where the home is, sent on where it
// was, acknowledged hop by hop. Driver's thread only. Memory is kept: nothing is allocated once as many messages have
// been on their way as ever will be at one time.
//
// Payload of message_kind::diffs: entries, each for a part of a unit:
//
//     6 bytes  unit
//     2 bytes  moves of its home, as far as the sender knows (release::machine::on_diff)
//     4 bytes  offset in the unit
//     4 bytes  bytes that follow; top bit: the content itself, from any offset, and not a diff of a page (src/diff)
//     ...      padded to 8
//
// m.region and m.requester (the node that wrote) hold for all entries, m.acks is their number. The answer, diffs_ack,
// says in m.acks how many are done; m.token is the sender's own. message_kind::patch has the same entries, with an
// empty one for a unit in which nothing has changed, and no answer; m.acks is their number, too.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/fault_heap.hpp"
#include "diff/diff.hpp"
#include "core/arrivals.hpp"
#include "core/region_slot.hpp"
#include "model/message.hpp"

namespace quire::core {

class core;

class diff_traffic {
 public:
  static constexpr std::size_t message_bytes = 64 * 1024;

  diff_traffic(core& e, unsigned nodes) : core_(e), open_(nodes, nobody) {}

  /// Sends how so many units differ from their twins, from that of `a` on. If it keeps the twins they become the
  /// content, else they mean nothing afterwards.
  void add(region_slot& r, const model::action& a, std::uint64_t count) noexcept;
  /// The same of one unit, of a page, to all targets of `a`: a patch, and the twin becomes the content.
  void add_patch(region_slot& r, const model::action& a) noexcept;
  /// Where others' `content` of a unit differs from its twin, they wrote it: into both.
  void merge(region_slot& r, std::uint64_t unit, std::span<const std::byte> content) noexcept;
  /// What was gathered so far leaves.
  void send_all() noexcept {
    if (!gathering_.empty()) leave();
    if (unanswered_ != 0) free_sent();
  }

  // As transport::sink.
  [[nodiscard]] std::byte* place(const model::message& m) noexcept { return arrivals_.place(m); }
  void deliver(const model::message& m) noexcept;
  /// A message of this node to itself.
  void on_diffs(const model::message& m, std::span<const std::byte> entries) noexcept;
  void on_ack(const model::message& m) noexcept;

  // A node has died, and the others go on (model/survival.hpp).
  /// Nothing is on its way any more. Diffs that were sent to the dead may be lost, and those that are kept here wait:
  /// machines hear of both. After they have been cut.
  void cut() noexcept;
  /// Machines have been mended: what was kept goes where it belongs.
  void rebuild() noexcept;
  /// All diffs are at their homes.
  void on_copied() noexcept { sent_before_.clear(); }

  /// Whether something of a region has been sent and is not acknowledged, or waits to be sent.
  [[nodiscard]] bool has_any_of(const region_slot& r) const noexcept {
    return std::any_of(departures_.begin(), departures_.end(), [&](const auto& d) {
      return d->used && (d->answered || d->left != 0) && d->m.region == model::region_id{r.about.id};
    });
  }

  struct counters {
    std::uint64_t diffs = 0;      ///< pages sent, this node's own
    std::uint64_t bytes = 0;      ///< of them
    std::uint64_t patches = 0;    ///< units, times targets
    std::uint64_t unchanged = 0;  ///< units that had a twin, and did not differ
    std::uint64_t applied = 0, forwarded = 0;
    std::uint64_t compared = 0;  ///< pages, with their twins
  };
  [[nodiscard]] const counters& count() const noexcept { return count_; }
  /// Whether threads here have changed a unit that has a twin. They may be writing.
  [[nodiscard]] bool differs(const region_slot& r, std::uint64_t unit) noexcept;

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  /// A message that this node has sent, until its entries are acknowledged.
  struct departure {
    bool used = false;
    bool answered = true;  ///< by acknowledgements; else it is free again when nothing waits to be sent
    model::node_id to{};
    model::message m{};
    std::uint32_t left = 0;  ///< entries not acknowledged
    bool forwards = false;   ///< for `origin`, whose message had `origin_token`
    model::node_id origin{};
    std::uint64_t origin_token = 0;
    unsigned group = 0;  ///< what release::node gave the diffs
    std::size_t bytes = 0;
    std::array<std::byte, message_bytes> payload;
  };
  struct source {
    model::region_id region{};
    model::node_id writer{};
    bool forwards = false;
    model::node_id origin{};
    std::uint64_t origin_token = 0;
    unsigned group = 0;
    // Of a patch.
    bool patch = false;
    std::uint8_t flags = 0;
    std::uint64_t interval = 0, since = 0;
  };
  struct entry {
    std::uint64_t unit = 0;
    std::uint16_t moves = 0;
    std::uint32_t offset = 0, length = 0;  ///< as in the message
    std::span<const std::byte> data{};
    bool raw = false;
    std::size_t reach = 0;  ///< bytes of the unit that it is about
  };
  [[nodiscard]] bool take_entry(const region_slot& r, const model::message& m, std::span<const std::byte>& from,
                                entry& to) noexcept;
  [[nodiscard]] bool apply(const entry& e, std::byte* unit, diff::beside threads = diff::beside::none) const noexcept;
  [[nodiscard]] bool apply_here(region_slot& r, const entry& e) const noexcept;
  void settle(const model::message& m, std::span<const std::byte> entries) noexcept;
  [[nodiscard]] bool is_put_off(const model::message& m, std::span<const std::byte> entries) noexcept;
  void take_old(const model::message& m, std::span<const std::byte> entries) noexcept;
  [[noreturn]] void refuse(const model::message& m) noexcept;
  void on_patches(const model::message& m, std::span<const std::byte> entries) noexcept;
  [[nodiscard]] departure& room_for(model::node_id to, const source& s, std::size_t bytes) noexcept;
  void put(model::node_id to, const source& s, const entry& e) noexcept;
  void add_page(region_slot& r, const model::action& a, std::uint64_t unit, std::uint32_t offset, std::uint32_t bytes,
                bool& differs) noexcept;
  void add_declared(region_slot& r, const model::action& a, std::uint64_t unit) noexcept;
  void note_sent(source& mine, const model::action& a) noexcept;
  void leave() noexcept;
  void free_sent() noexcept;
  void depart(std::uint32_t index) noexcept;

  /// Of a message that waits, or of one entry of it, while survivors find homes.
  struct kept_diffs {
    model::message m{};
    base::fault_vector<std::byte> entries{};
  };

  /// A diff that was not acknowledged when a node died: its receiver, if it is no home, keeps it until there is one,
  /// and may die before that.
  struct sent_diff {
    model::region_id region{};
    std::uint64_t unit = 0;
    model::node_id writer{}, to{};
  };
  void note_sent_before() noexcept;

  core& core_;
  diff::codec codec_{};
  base::fault_vector<kept_diffs> early_{};       ///< from nodes that know where homes are already
  base::fault_vector<kept_diffs> held_{};        ///< for homes that are not known: an entry each
  base::fault_vector<sent_diff> sent_before_{};  ///< of nodes that were alive then
  base::fault_vector<base::fault_ptr<departure>> departures_{};
  arrivals arrivals_{};
  base::fault_vector<std::uint32_t> open_;         ///< by destination: the departure that is being filled
  base::fault_vector<std::uint32_t> gathering_{};  ///< all of them
  std::array<std::byte, diff::worst_bytes(os::page_bytes)> scratch_{};
  counters count_{};
  std::size_t unanswered_ = 0;        ///< departures that wait for nothing but to be sent
  std::uint64_t patch_messages_ = 0;  ///< no two are the same
};

}  // namespace quire::core
