#include "sync/collective.hpp"

#include "base/status_number.hpp"
#include "sync/combine.hpp"

namespace quire::sync {

unsigned collective_part::children() const noexcept {
  const unsigned first = first_child();
  return first >= shared_.nodes ? 0 : std::min(tree_arity, shared_.nodes - first);
}

node_id collective_part::parent() const noexcept {
  return node_id{static_cast<std::uint16_t>((shared_.self.value() - 1) / tree_arity)};
}

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
  const unsigned child = m.from.value() - first_child();
  if (m.from.value() < first_child() || child >= children() || m.b != round_) return;
  contribution& c = from_children_[child];
  if (c.present) return;
  c = {true, base::status_of(m.operation), m.a, value(bytes)};
  gather_if_complete(out);
}

/// Once this node and all its children have called: upwards with what they gave.
void collective_part::gather_if_complete(actions& out) {
  if (!called_) return;
  for (unsigned i = 0; i < children(); ++i) {
    if (!from_children_[i].present) return;
  }
  contribution sum = own_;
  const call_shape shape{static_cast<operation>(sum.what & 0xff), static_cast<quire_operation>(sum.what >> 8 & 3)};
  for (unsigned i = 0; i < children(); ++i) {
    const contribution& c = from_children_[i];
    if (c.status != QUIRE_OK || c.what != sum.what) sum.status = QUIRE_INVALID;
    if (sum.status == QUIRE_OK && !combine(shape, sum.values, c.values)) sum.status = QUIRE_INVALID;
  }
  if (sum.status != QUIRE_OK) sum.values = {};
  if (shared_.self == node_id{0}) return finish_round(sum.status, sum.values, out);
  message m = shared_.make(kind::gather, {});
  m.operation = static_cast<std::uint32_t>(sum.status);
  m.a = sum.what;
  m.b = round_;
  shared_.send(parent(), m, out, sum.values);
}

void collective_part::on_spread(const message& m, std::span<const std::byte> bytes, actions& out) {
  if (!called_ || m.b != round_ || shared_.self == node_id{0} || m.from != parent()) return;
  finish_round(base::status_of(m.operation), value(bytes), out);
}

/// Downwards; the children first, they have farther to go.
void collective_part::finish_round(quire_status status, const value& result, actions& out) {
  message m = shared_.make(kind::spread, {});
  m.operation = static_cast<std::uint32_t>(status);
  m.b = round_;
  for (unsigned i = 0; i < children(); ++i) {
    shared_.send(node_id{static_cast<std::uint16_t>(first_child() + i)}, m, out, result);
    from_children_[i] = {};
  }
  ++round_;
  called_ = false;
  shared_.calls.finish(who_, status, out).values = result;
}

}  // namespace quire::sync
