// SPDX-License-Identifier: BSD-3-Clause
#include "sim/network.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/check.hpp"
#include "sim/frames.hpp"

namespace quire::sim {

using model::message_kind;

namespace {
/// Of all runs of this process: a soak adds them up (scripts/soak), and knows its runs by QUIRE_SIM_FIRST.
struct tally {
  std::uint64_t steps = 0;
  tally() = default;
  tally(const tally&) = delete;
  tally& operator=(const tally&) = delete;
  ~tally() {
    if (std::getenv("QUIRE_SIM_FIRST") != nullptr) std::printf("steps %" PRIu64 "\n", steps);
  }
} g_tally;
}  // namespace

network::network(const network_options& options)
    : options_(options), rng_(mix(options.seed)), late_from_(options.nodes) {
  CHECK(options.min_delay <= options.max_delay && options.nodes > 0);
  if (const char* const length = std::getenv("QUIRE_SIM_TRACE"); length != nullptr)
    options_.trace_length = std::strtoull(length, nullptr, 10);
}

time_ns network::longest_delay() const noexcept {
  return std::max(options_.max_delay + (options_.straggler_percent != 0 ? options_.straggler_delay : 0),
                  options_.max_self_delay);
}

time_ns network::delay_of(node_id from, node_id to) {
  if (from == to) return rng_.between(0, options_.max_self_delay);
  // Half of the span belongs to the pair, half to the message.
  const std::uint64_t pair = std::uint64_t{from.value()} << 16 | to.value();
  const time_ns span = options_.max_delay - options_.min_delay;
  time_ns delay =
      options_.min_delay + mix(options_.seed ^ mix(pair)) % (span / 2 + 1) + rng_.below(span - span / 2 + 1);
  if (options_.straggler_percent != 0 && rng_.chance(options_.straggler_percent))
    delay += rng_.below(options_.straggler_delay);
  return delay;
}

void network::send(node_id from, node_id to, const message& m, std::span<const std::byte> payload) {
  post(from, to, m, payload, {});
}

void network::send_read_late(node_id from, node_id to, const message& m, std::span<const std::byte> payload) {
  post(from, to, m, payload, options_.reads_late ? payload : std::span<const std::byte>{});
}

void network::post(node_id from, node_id to, const message& m, std::span<const std::byte> payload,
                   std::span<const std::byte> late) {
  CHECK(from.value() < options_.nodes && to.value() < options_.nodes && m.kind != message_kind::invalid);
  event e;
  e.m = m;
  e.m.from = from;
  if (gate_ != nullptr && !gate_(from, to, e.m)) return;
  e.at = now_ + delay_of(from, to) + (lateness_ != nullptr ? lateness_(from, to) : 0);
  if (!options_.reorder_within_pairs) {
    time_ns& latest = latest_[std::uint32_t{from.value()} << 16 | to.value()];
    latest = e.at = std::max(e.at, latest);
  }
  e.order = order_++;
  e.to = to;
  e.payload.assign(payload.begin(), payload.end());
  e.late = late;
  if (!late.empty()) ++late_from_[from.value()];
  queue_.push_back(std::move(e));
  std::push_heap(queue_.begin(), queue_.end(), later{});
  ++messages_;
  ++in_flight_;
}

/// By the order of sending, not by rng_: a seed's timing is the same with and without.
void network::read_late(event& e) const {
  const std::uint64_t draw = mix(options_.seed ^ mix(e.order));
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= e.late.size(); at += sizeof(std::uint64_t)) {
    const bool late = draw % 3 == 0 || (draw % 3 == 1 && mix(draw + at) % 2 == 0);
    std::uint64_t now = 0;
    std::memcpy(&now, e.late.data() + at, sizeof now);
    if (late && now != frame_is_gone) std::memcpy(e.payload.data() + at, &now, sizeof now);
  }
}

void network::after(time_ns delay, std::function<void()> what) {
  event e;
  e.at = now_ + delay;
  e.order = order_++;
  e.what = std::move(what);
  queue_.push_back(std::move(e));
  std::push_heap(queue_.begin(), queue_.end(), later{});
}

