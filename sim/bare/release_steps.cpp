// SPDX-License-Identifier: BSD-3-Clause
// What a node of the simulated world does around its machines, as the engine does: synchronisation that takes memory
// along, actions performed, diffs out and in, and what is checked after every step.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/call_table.hpp"
#include "core/diffs.hpp"
#include "core/pins.hpp"
#include "sim/bare/release_cluster.hpp"
#include "sim/frames.hpp"
#include "sync/edges.hpp"

namespace quire::sim {

using model::action;
using model::action_kind;
using model::message_kind;
using model::region_id;
namespace message_flag = model::message_flag;

namespace {
bool all_zero(std::span<const std::uint64_t> words) {
  return std::ranges::all_of(words, [](std::uint64_t w) { return w == 0; });
}
/// As in src/core/inbox.cpp.
bool synchronises(const message& m) {
  switch (m.kind) {
    case message_kind::notices:
    case message_kind::home_atomic:
    case message_kind::home_atomic_reply:
    case message_kind::pin_grant:
    case message_kind::pin_end:
      return true;
    default:
      return m.kind >= message_kind::sync_first && m.kind <= message_kind::sync_last;
  }
}
}  // namespace

std::string at_unit(node_id n, unsigned region, std::uint64_t unit) {
  return " (node " + std::to_string(n.value()) + ", region " + std::to_string(region) + ", unit " +
         std::to_string(unit) + ")";
}

// ---- synchronisation

void release_cluster::acquire(node_state& n) {
  if (!tamper_.never_acquires) n.feed([](release::node& of) { of.acquire(); });
}

void release_cluster::synchronise(node_state& n, node_id to, const message& m, std::span<const std::byte> value,
                                  model::edge what) {
  if (tamper_.releases_nothing && what == model::edge::releases) what = model::edge::carries;
  n.feed([&](release::node& of) { of.send(to, m, value, what); });
}

void release_cluster::perform_sync(node_state& n, const sync::actions& list) {
  bool epoch_ended = false;
  for (const sync::action& a : list) {
    if (a.kind == sync::action_kind::complete) {
      acquire(n);
      CHECK(a.token > 0 && a.token <= threads_.size());
      threads_[a.token - 1].result = {a.status, a.object, a.values};
      complete(a.token, static_cast<std::uint64_t>(a.status));
      continue;
    }
    const sync::kind kind = sync::kind_of(a.m.kind);
    if (kind == sync::kind::gather) n.release->on_gathered(n.marks);
    if (kind == sync::kind::spread && n.self == node_id{0} && !std::exchange(epoch_ended, true)) {
      n.release->on_gathered(n.marks);
      n.feed([&n](release::node& of) { of.on_epoch(n.marks); });
    }
    synchronise(n, a.to, a.m, a.values.bytes(), sync::edge_of(a.m));
  }
  if (!n.sync.is_valid()) fail("synchronisation is not valid");
}

// ---- messages

void release_cluster::deliver(node_id to, const message& m, std::span<const std::byte> payload) {
  node_state& n = *nodes_[to.value()];
  if (tamper_.arrives && !tamper_.arrives(to, m)) return;
  if (m.from != to && synchronises(m) && !tamper_.keeps_nothing_back && n.release->keeps_back(m, payload)) return;
  handle(n, m, payload);
}

void release_cluster::handle(node_state& n, const message& m, std::span<const std::byte> payload) {
  const node_id to = n.self;
  if (m.kind == message_kind::notices) {
    return n.feed([&](release::node& of) {
      if (!of.on_message(m, payload)) fail("notices that are none");
    });
  }
  if (m.kind == message_kind::diffs) return on_diffs(n, m, payload);
  if (m.kind == message_kind::diffs_ack) return on_diffs_ack(n, m);
  if (m.kind >= message_kind::sync_first && m.kind <= message_kind::sync_last) {
    if (sync::kind_of(m.kind) == sync::kind::spread && to != node_id{0})
      n.feed([&n](release::node& of) { of.on_epoch(n.marks); });
    sync::actions out;
    n.sync.on_message(m, payload, out);
    return perform_sync(n, out);
  }
  const unsigned region = m.region.value();
  release::machine& machine = *n.memory[region]->machine;
  const bool taken = m.kind == message_kind::home_move && (m.flags & message_flag::take) != 0;
  const bool copy = m.kind == message_kind::copy_reply && machine.awaits_content(m.unit);
  if (taken && !machine.awaits_content(m.unit))
    fail("a home comes to who does not wait for it" + at_unit(to, region, m.unit));
  if (copy || taken || (m.kind == message_kind::pin_grant && machine.pins().awaits_grant(m.unit))) {
    if (!payload.empty()) {
      CHECK(payload.size() == options_.words * sizeof(std::uint64_t));
      std::memcpy(frame(n, region, m.unit).data(), payload.data(), payload.size());
    } else if (is_gone(frame(n, region, m.unit))) {
      std::ranges::fill(frame(n, region, m.unit), 0);  // a new frame
    } else if (!all_zero(frame(n, region, m.unit))) {
      fail("a unit is said to be zero, and the frame is not" + at_unit(to, region, m.unit));
    }
  }
  if (m.kind == message_kind::update) {
    CHECK(payload.size() == options_.words * sizeof(std::uint64_t));
    model::actions out;
    const auto outcome = machine.updates().on_update(m, out);
    std::vector<std::uint64_t> content(options_.words);
    std::memcpy(content.data(), payload.data(), payload.size());
    if (outcome == release::update_outcome::replace) std::ranges::copy(content, frame(n, region, m.unit).begin());
    if (outcome == release::update_outcome::merge) merge(n, region, m.unit, content);
    return finish_step(n, region, m.unit, &m, out);
  }
  if (m.kind == message_kind::patch) return on_patch(n, m, payload);
  if (m.kind == message_kind::home_move) --moving_[region * options_.units + m.unit];
  if (m.kind == message_kind::pin_grant) acquire(n);
  model::actions out;
  m.kind == message_kind::please_take ? (void)machine.frames().on_please_take(m.unit, out) : machine.on_message(m, out);
  finish_step(n, region, m.unit, &m, out);
}

void release_cluster::leave(node_state& n, node_id to, const message& m, std::span<const std::byte> payload) {
  flush(n);
  if (m.kind == message_kind::home_move) ++moving_[m.region.value() * options_.units + m.unit];
  driver_.send(n.self, to, m, payload);
}

void release_cluster::node_state::perform(const protocol::domain_action& a) {
  switch (a.what) {
    case protocol::domain_action::kind::perform:
      return perform(a.region, *a.list);
    case protocol::domain_action::kind::perform_all:
      return cluster.flush(*this);
    case protocol::domain_action::kind::transmit:
      return transmit(a.to, a.m, a.value);
    case protocol::domain_action::kind::hear:
      return cluster.handle(*this, a.m, a.value);
    case protocol::domain_action::kind::compare:
      return release->on_compared(!cluster.changes(*this, a.region.value(), a.unit).empty());
    case protocol::domain_action::kind::look_at_sends:
      return release->on_sends(false);              // what is sent is copied
    case protocol::domain_action::kind::left_back:  // nobody dies here
    case protocol::domain_action::kind::released:
    case protocol::domain_action::kind::interval:
    case protocol::domain_action::kind::acquired:
    case protocol::domain_action::kind::admit:  // of domains that wait
      return;
  }
}

void release_cluster::node_state::transmit(node_id to, const message& m, std::span<const std::byte> value) {
  message sent = m;
  std::span<const std::byte> payload = value;
  if (m.kind == message_kind::pin_grant && (m.flags & message_flag::no_data) == 0) {
    release::machine& home = *memory[m.region.value()]->machine;
    model::actions out;
    home.pins().on_grant_leaves(m.unit, out);
    perform(m.region, out);
    if (!home.is_home(m.unit))
      cluster.fail("a pin leaves a node that is not the home" + at_unit(self, m.region.value(), m.unit));
    if (home.is_written(m.unit)) {
      payload = std::as_bytes(cluster.as_told(*this, m.region.value(), m.unit));
    } else {
      sent.flags |= message_flag::zero;
    }
  }
  sent.payload_bytes = static_cast<std::uint32_t>(payload.size());
  cluster.leave(*this, to, sent, payload);
}

void release_cluster::node_state::perform(region_id region, const model::actions& list) {
  for (const action& a : list) {
    model::actions one;
    one.add(a.kind, a.unit) = a;
    if (cluster.tamper_.actions) cluster.tamper_.actions(self.value(), region.value(), nullptr, one);
    for (const action& performed : one) cluster.perform(*this, region.value(), performed);
  }
  if (list.size() != 0) {
    if (cluster.tamper_.after) cluster.tamper_.after(self.value(), region.value(), list[0].unit, nullptr);
    cluster.check_unit(*this, region.value(), list[0].unit);
  }
}

// ---- diffs

void release_cluster::flush(node_state& n) {
  if (n.diffs.empty()) return;
  const auto list = std::exchange(n.diffs, {});
  for (const auto& [where, diffs] : list) {
    const auto& [to, region, group] = where;
    send_diffs(n, node_id{to}, region, n.self, group, diffs);
  }
}

void release_cluster::send_diffs(node_state& n, node_id to, unsigned region, node_id writer, std::uint64_t token,
                                 std::span<const diff> list) {
  std::vector<std::uint64_t> bytes;
  for (const diff& d : list) {
    bytes.push_back(d.unit);
    bytes.push_back(d.moves);
    bytes.push_back(d.words.size());
    for (const changed_word& w : d.words) {
      bytes.push_back(w.word);
      bytes.push_back(w.bits);
      bytes.push_back(w.value);
    }
  }
  message m;
  m.kind = message_kind::diffs;
  m.region = region_id{static_cast<std::uint16_t>(region)};
  m.requester = writer;
  m.unit = list[0].unit;
  m.count = static_cast<std::uint32_t>(list.size());
  m.token = token;
  m.payload_bytes = static_cast<std::uint32_t>(bytes.size() * sizeof bytes[0]);
  leave(n, to, m, std::as_bytes(std::span(bytes)));
}

void release_cluster::on_diffs(node_state& n, const message& m, std::span<const std::byte> payload) {
  std::vector<std::uint64_t> words(payload.size() / sizeof(std::uint64_t));
  std::memcpy(words.data(), payload.data(), payload.size());
  const unsigned region = m.region.value();
  release::machine& machine = *n.memory[region]->machine;
  std::uint32_t in_place = 0;
  std::size_t i = 0;
  for (std::uint32_t k = 0; k < m.count; ++k) {
    diff d;
    d.unit = words[i++];
    d.moves = words[i++];
    for (std::uint64_t left = words[i++]; left != 0; --left, i += 3)
      d.words.push_back({words[i], words[i + 1], words[i + 2]});
    const auto what = machine.homes().on_diff(d.unit, m.requester, static_cast<std::uint16_t>(d.moves), true);
    if (what == release::diff_outcome::forward) {
      const auto way = machine.way_of(d.unit);
      n.forwards[++n.tokens] = {m.from, m.token, n.release->arrivals().diff_passed(m.from)};
      d.moves = way.moves;
      send_diffs(n, way.to, region, m.requester, n.tokens, std::span(&d, 1));
    } else {
      ++in_place;
      if (what == release::diff_outcome::apply) {
        for (const changed_word& w : d.words) {
          w.apply(frame(n, region, d.unit));
          if (machine.kept().is_kept(d.unit)) w.apply(twin(n, region, d.unit));
        }
      }
    }
    if (tamper_.after) tamper_.after(n.self.value(), region, d.unit, &m);
    check_unit(n, region, d.unit);
  }
  if (in_place == 0) return;
  message ack;
  ack.kind = message_kind::diffs_ack;
  ack.requester = m.requester;
  ack.token = m.token;
  ack.count = in_place;
  leave(n, m.from, ack, {});
  n.feed([](release::node& of) { of.on_applied(); });
}

void release_cluster::on_diffs_ack(node_state& n, const message& m) {
  if (m.token < first_forward) {
    if (tamper_.ignores_acknowledgements) return;
    return n.feed([&m](release::node& of) { of.on_acknowledged(m.from, m.count, static_cast<unsigned>(m.token)); });
  }
  const auto found = n.forwards.find(m.token);
  CHECK(found != n.forwards.end() && m.count == 1);
  const passed_on p = found->second;
  n.forwards.erase(found);
  if (p.from != n.self) {
    message ack = m;
    ack.token = p.token;
    leave(n, p.from, ack, {});
  }
  n.feed([&](release::node& of) { of.arrivals().on_passed(p.from, m.count, p.group); });
}

// ---- actions

void release_cluster::finish_step(node_state& n, unsigned region, std::uint64_t unit, const message* trigger,
                                  model::actions& out) {
  if (tamper_.actions) tamper_.actions(n.self.value(), region, trigger, out);
  for (const action& a : out) perform(n, region, a);
  flush(n);
  if (tamper_.after) tamper_.after(n.self.value(), region, unit, trigger);
  check_unit(n, region, unit);
}

void release_cluster::perform(node_state& n, unsigned region, const action& a) {
  switch (a.kind) {
    case action_kind::send:
      return send_unit(n, region, a);
    case action_kind::multicast:
      return a.targets.for_each([&](node_id to) {
        action one = a;
        one.to = to;
        send_unit(n, region, one);
      });
    case action_kind::protect:
    case action_kind::permit:
      return change_view(n, region, a);
    case action_kind::wake:
      return wake(n, region, a.unit);
    case action_kind::make_twin:
      return make_twin(n, region, a.unit);
    case action_kind::send_diff:
      return take_diff(n, region, a);
    case action_kind::send_patch:
      return send_patch(n, region, a);
    case action_kind::drop_twin:
      return drop_twin(n, region, a.unit);
    case action_kind::unseen:
      return;
    case action_kind::operate: {
      message m = a.m;
      m.a = operate(n, region, a.m);
      return synchronise(n, a.to, m, {}, model::edge::releases);
    }
    case action_kind::operate_here: {
      const std::uint64_t before = operate(n, region, a.m);
      acquire(n);
      return complete(a.m.token, before);
    }
    case action_kind::complete:
      acquire(n);
      return complete(a.m.token, a.m.a);
    case action_kind::publish:
    case action_kind::refuse:
    case action_kind::flush:
    case action_kind::leave:
    case action_kind::hold:
      return fail("an action that the release protocol does not have");
  }
}

void release_cluster::send_unit(node_state& n, unsigned region, const action& a) {
  if (a.m.kind == message_kind::home_atomic) {
    return synchronise(n, a.to, a.m, {}, a.m.requester == n.self ? model::edge::releases : model::edge::carries);
  }
  if (a.m.kind == message_kind::pin_grant || a.m.kind == message_kind::pin_end) {
    const bool releases = a.m.kind == message_kind::pin_grant ? a.m.b != 0 : a.m.requester == n.self;
    return synchronise(n, a.to, a.m, {}, releases ? model::edge::releases : model::edge::carries);
  }
  const bool gives = a.m.kind == message_kind::home_move;
  if (gives && (a.m.flags & message_flag::take) != 0 && !tamper_.homes_go_silently)
    n.feed([&a](release::node& of) { of.tell(a.to); });
  if (a.with_content && !gives && !n.memory[region]->machine->is_home(a.unit)) {
    fail("content leaves a node that is not the home" + at_unit(n.self, region, a.unit));
  }
  if ((a.m.flags & message_flag::zero) != 0 && !all_zero(frame(n, region, a.unit)) &&
      a.m.kind == message_kind::copy_reply) {
    fail("a unit is sent as zero, and is not" + at_unit(n.self, region, a.unit));
  }
  if (!a.with_content) return leave(n, a.to, a.m, {});
  const auto payload = std::as_bytes(as_told(n, region, a.unit));
  message m = a.m;
  m.payload_bytes = static_cast<std::uint32_t>(payload.size());
  leave(n, a.to, m, payload);
  if (gives) std::ranges::fill(frame(n, region, a.unit), frame_is_gone);
}

void release_cluster::change_view(node_state& n, unsigned region, const action& a) {
  access& view = n.memory[region]->views[a.unit];
  if (view != a.from) fail("an action expects another state of the view" + at_unit(n.self, region, a.unit));
  if ((a.kind == action_kind::permit) != (a.level > a.from)) fail("permit must raise and protect must lower");
  if (a.fresh && !all_zero(frame(n, region, a.unit)))
    fail("a frame is called fresh, but has content" + at_unit(n.self, region, a.unit));
  view = a.level;
}

void release_cluster::make_twin(node_state& n, unsigned region, std::uint64_t unit) {
  region_memory& m = *n.memory[region];
  if (m.views[unit] == access::write && !m.machine->kept().is_kept(unit))
    fail("a twin is made while threads may write" + at_unit(n.self, region, unit));
  if (m.has_twin[unit]) fail("a second twin" + at_unit(n.self, region, unit));
  m.has_twin[unit] = true;
  ++n.twins;
  std::ranges::copy(frame(n, region, unit), twin(n, region, unit).begin());
}

void release_cluster::drop_twin(node_state& n, unsigned region, std::uint64_t unit) {
  region_memory& m = *n.memory[region];
  if (!m.has_twin[unit]) return fail("there is no twin" + at_unit(n.self, region, unit));
  m.has_twin[unit] = false;
  --n.twins;
}

void release_cluster::take_diff(node_state& n, unsigned region, const action& a) {
  region_memory& m = *n.memory[region];
  if (!m.has_twin[a.unit]) return fail("there is no twin" + at_unit(n.self, region, a.unit));
  if (m.views[a.unit] == access::write && !a.keep)
    fail("a difference is taken while threads may write" + at_unit(n.self, region, a.unit));
  diff d{a.unit, m.machine->way_of(a.unit).moves, changes(n, region, a.unit)};
  std::ranges::copy(frame(n, region, a.unit), twin(n, region, a.unit).begin());
  if (!a.keep) drop_twin(n, region, a.unit);
  if (d.words.empty()) return;
  if (!a.keep) m.machine->rights().on_differs(a.unit);
  const unsigned group =
      tamper_.ignores_acknowledgements ? 0 : n.release->diff_sent(a.to, (a.m.flags & message_flag::unhurried) != 0);
  n.diffs[{a.to.value(), region, group}].push_back(std::move(d));
  if (!options_.batches) flush(n);
}

std::vector<release_cluster::changed_word> release_cluster::changes(node_state& n, unsigned region,
                                                                    std::uint64_t unit) {
  std::vector<changed_word> found;
  const auto now = frame(n, region, unit), before = twin(n, region, unit);
  for (std::uint32_t w = 0; w < options_.words; ++w) {
    const std::uint64_t bits = now[w] ^ before[w];
    if (bits != 0) found.push_back({w, options_.by_words ? ~std::uint64_t{0} : bits, now[w]});
  }
  return found;
}

void release_cluster::send_patch(node_state& n, unsigned region, const action& a) {
  if (!n.memory[region]->has_twin[a.unit]) return fail("there is no twin" + at_unit(n.self, region, a.unit));
  std::vector<std::uint64_t> bytes;
  for (const changed_word& w : changes(n, region, a.unit)) {
    bytes.push_back(w.word);
    bytes.push_back(w.bits);
    bytes.push_back(w.value);
  }
  std::ranges::copy(frame(n, region, a.unit), twin(n, region, a.unit).begin());
  message m = a.m;
  m.payload_bytes = static_cast<std::uint32_t>(bytes.size() * sizeof bytes[0]);
  a.targets.for_each([&](node_id to) { leave(n, to, m, std::as_bytes(std::span(bytes))); });
}

void release_cluster::on_patch(node_state& n, const message& m, std::span<const std::byte> payload) {
  const unsigned region = m.region.value();
  model::actions out;
  if (n.memory[region]->machine->updates().on_patch(m, out)) {
    std::vector<std::uint64_t> words(payload.size() / sizeof(std::uint64_t));
    if (!words.empty()) std::memcpy(words.data(), payload.data(), payload.size());
    const bool has_twin = n.memory[region]->has_twin[m.unit];
    for (std::size_t i = 0; i < words.size(); i += 3) {
      const changed_word w{words[i], words[i + 1], words[i + 2]};
      w.apply(frame(n, region, m.unit));
      if (has_twin) w.apply(twin(n, region, m.unit));
    }
  }
  finish_step(n, region, m.unit, &m, out);
}

void release_cluster::merge(node_state& n, unsigned region, std::uint64_t unit,
                            std::span<const std::uint64_t> content) {
  const auto before = twin(n, region, unit);
  for (unsigned w = 0; w < options_.words; ++w) {
    const std::uint64_t bits = content[w] ^ before[w];
    const changed_word theirs{w, bits != 0 && options_.by_words ? ~std::uint64_t{0} : bits, content[w]};
    theirs.apply(frame(n, region, unit));
    theirs.apply(before);
  }
}

std::uint64_t release_cluster::operate(node_state& n, unsigned region, const message& m) {
  const std::uint64_t in_unit = m.c / sizeof(std::uint64_t);
  std::uint64_t& value = frame(n, region, m.unit)[in_unit];
  std::uint64_t& last = latest_[word_at(region, m.unit, in_unit)];
  if (value != last) fail("an atomic operation works on an old value" + at_unit(n.self, region, m.unit));
  const std::uint64_t before = value;
  value = last = model::apply(static_cast<model::atomic_operation>(m.operation), before, m.a, m.b);
  if (value != before) n.memory[region]->machine->on_operated(m.unit);
  return before;
}

// ---- checks

void release_cluster::check_unit(node_state& n, unsigned region, std::uint64_t unit) {
  const region_memory& m = *n.memory[region];
  if (!m.machine->is_valid(unit)) fail("the machine's state is not valid" + at_unit(n.self, region, unit));
  if (m.units[unit].mapped() != m.views[unit])
    fail("the machine is wrong about its view" + at_unit(n.self, region, unit));
  if ((m.units[unit].twin != 0) != m.has_twin[unit])
    fail("the machine is wrong about its twin" + at_unit(n.self, region, unit));
  unsigned homes = moving_[region * options_.units + unit];
  for (const auto& other : nodes_) homes += other->memory[region]->machine->is_home(unit) ? 1 : 0;
  if (homes != 1) fail("there are " + std::to_string(homes) + " homes" + at_unit(n.self, region, unit));
}

void release_cluster::check_quiet(bool released) {
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    const thread& self = threads_[t];
    if (self.now == thread::state::finished) continue;
    fail("thread " + std::to_string(t) + " of node " + std::to_string(self.node) + " waits for ever: request " +
         std::to_string(static_cast<int>(self.next.what)) + ", operation " +
         std::to_string(static_cast<int>(self.next.call.what)) + ", object " + std::to_string(self.next.call.object) +
         ", word " + std::to_string(self.next.at));
  }
  for (const auto& p : nodes_) {
    node_state& n = *p;
    const std::string who = " (node " + std::to_string(n.self.value()) + ")";
    if (n.release->busy()) fail("diffs are not acknowledged at the end" + who);
    if (n.release->waiting() + n.release->arrivals().waiting() != 0) fail("messages wait for ever" + who);
    if (!n.forwards.empty()) fail("forwarded diffs are not acknowledged at the end" + who);
    if (n.sync.waiting() != 0) fail("synchronisation waits at the end" + who);
    if (n.pins.size() != 0) fail("pins are left at the end" + who);
    if (n.release->open().twins != n.twins) fail("the node counts its twins wrongly" + who);
    std::uint64_t kept = 0;
    for (unsigned r = 0; r < options_.regions; ++r) {
      for (std::uint64_t u = 0; u < options_.units; ++u) kept += n.memory[r]->units[u].kept;
    }
    if (released && (n.twins != kept || !n.release->open().written.empty()))
      fail("twins or written units after a release" + who);
    for (unsigned r = 0; r < options_.regions; ++r) {
      if (n.memory[r]->machine->outstanding() != 0) fail("a unit has not come" + who);
      for (std::uint64_t u = 0; u < options_.units; ++u) {
        check_unit(n, r, u);
        if (n.memory[r]->units[u].granted != 0) fail("a home keeps a pin at the end" + at_unit(n.self, r, u));
        if (!released || !n.memory[r]->machine->has_content(u)) continue;
        for (unsigned w = 0; w < options_.words; ++w) {
          if (frame(n, r, u)[w] == latest_[word_at(r, u, w)]) continue;
          fail(std::string(n.memory[r]->machine->is_home(u) ? "the home's" : "a copy's") +
               " content is wrong at the end" + at_unit(n.self, r, u));
        }
      }
    }
  }
}

}  // namespace quire::sim
