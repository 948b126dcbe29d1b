// SPDX-License-Identifier: BSD-3-Clause
// All interleavings of a small configuration: from each state the oldest message between any two nodes may arrive next
// (a pair keeps its order, as transports do), every thread that is ready may run next, and every hold may end. States
// are told apart by a 128-bit hash of all that matters; the checkers of the cluster look at every step. At the end, the
// threads must have finished wherever nothing can happen any more, and an end must be within reach from every state
// (else threads could go round in circles for ever).
//
// Steps are atomic here: accesses of other threads between two actions of one step are left to sim/whole.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/bare/sequential_cluster.hpp"

namespace quire::sim {

struct exploration {
  std::string failure{};  ///< empty: all is well. Else what is wrong, and the steps that lead to it.
  std::uint64_t states = 0, steps = 0, ends = 0;
  std::uint64_t deepest = 0;  ///< longest path walked
  bool complete = true;
};

class explorer final : private cluster_driver {
 public:
  explorer(const cluster_options& shape, std::vector<script> scripts, std::uint64_t most_states = 5'000'000);

  /// `at_end` is called where nothing can happen any more.
  [[nodiscard]] exploration run(const std::function<void(const cluster&)>& at_end = {});
  /// More states than may be are no failure.
  void cut_off_quietly() noexcept { cuts_off_ = true; }
  /// Messages between two nodes overtake each other, as no transport has it.
  void forget_the_order_of_pairs() noexcept { ordered_ = false; }
  [[nodiscard]] cluster& nodes() noexcept { return nodes_; }

 private:
  struct flight {
    node_id to{};
    message m{};
    std::vector<std::uint64_t> payload{};
  };
  struct step {
    enum class kind : std::uint8_t {
      start,
      message,
      thread,
      give_up,
      hold_over,
      death,
      news,
      filled,
      not_filled,
      flushed,
      not_flushed
    } what = kind::start;
    model::message_kind message = model::message_kind::invalid;
    node_id node{}, from{};
    std::uint32_t index = 0;  ///< of the message or thread; of the unit
  };
  struct situation {
    cluster_state cluster{};
    std::vector<flight> flights{};
    std::uint32_t id = 0;
    std::uint32_t depth = 0;
  };
  struct fingerprint {
    std::uint64_t a = 0, b = 0;
    friend bool operator==(const fingerprint&, const fingerprint&) noexcept = default;
  };
  struct fingerprint_hash {
    std::size_t operator()(const fingerprint& f) const noexcept { return f.a; }
  };

  void send(node_id from, node_id to, const message& m, std::span<const std::byte> payload) override;

  [[nodiscard]] std::vector<step> possible_steps() const;
  [[nodiscard]] std::uint64_t place_in_pair(std::size_t flight) const noexcept;
  void take(const step& s);
  void kill(node_id node);
  void visit(const situation& from, const std::function<void(const cluster&)>& at_end);
  void add(const step& s, std::uint32_t parent, std::uint32_t depth);
  [[nodiscard]] fingerprint identify() const;
  [[nodiscard]] std::uint64_t states_without_end() const;
  [[nodiscard]] std::string path_to(std::uint32_t id) const;
  [[nodiscard]] static std::string describe(const step& s);

  cluster nodes_;
  std::uint64_t most_states_;
  bool ordered_ = true, cuts_off_ = false;
  std::vector<flight> flights_{};
  std::unordered_map<fingerprint, std::uint32_t, fingerprint_hash> known_{};
  std::vector<situation> open_{};
  std::vector<std::pair<step, std::uint32_t>> origin_{};  ///< [state]: how it was reached first, and from where
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_{};
  std::vector<std::uint32_t> ends_{};
  exploration found_{};
};

}  // namespace quire::sim