bool network::step() {
  if (queue_.empty()) return false;
  std::pop_heap(queue_.begin(), queue_.end(), later{});
  event e = std::move(queue_.back());
  queue_.pop_back();
  now_ = e.at;
  ++steps_;
  ++g_tally.steps;
  if (e.m.kind == message_kind::invalid) {
    e.what();
    return true;
  }
  --in_flight_;
  read_late(e);
  if (!e.late.empty()) --late_from_[e.m.from.value()];
  remember({now_, e.to, nullptr, e.m});
  CHECK(receive_ != nullptr);
  receive_(e.to, e.m, e.payload);
  return true;
}

network::outcome network::run() {
  stopped_ = false;
  while (!stopped_) {
    if (steps_ >= options_.step_limit) return outcome::step_limit;
    if (!step()) return outcome::quiet;
  }
  return outcome::stopped;
}

void network::remember(const trace_line& line) {
  if (options_.trace_length == 0) return;
  if (past_.size() == options_.trace_length) past_.pop_front();
  past_.push_back(line);
}

void network::note(node_id node, const char* what, std::uint64_t a, std::uint64_t b) {
  trace_line line{now_, node, what, {}};
  line.m.a = a;
  line.m.b = b;
  remember(line);
}

std::string network::trace() const {
  std::string text = "seed " + std::to_string(options_.seed) + ", " + std::to_string(options_.nodes) + " nodes, " +
                     std::to_string(steps_) + " events; the last of them:\n";
  std::array<char, 240> line{};
  for (const trace_line& t : past_) {
    if (t.what != nullptr) {
      std::snprintf(line.data(), line.size(), "%12llu ns  node %-4u %s %llu %llu\n",
                    static_cast<unsigned long long>(t.at), t.node.value(), t.what,
                    static_cast<unsigned long long>(t.m.a), static_cast<unsigned long long>(t.m.b));
    } else {
      std::snprintf(
          line.data(), line.size(), "%12llu ns  node %-4u <- %-4u %s region %u unit %llu for %u acks %u flags %u\n",
          static_cast<unsigned long long>(t.at), t.node.value(), t.m.from.value(), name_of(t.m.kind).c_str(),
          t.m.region.value(), static_cast<unsigned long long>(t.m.unit), t.m.requester.value(), t.m.acks, t.m.flags);
    }
    text += line.data();
  }
  return text;
}

std::string name_of(message_kind kind) {
  static constexpr std::array names{"invalid",
                                    "read_request",
                                    "write_request",
                                    "atomic_request",
                                    "push_request",
                                    "done",
                                    "copy_dropped",
                                    "fetch_read",
                                    "fetch_write",
                                    "fetch_push",
                                    "atomic_fetch",
                                    "invalidate",
                                    "read_reply",
                                    "write_reply",
                                    "write_grant",
                                    "atomic_reply",
                                    "invalidate_ack",
                                    "push_copy",
                                    "push_ack",
                                    "push_reply",
                                    "copy_request",
                                    "copy_reply",
                                    "update",
                                    "patch",
                                    "update_unused",
                                    "diffs",
                                    "diffs_ack",
                                    "home_move",
                                    "home_offer",
                                    "home_atomic",
                                    "home_atomic_reply",
                                    "owner_here",
                                    "please_take",
                                    "notices",
                                    "pin_request",
                                    "pin_grant",
                                    "pin_end",
                                    "spread_request",
                                    "spread",
                                    "spread_ack",
                                    "spread_done",
                                    "pin_next",
                                    "room",
                                    "survives",
                                    "owner_is",
                                    "unit_lost",
                                    "home_survives",
                                    "home_settled",
                                    "home_lost",
                                    "unit_refused",
                                    "write_back",
                                    "written_back",
                                    "replica",
                                    "replica_ack",
                                    "turn_request",
                                    "turn_grant",
                                    "turn_end",
                                    "pause",
                                    "paused",
                                    "resume",
                                    "write_set",
                                    "commits_known",
                                    "token_request",
                                    "token_next",
                                    "token",
                                    "version_request",
                                    "version_reply"};
  static_assert(names.size() == static_cast<std::size_t>(message_kind::other_first));
  const auto number = static_cast<std::size_t>(kind);
  if (number < names.size()) return names[number];
  if (kind < message_kind::sync_first) return "other+" + std::to_string(number - names.size());
  if (kind <= message_kind::sync_last)
    return "sync+" + std::to_string(number - static_cast<std::size_t>(message_kind::sync_first));
  return "service+" + std::to_string(number - static_cast<std::size_t>(message_kind::service_request));
}

}  // namespace quire::sim
