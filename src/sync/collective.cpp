// SPDX-License-Identifier: BSD-3-Clause
#include "sync/collective.hpp"

#include <algorithm>
#include <utility>

#include "base/status_number.hpp"
#include "sync/combine.hpp"

namespace quire::sync {

unsigned collective_part::alive() const noexcept {
  return shared_.nodes - static_cast<unsigned>(__builtin_popcountll(shared_.members.dead));
}

unsigned collective_part::rank_of(node_id node) const noexcept {
  const std::uint64_t dead = shared_.members.dead;
  if (dead == 0) return node.value();
  return node.value() - static_cast<unsigned>(__builtin_popcountll(dead & ((std::uint64_t{1} << node.value()) - 1)));
}

node_id collective_part::at_rank(unsigned rank) const noexcept {
  node_id node{static_cast<std::uint16_t>(rank)};
  while (shared_.members.dead != 0 && (shared_.members.is_dead(node) || rank_of(node) != rank)) {
    node = node_id{static_cast<std::uint16_t>(node.value() + 1)};
  }
  return node;
}

unsigned collective_part::children() const noexcept {
  const unsigned first = first_child(), all = alive();
  return first >= all ? 0 : std::min(tree_arity, all - first);
}

node_id collective_part::parent() const noexcept { return at_rank((rank_of(shared_.self) - 1) / tree_arity); }

void collective_part::on_call(const call& c, actions& out) {
  if (called_) {  // another thread of this node is in one
    out.complete(c.token, QUIRE_INVALID);
    return;
  }
  if (unheard_ != 0) {
    --unheard_;
    out.complete(c.token, last_.status).values = last_.values;
    return;
  }
  called_ = true;
  who_ = shared_.calls.add(c);
  own_ = {true, QUIRE_OK, signature_of(c, shared_.self.value(), shared_.nodes), {}};
  if (own_.what == 0) {
    const std::uint64_t self = shared_.self.value();
    own_.status = QUIRE_INVALID;
    own_.values = value_of({{self, self}, {0, 0}});
  } else if (c.what != operation::broadcast || c.operand == shared_.self.value()) {
    own_.values = c.values;
  }
  gather(out);
}

void collective_part::on_gather(const message& m, std::span<const std::byte> bytes, actions& out) {
  const unsigned rank = rank_of(m.from), child = rank - first_child();
  if (shared_.members.is_dead(m.from) || rank < first_child() || child >= children() || m.b != round_) return;
  contribution& c = from_children_[child];
  if (c.present) return;
  c = {true, base::status_of(m.operation), m.a, value(bytes)};
  gather(out);
}

bool collective_part::complete() const noexcept {
  const auto end = from_children_.begin() + children();
  return called_ && std::all_of(from_children_.begin(), end, [](const contribution& c) { return c.present; });
}

/// A child's before this node's own: it may know of two nodes that differ.
const collective_part::contribution* collective_part::find_refused() const noexcept {
  for (unsigned i = 0; i < children(); ++i) {
    if (from_children_[i].present && is_refused(from_children_[i].status)) return &from_children_[i];
  }
  return called_ && is_refused(own_.status) ? &own_ : nullptr;
}

/// Two of those who have called by now, and not the same.
bool collective_part::find_mismatch(mismatch& found) const noexcept {
  const contribution* first = called_ ? &own_ : nullptr;
  std::uint64_t first_node = shared_.self.value();
  for (unsigned i = 0; i < children(); ++i) {
    const contribution& c = from_children_[i];
    if (!c.present) continue;
    const std::uint64_t node = at_rank(first_child() + i).value();
    if (first == nullptr) {
      first = &c;
      first_node = node;
    } else if (c.what != first->what) {
      found = {{first_node, node}, {first->what, c.what}};
      return true;
    }
  }
  return false;
}

/// Of calls that fit each other: its own first, then the children's in their order.
collective_part::contribution collective_part::sum_up() const {
  contribution sum = own_;
  // What only the dead could give.
  const bool has_root = operation_of(sum.what) == operation::broadcast;
  if (has_root && shared_.members.is_dead(node_id{root_of(sum.what)})) sum.status = QUIRE_LOST;
  const call_shape shape{operation_of(sum.what), combine_of(sum.what)};
  for (unsigned i = 0; i < children(); ++i) {
    const contribution& c = from_children_[i];
    if (sum.status == QUIRE_OK) sum.status = c.status;
    if (sum.status == QUIRE_OK && !combine(shape, sum.values, c.values)) sum.status = QUIRE_INVALID;
  }
  if (sum.status != QUIRE_OK) sum.values = {};
  return sum;
}

/// Upwards what this node and its children gave, once all have called; or that some of them cannot meet, as soon as that is known.
void collective_part::gather(actions& out) {
  if (told_ || shared_.recovering) return;
  mismatch found;
  if (const contribution* const refused = find_refused(); refused != nullptr) {
    tell(*refused, out);
  } else if (find_mismatch(found)) {
    tell({true, QUIRE_INVALID, 0, value_of(found)}, out);
  } else if (complete()) {
    tell(sum_up(), out);
  }
}

void collective_part::tell(const contribution& sum, actions& out) {
  if (is_root()) return finish_round(sum.status, value(sum.values), out);
  told_ = true;
  message m = shared_.make(kind::gather, {});
  m.operation = static_cast<std::uint32_t>(sum.status);
  m.a = sum.what;
  m.b = round_;
  shared_.send(parent(), m, out, sum.values);
}

void collective_part::on_spread(const message& m, std::span<const std::byte> bytes, actions& out) {
  if (m.b != round_ || is_root() || m.from != parent()) return;
  const auto status = base::status_of(m.operation);
  if (!called_ && !is_refused(status)) return;  // none that this node was not in
  finish_round(status, value(bytes), out);
}

/// Downwards; the children first, they have farther to go.
void collective_part::finish_round(quire_status status, const value& result, actions& out) {
  message m = shared_.make(kind::spread, {});
  m.operation = static_cast<std::uint32_t>(status);
  m.b = round_;
  for (unsigned i = 0; i < children(); ++i) shared_.send(at_rank(first_child() + i), m, out, result);
  end_rounds(round_ + 1, status, result, out);
}

/// This node's rounds before `until` are over.
void collective_part::end_rounds(std::uint64_t until, quire_status status, const value& result, actions& out) {
  unheard_ += until - round_ - (called_ ? 1 : 0);
  last_ = {true, status, 0, result};
  round_ = until;
  told_ = false;
  from_children_ = {};
  if (std::exchange(called_, false)) shared_.calls.finish(who_, status, out).values = last_.values;
}

void collective_part::cut() noexcept {
  from_children_ = {};
  ahead_ = {};
  ahead_round_ = 0;
  told_ = false;
}

/// Of all survivors some may have ended a round of which others have not heard. None can have ended the next, unless that was refused
/// without those others.
void collective_part::report(actions& out) {
  message m = shared_.make(kind::survey, {});
  m.operation = static_cast<std::uint32_t>(last_.status);
  m.b = round_;
  for (std::uint16_t n = 0; n < shared_.nodes; ++n) {
    const node_id node{n};
    if (node != shared_.self && !shared_.members.is_dead(node)) shared_.send(node, m, out, last_.values);
  }
}

void collective_part::on_survey(const message& m, std::span<const std::byte> bytes) noexcept {
  if (!shared_.recovering || m.b <= round_ || m.b <= ahead_round_) return;
  ahead_ = {true, base::status_of(m.operation), 0, value(bytes)};
  ahead_round_ = m.b;
}

void collective_part::settle(actions& out) {
  if (ahead_.present && (called_ || is_refused(ahead_.status))) end_rounds(ahead_round_, ahead_.status, value(ahead_.values), out);
  ahead_ = {};
  ahead_round_ = 0;
}

}  // namespace quire::sync
