// SPDX-License-Identifier: BSD-3-Clause
// Names of containers (services/containers.hpp), and what threads do for their calls (container_call.hpp), under delays
// and deaths at every message. A name is of one container at a time; what is opened is there, and stays until it is
// closed; what nobody can reach goes; while a checkpoint holds names nothing comes or goes; locks exclude each other,
// and nobody waits for what a lost node has. Where node 0 is lost, what was made is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "services_deaths.hpp"
#include "services/container_call.hpp"
#include "services/containers.hpp"
#include "sim/seeds.hpp"
#include "sim/services/world.hpp"

namespace quire::services::services_containers_test {
namespace {

using order = container_order;
using kind = container_call::step::kind;
constexpr unsigned threads_each = 2, most_names = 3;
constexpr std::uint64_t heads_region = 77;
constexpr sim::time_ns never = ~sim::time_ns{0};

/// A container, as the program knows it.
struct made_one {
  std::uint16_t number = 0;
  std::map<unsigned, unsigned> open{};  ///< by node
  bool region = true;                   ///< it has not been destroyed
  bool nameless = false;                ///< its name was taken away
  bool stays = false;                   ///< its region could not be destroyed once
  /// By name: since when it may have it, until when, and since when it has it for certain.
  struct name_times {
    sim::time_ns from = never, to = never, certain = never;
    [[nodiscard]] bool may_be(sim::time_ns since) const { return from != never && to >= since; }
  };
  std::array<name_times, most_names> names{};
  void lose_all(sim::time_ns now) {
    nameless = true;
    for (name_times& n : names) n.to = std::min(n.to, now), n.certain = never;
  }
};
struct head {
  bool there = false;
  std::size_t of = 0;  ///< made_one
};

class job {
 public:
  job(std::uint64_t seed, unsigned nodes, bool survives) : w_(seed, nodes), in_{nodes, survives} {
    w_.on_message = [this](unsigned node, const message& m, std::string_view text) {
      answers out;
      all_[node].on_request(m, std::as_bytes(std::span(text.data(), text.size())), out);
      w_.send(node, out);
    };
    w_.on_death = [this](unsigned node, unsigned dead) {
      answers out;
      all_[node].on_death(node_of(dead), out);
      w_.send(node, out);
    };
    for (unsigned n = 0; n < nodes; ++n) all_.emplace_back(node_of(n));
    over_.resize(nodes * threads_each);
    leaders_.resize(nodes);
    for (unsigned i = 0; i < over_.size(); ++i) w_.start(i / threads_each, [this, i] { use(i); });
    w_.start(0, [this] { checkpoint(); });
  }
  world& around() { return w_; }
  std::string run() {
    std::string wrong = w_.run();
    if (!wrong.empty()) return wrong;
    for (unsigned n = 0; n < w_.nodes(); ++n) {
      if (!w_.is_dead(n) && all_[n].waiting() != 0) return "a node keeps calls that are over";
    }
    for (const made_one& one : made_) {
      if (!w_.any_dead() && one.region && one.nameless && !one.stays) return "a container without a name stays";
    }
    return {};
  }
  std::uint64_t opened = 0, created = 0, went = 0, renamed = 0, held = 0, locked = 0, found_after = 0;

 private:
  sim::time_ns now() { return w_.net().now(); }
  static std::string text_of(unsigned name) { return "container " + std::to_string(name); }

  // ---- A thread goes through the steps of a call

