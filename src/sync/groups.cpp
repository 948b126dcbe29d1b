// SPDX-License-Identifier: BSD-3-Clause
#include "sync/groups.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/fault_heap.hpp"

namespace quire::sync {

object_id group_part::create(const call& c) {
  base::fault_vector<std::uint32_t> threads(shared_.nodes);
  if (c.data.size() != threads.size() * sizeof threads[0]) return {};
  std::memcpy(threads.data(), c.data.data(), c.data.size());
  if (!group_shape::is_possible(threads)) return {};
  const object_id id = make_object_id(object_kind::group, node_id{0}, ++made_);
  groups_.emplace(id, base::make_fault<collective>(shared_, id, group_shape(threads), limits_));
  return id;
}

collective* group_part::find(object_id id) noexcept {
  if (id == object_id{}) return &job_;
  const auto found = groups_.find(id);
  return found == groups_.end() ? nullptr : found->second.get();
}

void group_part::on_call(const call& c, actions& out) {
  const object_id id{c.object};
  const bool of_job = c.object == 0 && c.what != operation::group_destroy && c.what != operation::group_join &&
                      c.what != operation::group_leave;
  if (!of_job && !is_possible(id, object_kind::group, 1)) {
    out.complete(c.token, QUIRE_INVALID);
    return;
  }
  collective* const group = find(id);
  if (group == nullptr) {
    out.complete(c.token, QUIRE_NOT_FOUND);
    return;
  }
  switch (c.what) {
    case operation::group_join:
      out.complete(c.token, group->join(c.operand, c.thread));
      return;
    case operation::group_leave:
      out.complete(c.token, group->leave(c.thread));
      return;
    case operation::group_destroy:
      group->end(QUIRE_NOT_FOUND, out);
      groups_.erase(id);
      out.complete(c.token, QUIRE_OK);
      return;
    default:
      return group->on_call(c, out);
  }
}

void group_part::on_message(const message& m, std::span<const std::byte> payload, actions& out) {
  collective* const group = find(object_id{m.unit});
  if (group == nullptr) return;  // destroyed
  switch (kind_of(m.kind)) {
    case kind::gather:
      return group->on_gather(m, payload, out);
    case kind::spread:
      return group->on_spread(m, payload, out);
    case kind::survey:
      return group->on_survey(m, payload);
    default:
      return group->on_piece(m, payload, out);
  }
}

bool group_part::is_last(const call& c) const noexcept {
  const collective* const group = const_cast<group_part*>(this)->find(object_id{c.object});
  return group != nullptr && group->is_last(c.thread);
}

node_id group_part::next_told(const call& c) const noexcept {
  return const_cast<group_part*>(this)->find(object_id{c.object})->next_told();
}

const group_shape* group_part::shape_of(object_id id) const noexcept {
  const collective* const group = const_cast<group_part*>(this)->find(id);
  return group != nullptr ? &group->shape() : nullptr;
}

bool group_part::is_valid() const noexcept {
  return job_.is_valid() && std::ranges::all_of(groups_, [](const auto& g) { return g.second->is_valid(); });
}

}  // namespace quire::sync
