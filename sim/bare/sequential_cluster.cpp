// SPDX-License-Identifier: BSD-3-Clause
#include "sim/bare/sequential_cluster.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/pins.hpp"
#include "model/atomic_operation.hpp"
#include "sim/bare/sequential_checkers.hpp"

namespace quire::sim {

using model::action;
using model::action_kind;
using model::message_kind;

namespace {

bool is_access(operation_kind k) noexcept { return k == operation_kind::read || k == operation_kind::write; }

access right_needed(operation_kind k) noexcept { return k == operation_kind::write ? access::write : access::read; }

model::atomic_operation atomic_of(operation_kind k) noexcept {
  switch (k) {
    case operation_kind::add:
      return model::atomic_operation::add;
    case operation_kind::exchange:
      return model::atomic_operation::exchange;
    default:
      return model::atomic_operation::compare_exchange;
  }
}

}  // namespace

cluster::cluster(const cluster_options& options, std::vector<script> scripts, cluster_driver& driver)
    : options_(options), scripts_(std::move(scripts)), threads_of_(options.nodes), driver_(driver) {
  const std::size_t cells = std::size_t{options.nodes} * options.units;
  if (options.replicas) {
    options_.survives = true;
    ++options_.words;
    state_.replicas.resize(cells);
    state_.books.resize(options.nodes);
    state_.rounds.resize(options.nodes);
    state_.gates.resize(options.nodes);
    state_.knows = ledger(options.nodes, options.units, scripts_.size());
  }
  if (options.stored) ++options_.words;
  state_.units.resize(cells);
  state_.entries.resize(cells);
  state_.requests.assign(options.nodes, directory::request_pool(1));
  state_.pinned.assign(options.units, 0);
  state_.pins.assign(options.nodes, sequential::pin_table(options.pin_limit));
  state_.views.assign(cells, access::none);
  state_.contents.assign(cells * options_.words, 0);
  state_.disk.assign(cells * options_.words, 0);
  state_.where.assign(cells, 0);
  state_.latest.assign(std::size_t{options.units} * options_.words, 0);
  state_.threads.resize(scripts_.size());
  state_.members.resize(options.nodes, {.domains = domains()});
  for (unsigned n = 0; n < options.nodes; ++n) state_.recoveries.emplace_back(n, options.nodes, options.replicas);
  for (std::uint16_t n = 0; n < options.nodes; ++n) {
    sequential::region_shape shape;
    shape.self = node_id{n};
    shape.nodes = model::geometry::of(options.nodes);
    shape.managers = directory::manager_map::make(options.placement, options.nodes, options.units, options.fixed);
    shape.units = options.units;
    shape.learns = options.learns;
    shape.stored = options.stored;
    shape.hosts = hosts();
    shape.one_memory = options_.one_memory;
    if (options_.survives) shape.members = &state_.members[n];
    const std::size_t at = std::size_t{n} * options.units;
    if (options.replicas) shape.replicas = {&state_.replicas[at], &state_.books[n], &state_.rounds[n]};
    machines_.emplace_back(shape, &state_.units[at], &state_.entries[at], state_.requests[n], state_.pins[n]);
  }
  if (options.stored) begin_in_stores();
  for (std::size_t t = 0; t < scripts_.size(); ++t) {
    threads_of_[scripts_[t].node.value()].push_back(t);
    if (scripts_[t].operations.empty()) state_.threads[t].now = thread::state::finished;
  }
}

void cluster::fail(std::string why) {
  if (failure_.empty() && !why.empty()) failure_ = std::move(why);
}

void cluster::restore(const cluster_state& state) {
  const auto* const units = state_.units.data();
  const auto* const entries = state_.entries.data();
  const auto* const requests = state_.requests.data();
  const auto* const pins = state_.pins.data();
  const auto* const members = state_.members.data();
  const auto* const replicas = state_.replicas.data();
  const auto* const books = state_.books.data();
  const auto* const rounds = state_.rounds.data();
  state_ = state;
  // The machines point into these.
  CHECK(units == state_.units.data() && entries == state_.entries.data() && requests == state_.requests.data() &&
        pins == state_.pins.data() && members == state_.members.data() && replicas == state_.replicas.data() &&
        books == state_.books.data() && rounds == state_.rounds.data());
  failure_.clear();
}

sequential::directory_entry& cluster::entry(std::uint64_t unit) noexcept {
  return state_.entries[std::size_t{manager_of(unit).value()} * options_.units + unit];
}

// ---- inputs

void cluster::deliver(node_id to, const message& m, std::span<const std::byte> payload) {
  if (is_dead(to)) return;
  if (options_.survives && state_.recoveries[to.value()].dead() != 0 && take_recovery(to, m, payload)) return;
  if (m.kind == message_kind::recovery) return (void)take_recovery(to, m, payload);
  if (options_.stored && (take_sync(to, m) || park_message(to, m))) return;
  if (!payload.empty()) {
    std::vector<std::uint64_t> words(options_.words);
    CHECK(payload.size() == options_.words * sizeof(std::uint64_t) && m.payload_bytes == payload.size());
    std::memcpy(words.data(), payload.data(), payload.size());
    fail(check_payload(*this, m, words));
    fail(check_landing(*this, to, m.unit, words));
    bring(to, m.unit, content_use::replaced);
    std::ranges::copy(words, frame(to, m.unit).begin());
  }
  model::actions out;
  machines_[to.value()].on_message(m, out);
  finish_step(to, m.unit, &m, out);
  replicate(to);
}

void cluster::on_hold_over(node_id node, std::uint64_t unit) {
  if (is_dead(node)) return;
  model::actions out;
  machines_[node.value()].on_hold_over(unit, out);
  finish_step(node, unit, nullptr, out);
  replicate(node);
}

void cluster::run_thread(std::size_t t) {
  if (state_.threads[t].now != thread::state::ready) return;
  try_operation(t);
  replicate(node_of(t));
}

void cluster::try_operation(std::size_t t) {
  const operation& o = operation_of(t);
  if (o.what >= operation_kind::sync) return call_sync(t, o);
  if (options_.stored && park_thread(t, o)) return;
  if (is_access(o.what)) return access_unit(t, o, right_needed(o.what));
  if (o.what < operation_kind::read_ahead) return call(t, o);
  if (o.what == operation_kind::release) return release(t);
  if (o.what == operation_kind::unpin) return unpin(t, o);
  if (o.what == operation_kind::pin || o.what == operation_kind::pin_or_give_up) return pin(t, o);
  if (o.what == operation_kind::page_out) return page_out(t, o);
  model::actions out;
  auto& m = machines_[node_of(t).value()];
  if (o.what == operation_kind::take_over) {
    if (m.frames().on_please_take(o.unit, out)) {
      bring(node_of(t), o.unit, m.has_content(o.unit) ? content_use::read : content_use::promised);
    }
  } else if (o.what >= operation_kind::advise_writing) {
    m.on_advice(o.unit, o.what == operation_kind::advise_writing);
  } else if (o.what == operation_kind::map_around) {
    (void)m.on_fault_around(o.unit, out);
  } else {
    const access want = o.what == operation_kind::write_ahead ? access::write : access::read;
    (void)m.on_read_ahead(o.unit, want, o.withhold, out, o.what == operation_kind::guess_ahead);
  }
  finish_step(node_of(t), o.unit, nullptr, out);
  finish_operation(t);
}

/// As core::frames does.
void cluster::bring(node_id node, std::uint64_t unit, content_use how) noexcept {
  std::uint8_t& where = state_.where[node.value() * options_.units + unit];
  if (where == (frame_gone | frame_saved) && how != content_use::replaced && how != content_use::promised) {
    std::ranges::copy(content(node, unit), frame(node, unit).begin());
  }
  const bool must_be_here = how != content_use::replaced && how != content_use::promised;
  if (must_be_here && is_absent(node, unit))
    fail("a step cannot wait for content, and only the store has it (unit " + std::to_string(unit) + ")");
  where &= static_cast<std::uint8_t>(~(frame_gone | frame_stored));
  if (how != content_use::read) where &= static_cast<std::uint8_t>(~frame_saved);
}

/// What the engine does with a frame that it wants back. The content of an owner's goes to the file.
void cluster::page_out(std::size_t t, const operation& o) {
  const node_id node = node_of(t);
  auto& m = machines_[node.value()];
  const model::frame_use use = m.frames().use_of_frame(o.unit);
  model::actions out;
  if (use == model::frame_use::needed) m.frames().on_unmap(o.unit, out);
  if (use == model::frame_use::copy) m.frames().on_drop_copy(o.unit, out);
  finish_step(node, o.unit, nullptr, out);
  std::uint8_t& where = state_.where[node.value() * options_.units + o.unit];
  const bool stays_in_store = use == model::frame_use::needed && leave_to_store(node, o.unit);
  if (!stays_in_store && use != model::frame_use::busy && (where & frame_gone) == 0 && m.is_written(o.unit)) {
    if (use == model::frame_use::needed) {
      std::ranges::copy(content(node, o.unit),
                        state_.disk.begin() + (content(node, o.unit).data() - state_.contents.data()));
      where |= frame_saved;
    }
    where |= frame_gone;
    std::ranges::fill(frame(node, o.unit), frame_is_gone);
  }
  finish_operation(t);
}

// ---- threads

/// A load or store: the hardware asks the view, and nothing else.
bool cluster::try_access(std::size_t t, const operation& o, access want) {
  const node_id node = node_of(t);
  if (view(node, o.unit) < want) return false;
  if ((state_.where[node.value() * options_.units + o.unit] & frame_gone) != 0)
    fail("a thread uses a frame that is gone");
  std::uint64_t& word = frame(node, o.unit)[o.word];
  if (want == access::write) {
    word = latest(o.unit, o.word) = o.a;
    count_write(node, o.unit);
    if (options_.replicas) state_.knows.write(node.value(), o.unit, latest(o.unit, options_.words - 1));
  } else if (word != latest(o.unit, o.word)) {
    fail("a read does not return the last write (unit " + std::to_string(o.unit) + ", node " +
         std::to_string(node.value()) + ": " + std::to_string(word) + ", not " +
         std::to_string(latest(o.unit, o.word)) + ")");
  }
  if (options_.replicas && want == access::read) state_.knows.read(node.value(), o.unit);
  if (want == access::read) remember(t, word);
  finish_operation(t);
  return true;
}

void cluster::access_unit(std::size_t t, const operation& o, access want) {
  if (!try_access(t, o, want)) fault(t, o, want);
}

void cluster::fault(std::size_t t, const operation& o, access want) {
  thread& self = state_.threads[t];
  const node_id node = node_of(t);
  if (self.faults != 0 && self.lost < options_.most_lost) ++self.lost;
  if (++self.faults > options_.fault_limit) {
    fail("livelock: thread " + std::to_string(t) + " of node " + std::to_string(node.value()) + " faulted " +
         std::to_string(self.faults) + " times on unit " + std::to_string(o.unit) + " for one access");
  }
  model::actions out;
  const auto outcome = machines_[node.value()].on_fault(o.unit, want, out, options_.hold_off ? self.lost : 0);
  if (outcome == sequential::fault_outcome::lost) return finish_lost(t);
  const bool waits = outcome != sequential::fault_outcome::local;
  if (waits) {
    self.now = thread::state::waits_for_unit;
  }
  finish_step(node, o.unit, nullptr, out);
  if (waits) {
    if (pins_of(node, o.unit) != 0 && !options_.replicas) {  // it may wait for the end of a round
      fail("a thread waits for a unit that its node has pinned (unit " + std::to_string(o.unit) + ")");
    }
    return;
  }
  if (view(node, o.unit) < want) fail("a local fault ended without the right");
}

void cluster::call(std::size_t t, const operation& o) {
  state_.threads[t].now = thread::state::waits_for_call;
  auto& machine = machines_[node_of(t).value()];
  model::actions out;
  const std::uint64_t token = t + 1;
  if (options_.replicas) state_.knows.ask(node_of(t).value(), t);
  if (o.what == operation_kind::push) {
    machine.pushes().on_push(o.unit, token, out);
  } else {
    message m;
    m.unit = o.unit;
    m.operation = static_cast<std::uint32_t>(atomic_of(o.what));
    m.a = o.a;
    m.b = o.b;
    m.c = o.word * sizeof(std::uint64_t);
    m.token = token;
    machine.on_atomic(m, out);
  }
  finish_step(node_of(t), o.unit, nullptr, out);
}

// ---- pins

namespace {
constexpr unsigned bits_per_unit = 4;
constexpr std::uint64_t one_pin(std::uint64_t unit) noexcept { return std::uint64_t{1} << (unit * bits_per_unit); }
constexpr unsigned pins_in(std::uint64_t pins, std::uint64_t unit) noexcept {
  return static_cast<unsigned>(pins >> (unit * bits_per_unit)) & 15u;
}
}  // namespace

unsigned cluster::pins_of(node_id node, std::uint64_t unit) const noexcept {
  unsigned n = 0;
  for (const std::size_t t : threads_of(node)) n += pins_in(state_.threads[t].pins, unit);
  return n;
}

void cluster::pin(std::size_t t, const operation& o) {
  CHECK(options_.units * bits_per_unit <= 64 && pins_in(state_.threads[t].pins, o.unit) < 15);
  thread& self = state_.threads[t];
  const node_id node = node_of(t);
  auto& m = machines_[node.value()];
  model::actions out;
  const bool again = std::exchange(self.pinning, true);
  ++self.faults;
  const auto outcome = again ? m.pins().on_pin_again(o.unit, out) : m.pins().on_pin(o.unit, out);
  if (outcome == sequential::fault_outcome::refused) {
    fail("a pin is refused");
  } else if (outcome == sequential::fault_outcome::lost) {
    m.pins().on_pin_given_up(o.unit, out);
    finish_step(node, o.unit, nullptr, out);
    return finish_lost(t);
  } else if (outcome == sequential::fault_outcome::local) {
    self.pins += one_pin(o.unit);
    ++state_.pinned[o.unit];
    finish_operation(t);
  } else {
    if (pins_of(node, o.unit) != 0) {
      fail("a thread waits for a unit that its node has pinned (unit " + std::to_string(o.unit) + ")");
    }
    self.now = thread::state::waits_for_unit;
  }
  finish_step(node, o.unit, nullptr, out);
}

void cluster::give_up(std::size_t t) {
  if (!may_give_up(t) || is_frozen(node_of(t))) return;
  const operation o = operation_of(t);
  model::actions out;
  machines_[node_of(t).value()].pins().on_pin_given_up(o.unit, out);
  finish_operation(t);
  finish_step(node_of(t), o.unit, nullptr, out);
  replicate(node_of(t));
}

void cluster::unpin(std::size_t t, const operation& o) {
  thread& self = state_.threads[t];
  model::actions out;
  const node_id node = node_of(t);
  if (pins_in(self.pins, o.unit) != 0) {
    self.pins -= one_pin(o.unit);
    --state_.pinned[o.unit];
    if (!machines_[node.value()].pins().on_unpin(o.unit, out))
      fail("the machine has lost a pin (unit " + std::to_string(o.unit) + ")");
  }
  finish_operation(t);
  finish_step(node, o.unit, nullptr, out);
}

void cluster::finish_operation(std::size_t t) {
  thread& self = state_.threads[t];
  const std::uint32_t next = self.next + 1;
  const std::uint64_t pins = self.pins, seen = self.seen;
  self = {};
  self.next = next;
  self.pins = pins;
  self.seen = seen;
  if (next == scripts_[t].operations.size()) self.now = thread::state::finished;
}

// ---- actions

void cluster::finish_step(node_id node, std::uint64_t unit, const message* trigger, model::actions& out) {
  if (tamper_) tamper_(*this, node, trigger, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    perform(node, out[i]);
    fail(check_views(*this, out[i].unit));
    fail(check_pins(*this, out[i].unit));
  }
  fail(check_copies(*this));
  fail(check_node(*this, node, unit));
  fail(check_directory(*this, unit));
  fail(check_store(*this, unit));
}

void cluster::perform(node_id node, const action& a) {
  switch (a.kind) {
    case action_kind::send:
      return send(node, a.to, a);
    case action_kind::multicast:
      return a.targets.for_each([&](node_id to) { send(node, to, a); });
    case action_kind::protect:
    case action_kind::permit:
      return change_view(node, a);
    case action_kind::wake:
      return wake(node, a.unit);
    case action_kind::operate:
    case action_kind::operate_here:
      return operate(node, a);
    case action_kind::complete:
      return complete(a.m);
    case action_kind::flush:
      return begin_flush(node, a.unit);
    case action_kind::leave:
      return leave_memory(node, a.unit, static_cast<model::leave_end>(a.m.a));
    case action_kind::refuse:
      return refuse(node, a.unit);
    case action_kind::hold:
      return;  // unit_state::held tells
    case action_kind::publish:
    case action_kind::make_twin:
    case action_kind::send_diff:
    case action_kind::send_patch:
    case action_kind::drop_twin:
    case action_kind::unseen:
      CHECK(!"an action of the sequential protocol");
  }
}

void cluster::send(node_id from, node_id to, const action& a) {
  fail(check_before_send(*this, from, a));
  if (a.m.kind == message_kind::push_reply) fail(check_pushed(*this, a.unit));
  message m = a.m;
  if (hold_back(from, to, m)) return;
  if (!a.with_content) return driver_.send(from, to, m, {});
  if (from == to) fail("content is sent to the node itself");
  bring(from, a.unit, content_use::read);
  const auto payload = std::as_bytes(content(from, a.unit));
  m.payload_bytes = static_cast<std::uint32_t>(payload.size());
  driver_.send(from, to, m, payload);
}

void cluster::change_view(node_id node, const action& a) {
  access& view = state_.views[a.unit * options_.nodes + node.value()];
  if (a.kind == action_kind::permit)
    bring(node, a.unit, a.level == access::write ? content_use::changed : content_use::read);
  if (view != a.from) fail("an action expects another state of the view");
  if ((a.kind == action_kind::permit) != (a.level > a.from)) fail("permit must raise and protect must lower");
  if (a.fresh && !std::ranges::all_of(content(node, a.unit), [](std::uint64_t w) { return w == 0; })) {
    fail("a frame is called fresh, but has content");
  }
  view = a.level;
}

void cluster::operate(node_id node, const action& a) {
  message m = a.m;
  const std::uint64_t word = m.c / sizeof(std::uint64_t);
  bring(node, a.unit, content_use::changed);
  std::uint64_t& value = frame(node, a.unit)[word];
  if (value != latest(a.unit, word))
    fail("an atomic operation works on an old value (unit " + std::to_string(a.unit) + ")");
  for (std::uint16_t n = 0; n < options_.nodes; ++n) {
    const bool uses =
        options_.one_memory ? machine(node_id{n}).unit(a.unit).pinned != 0 : view(node_id{n}, a.unit) != access::none;
    if (node_id{n} != node && uses) fail("an atomic operation, while others have copies");
    const bool own = n == node.value() && a.kind == action_kind::operate_here;
    if (!own && pins_of(node_id{n}, a.unit) != 0) {
      fail("another node's atomic operation on a pinned unit (unit " + std::to_string(a.unit) + ")");
    }
  }
  const std::uint64_t before = value;
  value = latest(a.unit, word) = model::apply(static_cast<model::atomic_operation>(m.operation), before, m.a, m.b);
  m.a = before;
  count_write(node, a.unit);
  if (options_.replicas) state_.knows.operate(node.value(), m.token - 1, a.unit, latest(a.unit, options_.words - 1));
  if (a.kind == action_kind::operate_here) return complete(m);
  if (hold_back(node, a.to, m)) return;
  driver_.send(node, a.to, m, {});
}

/// The last word of a unit counts its writes, so that contents can be told apart by age.
void cluster::count_write(node_id node, std::uint64_t unit) {
  if (!options_.replicas && !options_.stored) return;
  const std::uint64_t last = options_.words - 1;
  frame(node, unit)[last] = ++latest(unit, last);
}

void cluster::wake(node_id node, std::uint64_t unit) {
  for (const std::size_t t : threads_of(node)) {
    thread& sleeper = state_.threads[t];
    if (sleeper.now != thread::state::waits_for_unit || operation_of(t).unit != unit) continue;
    sleeper.now = thread::state::ready;
  }
}

void cluster::complete(const message& m) {
  CHECK(m.token > 0 && m.token <= scripts_.size());
  const std::size_t t = m.token - 1;
  if (state_.threads[t].now != thread::state::waits_for_call) return fail("a call is completed twice");
  if (options_.replicas && operation_of(t).what < operation_kind::push)
    state_.knows.answer(node_of(t).value(), t, operation_of(t).unit);
  remember(t, m.a);
  finish_operation(t);
}

}  // namespace quire::sim