  struct outcome {
    quire_status why = QUIRE_OK;
    std::uint16_t number = 0;
    bool made = false;
  };
  outcome go(unsigned self, container_call call, std::string_view text, unsigned name = 0, unsigned to = most_names) {
    outcome got;
    auto s = call.begin(leaders_[self]);
    while (s.what != kind::over && !w_.failed()) {
      if (s.what == kind::ask) {
        message m;
        m.a = static_cast<std::uint64_t>(s.order);
        m.b = s.b;
        const auto got = w_.ask(self, s.node, 0, m, s.has_name ? text : std::string_view{});
        s = call.on_answer(got.why, got.a, got.b);
      } else {
        s = call.on_done(work(self, s.what, call, name, to));
      }
    }
    leaders_[self] = std::max(leaders_[self], call.leader());
    got.why = s.why;
    got.number = call.number();
    got.made = call.makes();
    return got;
  }
  quire_status work(unsigned self, kind what, const container_call& call, unsigned name, unsigned to) {
    head& h = heads_[call.number()];
    switch (what) {
      case kind::make:
        return make(h, call.number(), name);
      case kind::note:
        for (unsigned n = 1; n < w_.nodes(); ++n) {
          if (h.there) tell(self, n, order::noted, call.number(), text_of(name));
        }
        return QUIRE_OK;
      case kind::rewrite:
        return rewrite(call, name, to);
      case kind::destroy:
        return destroy(h);
      case kind::withdraw:
        h.there = false;
        for (unsigned n = 1; n < w_.nodes() && in_.survives; ++n) tell(self, n, order::unnoted, call.number(), {});
        return QUIRE_OK;
      default:
        return QUIRE_OK;
    }
  }
  /// Nobody opens it meanwhile, or takes its name. `to`: most_names, if it has none from now on.
  quire_status rewrite(const container_call& call, unsigned name, unsigned to) {
    w_.sleep(w_.draw().below(5'000));
    made_one& one = made_[heads_[call.number()].of];
    if (to == most_names) return one.lose_all(now()), QUIRE_OK;
    if (call.replaced() != 0) made_[heads_[call.replaced()].of].lose_all(now()), ++renamed;
    one.names[name].to = now();
    one.names[to] = {std::min(now(), one.names[to].from), never, never};
    return QUIRE_OK;
  }
  void tell(unsigned self, unsigned node, order what, std::uint16_t number, std::string_view name) {
    message m;
    m.a = static_cast<std::uint64_t>(what);
    m.b = number;
    m.c = heads_region;
    (void)w_.ask(self, node, 0, m, name);
  }
  quire_status make(head& h, std::uint16_t number, unsigned name) {
    if (held_) w_.fail("a container is made while names are held");
    if (h.there || (h.of < made_.size() && made_[h.of].number == number && made_[h.of].region))
      w_.fail("a number is used for two containers");
    w_.sleep(w_.draw().below(20'000));
    if (w_.draw().chance(10)) return QUIRE_IO;
    h.there = true;
    h.of = made_.size();
    made_one& one = made_.emplace_back();
    one.number = number;
    one.names[name].from = now();
    ++created;
    return QUIRE_OK;
  }
  quire_status destroy(head& h) {
    made_one& one = made_[h.of];
    w_.sleep(w_.draw().below(10'000));
    if (w_.is_dead(0) || w_.draw().chance(5)) {  // node 0 leads the end of a region
      one.stays = true;
      return QUIRE_BUSY;
    }
    for (const auto& [node, times] : one.open) {
      if (times != 0 && !w_.is_dead(node)) w_.fail("a container goes that somebody has open");
    }
    if (held_) w_.fail("a container goes while names are held");
    one.region = false;
    one.lose_all(now());
    ++went;
    return QUIRE_OK;
  }

  // ---- Programs

  void use(unsigned thread) {
    const unsigned self = thread / threads_each;
    for (unsigned i = 0; i < 6 && !w_.failed(); ++i) {
      w_.sleep(w_.draw().below(60'000));
      const auto name = static_cast<unsigned>(w_.draw().below(most_names));
      const std::uint64_t what = w_.draw().below(in_.survives ? 8 : 12);
      if (what < 6) {
        open(thread, name);
      } else if (what < 8) {
        take_away(self, name, container_call::remove(in_));
      } else if (what < 10) {
        take_away(self, name, container_call::unlink(in_));
      } else {
        rename(self, name);
      }
    }
    over_[thread] = true;
  }

  void open(unsigned thread, unsigned name) {
    const unsigned self = thread / threads_each;
    const sim::time_ns begun = now();
    const bool all_lived = !w_.is_dead(0);
    std::uint64_t how = w_.draw().chance(70) ? container_open::creates : 0;
    if (how != 0 && w_.draw().chance(20)) how |= container_open::excludes;
    const outcome got = go(self, container_call::open(in_, how), text_of(name), name);
    if (w_.failed()) return;
    if (got.why != QUIRE_OK) return judge_refusal(got, name, how, begun);
    if (how == (container_open::creates | container_open::excludes) && !got.made)
      w_.fail("an exclusive open finds a container");
    const head& h = heads_[got.number];
    if (in_.survives && (!h.there || !made_[h.of].region)) return finish(self, got.number);  // who removed it is lost
    made_one& one = made_[h.of];
    if (!h.there || !one.region) return w_.fail("what is opened is not there");
    if (!one.names[name].may_be(begun)) return w_.fail("what is opened has another name");
    if (got.made && one.names[name].to == never) {
      for (const made_one& other : made_) {
        if (&other != &one && other.names[name].certain != never) return w_.fail("two have one name");
      }
      if (taking_[name] == 0 && took_[name] < begun) one.names[name].certain = now();
    }
    ++one.open[self];
    ++opened;
    if (!all_lived) ++found_after;
    w_.sleep(w_.draw().below(50'000));
    if (w_.draw().chance(50)) lock(thread, h.of);
    --one.open[self];
    finish(self, got.number);
  }
  void finish(unsigned self, std::uint16_t number) {
    (void)go(self, container_call::finish(in_, order::closed, number), {});
  }
  void judge_refusal(const outcome& got, unsigned name, std::uint64_t how, sim::time_ns begun) {
    bool certain = false, maybe = false;
    for (const made_one& one : made_) {
      certain = certain || one.names[name].certain <= begun;
      maybe = maybe || one.names[name].may_be(begun);
    }
    if (got.why == QUIRE_NOT_FOUND && (how != 0 || certain)) w_.fail("a container that was made is not found");
    if (got.why == QUIRE_EXISTS && !maybe && !w_.is_dead(0)) w_.fail("a name is refused that nobody has");
    if (got.why == QUIRE_LOST && (!w_.is_dead(0) || certain)) w_.fail("a container is lost though all know of it");
    if (got.why == QUIRE_BUSY) w_.fail("an open ends strangely");
  }
  /// Until end_to_take() nobody can say who has the name.
  void begin_to_take(unsigned name) {
    ++taking_[name];
    for (made_one& one : made_) one.names[name].certain = never;
  }
  void end_to_take(unsigned name) {
    --taking_[name];
    took_[name] = now();
  }
  /// Unlinked, or removed.
  void take_away(unsigned self, unsigned name, const container_call& how) {
    begin_to_take(name);
    (void)go(self, how, text_of(name), name);
    end_to_take(name);
  }
  void rename(unsigned self, unsigned name) {
    const auto to = static_cast<unsigned>(w_.draw().below(most_names));
    begin_to_take(name);
    begin_to_take(to);
    (void)go(self, container_call::rename(in_, w_.draw().chance(30)), text_of(name) + '\0' + text_of(to), name, to);
    end_to_take(name);
    end_to_take(to);
  }

  // ---- Locks

  void lock(unsigned thread, std::size_t of) {
    const unsigned self = thread / threads_each;
    container_lock asked;
    asked.wanted.owner = {thread + 1, static_cast<std::uint16_t>(self), false};
    asked.wanted.kind = container::lock_kind::exclusive;
    asked.wanted.first = w_.draw().below(2);
    asked.wanted.last = 1;
    asked.how = container::lock_wait::queues;
    quire_status why = QUIRE_BUSY;
    while (why == QUIRE_BUSY && !w_.failed()) {
      why = set(self, made_[of].number, asked);
      if (why == QUIRE_BUSY) w_.sleep(5'000);
    }
    if (why != QUIRE_OK) return;
    for (const auto& [other, what] : locks_) {
      if (what == of && !w_.is_dead(other / threads_each)) w_.fail("two have a lock that excludes");
    }
    locks_[thread] = of;
    ++locked;
    w_.sleep(w_.draw().below(20'000));
    locks_.erase(thread);
    asked.wanted.kind = container::lock_kind::none;
    (void)set(self, made_[of].number, asked);
  }
  quire_status set(unsigned self, std::uint16_t number, const container_lock& what) {
    message m;
    m.a = static_cast<std::uint64_t>(order::lock);
    m.b = number;
    std::array<char, sizeof what> bytes;
    std::memcpy(bytes.data(), &what, sizeof what);
    return w_.ask(self, 0, 0, m, {bytes.data(), bytes.size()}).why;
  }

  // ---- Checkpoints

  [[nodiscard]] bool all_over() {
    for (unsigned i = 0; i < over_.size(); ++i) {
      if (!over_[i] && !w_.is_dead(i / threads_each)) return false;
    }
    return true;
  }
  void checkpoint() {
    for (unsigned i = 0; i < 3 && !all_over() && !w_.failed(); ++i) {
      w_.sleep(w_.draw().below(150'000));
      while (!all_[0].hold() && !w_.failed()) w_.sleep(3'000);
      held_ = true;
      ++held;
      w_.sleep(w_.draw().below(60'000));
      held_ = false;
      answers out;
      all_[0].let_go(out);
      w_.send(0, out);
    }
  }

  world w_;
  container_call::surroundings in_;
  std::vector<containers> all_{};
  std::array<head, container::most_containers + 1> heads_{};
  std::deque<made_one> made_{};
  std::vector<unsigned> leaders_{};
  std::vector<bool> over_{};
  std::array<unsigned, most_names> taking_{};    ///< calls under way that may take it from who has it
  std::array<sim::time_ns, most_names> took_{};  ///< when the last of them ended
  std::map<unsigned, std::size_t> locks_{};      ///< by thread
  bool held_ = false;
};

class services_containers : public testing::TestWithParam<unsigned> {};

TEST_P(services_containers, hold_what_they_promise) {
  std::uint64_t opened = 0, created = 0, went = 0, renamed = 0, held = 0, locked = 0;
  for (const std::uint64_t seed : sim::seeds(1, 600)) {
    job j(seed, GetParam(), seed % 4 == 0);
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "\nreplay: QUIRE_SIM_SEED=" << seed;
    opened += j.opened;
    created += j.created;
    went += j.went;
    renamed += j.renamed;
    held += j.held;
    locked += j.locked;
  }
  std::cout << opened << " openings, " << created << " containers made, " << went << " gone, " << renamed
            << " replaced by a rename; names were held " << held << " times; " << locked << " locks\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(went, 100u);
  EXPECT_GT(renamed, 10u);
  EXPECT_GT(held, 50u);
  EXPECT_GT(locked, 100u);
}

TEST_P(services_containers, bear_a_death_at_every_message) {
  std::uint64_t found_after = 0;
  const auto make = [](std::uint64_t seed) { return std::make_unique<job>(seed, GetParam(), true); };
  test::bear_a_death_at_every_message(24, GetParam(), make, [&](const job& j) { found_after += j.found_after; });
  std::cout << found_after << " openings after the death of node 0\n";
  if (!sim::usual_seeds()) return;
  EXPECT_GT(found_after, 100u);
}

INSTANTIATE_TEST_SUITE_P(nodes, services_containers, testing::Values(2u, 3u, 4u),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::services::services_containers_test
