// SPDX-License-Identifier: BSD-3-Clause
// Pushes in the simulated world, as src/core/spread.cpp does them: a home's content goes to all nodes by a tree, together with what the
// home knew when it took it. One unit a message.
#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/frames.hpp"
#include "sim/bare/release_cluster.hpp"

namespace quire::sim {

using model::message_kind;

namespace {
constexpr unsigned fan_out = 2;
}

void release_cluster::step_push(std::size_t t) {
  thread& self = threads_[t];
  const place p = place_of(self.next.at);
  node_state& n = *nodes_[self.node];
  if (unit(self.node, p.region, p.unit).pinned != 0) return resume(t);  // refused
  ++count_.pushes;
  self.now = thread::state::waits_for_call;
  n.release->release();
  model::actions out;
  n.memory[p.region]->machine->on_push(p.unit, t + 1, out);
  finish_step(n, p.region, p.unit, nullptr, out);
}

/// At the home.
void release_cluster::spread(node_state& n, unsigned region, const model::action& a) {
  flush(n);
  passage p;
  p.from = n.self;
  p.m = a.m;
  p.m.region = model::region_id{static_cast<std::uint16_t>(region)};
  p.m.unit = a.unit;
  p.m.a = n.self.value();
  p.m.c = a.m.token;
  for (std::uint16_t i = 0; i < options_.nodes; ++i) p.words.push_back(n.release->known().known(node_id{i}));
  if (n.memory[region]->machine->is_written(a.unit)) {
    const auto content = as_told(n, region, a.unit);
    p.words.insert(p.words.end(), content.begin(), content.end());
  }
  const std::uint64_t token = ++n.tokens;
  n.passages[token] = std::move(p);
  pass_on(n, token);
}

void release_cluster::pass_on(node_state& n, std::uint64_t token) {
  passage& p = n.passages.at(token);
  const auto root = static_cast<unsigned>(p.m.a), rank = (n.self.value() + options_.nodes - root) % options_.nodes;
  const unsigned first = rank * fan_out + 1, end = std::min(first + fan_out, options_.nodes);
  p.left = first < end ? end - first : 0;
  if (p.left == 0) return answer_spread(n, token);
  message m = p.m;
  m.from = n.self;
  m.token = token;
  for (unsigned child = first; child < end; ++child) {
    synchronise(n, node_id{static_cast<std::uint16_t>((root + child) % options_.nodes)}, m, {}, model::edge::carries);
  }
}

void release_cluster::answer_spread(node_state& n, std::uint64_t token) {
  const passage p = std::move(n.passages.at(token));
  n.passages.erase(token);
  const bool home = p.from == n.self;
  message m;
  m.kind = home ? message_kind::spread_done : message_kind::spread_ack;
  m.requester = n.self;
  m.token = home ? p.m.c : p.from_token;
  leave(n, home ? p.m.requester : p.from, m, {});
}

/// It comes to another node, which takes it where it knows of nothing newer.
void release_cluster::on_spread(node_state& n, const message& m, std::span<const std::byte> payload) {
  passage p;
  p.from = m.from;
  p.from_token = m.token;
  p.m = m;
  p.words.resize(payload.size() / sizeof(std::uint64_t));
  std::memcpy(p.words.data(), payload.data(), payload.size());
  acquire(n);
  const unsigned region = m.region.value();
  release::machine& machine = *n.memory[region]->machine;
  std::vector<std::uint32_t> known(p.words.begin(), p.words.begin() + options_.nodes);
  const auto content = std::span(p.words).subspan(options_.nodes);
  const bool covered = tamper_.spreads_cover_all_news || n.release->is_covered(m.region, m.unit, known);
  if (machine.awaits_spread(m.unit) && covered) {
    ++count_.spreads_taken;
    const auto to = frame(n, region, m.unit);
    content.empty() ? (void)std::ranges::fill(to, 0) : (void)std::ranges::copy(content, to.begin());
    model::actions out;
    machine.on_spread_copy(m.unit, content.empty(), out);
    finish_step(n, region, m.unit, &m, out);
  }
  const std::uint64_t token = ++n.tokens;
  n.passages[token] = std::move(p);
  pass_on(n, token);
}

void release_cluster::on_spread_ack(node_state& n, const message& m) {
  if (m.kind == message_kind::spread_done) return complete(m.token, 0);
  if (--n.passages.at(m.token).left == 0) answer_spread(n, m.token);
}

}  // namespace quire::sim
