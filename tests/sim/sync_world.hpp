// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation machines on the simulated network, and threads that use them, each a coroutine:
//
//   program client(world& w, unsigned node, std::uint64_t mutex) {
//     co_await w.call(node, {operation::mutex_lock, ...});
//     co_await w.pause(500);
//     ...
//     w.leave();
//   }
//
// A run follows from its seed: nodes, delays, reordering and what the threads do. Transports keep the order between two
// nodes; mutexes depend on that, and so do conditions, which take them. The rest does not, and is tried without it too.
#pragma once

#include <gtest/gtest.h>

#include <coroutine>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/network.hpp"
#include "sim/seeds.hpp"
#include "sync/machine.hpp"

namespace quire::sync {

using sim::network;
using sim::time_ns;

/// A simulated thread. Runs at once, and ends by itself.
struct program {
  struct promise_type {
    program get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

/// Whether the messages from one node to another arrive in order.
enum class order : std::uint8_t { kept, any };

inline node_id node(unsigned n) { return node_id{static_cast<std::uint16_t>(n)}; }

class world {
 public:
  /// How a call ended.
  struct ended {
    quire_status status = QUIRE_OK;
    std::uint64_t object = 0;
    value values{};
  };

  /// `order::any`: in every second run.
  world(std::uint64_t seed, unsigned nodes, order within_pairs, array_limits limits = {})
      : net_(options(seed, nodes, within_pairs)), trace_(net_) {
    for (unsigned n = 0; n < nodes; ++n) machines_.push_back(std::make_unique<machine>(node(n), nodes, limits));
    net_.on_delivery([this](node_id to, const message& m, std::span<const std::byte> payload) {
      if (on_message) on_message(to, m);
      actions_.clear();
      machines_[to.value()]->on_message(m, payload, actions_);
      perform(to.value());
    });
  }

  /// Awaits the end of a call of a thread of `n`; with a time limit it is cancelled then.
  auto call(unsigned n, const sync::call& what, time_ns limit = 0) {
    struct awaiter {
      world& w;
      unsigned node;
      sync::call what;
      time_ns limit;
      ended result{};
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> h) { w.start(node, what, limit, {h, &result, node, what}); }
      [[nodiscard]] ended await_resume() const noexcept { return result; }
    };
    return awaiter{*this, n, what, limit};
  }
  auto pause(time_ns most) {
    struct awaiter {
      world& w;
      time_ns most;
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> h) {
        w.net_.after(w.rng().between(0, most), [h] { h.resume(); });
      }
      void await_resume() const noexcept {}
    };
    return awaiter{*this, most};
  }
  /// A program's last word.
  void leave() noexcept { ++left_; }

  void lose_peer(unsigned n) {
    actions_.clear();
    machines_[n]->on_peer_lost(actions_);
    perform(n);
  }

  /// Runs until nothing happens any more: then all `programs` must have left, and nothing must wait.
  void run(unsigned programs) {
    ASSERT_EQ(net_.run(), network::outcome::quiet) << net_.trace();
    ASSERT_EQ(left_, programs) << waiting_for_ever() << net_.trace();
    ASSERT_TRUE(open_.empty());
    for (const auto& m : machines_) {
      ASSERT_EQ(m->waiting(), 0u);
      ASSERT_TRUE(m->is_valid());
    }
  }

  [[nodiscard]] unsigned nodes() const noexcept { return static_cast<unsigned>(machines_.size()); }
  [[nodiscard]] machine& at(unsigned n) noexcept { return *machines_[n]; }
  [[nodiscard]] sim::random& rng() noexcept { return net_.rng(); }
  [[nodiscard]] network& net() noexcept { return net_; }
  /// Nodes that have the right to lock a mutex.
  [[nodiscard]] unsigned tokens_of(std::uint64_t mutex) const {
    unsigned n = 0;
    for (const auto& m : machines_) n += m->locks().has_token(object_id{mutex}) ? 1 : 0;
    return n;
  }

  std::uint64_t lingers = 0;                                ///< times that a mutex was kept for a moment
  std::function<void(node_id, const message&)> on_message;  ///< sees every message before its machine

