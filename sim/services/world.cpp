// SPDX-License-Identifier: BSD-3-Clause
#include "sim/services/world.hpp"

#include <utility>

namespace quire::services {

using model::message_kind;

namespace {

sim::network_options options_of(std::uint64_t seed, unsigned nodes) {
  sim::network_options o;
  o.seed = seed;
  o.nodes = nodes;
  o.step_limit = 400'000;
  o.straggler_percent = static_cast<unsigned>(seed % 4) * 10;
  o.straggler_delay = 100'000;
  return o;
}

std::string_view text_of(std::span<const std::byte> value) {
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

world::world(std::uint64_t seed, unsigned nodes) : net_(options_of(seed, nodes)), trace_(net_), known_(nodes) {
  net_.on_delivery([this](node_id to, const message& m, std::span<const std::byte> value) {
    ++come_;
    for (const auto& [at, node] : deaths_) {
      if (at == come_) kill(node);
    }
    arrive(to.value(), m, value);
  });
}

void world::start(unsigned node, std::function<void()> what) {
  auto& t = *threads_.emplace_back(std::make_unique<thread>());
  t.node = node;
  t.runs = std::make_unique<whole::fibre>(std::move(what));
  resume_after(t, draw().below(20'000));
}

void world::resume_after(thread& t, sim::time_ns ns) {
  net_.after(ns, [this, &t, turn = ++t.turn] {
    if (turn == t.turn) resume(t);
  });
}

void world::resume(thread& t) {
  if (is_dead(t.node) || failed() || t.runs->finished()) return;
  running_ = &t;
  t.runs->resume();
  running_ = nullptr;
}

void world::sleep(sim::time_ns ns) {
  resume_after(*running_, ns);
  whole::fibre::yield();
}

world::reply world::ask(unsigned self, unsigned to, std::uint32_t service, message m, std::string_view text,
                        sim::time_ns timeout) {
  if (knows(self, to)) return {QUIRE_LOST};
  const std::uint64_t token = ++tokens_;
  call c{running_, to, false, {}};
  c.got.token = token;
  calls_.emplace(token, &c);
  m.kind = message_kind::service_request;
  m.operation = service;
  m.requester = node_of(self);
  m.token = token;
  net_.send(node_of(self), node_of(to), m, bytes_of(text));
  if (timeout != 0) net_.after(timeout, [this, token] { end(token, {QUIRE_TIMED_OUT}); });
  running_->asks = service + 1;
  while (!c.done) whole::fibre::yield();
  running_->asks = 0;
  return c.got;
}

void world::end(std::uint64_t token, const reply& got) {
  const auto found = calls_.find(token);
  if (found == calls_.end()) return;  // it has ended
  call& c = *found->second;
  calls_.erase(found);
  if (is_dead(c.who->node)) return;
  c.done = true;
  c.got = got;
  c.got.token = token;
  resume_after(*c.who, draw().below(3'000));
}

void world::notify(unsigned self, unsigned to, std::uint32_t service, message m, std::string_view text) {
  m.kind = message_kind::service_notice;
  m.operation = service;
  m.requester = node_of(self);
  net_.send(node_of(self), node_of(to), m, bytes_of(text));
}

void world::send(unsigned self, answers& out) {
  for (const answer& one : std::exchange(out, {})) {
    message m;
    m.kind = message_kind::service_reply;
    m.operation = static_cast<std::uint32_t>(one.why);
    m.requester = one.request.requester;
    m.token = one.request.token;
    m.a = one.a;
    m.b = one.b;
    net_.send(node_of(self), m.requester, m);
  }
}

void world::after(sim::time_ns ns, unsigned node, std::function<void()> what) {
  net_.after(ns, [this, node, what = std::move(what)] {
    if (!is_dead(node) && !failed()) what();
  });
}

void world::arrive(unsigned to, const message& m, std::span<const std::byte> value) {
  if (is_dead(to) || knows(to, m.from.value()) || failed()) return;
  if (m.kind == message_kind::service_reply) return end(m.token, {static_cast<quire_status>(m.operation), m.a, m.b});
  on_message(to, m, text_of(value));
}

void world::kill(unsigned node) {
  if (is_dead(node)) return;
  dead_ |= std::uint64_t{1} << node;
  net_.note(node_of(node), "is dead");
  for (unsigned n = 0; n < nodes(); ++n) {
    if (!is_dead(n)) after(draw().below(150'000), n, [this, n, node] { learn(n, node); });
  }
}

void world::learn(unsigned node, unsigned dead) {
  known_[node] |= std::uint64_t{1} << dead;
  net_.note(node_of(node), "hears of a death", dead);
  std::vector<std::uint64_t> lost;
  for (const auto& [token, c] : calls_) {
    if (c->who->node == node && c->to == dead) lost.push_back(token);
  }
  for (const std::uint64_t token : lost) end(token, {QUIRE_LOST});
  if (on_death) on_death(node, dead);
}

void world::fail(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
  net_.stop();
}

std::string world::run() {
  const auto how = net_.run();
  if (how == sim::network::outcome::step_limit) fail("it does not end");
  for (const auto& t : threads_) {
    if (!is_dead(t->node) && !t->runs->finished())
      fail("a thread of node " + std::to_string(t->node) + " waits for ever, " +
           (t->asks != 0 ? "for an answer of service " + std::to_string(t->asks - 1) : "and for no answer"));
  }
  return wrong_.empty() ? wrong_ : wrong_ + "\n" + net_.trace();
}

}  // namespace quire::services
