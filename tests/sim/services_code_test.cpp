// SPDX-License-Identifier: BSD-3-Clause
// Modules of code that threads load and unload for all nodes (services/code_call.hpp) under delays, refusals, and
// deaths at every message. Constructors run once, when all who live have attached the module; destructors once, after
// what was kept for the end, and before any variable goes; memory of code goes when no living node has it attached; and
// of a call that has ended well, or was given up, nothing is left.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "services_deaths.hpp"
#include "services/code_call.hpp"
#include "sim/seeds.hpp"
#include "sim/services/world.hpp"

namespace quire::services::services_code_test {
namespace {

using work = code_call::work;

struct module {
  unsigned loader = 0;
  bool data = false, code = false, published = false;
  unsigned constructed = 0, destructed = 0;
  unsigned at_work = 0;  ///< the node that ends it, plus one
  bool ended = false, destructs = false;
  bool ends = false;               ///< the program knows: nobody runs it any more
  std::vector<unsigned> enders{};  ///< nodes that unload it
  std::vector<bool> attached;
  std::vector<unsigned> exits;
  unsigned lacks = ~0u;  ///< a node that cannot attach it
};

class job {
 public:
  job(std::uint64_t seed, unsigned nodes) : w_(seed, nodes) {
    w_.on_message = [this](unsigned node, const message& m, std::string_view) {
      w_.after(w_.draw().below(10'000), node, [this, node, m] {
        answers out;
        out.push_back({m, obey(node, static_cast<code_order>(m.a), all_[m.b])});
        w_.send(node, out);
      });
    };
    for (unsigned n = 0; n < nodes; ++n) {
      w_.start(n, [this, n] {
        for (int i = 0; i < 2 && !w_.failed(); ++i) load(n);
      });
      w_.start(n, [this, n] { use(n); });
    }
  }
  world& around() { return w_; }
  std::string run() { return w_.run(); }
  std::uint64_t loaded = 0, given_up = 0, unloaded = 0, refused = 0;

 private:
  quire_status obey(unsigned node, code_order what, module& m) {
    switch (what) {
      case code_order::attach:
        if (m.lacks == node) return QUIRE_NOT_FOUND;
        if (m.constructed != 0) w_.fail("a node attaches a module whose constructors have run");
        m.attached[node] = true;
        return QUIRE_OK;
      case code_order::run_exits:
        m.exits[node] = 0;
        return QUIRE_OK;
      default:
        if (m.data && m.published) w_.fail("a node detaches a module that others find");
        m.attached[node] = false;
        return QUIRE_OK;
    }
  }