 private:
  struct open_call {
    std::coroutine_handle<> thread{};
    ended* result = nullptr;
    unsigned node = 0;
    sync::call what{};
  };

  [[nodiscard]] std::string waiting_for_ever() const {
    std::string text = "threads wait for ever:\n";
    for (const auto& [token, open] : open_) {
      text += "node " + std::to_string(open.node) + " operation " + std::to_string(static_cast<int>(open.what.what)) +
              " object " + std::to_string(open.what.object) + " operand " + std::to_string(open.what.operand) + "\n";
    }
    return text;
  }

  static sim::network_options options(std::uint64_t seed, unsigned nodes, order within_pairs) {
    sim::network_options o;
    o.seed = seed;
    o.nodes = nodes;
    o.step_limit = 1'000'000;
    o.straggler_percent = static_cast<unsigned>(seed % 4) * 10;
    o.straggler_delay = 100'000;
    o.reorder_within_pairs = within_pairs == order::any && seed % 2 == 0;
    o.max_self_delay = seed % 8 < 4 ? 0 : 5'000;
    return o;
  }

  void start(unsigned n, sync::call what, time_ns limit, const open_call& open) {
    what.token = ++tokens_;
    what.now_ns = net_.now() + 1;
    open_[what.token] = open;
    if (limit != 0) {
      net_.after(limit, [this, n, token = what.token] {
        actions_.clear();
        machines_[n]->on_cancel(token, actions_);
        perform(n);
      });
    }
    actions_.clear();
    machines_[n]->on_call(what, actions_);
    perform(n);
  }

  void perform(unsigned n) {
    for (const action& a : actions_) {
      if (a.kind == action_kind::send) {
        ASSERT_EQ(a.m.from, node(n));
        net_.send(node(n), a.to, a.m, a.payload());
        continue;
      }
      if (a.kind == action_kind::linger) {
        ++lingers;
        net_.after(rng().between(0, 2 * linger_ns), [this, n, object = a.object] {
          actions_.clear();
          machines_[n]->on_linger_over(object, actions_);
          perform(n);
        });
        continue;
      }
      const auto found = open_.find(a.token);
      ASSERT_NE(found, open_.end()) << "completed twice, or never called; " << net_.trace();
      ASSERT_EQ(found->second.node, n);
      *found->second.result = {a.status, a.object, a.values};
      net_.after(0, [h = found->second.thread] { h.resume(); });
      open_.erase(found);
    }
    ASSERT_TRUE(machines_[n]->is_valid()) << net_.trace();
  }

  network net_;
  sim::print_on_check_failure trace_;
  std::vector<std::unique_ptr<machine>> machines_;
  std::unordered_map<std::uint64_t, open_call> open_;
  actions actions_;
  std::uint64_t tokens_ = 0;
  unsigned left_ = 0;
};

inline call make_call(operation what, std::uint64_t object, std::uint32_t thread = 0, std::uint64_t operand = 0) {
  call c;
  c.what = what;
  c.object = object;
  c.thread = thread;
  c.operand = operand;
  return c;
}
inline call make_try(operation what, std::uint64_t object, std::uint32_t thread = 0) {
  call c = make_call(what, object, thread);
  c.try_only = true;
  return c;
}

/// An object, made before anything else happens.
inline std::uint64_t make_object(world& w, unsigned n, operation what, std::uint64_t operand = 0) {
  actions out;
  w.at(n).on_call(make_call(what, 0, 0, operand), out);
  CHECK(out.size() == 1 && out[0].status == QUIRE_OK);
  return out[0].object;
}

/// Runs `body(seed)` for `count` seeds and stops at the first that fails.
template <class F>
void for_seeds(std::uint64_t first, std::uint64_t count, F&& body) {
  for (const std::uint64_t seed : sim::seeds(first, count)) {
    SCOPED_TRACE("replay with QUIRE_SIM_SEED=" + std::to_string(seed));
    body(seed);
    if (testing::Test::HasFailure()) return;
  }
}

/// Few nodes in most runs, a thousand in some.
inline unsigned nodes_of(std::uint64_t seed, std::vector<unsigned> sizes = {2, 3, 4, 8, 2, 3, 20, 64}) {
  return sizes[seed % 101 % sizes.size()];
}

}  // namespace quire::sync
