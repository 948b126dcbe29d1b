// SPDX-License-Identifier: BSD-3-Clause
// Diffs on their way, as engine/diffs.hpp describes them: gathered by destination into messages, passed on where the
// home has moved, acknowledged hop by hop. Their sizes are those of the real encoding (src/diff) for the words that
// were written; a word that was written counts as changed in all its bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "diff/diff.hpp"
#include "model/message.hpp"
#include "sim/timed/region.hpp"

namespace quire::timed {

using model::message;
using model::node_id;

class diff_post {
 public:
  /// Its node.
  class effects {
   public:
    /// To another node. `entries` as made here, m.payload_bytes as on the wire.
    virtual void send_diffs(node_id to, const message& m, std::span<const std::byte> entries) = 0;
    virtual void send_ack(node_id to, const message& m) = 0;
    /// One diff of this node leaves: its group.
    virtual unsigned diff_leaves(node_id to) = 0;
    virtual void diffs_arrived(node_id to, std::uint32_t count, unsigned group) = 0;
    virtual void diffs_applied() = 0;
    virtual void diffs_passed(std::uint32_t count) = 0;
    virtual void diff_applied() = 0;

   protected:
    ~effects() = default;
  };
  diff_post(effects& to, node_id self, unsigned nodes) : to_(to), self_(self), open_(nodes, nobody) {}

  /// The pages of `unit` in which a word was written since its twin was made, to its home.
  void add(region& r, node_id home, std::uint64_t unit, const written_words& written);
  /// What was gathered so far leaves.
  void send_all();
  void on_diffs(region& r, const message& m, std::span<const std::byte> entries);
  void on_ack(const message& m);

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  static constexpr std::uint64_t message_bytes = 64 * 1024, entry_header_bytes = 16;
  /// Of a part of a unit: what it takes in a message.
  struct entry {
    std::uint64_t unit = 0;
    std::uint64_t bytes = 0;
    std::uint64_t moves = 0;  ///< of the home, as far as the sender knows
  };
  /// Whose a diff is; what a node passes on is acknowledged to who sent it.
  struct source {
    model::region_id region{};
    node_id writer{};
    unsigned group = 0;
    bool forwards = false;
    node_id origin{};
    std::uint64_t origin_token = 0;
    friend bool operator==(const source&, const source&) noexcept = default;
  };
  struct departure {
    bool used = false;
    node_id to{};
    source from{};
    std::uint32_t left = 0;  ///< entries not acknowledged
    std::uint64_t bytes = 0;
    std::vector<entry> entries{};
  };
  void put(node_id to, const source& s, const entry& e);
  void depart(std::uint32_t index);
  /// Bytes of the diff of a page; 0 if none of its words was written.
  [[nodiscard]] std::uint64_t size_of(const written_words& written, std::uint64_t first_word);

  effects& to_;
  node_id self_;
  diff::codec codec_{};
  std::vector<departure> departures_{};
  std::vector<std::uint32_t> open_;         ///< by destination: the departure that is being filled
  std::vector<std::uint32_t> gathering_{};  ///< all of them
};

}  // namespace quire::timed
