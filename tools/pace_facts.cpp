// SPDX-License-Identifier: BSD-3-Clause
// When threads that wait poll, give way and sleep, for `quire info`: the constants of drive/wake_policy.hpp.
#include <fmt/format.h>

#include "drive/wake_policy.hpp"
#include "facts.hpp"

namespace quire::tools {

fact_group pace_facts() {
  constexpr drive::pace p{};
  fact_group group{"Threads that wait (QUIRE_SPIN_US says how long they poll)", "pace", {}};
  const auto add_us = [&group](const char* name, const char* key, std::uint64_t ns) {
    group.facts.push_back({name, fmt::format("{} us", ns / 1000), key, ns});
  };
  const auto add_count = [&group](const char* name, const char* key, unsigned long count) {
    group.facts.push_back({name, fmt::format("{}", count), key, count});
  };
  add_us("a thread that polls gives way after", "patience_ns", p.patience_ns);
  add_us("a thread sleeps on the transport itself for at most", "sit_ns", p.sit_ns);
  add_count("rounds of polling between two looks at the clock", "rounds_between_looks", p.rounds_between_looks);
  add_us("a thread that is served goes on taking arrivals for", "linger_ns", p.linger_ns);
  add_us("a thread that has got a lock waits for what it uses under it at most", "await_ns", p.await_ns);
  add_us("a thread whose calls need no message looks every", "look_every_ns", p.look_every_ns);
  add_us("a thread in a loop of the program that waits looks for", "spin_look_ns", p.spin_look_ns);
  add_us("the service thread looks on, after it has served, for", "follow_up_ns", p.follow_up_ns);
  add_count("and polls so many times longer where that pays", "longest_spin", p.longest_spin);
  add_count("drives in a row that make a burst", "burst", p.burst);
  add_us("drives are in a row if they follow within", "soon_ns", p.soon_ns);
  add_us("in a burst the service thread looks every", "tick_ns", p.tick_ns);
  return group;
}

}  // namespace quire::tools