  quire_status go(unsigned self, std::size_t number, code_call call) {
    auto s = call.begin();
    while (s.what != work::over && !w_.failed()) s = call.on_done(perform(self, number, s));
    return s.why;
  }
  quire_status perform(unsigned self, std::size_t number, const code_call::step& s) {
    module& m = all_[number];
    if (s.what != work::order && s.what != work::look) w_.sleep(w_.draw().below(5'000));
    switch (s.what) {
      case work::order: {
        if (s.node == self) return obey(self, s.order, m);
        message order;
        order.a = static_cast<std::uint64_t>(s.order);
        order.b = number;
        return w_.ask(self, s.node, 0, order).why;
      }
      case work::prepare:
        m.data = m.code = w_.draw().chance(90);
        return m.data ? QUIRE_OK : QUIRE_INVALID;
      case work::construct:
        for (unsigned n = 0; n < w_.nodes(); ++n) {
          if (!w_.is_dead(n) && !m.attached[n]) w_.fail("constructors run, and a node has not attached the module");
        }
        if (w_.draw().chance(10)) return QUIRE_INVALID;
        if (++m.constructed != 1) w_.fail("constructors run twice");
        return QUIRE_OK;
      case work::publish:
        if (w_.draw().chance(10)) return QUIRE_EXISTS;
        m.published = true;
        return QUIRE_OK;
      case work::look:
        if (!m.data) return QUIRE_NOT_FOUND;
        return m.ended ? QUIRE_EXISTS : at_work(m);
      case work::claim:
        if (m.ended || at_work(m) != QUIRE_OK) return m.ended ? QUIRE_EXISTS : at_work(m);
        m.at_work = self + 1;
        return QUIRE_OK;
      case work::destruct:
        return destruct(m);
      case work::destroy_data:
        return destroy_data(m);
      case work::destroy_code:
        return destroy_code(m);
      default:
        m.attached[self] = true;
        return QUIRE_OK;
    }
  }
  quire_status at_work(const module& m) const {
    if (m.at_work == 0) return QUIRE_OK;
    return w_.is_dead(m.at_work - 1) ? QUIRE_EXISTS : QUIRE_BUSY;
  }
  quire_status destruct(module& m) {
    if (++m.destructed != 1) w_.fail("destructors run twice");
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      if (!w_.is_dead(n) && m.exits[n] != 0) w_.fail("destructors run before what a node has kept for the end");
    }
    m.destructs = true;
    w_.sleep(w_.draw().below(30'000));
    if (!m.data) w_.fail("destructors run, and their variables have gone");
    m.destructs = false;
    m.ended = true;
    return QUIRE_OK;
  }
  quire_status destroy_data(module& m) {
    if (m.destructs && m.at_work != 0 && !w_.is_dead(m.at_work - 1)) w_.fail("variables go while destructors run");
    const bool began = m.at_work != 0 && w_.is_dead(m.at_work - 1);  // how far it came nobody knows
    if (m.constructed != m.destructed && !began) w_.fail("variables go without destructors");
    if (w_.is_dead(0) || w_.draw().chance(15)) return w_.is_dead(0) ? QUIRE_LOST : QUIRE_BUSY;
    m.data = m.published = false;
    return QUIRE_OK;
  }
  quire_status destroy_code(module& m) {
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      if (!w_.is_dead(n) && m.attached[n]) w_.fail("code goes that a node has attached");
    }
    if (w_.is_dead(0) || w_.draw().chance(10)) return w_.is_dead(0) ? QUIRE_LOST : QUIRE_BUSY;
    m.code = false;
    return QUIRE_OK;
  }

  void load(unsigned self) {
    w_.sleep(w_.draw().below(50'000));
    const std::size_t number = all_.size();
    module& m = all_.emplace_back();
    m.loader = self;
    m.attached.resize(w_.nodes());
    m.exits.resize(w_.nodes());
    if (w_.draw().chance(20)) m.lacks = static_cast<unsigned>(w_.draw().below(w_.nodes()));
    const auto why = go(self, number, code_call::load(self, w_.nodes()));
    if (w_.failed()) return;
    if (why == QUIRE_OK) return void(++loaded);
    ++given_up;
    if (m.constructed != m.destructed) w_.fail("a load was given up, and destructors have not run");
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      if (!w_.is_dead(n) && m.attached[n]) w_.fail("a load was given up, and a node has it attached");
    }
  }
  /// Runs what it finds, and unloads it; who unloads one is not alone always.
  void use(unsigned self) {
    for (int i = 0; i < 20 && !w_.failed(); ++i) {
      w_.sleep(w_.draw().below(40'000));
      std::vector<std::size_t> there;
      for (std::size_t n = 0; n < all_.size(); ++n) {
        if (all_[n].published && all_[n].attached[self]) there.push_back(n);
      }
      if (there.empty()) continue;
      const std::size_t number = there[w_.draw().below(there.size())];
      module& m = all_[number];
      if (!m.ends && w_.draw().chance(50)) {
        ++m.exits[self];
        continue;
      }
      bool alone = true;  // one thread unloads a module; two may begin at once
      for (const unsigned other : m.enders) alone = alone && w_.is_dead(other);
      if (!alone && (m.ended || m.at_work != 0)) continue;
      m.ends = true;
      m.enders.push_back(self);
      const auto why = go(self, number, code_call::unload(self, w_.nodes()));
      if (w_.failed()) return;
      m.enders.erase(std::find(m.enders.begin(), m.enders.end(), self));
      if (why != QUIRE_OK) {
        ++refused;
        continue;
      }
      ++unloaded;
      if (m.data || m.code) w_.fail("a module was unloaded, and some of it is there");
    }
  }

  world w_;
  std::deque<module> all_{};
};

class services_code : public testing::TestWithParam<unsigned> {};

TEST_P(services_code, holds_what_it_promises) {
  std::uint64_t loaded = 0, given_up = 0, unloaded = 0, refused = 0;
  for (const std::uint64_t seed : sim::seeds(1, 600)) {
    job j(seed, GetParam());
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "\nreplay: QUIRE_SIM_SEED=" << seed;
    loaded += j.loaded;
    given_up += j.given_up;
    unloaded += j.unloaded;
    refused += j.refused;
  }
  std::cout << loaded << " modules loaded, " << given_up << " given up, " << unloaded << " unloaded, " << refused
            << " refusals\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(loaded, 100u);
  EXPECT_GT(given_up, 50u);
  EXPECT_GT(unloaded, 50u);
  EXPECT_GT(refused, 20u);
}

TEST_P(services_code, bears_a_death_at_every_message) {
  const auto make = [](std::uint64_t seed) { return std::make_unique<job>(seed, GetParam()); };
  test::bear_a_death_at_every_message(30, GetParam(), make, [](const job&) {});
}

INSTANTIATE_TEST_SUITE_P(nodes, services_code, testing::Values(2u, 3u, 4u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::services::services_code_test
