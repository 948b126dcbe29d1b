// SPDX-License-Identifier: BSD-3-Clause
// What an engine keeps for the deaths of other nodes, where its job goes on without them (survival.cpp). Driver's thread, unless
// it says otherwise.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "model/membership.hpp"
#include "watch/recovery.hpp"

namespace quire::core {

struct survival {
  static constexpr unsigned most_nodes = model::membership::most_nodes;
  survival(unsigned self, unsigned nodes, bool replicas) : recovery(self, nodes, replicas) {}

  /// Who is told of a death, by the driver: as soon as this node knows, or when all survivors go on.
  struct listener {
    void (*tell)(void* context, unsigned node) noexcept = nullptr;
    void* context = nullptr;
    bool when_over = false;
  };

  model::membership members{};  ///< machines look at it
  watch::recovery recovery;
  std::vector<listener> listeners{};
  // The launcher's words, in its order. Written by the service thread.
  std::array<std::uint8_t, most_nodes> order{};
  std::atomic<unsigned> announced{0};  ///< how many
  unsigned over = 0;                   ///< so many of them have been told to listeners as over

  // Peers of which this node hears nothing, until the launcher knows.
  std::array<std::atomic<std::uint64_t>, most_nodes> silent_ms{};
  std::atomic<std::uint64_t> untold{0};  ///< a bit each
  std::uint64_t suspects = 0;            ///< told, and not announced as dead yet

  [[nodiscard]] bool is_told_of_more() const noexcept {
    const unsigned n = announced.load(std::memory_order_acquire);
    return n != 0 && (mask(n) & ~recovery.dead()) != 0;
  }
  /// The first `n` nodes announced.
  [[nodiscard]] std::uint64_t mask(unsigned n) const noexcept {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < n; ++i) bits |= std::uint64_t{1} << order[i];
    return bits;
  }
};

}  // namespace quire::core
