// SPDX-License-Identifier: BSD-3-Clause
// Names of values (services/names.hpp) under delays, deaths at every message, and memory that goes. Who looks a name up
// gets what was published under it, from the end of that call until its memory goes; a name has one value at a time;
// and node 0 keeps nothing of calls that are over.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "services_deaths.hpp"
#include "services/names.hpp"
#include "sim/seeds.hpp"
#include "sim/services/world.hpp"

namespace quire::services::services_names_test {
namespace {

enum service : std::uint32_t { publish, lookup };
constexpr unsigned most_names = 3, threads_each = 2;
constexpr std::uint64_t region_bytes = 1000, regions = 8;
constexpr sim::time_ns never = ~sim::time_ns{0};

/// What programs know of a call: when it began and ended, and when the memory of its value went.
struct publication {
  std::uint64_t value = 0;
  sim::time_ns begun = 0, ended = never, gone = never;
  bool good = true;  ///< or nobody knows
};

class job {
 public:
  job(std::uint64_t seed, unsigned nodes) : w_(seed, nodes), over_(nodes * threads_each) {
    w_.on_message = [this](unsigned node, const message& m, std::string_view text) {
      if (node != 0) return w_.fail("a node that is not 0 is asked for names");
      on_message(m, names::name_of(text));
    };
    w_.on_death = [this](unsigned node, unsigned dead) {
      if (node == 0) names_.on_death(node_of(dead));
    };
    for (unsigned i = 0; i < over_.size(); ++i) w_.start(i / threads_each, [this, i] { use(i); });
    w_.start(0, [this] { close(); });
  }
  world& around() { return w_; }
  std::string run() {
    std::string wrong = w_.run();
    if (wrong.empty() && !w_.is_dead(0) && names_.waiting() != 0)
      wrong = "node 0 keeps " + std::to_string(names_.waiting()) + " calls that are over";
    return wrong;
  }
  std::uint64_t found = 0, impatient = 0, refused = 0, forgotten = 0;

 private:
  void on_message(const message& m, const names::name& what) {
    answers out;
    if (m.operation == publish) {
      names_.on_publish(m, what, out);
    } else if (m.kind == model::message_kind::service_notice) {
      message which = m;
      which.token = m.a;
      names_.on_withdrawn(which);
    } else {
      names_.on_lookup(m, what, out);
    }
    w_.send(0, out);
  }
  static std::string text_of(unsigned name) { return "name " + std::to_string(name); }
  sim::time_ns now() { return w_.net().now(); }

