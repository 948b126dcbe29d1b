// SPDX-License-Identifier: BSD-3-Clause
// Containers that threads make for all nodes (services/container_making.hpp) under delays, refusals, and deaths at
// every message. When the region is made each living node that does the I/O has attached the home's content, and offers
// it; only who comes first makes or replaces content; content is cut when nothing else can fail; and of a call that has
// failed no living node has anything attached, and no region is there.
#include <gtest/gtest.h>

#include <deque>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "services/container_making.hpp"
#include "services_deaths.hpp"
#include "sim/seeds.hpp"
#include "sim/services/world.hpp"

namespace quire::services::services_making_test {
namespace {

using work = container_making::work;
constexpr unsigned nobody = ~0u;

struct one_made {
  container_making::wanted wanted{};
  std::vector<std::uint64_t> content{};  ///< by node: what it reaches
  unsigned lacks = nobody;               ///< a node that cannot attach it
  std::vector<bool> attached{}, offered{};
  bool shaped = false, region = false, cut = false, everywhere = false, opened = false;
};

class job {
 public:
  job(std::uint64_t seed, unsigned nodes, bool survives) : w_(seed, nodes), survives_(survives) {
    w_.on_message = [this](unsigned node, const message& m, std::string_view) {
      w_.after(w_.draw().below(10'000), node, [this, node, m] {
        answers out;
        answer& said = out.emplace_back();
        said.request = m;
        said.why = obey(node, static_cast<work>(m.a), m.c != 0, all_[m.b], said.a);
        w_.send(node, out);
      });
    };
    for (unsigned n = 0; n < nodes; ++n) {
      w_.start(n, [this, n] {
        for (int i = 0; i < 4 && !w_.failed(); ++i) make(n);
      });
    }
  }
  world& around() { return w_; }
  std::string run() { return w_.run(); }
  std::uint64_t made = 0, shared = 0, spared = 0, failed = 0, passed_over = 0;

 private:
  quire_status obey(unsigned node, work what, bool first, one_made& c, std::uint64_t& identity) {
    switch (what) {
      case work::attach:
        if (c.lacks == node) return QUIRE_NOT_FOUND;
        if (c.region) w_.fail("a node attaches a container that is there");
        if (first && c.opened) w_.fail("content is made twice");
        if (!first && !c.opened) w_.fail("a node attaches content that nobody has made");
        c.opened = c.attached[node] = true;
        return QUIRE_OK;
      case work::identify:
        identity = c.content[node];
        return c.lacks == node ? QUIRE_NOT_FOUND : QUIRE_OK;
      case work::offer:
        if (!c.attached[node]) w_.fail("a node offers what it has not attached");
        if (!c.shaped) w_.fail("a node offers a part of it before parts are known");
        c.offered[node] = true;
        return w_.draw().chance(5) ? QUIRE_NO_MEMORY : QUIRE_OK;
      case work::cut:
        if (!c.region) w_.fail("content goes, and the container may still fail");
        if (w_.draw().chance(10)) return QUIRE_IO;
        c.cut = true;
        return QUIRE_OK;
      case work::detach:
        if (c.region) w_.fail("a node detaches the content of a region that is there");
        c.attached[node] = c.offered[node] = false;
        return QUIRE_OK;
      default:
        w_.fail("no order");
        return QUIRE_INVALID;
    }
  }

  void check_io(const one_made& c) {
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      const bool does_io = c.wanted.linked && (n == c.wanted.home || c.everywhere);
      if (w_.is_dead(n)) continue;
      if (c.attached[n] != does_io) w_.fail("a region is made, and not just those who do its I/O have it attached");
      if (c.offered[n] != does_io) w_.fail("a region is made, and not just those who do its I/O offer it");
      if (does_io && c.wanted.identifies && c.content[n] != c.content[c.wanted.home])
        w_.fail("a node does the I/O of other content");
    }
  }

