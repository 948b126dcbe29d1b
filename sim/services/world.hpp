// SPDX-License-Identifier: BSD-3-Clause
// Machines of src/services on the simulated network, and threads that ask them, each a fibre: ask() waits as
// core::ask() does. A run follows from its seed.
//
// Messages between two nodes keep their order. A node may die at any message (kill_at()). Each survivor hears of it at
// a moment of its own: from then on it drops what the dead one has sent, its calls to it end with QUIRE_LOST, and its
// machines are told (`on_death`). Here nobody knows what a service is for: tests have the machines, and the checkers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/message.hpp"
#include "services/services.hpp"
#include "sim/network.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/fibre.hpp"

namespace quire::services {

inline node_id node_of(unsigned n) { return node_id{static_cast<std::uint16_t>(n)}; }

class world {
 public:
  struct reply {
    quire_status why = QUIRE_OK;
    std::uint64_t a = 0, b = 0;
    std::uint64_t token = 0;
  };

  world(std::uint64_t seed, unsigned nodes);

  // What nodes do, on their drivers. Set before run().
  /// A request or a notice has come; `m.operation` is the service.
  std::function<void(unsigned node, const message& m, std::string_view text)> on_message{};
  std::function<void(unsigned node, unsigned dead)> on_death{};

  /// A thread of a node. It ends there if its node dies.
  void start(unsigned node, std::function<void()> what);
  /// Once that many messages have come.
  void kill_at(std::uint64_t messages, unsigned node) { deaths_.emplace_back(messages, node); }

  // Threads.
  /// `timeout`: 0, for ever.
  [[nodiscard]] reply ask(unsigned self, unsigned to, std::uint32_t service, message m, std::string_view text = {},
                          sim::time_ns timeout = 0);
  void sleep(sim::time_ns ns);
  /// Until `done`, which others change.
  template <class F>
  void wait_until(F done) {
    while (!done() && !failed()) sleep(2'000);
  }

  // Drivers and threads.
  void notify(unsigned self, unsigned to, std::uint32_t service, message m, std::string_view text = {});
  void send(unsigned self, answers& out);
  void after(sim::time_ns ns, unsigned node, std::function<void()> what);

  [[nodiscard]] bool is_dead(unsigned node) const { return (dead_ >> node & 1) != 0; }
  [[nodiscard]] bool knows(unsigned node, unsigned dead) const { return (known_[node] >> dead & 1) != 0; }
  [[nodiscard]] bool any_dead() const { return dead_ != 0; }
  [[nodiscard]] sim::network& net() { return net_; }
  [[nodiscard]] sim::random& draw() { return net_.rng(); }
  [[nodiscard]] std::uint64_t messages() const { return come_; }
  [[nodiscard]] unsigned nodes() const { return static_cast<unsigned>(known_.size()); }
  void fail(const std::string& what);
  [[nodiscard]] bool failed() const { return !wrong_.empty(); }
  /// Until nothing happens any more. What was wrong, with the trace; empty if nothing was.
  [[nodiscard]] std::string run();

 private:
  struct thread {
    unsigned node = 0;
    std::unique_ptr<whole::fibre> runs{};
    std::uint64_t turn = 0;
    std::uint32_t asks = 0;  ///< the service, plus one, while it waits for an answer
  };
  struct call {
    thread* who = nullptr;
    unsigned to = 0;
    bool done = false;
    reply got{};
  };
  void resume(thread& t);
  void resume_after(thread& t, sim::time_ns ns);
  void arrive(unsigned to, const message& m, std::span<const std::byte> value);
  void kill(unsigned node);
  void learn(unsigned node, unsigned dead);
  void end(std::uint64_t token, const reply& got);

  sim::network net_;
  sim::print_on_check_failure trace_;
  std::vector<std::unique_ptr<thread>> threads_{};
  thread* running_ = nullptr;
  std::map<std::uint64_t, call*> calls_{};
  std::uint64_t tokens_ = 0, come_ = 0;
  std::vector<std::pair<std::uint64_t, unsigned>> deaths_{};
  std::uint64_t dead_ = 0;
  std::vector<std::uint64_t> known_;  ///< by node: who is dead, as it knows
  std::string wrong_{};
};

}  // namespace quire::services
