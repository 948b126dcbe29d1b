// SPDX-License-Identifier: BSD-3-Clause
// Collective calls of simulated nodes, for machines whose steps all nodes take together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "services/services.hpp"
#include "sim/services/world.hpp"

namespace quire::services::test {

/// Nodes meet at node 0, which tells the worst. The death of one is an error of all.
class meetings {
 public:
  explicit meetings(world& w) : w_(w), turns_(w.nodes()) {}
  /// `b` of the answer: what node 0 has said.
  world::reply meet(unsigned self, quire_status mine, std::uint64_t says = 0) {
    message m;
    m.a = static_cast<std::uint64_t>(mine);
    m.b = ++turns_[self];
    m.c = says;
    world::reply got = w_.ask(self, 0, 0, m);
    got.why = got.why != QUIRE_OK ? QUIRE_PEER_LOST : static_cast<quire_status>(got.a);
    return got;
  }
  void on_message(const message& m, answers& out) {
    if (w_.any_dead()) broken_ = true;
    std::vector<message>& come = come_[m.b];
    come.push_back(m);
    if (broken_) return on_death(out);
    if (come.size() < w_.nodes()) return;
    std::uint64_t worst = QUIRE_OK, says = 0;
    for (const message& one : come) worst = std::max(worst, one.a), says |= one.c;
    for (const message& one : come) out.push_back({one, QUIRE_OK, worst, says});
    come_.erase(m.b);
  }
  void on_death(answers& out) {
    broken_ = true;
    for (const auto& [turn, come] : come_) {
      for (const message& one : come) out.push_back({one, QUIRE_PEER_LOST, 0, 0});
    }
    come_.clear();
  }

 private:
  world& w_;
  std::vector<std::uint64_t> turns_;
  std::map<std::uint64_t, std::vector<message>> come_{};
  bool broken_ = false;
};

}  // namespace quire::services::test