  quire_status perform(unsigned self, std::size_t number, const container_making& steps,
                       const container_making::step& s, std::uint64_t& identity) {
    one_made& c = all_[number];
    switch (s.what) {
      case work::shape:
        w_.sleep(w_.draw().below(3'000));
        c.everywhere = steps.everywhere();
        c.shaped = true;
        return w_.draw().chance(10) ? QUIRE_BEYOND : QUIRE_OK;
      case work::create:
        check_io(c);
        w_.sleep(w_.draw().below(10'000));
        if (w_.draw().chance(10)) return QUIRE_NO_MEMORY;
        c.region = true;
        return QUIRE_OK;
      case work::settle:
        w_.sleep(w_.draw().below(3'000));
        if (!c.region) w_.fail("a container is there before its region");
        if (c.wanted.cuts && !c.cut && !w_.is_dead(c.wanted.home)) w_.fail("a container has content that was to go");
        return w_.draw().chance(10) ? QUIRE_IO : QUIRE_OK;
      case work::destroy:
        w_.sleep(w_.draw().below(3'000));
        if (!c.region) w_.fail("a region goes that nobody has made");
        c.region = false;
        return QUIRE_OK;
      default: {
        if (s.node == self) return obey(self, s.what, s.first, c, identity);
        message order;
        order.a = static_cast<std::uint64_t>(s.what);
        order.b = number;
        order.c = s.first ? 1 : 0;
        const auto got = w_.ask(self, s.node, 0, order);
        identity = got.a;
        return got.why;
      }
    }
  }

  void make(unsigned self) {
    w_.sleep(w_.draw().below(40'000));
    const std::size_t number = all_.size();
    one_made& c = all_.emplace_back();
    sim::random& draw = w_.draw();
    c.wanted = {.nodes = w_.nodes(),
                .home = draw.chance(50) ? self : static_cast<unsigned>(draw.below(w_.nodes())),
                .survives = survives_,
                .linked = survives_ || draw.chance(90),
                .at_one = draw.chance(40),
                .identifies = draw.chance(60),
                .anywhere = draw.chance(50),
                .cuts = draw.chance(30)};
    c.wanted.cuts = c.wanted.cuts && c.wanted.linked;
    c.attached.resize(w_.nodes());
    c.offered.resize(w_.nodes());
    c.content.resize(w_.nodes(), 1);
    if (draw.chance(30)) c.content[draw.below(w_.nodes())] = 2;
    if (draw.chance(20)) c.lacks = static_cast<unsigned>(draw.below(w_.nodes()));
    container_making steps(c.wanted);
    auto s = steps.begin();
    while (s.what != work::over && !w_.failed()) {
      std::uint64_t identity = 0;
      const auto why = perform(self, number, steps, s, identity);
      s = steps.on_done(why, identity);
    }
    if (w_.failed()) return;
    judge(c, s.why);
  }
  void judge(const one_made& c, quire_status why) {
    if (why == QUIRE_OK) {
      if (!c.region) w_.fail("a container was made, and has no region");
      ++made;
      if (c.everywhere) ++(c.wanted.at_one ? spared : shared);
      for (unsigned n = 0; n < w_.nodes(); ++n) passed_over += w_.is_dead(n) ? 1 : 0;
      return;
    }
    ++failed;
    if (c.region) w_.fail("a container could not be made, and its region is there");
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      if (!w_.is_dead(n) && c.attached[n]) w_.fail("a container could not be made, and a node has it attached");
    }
    if (why == QUIRE_LOST && !w_.is_dead(c.wanted.home)) w_.fail("a container is given up for a node that it can miss");
  }

  world w_;
  bool survives_;
  std::deque<one_made> all_{};
};

class services_making : public testing::TestWithParam<unsigned> {};

TEST_P(services_making, holds_what_it_promises) {
  std::uint64_t made = 0, shared = 0, spared = 0, failed = 0;
  for (const std::uint64_t seed : sim::seeds(1, 600)) {
    job j(seed, GetParam(), seed % 2 == 0);
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "\nreplay: QUIRE_SIM_SEED=" << seed;
    made += j.made;
    shared += j.shared;
    spared += j.spared;
    failed += j.failed;
  }
  std::cout << made << " containers made, " << shared << " with I/O on all nodes, " << spared << " with spare nodes, "
            << failed << " could not be made\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(made, 100u);
  EXPECT_GT(shared, 50u);
  EXPECT_GT(spared, 20u);
  EXPECT_GT(failed, 50u);
}

TEST_P(services_making, bears_a_death_at_every_message) {
  std::uint64_t passed_over = 0;
  const auto make = [](std::uint64_t seed) { return std::make_unique<job>(seed, GetParam(), true); };
  test::bear_a_death_at_every_message(10, GetParam(), make, [&](const job& j) { passed_over += j.passed_over; });
  std::cout << passed_over << " containers made while a node was dead\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(passed_over, 100u);
}

INSTANTIATE_TEST_SUITE_P(nodes, services_making, testing::Values(2u, 3u, 4u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::services::services_making_test
