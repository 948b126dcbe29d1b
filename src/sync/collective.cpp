// SPDX-License-Identifier: BSD-3-Clause
#include "sync/collective.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "base/status_number.hpp"

namespace quire::sync {

collective::collective(context& c, object_id group, group_shape shape, array_limits limits)
    : shared_(c),
      id_(group),
      shape_(std::move(shape)),
      exchange_(c, tree_, group, limits),
      slots_(shape_.threads_of(c.self)) {}

// ---- Members ----

quire_status collective::join(std::uint64_t place, std::uint32_t thread) noexcept {
  if (is_job() || place >= slots_.size() || find(thread) != nullptr) return QUIRE_INVALID;
  slot& s = slots_[place];
  if (s.taken) return QUIRE_EXISTS;
  s.taken = true;  // refused rounds that the place has missed are heard by whoever has it
  s.thread = thread;
  return QUIRE_OK;
}

quire_status collective::leave(std::uint32_t thread) noexcept {
  slot* const s = is_job() ? nullptr : find(thread);
  if (s == nullptr || s->at != phase::away) return QUIRE_INVALID;
  s->taken = false;
  return QUIRE_OK;
}

collective::slot* collective::find(std::uint32_t thread) noexcept {
  if (is_job()) return slots_.data();
  const auto found = std::ranges::find_if(slots_, [thread](const slot& s) { return s.taken && s.thread == thread; });
  return found == slots_.end() ? nullptr : &*found;
}

bool collective::is_last(std::uint32_t thread) const noexcept {
  const slot* const s = const_cast<collective*>(this)->find(thread);
  return s != nullptr && s->at == phase::away && s->unheard == 0 && arrived_ + 1 == slots_.size();
}

node_id collective::next_told() const noexcept {
  if (slots_.empty()) return shared_.self;
  if (!tree_.is_root()) return tree_.parent();
  return tree_.children() == 1 ? tree_.child(0) : shared_.self;
}

// ---- Rounds ----

void collective::on_call(const call& c, actions& out) {
  if (c.what == operation::await_nodes) return await(c, out);
  slot* const s = find(c.thread);
  if (s == nullptr || s->at != phase::away) {  // no member; of the job, another thread of this node is in one
    out.complete(c.token, QUIRE_INVALID);
    return;
  }
  if (s->unheard != 0) {
    --s->unheard;
    out.complete(c.token, last_.status).values = last_.values;
    return;
  }
  const std::uint32_t member = shape_.first_of(shared_.self) + static_cast<std::uint32_t>(s - slots_.data());
  s->at = phase::called;
  s->who = shared_.calls.add(c);
  s->what = signature_of(c, member, shape_.members());
  s->values = s->what != 0 && (!is_broadcast(c.what) || c.operand == member) ? c.values : value{};
  s->data = c.data;
  if (s->what != 0 && is_array(c.what, c.count)) exchange_.make_room(slots_.size());
  ++arrived_;
  gather(out);
}

void collective::on_gather(const message& m, std::span<const std::byte> bytes, actions& out) {
  const unsigned child = tree_.index_of(m.from);
  if (slots_.empty() || child == tree_arity || m.b != round_) return;
  contribution& c = from_children_[child];
  if (c.present) return;
  c = {true, base::status_of(m.operation), m.a, value(bytes)};
  gather(out);
}

/// The thread's own call of the round comes later.
void collective::await(const call& c, actions& out) {
  const bool free = is_job() && tree_.is_root() && awaits_ == ticket{} && slots_.front().at == phase::away;
  if (!free || slots_.front().unheard != 0) {
    action& a = out.complete(c.token, free ? last_.status : QUIRE_INVALID);
    if (free) a.values = last_.values;
    return;
  }
  awaits_ = shared_.calls.add(c);
  gather(out);
}

void collective::end_await(quire_status status, const value& why, actions& out) {
  if (awaits_ == ticket{}) return;
  shared_.calls.finish(std::exchange(awaits_, {}), status, out).values = why;
}

bool collective::children_called() const noexcept {
  const auto end = from_children_.begin() + tree_.children();
  return std::all_of(from_children_.begin(), end, [](const contribution& c) { return c.present; });
}

/// A child's before this node's own: it may know of two nodes that differ.
bool collective::find_refused(contribution& found) const noexcept {
  for (unsigned i = 0; i < tree_.children(); ++i) {
    if (!from_children_[i].present || !is_refused(from_children_[i].status)) continue;
    found = from_children_[i];
    return true;
  }
  const auto bad = std::ranges::find_if(slots_, [](const slot& s) { return s.at == phase::called && s.what == 0; });
  if (bad == slots_.end()) return false;
  const std::uint64_t self = shared_.self.value();
  found = {true, QUIRE_INVALID, 0, value_of({{self, self}, {0, 0}})};
  return true;
}

/// Two of those who have called by now, and not the same.
bool collective::find_mismatch(mismatch& found) const noexcept {
  bool any = false;
  mismatch m;
  const auto differs = [&](node_id node, signature what) {
    m.node[any ? 1 : 0] = node.value();
    m.what[any ? 1 : 0] = what;
    return std::exchange(any, true) && m.what[0] != what;
  };
  for (const slot& s : slots_) {
    if (s.at == phase::called && differs(shared_.self, s.what)) return found = m, true;
  }
  for (unsigned i = 0; i < tree_.children(); ++i) {
    if (from_children_[i].present && differs(tree_.child(i), from_children_[i].what)) return found = m, true;
  }
  return false;
}

/// What the threads of this node give, which have all called.
collective::contribution collective::own() const {
  contribution sum{true, QUIRE_OK, slots_.front().what, slots_.front().values};
  const call_shape shape{operation_of(sum.what), combine_of(sum.what)};
  for (std::size_t i = 1; i < slots_.size(); ++i) {
    if (sum.status == QUIRE_OK && !combine(shape, sum.values, slots_[i].values)) sum.status = QUIRE_INVALID;
  }
  return sum;
}

/// Of calls that fit each other: its own first, then the children's in their order.
collective::contribution collective::sum_up() const {
  contribution sum = own();
  // What only the dead could give.
  const call_shape shape{operation_of(sum.what), combine_of(sum.what)};
  if (is_broadcast(shape.what) && shared_.members.is_dead(shape_.node_of(root_of(sum.what)))) sum.status = QUIRE_LOST;
  for (unsigned i = 0; i < tree_.children(); ++i) {
    const contribution& c = from_children_[i];
    if (sum.status == QUIRE_OK) sum.status = c.status;
    if (sum.status == QUIRE_OK && !combine(shape, sum.values, c.values)) sum.status = QUIRE_INVALID;
  }
  if (sum.status != QUIRE_OK) sum.values = {};
  return sum;
}

/// Upwards what this node and its children gave, once all have called; or that some of them cannot meet, as soon as
/// that is known.
void collective::gather(actions& out) {
  if (told_ || shared_.recovering || slots_.empty()) return;
  mismatch found;
  contribution refused;
  if (find_refused(refused)) {
    tell(refused, out);
  } else if (find_mismatch(found)) {
    tell({true, QUIRE_INVALID, 0, value_of(found)}, out);
  } else if (complete()) {
    tell(sum_up(), out);
  } else if (children_called()) {
    end_await(QUIRE_OK, {}, out);
  }
}

message collective::make(kind k, quire_status status) const noexcept {
  message m = shared_.make(k, id_);
  m.operation = static_cast<std::uint32_t>(status);
  m.b = round_;
  m.c = (tree_.is_root() ? round_bit::root : 0) | (shape_.is_whole() ? round_bit::whole : 0);
  return m;
}

void collective::tell(const contribution& sum, actions& out) {
  if (tree_.is_root()) return finish_round(sum.status, value(sum.values), out);
  told_ = true;
  message m = make(kind::gather, sum.status);
  m.a = sum.what;
  shared_.send(tree_.parent(), m, out, sum.values);
}

void collective::on_spread(const message& m, std::span<const std::byte> bytes, actions& out) {
  if (m.b != round_ || slots_.empty() || tree_.is_root() || m.from != tree_.parent()) return;
  const auto status = base::status_of(m.operation);
  if (!all_called() && !is_refused(status)) return;  // none that this node was not in
  finish_round(status, value(bytes), out);
}

/// Downwards; the children first, they have farther to go.
void collective::finish_round(quire_status status, const value& result, actions& out) {
  const message m = make(kind::spread, status);
  for (unsigned i = 0; i < tree_.children(); ++i) shared_.send(tree_.child(i), m, out, result);
  end_rounds(round_ + 1, status, result, out);
}

void collective::finish(slot& s, quire_status status, actions& out) {
  s.at = phase::away;
  s.data = {};
  action& a = shared_.calls.finish(s.who, status, out);
  if (status == last_.status) a.values = last_.values;
}

/// This node's rounds before `until` are over.
void collective::end_rounds(std::uint64_t until, quire_status status, const value& result, actions& out) {
  const auto rounds = static_cast<std::uint32_t>(until - round_);
  const bool array_follows = status == QUIRE_OK && is_array_next();
  last_ = {true, status, 0, result};
  round_ = until;
  told_ = false;
  from_children_ = {};
  end_await(status, result, out);  // refused: a round that the root was in has none
  if (array_follows && !struck_) return begin_exchange(out);
  if (array_follows) status = QUIRE_LOST;  // others were in the middle of it
  arrived_ = 0;
  for (slot& s : slots_) {
    s.unheard += rounds - (s.at == phase::called ? 1 : 0);
    if (s.at == phase::called) finish(s, status, out);
  }
}

// ---- Arrays ----

bool collective::is_array_next() const noexcept {
  const auto& s = slots_.front();
  return s.at == phase::called && s.what != 0 &&
         is_array(operation_of(s.what), static_cast<std::uint32_t>(s.what >> 32));
}

void collective::begin_exchange(actions& out) {
  const signature what = slots_.front().what;
  const call_shape shape{operation_of(what), combine_of(what)};
  auto& arrays = exchange_.arrays();
  CHECK(arrays.empty());
  for (slot& s : slots_) {
    s.at = phase::exchanges;
    arrays.push_back(s.data);
  }
  arrived_ = 0;
  const std::uint32_t root = root_of(what) - shape_.first_of(shared_.self);
  const bool gives = !is_broadcast(shape.what) || root < slots_.size();
  if (is_broadcast(shape.what) && gives) std::swap(arrays[0], arrays[root]);
  exchange_.begin({round_, shape, gives});
  go_on(out);
}

void collective::on_piece(const message& m, std::span<const std::byte> bytes, actions& out) {
  if (!exchange_.active() || shared_.members.is_dead(m.from)) return;
  kind_of(m.kind) == kind::piece_up ? exchange_.on_up(m, bytes) : exchange_.on_down(m, bytes);
  go_on(out);
}

void collective::go_on(actions& out) {
  if (exchange_.advance(out)) end_exchange(QUIRE_OK, out);
}

void collective::end_exchange(quire_status status, actions& out) {
  exchange_.stop();
  for (slot& s : slots_) {
    if (s.at != phase::exchanges) continue;
    s.at = phase::away;
    s.data = {};
    shared_.calls.finish(s.who, status, out);
  }
}

// ---- Deaths, and other ends ----

void collective::cut(model::membership now_dead, bool joined) noexcept {
  from_children_ = {};
  ahead_ = {};
  ahead_round_ = 0;
  told_ = false;
  struck_ = struck_ || (joined && is_job());
  for (unsigned i = 0; i < shape_.nodes(); ++i) struck_ = struck_ || now_dead.is_dead(shape_.node_at(i));
  if (struck_) exchange_.stop();  // the tree is another one
}

/// Of all survivors some may have ended a round of which others have not heard. None can have ended the next, unless
/// that was refused without those others.
void collective::report(actions& out) {
  if (slots_.empty()) return;
  const message m = make(kind::survey, last_.status);
  for (unsigned i = 0; i < shape_.nodes(); ++i) {
    const node_id node = shape_.node_at(i);
    if (node != shared_.self && !shared_.members.is_dead(node)) shared_.send(node, m, out, last_.values);
  }
}

void collective::on_survey(const message& m, std::span<const std::byte> bytes) noexcept {
  if (!shared_.recovering || m.b <= round_ || m.b <= ahead_round_) return;
  ahead_ = {true, base::status_of(m.operation), 0, value(bytes)};
  ahead_round_ = m.b;
}

void collective::settle(actions& out) {
  if (struck_) end_exchange(QUIRE_LOST, out);
  if (shared_.comes && is_job() && ahead_.present) {  // those before were without this node
    round_ = ahead_round_;
    last_ = std::exchange(ahead_, {});
  }
  const bool heard = ahead_.present && !slots_.empty() && (all_called() || is_refused(ahead_.status));
  if (heard) end_rounds(ahead_round_, ahead_.status, value(ahead_.values), out);
  ahead_ = {};
  ahead_round_ = 0;
  struck_ = false;
}

void collective::forget_waiting() noexcept {
  exchange_.stop();
  arrived_ = 0;
  awaits_ = {};
  for (slot& s : slots_) s.at = phase::away;
}

void collective::end(quire_status status, actions& out) {
  end_exchange(status, out);
  for (slot& s : slots_) {
    if (s.at == phase::called) finish(s, status, out);
  }
  arrived_ = 0;
}

bool collective::is_valid() const noexcept {
  const auto count = [this](phase at) {
    return std::ranges::count_if(slots_, [at](const slot& s) { return s.at == at; });
  };
  const auto exchanging = static_cast<std::size_t>(count(phase::exchanges));
  if (count(phase::called) != static_cast<std::ptrdiff_t>(arrived_)) return false;
  return struck_ || exchanging == (exchange_.active() ? slots_.size() : 0);
}

}  // namespace quire::sync
