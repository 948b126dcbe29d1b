#include "sync/collective.hpp"

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

collective_part::signature collective_part::signature_of(const call& c) const noexcept {
  const auto what = static_cast<signature>(c.what);
  switch (c.what) {
    case operation::barrier_wait: return what;
    case operation::broadcast:
      if (c.count > value::capacity || c.operand >= shared_.nodes) return 0;
      if (c.operand == shared_.self.value() && c.values.size() != c.count) return 0;
      return what | c.operand << 16 | signature{c.count} << 32;
    default:
      if (c.count > max_reduce_values || c.combine > QUIRE_PRODUCT || c.values.size() != c.count * sizeof(double))
        return 0;
      return what | signature{c.combine} << 8 | signature{c.count} << 32;
  }
}

void collective_part::on_call(const call& c, actions& out) {
  if (called_) {  // another thread of this node is in one
    out.complete(c.token, QUIRE_INVALID);
    return;
  }
  called_ = true;
  who_ = shared_.calls.add(c);
  own_ = {true, QUIRE_OK, signature_of(c), {}};
  if (own_.what == 0) own_.status = QUIRE_INVALID;
  const bool gives = c.what != operation::broadcast || c.operand == shared_.self.value();
  if (gives && own_.what != 0) own_.values = c.values;
  gather_if_complete(out);
}

void collective_part::on_gather(const message& m, std::span<const std::byte> bytes, actions& out) {
  const unsigned rank = rank_of(m.from), child = rank - first_child();
  if (shared_.members.is_dead(m.from) || rank < first_child() || child >= children() || m.b != round_) return;
  contribution& c = from_children_[child];
  if (c.present) return;
  c = {true, base::status_of(m.operation), m.a, value(bytes)};
  gather_if_complete(out);
}

/// Once this node and all its children have called: upwards with what they gave.
void collective_part::gather_if_complete(actions& out) {
  if (!called_ || shared_.recovering) return;
  for (unsigned i = 0; i < children(); ++i) {
    if (!from_children_[i].present) return;
  }
  contribution sum = own_;
  // What only the dead could give.
  const bool has_root = static_cast<operation>(sum.what & 0xff) == operation::broadcast;
  if (has_root && shared_.members.is_dead(node_id{static_cast<std::uint16_t>(sum.what >> 16)})) sum.status = QUIRE_LOST;
  const call_shape shape{static_cast<operation>(sum.what & 0xff), static_cast<quire_operation>(sum.what >> 8 & 3)};
  for (unsigned i = 0; i < children(); ++i) {
    const contribution& c = from_children_[i];
    if (c.what != sum.what || (c.status != QUIRE_OK && c.status != QUIRE_LOST)) sum.status = QUIRE_INVALID;
    if (sum.status == QUIRE_OK) sum.status = c.status;
    if (sum.status == QUIRE_OK && !combine(shape, sum.values, c.values)) sum.status = QUIRE_INVALID;
  }
  if (sum.status != QUIRE_OK) sum.values = {};
  if (is_root()) return finish_round(sum.status, sum.values, out);
  message m = shared_.make(kind::gather, {});
  m.operation = static_cast<std::uint32_t>(sum.status);
  m.a = sum.what;
  m.b = round_;
  shared_.send(parent(), m, out, sum.values);
}

void collective_part::on_spread(const message& m, std::span<const std::byte> bytes, actions& out) {
  if (!called_ || m.b != round_ || is_root() || m.from != parent()) return;
  finish_round(base::status_of(m.operation), value(bytes), out);
}

/// Downwards; the children first, they have farther to go.
void collective_part::finish_round(quire_status status, const value& result, actions& out) {
  message m = shared_.make(kind::spread, {});
  m.operation = static_cast<std::uint32_t>(status);
  m.b = round_;
  for (unsigned i = 0; i < children(); ++i) {
    shared_.send(at_rank(first_child() + i), m, out, result);
    from_children_[i] = {};
  }
  finish_call(status, result, out);
}

void collective_part::finish_call(quire_status status, const value& result, actions& out) {
  last_ = {true, status, 0, result};
  ++round_;
  called_ = false;
  shared_.calls.finish(who_, status, out).values = result;
}

void collective_part::cut() noexcept {
  from_children_ = {};
  ahead_ = {};
}

/// Of all survivors some may have ended a round of which others have not heard; none can have begun to end the next.
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
  if (shared_.recovering && m.b == round_ + 1) ahead_ = {true, base::status_of(m.operation), 0, value(bytes)};
}

void collective_part::settle(actions& out) {
  if (ahead_.present && called_) finish_call(ahead_.status, value(ahead_.values), out);
  ahead_ = {};
}

}  // namespace quire::sync
