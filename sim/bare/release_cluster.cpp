// SPDX-License-Identifier: BSD-3-Clause
#include "sim/bare/release_cluster.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/pins.hpp"
#include "sync/edges.hpp"

namespace quire::sim {

using model::action;
using model::action_kind;
using model::message_kind;
using model::region_id;
namespace message_flag = model::message_flag;

release_cluster::release_cluster(const release_options& options, release_driver& driver)
    : options_(options),
      driver_(driver),
      latest_(words()),
      holders_(std::size_t{options.regions} * options.units, -1),
      moving_(std::size_t{options.regions} * options.units) {
  for (unsigned n = 0; n < options.nodes; ++n) {
    nodes_.push_back(std::make_unique<node_state>(*this, n));
    node_state& node = *nodes_.back();
    node.release = std::make_unique<release::node>(node.self, options.nodes, options.twin_limit, options.notice_limit);
    node.release->open().pins = &node.pins;
    node.release->open().newest.keep(0);  // one word is written at a time
    for (unsigned r = 0; r < options.regions; ++r) {
      auto m = std::make_unique<region_memory>();
      const std::size_t cells = std::size_t{options.units} * options.words;
      m->units.resize(options.units);
      m->views.resize(options.units);
      m->frames.resize(cells);
      m->twins.resize(cells);
      m->has_twin.resize(options.units);
      release::region_shape shape;
      shape.region = region_id{static_cast<std::uint16_t>(r)};
      shape.self = node.self;
      shape.nodes = model::geometry::of(options.nodes);
      shape.managers = directory::manager_map::make(options.placement, options.nodes, options.units, options.fixed);
      shape.units = options.units;
      shape.first_touch = options.first_touch;
      shape.migrates = shape.moves_between = options.migrates;
      shape.pages_out = options.limited;
      shape.update = options.update;
      shape.migratory = options.migratory;
      shape.keeps = options.keeps;
      m->machine = std::make_unique<release::machine>(shape, m->units.data(), node.release->open());
      node.release->on_region(shape.region, *m->machine, 0);
      node.memory.push_back(std::move(m));
    }
  }
}

release_cluster::~release_cluster() {
  for (thread& t : threads_) {
    if (t.program) t.program.destroy();
  }
}

void release_cluster::fail(std::string why) {
  if (failure_.empty() && !why.empty()) failure_ = std::move(why);
}

release_cluster::place release_cluster::place_of(word at) const noexcept {
  const word in_region = word{options_.units} * options_.words;
  return {static_cast<unsigned>(at / in_region), at % in_region / options_.words,
          static_cast<unsigned>(at % options_.words)};
}

std::uint64_t release_cluster::at_home(word at) {
  const place p = place_of(at);
  for (const auto& n : nodes_)
    if (n->memory[p.region]->machine->is_home(p.unit)) return frame(*n, p.region, p.unit)[p.word];
  fail("word " + std::to_string(at) + " has no home");
  return 0;
}

// ---- programs

std::size_t release_cluster::add_thread(unsigned node) {
  thread& t = threads_.emplace_back();
  t.node = node;
  t.number = static_cast<std::uint32_t>(nodes_[node]->threads.size());
  nodes_[node]->threads.push_back(threads_.size() - 1);
  return threads_.size() - 1;
}

void release_cluster::begin(std::size_t t, release_program p) {
  threads_[t].program = p.handle;
  driver_.go_on(t);
}

std::uint64_t release_cluster::make_object(unsigned node, sync::operation what, std::uint64_t operand) {
  sync::actions out;
  sync::call c;
  c.what = what;
  c.operand = operand;
  nodes_[node]->sync.on_call(c, out);
  CHECK(out.size() == 1 && out[0].status == QUIRE_OK);
  return out[0].object;
}

release_cluster::awaiter release_cluster::ask(std::size_t t, request::kind what, word at) {
  request r;
  r.what = what;
  r.at = at;
  return {*this, t, r};
}
release_cluster::awaiter release_cluster::read(std::size_t t, word at) { return ask(t, request::kind::read, at); }
release_cluster::awaiter release_cluster::read_anything(std::size_t t, word at) {
  return ask(t, request::kind::read_anything, at);
}
release_cluster::awaiter release_cluster::write(std::size_t t, word at, std::uint64_t value) {
  request r;
  r.what = request::kind::write;
  r.at = at;
  r.a = value;
  return {*this, t, r};
}
release_cluster::awaiter release_cluster::atomic(std::size_t t, word at, model::atomic_operation what, std::uint64_t a,
                                                 std::uint64_t b) {
  request r;
  r.what = request::kind::atomic;
  r.at = at;
  r.a = a;
  r.b = b;
  r.operation = what;
  return {*this, t, r};
}
release_cluster::awaiter release_cluster::take_over(std::size_t t, word at) {
  return ask(t, request::kind::take_over, at);
}
release_cluster::awaiter release_cluster::pin(std::size_t t, word at) { return ask(t, request::kind::pin, at); }
release_cluster::awaiter release_cluster::try_pin(std::size_t t, word at) { return ask(t, request::kind::try_pin, at); }
release_cluster::awaiter release_cluster::unpin(std::size_t t, word at) { return ask(t, request::kind::unpin, at); }
release_cluster::awaiter release_cluster::call(std::size_t t, const sync::call& c) {
  request r;
  r.what = request::kind::call;
  r.call = c;
  return {*this, t, r};
}
release_cluster::awaiter release_cluster::call(std::size_t t, sync::operation what, std::uint64_t object,
                                               std::uint64_t operand) {
  sync::call c;
  c.what = what;
  c.object = object;
  c.operand = operand;
  return call(t, c);
}
// ---- threads

void release_cluster::run_thread(std::size_t t) {
  thread& self = threads_[t];
  if (self.now == thread::state::done) return resume(t);
  CHECK(self.now == thread::state::ready);
  switch (self.next.what) {
    case request::kind::read:
    case request::kind::read_anything:
    case request::kind::write:
      return step_access(t);
    case request::kind::atomic:
      return step_atomic(t);
    case request::kind::call:
      return step_call(t);
    case request::kind::pin:
    case request::kind::try_pin:
      return step_pin(t);
    case request::kind::unpin:
      return step_unpin(t);
    case request::kind::take_over: {
      const place p = place_of(self.next.at);
      node_state& n = *nodes_[self.node];
      model::actions out;
      (void)n.memory[p.region]->machine->frames().on_please_take(p.unit, out);
      finish_step(n, p.region, p.unit, nullptr, out);
      return resume(t);
    }
    case request::kind::none:
      return resume(t);
  }
}

void release_cluster::resume(std::size_t t) {
  thread& self = threads_[t];
  self.now = thread::state::ready;
  self.faults = 0;
  self.next = {};
  self.program.resume();
  if (self.program.done()) self.now = thread::state::finished;
}

bool release_cluster::try_access(std::size_t t) {
  thread& self = threads_[t];
  const request& r = self.next;
  if (r.what == request::kind::none) return false;
  const place p = place_of(r.at);
  node_state& n = *nodes_[self.node];
  const access want = r.what == request::kind::write ? access::write : access::read;
  if (n.memory[p.region]->views[p.unit] < want) return false;
  std::uint64_t& w = frame(n, p.region, p.unit)[p.word];
  if (want == access::write) {
    w = latest_[r.at] = r.a;
    return true;
  }
  self.value = w;
  if (w != latest_[r.at] && r.what == request::kind::read) {
    fail("a thread reads " + std::to_string(w) + " from word " + std::to_string(r.at) + ", the last write left " +
         std::to_string(latest_[r.at]) + at_unit(n.self, p.region, p.unit));
  }
  return true;
}

void release_cluster::step_access(std::size_t t) {
  if (try_access(t)) return resume(t);
  fault(t, threads_[t].next.what == request::kind::write ? access::write : access::read);
}

void release_cluster::fault(std::size_t t, access want) {
  thread& self = threads_[t];
  const place p = place_of(self.next.at);
  node_state& n = *nodes_[self.node];
  if (++self.faults > options_.fault_limit)
    return fail("livelock: an access faults for ever" + at_unit(n.self, p.region, p.unit));
  self.now = thread::state::waits_for_unit;
  model::actions out;
  (void)n.memory[p.region]->machine->on_fault(p.unit, want, out, self.faults - 1);
  finish_step(n, p.region, p.unit, nullptr, out);
  n.feed([](release::node& of) { of.relieve(); });
}

void release_cluster::step_atomic(std::size_t t) {
  thread& self = threads_[t];
  const place p = place_of(self.next.at);
  node_state& n = *nodes_[self.node];
  self.now = thread::state::waits_for_call;
  message m;
  m.unit = p.unit;
  m.operation = static_cast<std::uint32_t>(self.next.operation);
  m.a = self.next.a;
  m.b = self.next.b;
  m.c = p.word * sizeof(std::uint64_t);
  m.token = t + 1;
  n.feed([](release::node& of) { of.release(); });
  model::actions out;
  n.memory[p.region]->machine->on_atomic(m, out);
  finish_step(n, p.region, p.unit, nullptr, out);
}

void release_cluster::step_call(std::size_t t) {
  thread& self = threads_[t];
  node_state& n = *nodes_[self.node];
  self.now = thread::state::waits_for_call;
  sync::call c = self.next.call;
  c.token = t + 1;
  c.thread = self.number;
  if (sync::is_collective(c) && !tamper_.releases_nothing) n.feed([](release::node& of) { of.release(); });
  sync::actions out;
  n.sync.on_call(c, out);
  perform_sync(n, out);
}

void release_cluster::step_pin(std::size_t t) {
  thread& self = threads_[t];
  const place p = place_of(self.next.at);
  node_state& n = *nodes_[self.node];
  release::machine& m = *n.memory[p.region]->machine;
  model::actions out;
  self.now = thread::state::waits_for_unit;
  const auto outcome =
      std::exchange(self.pin_counted, true) ? m.pins().on_pin_again(p.unit, out) : m.pins().on_pin(p.unit, out);
  finish_step(n, p.region, p.unit, nullptr, out);
  self.value = outcome == model::fault_outcome::local ? 1 : 0;
  if (outcome == model::fault_outcome::local) {
    acquire(n);
    int& holder = holders_[p.region * options_.units + p.unit];
    if (holder >= 0) fail("two nodes have a pin" + at_unit(n.self, p.region, p.unit));
    holder = static_cast<int>(self.node);
  } else if (self.next.what == request::kind::pin) {
    return;  // until it is woken
  } else {
    out.clear();
    m.pins().on_pin_given_up(p.unit, out);
    finish_step(n, p.region, p.unit, nullptr, out);
  }
  self.pin_counted = false;
  resume(t);
}

void release_cluster::step_unpin(std::size_t t) {
  const place p = place_of(threads_[t].next.at);
  node_state& n = *nodes_[threads_[t].node];
  model::actions out;
  holders_[p.region * options_.units + p.unit] = -1;
  if (!n.memory[p.region]->machine->pins().on_unpin(p.unit, out))
    fail("a pin is not known to the machine" + at_unit(n.self, p.region, p.unit));
  finish_step(n, p.region, p.unit, nullptr, out);
  resume(t);
}

void release_cluster::complete(std::uint64_t token, std::uint64_t value) {
  CHECK(token > 0 && token <= threads_.size());
  thread& self = threads_[token - 1];
  if (self.now != thread::state::waits_for_call) return fail("a call is completed twice");
  self.now = thread::state::done;
  self.value = value;
  driver_.go_on(token - 1);
}

void release_cluster::wake(node_state& n, unsigned region, std::uint64_t unit) {
  for (const std::size_t t : n.threads) {
    thread& sleeper = threads_[t];
    if (sleeper.now != thread::state::waits_for_unit) continue;
    const place p = place_of(sleeper.next.at);
    if (p.region != region || p.unit != unit) continue;
    sleeper.now = thread::state::ready;
    driver_.go_on(t);
  }
}

}  // namespace quire::sim
