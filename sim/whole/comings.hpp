// SPDX-License-Identifier: BSD-3-Clause
// Regions that threads of a random program make and destroy. Each is made by a thread in one phase, used by all threads
// in that phase, and destroyed by a thread in the next one, while all others do something else and make more: at the
// same numbers and addresses, of other sizes and with another consistency. A barrier is between the phases, as a
// program would have it. What a new region holds is zero.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "sim/whole/actor.hpp"

namespace quire::whole {

struct comings_options {
  unsigned phases = 1;
  unsigned most = 3;  ///< that a phase makes
  unsigned threads = 1, nodes = 1;
  std::uint32_t unit_bytes = 4096;
  bool replicas = false;
  unsigned scans_percent = 0;
};

class comings {
 public:
  comings(world& w, const comings_options& options, std::uint64_t seed);
  [[nodiscard]] bool any() const noexcept { return !all_.empty(); }
  /// The thread makes what it is to make for a phase; what it is to destroy it destroys then, or at another moment.
  void begin(actor& t, unsigned place, unsigned phase);
  /// It uses one of the phase, if there is any.
  void use(actor& t, unsigned place, unsigned phase);
  [[nodiscard]] std::uint64_t gone() const noexcept { return gone_; }
  [[nodiscard]] std::uint64_t again() const noexcept { return again_; }

 private:
  struct coming {
    unsigned phase = 0, maker = 0, ender = 0;  ///< places of threads
    quire_region_options how{};
    std::uint64_t pages = 1;
    // Once it is made.
    quire_region handle{};
    std::uint64_t base = 0;
    std::map<std::uint64_t, std::set<std::uint64_t>> before{};  ///< of a counter: what additions have found
  };
  void make(actor& t, coming& c);
  void end(actor& t, coming& c);
  void step(actor& t, unsigned place, coming& c);

  world& world_;
  comings_options options_;
  std::vector<coming> all_{};
  std::set<std::uint64_t> seen_{};  ///< addresses
  std::uint64_t gone_ = 0, again_ = 0;
};

}  // namespace quire::whole