  void use(unsigned thread) {
    const unsigned self = thread / threads_each;
    for (unsigned i = 0; i < 8 && !w_.failed(); ++i) {
      w_.sleep(w_.draw().below(100'000));
      const auto name = static_cast<unsigned>(w_.draw().below(most_names));
      if (!(w_.draw().chance(40) ? make(self, name) : look(self, name))) break;  // node 0 is lost
    }
    over_[thread] = true;
  }
  [[nodiscard]] bool all_over() {
    for (unsigned i = 0; i < over_.size(); ++i) {
      if (!over_[i] && !w_.is_dead(i / threads_each)) return false;
    }
    return true;
  }
  /// Memory goes; and whoever waits finds something at last.
  void close() {
    while (!all_over() && !w_.failed()) {
      w_.sleep(w_.draw().below(100'000));
      if (w_.draw().chance(50)) forget(w_.draw().below(regions));
      if (w_.draw().chance(20)) (void)make(0, static_cast<unsigned>(w_.draw().below(most_names)));
    }
  }
  /// Not while somebody publishes it.
  void forget(std::uint64_t region) {
    const auto is_in = [region](const publication& p) { return p.value / region_bytes == region; };
    for (const auto& all : made_) {
      for (const publication& p : all) {
        if (is_in(p) && p.ended == never) return;
      }
    }
    for (auto& all : made_) {
      for (publication& p : all) {
        if (is_in(p) && p.gone == never) p.gone = now(), ++forgotten;
      }
    }
    names_.on_gone(region * region_bytes, region_bytes);
  }

  bool make(unsigned self, unsigned name) {
    std::vector<publication>& all = made_[name];
    const std::size_t mine = all.size();
    const std::uint64_t value = w_.draw().below(regions) * region_bytes + ++values_ % region_bytes;
    const sim::time_ns begun = now();
    all.push_back({value, begun});
    message m;
    m.a = value;
    const auto got = w_.ask(self, 0, publish, m, text_of(name));
    if (got.why == QUIRE_LOST) return false;
    all[mine].ended = now();
    all[mine].good = got.why == QUIRE_OK;
    bool taken = false, free = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const publication& other = all[i];
      if (i == mine || !other.good) continue;
      taken = taken || (other.ended <= begun && other.gone > now());
      free = free && (other.begun > now() || other.gone < begun);
    }
    if (got.why == QUIRE_OK && taken) w_.fail("a name has two values");
    if (got.why != QUIRE_OK && free) w_.fail("a name is refused that nobody has");
    refused += got.why != QUIRE_OK ? 1 : 0;
    return true;
  }

  bool look(unsigned self, unsigned name) {
    const sim::time_ns begun = now(), patience = 2 * w_.net().longest_delay() + 10'000;
    const std::uint64_t how = w_.draw().below(4);
    const sim::time_ns limit = how == 1 ? 1 + w_.draw().below(patience) : how == 2 ? patience : 0;
    message m;
    m.a = how != 0 ? 1 : 0;
    const auto got = w_.ask(self, 0, lookup, m, text_of(name), limit);
    if (got.why == QUIRE_LOST) return false;
    if (got.why == QUIRE_TIMED_OUT) {
      ++impatient;
      message over;
      over.a = got.token;
      w_.notify(self, 0, lookup, over);
    } else if (got.why != QUIRE_OK && (how != 0 || got.why != QUIRE_NOT_FOUND)) {
      w_.fail("a lookup ends strangely");
    }
    bool could = false, must = false, late = false;
    for (const publication& p : made_[name]) {
      could = could || (p.good && p.value == got.a && p.gone >= begun);
      must = must || (p.good && p.ended <= begun && p.gone == never);
      late = late || (p.good && p.ended != never && std::min(p.gone, now()) > std::max(p.ended, begun) + patience);
    }
    if (got.why == QUIRE_OK && !could) w_.fail("a name has a value that it never had, or that has gone");
    if (late && !w_.is_dead(0)) w_.fail("a lookup waits though there is a value");
    const bool in_time = how == 0 || (limit >= patience && !w_.is_dead(0));
    if (got.why != QUIRE_OK && must && in_time) w_.fail("what was published is not found");
    found += got.why == QUIRE_OK ? 1 : 0;
    return true;
  }

  world w_;
  names names_{};
  std::array<std::vector<publication>, most_names> made_{};
  std::vector<bool> over_;
  std::uint64_t values_ = 0;
};

class services_names : public testing::TestWithParam<unsigned> {};

TEST_P(services_names, hold_what_they_promise) {
  std::uint64_t found = 0, impatient = 0, refused = 0, forgotten = 0;
  for (const std::uint64_t seed : sim::seeds(1, 600)) {
    job j(seed, GetParam());
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "\nreplay: QUIRE_SIM_SEED=" << seed;
    found += j.found;
    impatient += j.impatient;
    refused += j.refused;
    forgotten += j.forgotten;
  }
  std::cout << found << " names found, " << impatient << " lookups timed out, " << refused << " names refused, "
            << forgotten << " values went with their memory\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(found, 100u);
  EXPECT_GT(impatient, 20u);
  EXPECT_GT(refused, 20u);
  EXPECT_GT(forgotten, 100u);
}

TEST_P(services_names, bear_a_death_at_every_message) {
  const auto make = [](std::uint64_t seed) { return std::make_unique<job>(seed, GetParam()); };
  test::bear_a_death_at_every_message(12, GetParam(), make, [](const job&) {});
}

INSTANTIATE_TEST_SUITE_P(nodes, services_names, testing::Values(2u, 3u, 5u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::services::services_names_test
