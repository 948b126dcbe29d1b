// SPDX-License-Identifier: BSD-3-Clause
#include "sync/call_table.hpp"

#include "base/check.hpp"

namespace quire::sync {

ticket call_table::add(const call& c) {
  if (free_.empty()) {
    slots_.emplace_back();
    free_.reserve(slots_.size());
    free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  waiting_call& s = slots_[index];
  const std::uint32_t generation = s.generation + 1 == 0 ? 1 : s.generation + 1;
  s = waiting_call{};
  s.live = true;
  s.try_only = c.try_only;
  s.what = c.what;
  s.generation = generation;
  s.thread = c.thread;
  s.token = c.token;
  s.object = object_id{c.object};
  if (c.what == operation::condition_wait) s.mutex = object_id{c.operand};
  return ticket_of(index);
}

waiting_call* call_table::find(ticket t) noexcept {
  const auto index = static_cast<std::uint32_t>(t.value());
  if (index >= slots_.size()) return nullptr;
  waiting_call& s = slots_[index];
  return s.live && s.generation == t.value() >> 32 ? &s : nullptr;
}

ticket call_table::find_token(std::uint64_t token) const noexcept {
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].live && slots_[i].token == token) return ticket_of(i);
  }
  return {};
}

action& call_table::finish(ticket t, quire_status status, actions& out) {
  ++ended_;
  waiting_call* const s = find(t);
  CHECK(s != nullptr && !s->listed);
  s->live = false;
  free_.push_back(static_cast<std::uint32_t>(t.value()));
  return out.complete(s->token, status);
}

void call_table::push(call_list& list, ticket t) noexcept {
  const auto index = static_cast<std::uint32_t>(t.value());
  waiting_call& s = slots_[index];
  CHECK(s.live && !s.listed);
  s.listed = true;
  s.next = call_list::nobody;
  s.previous = list.tail;
  (list.empty() ? list.head : slots_[list.tail].next) = index;
  list.tail = index;
}

ticket call_table::pop(call_list& list) noexcept {
  const ticket t = front(list);
  remove(list, t);
  return t;
}

void call_table::remove(call_list& list, ticket t) noexcept {
  waiting_call& s = slots_[static_cast<std::uint32_t>(t.value())];
  CHECK(s.listed);
  s.listed = false;
  (s.previous == call_list::nobody ? list.head : slots_[s.previous].next) = s.next;
  (s.next == call_list::nobody ? list.tail : slots_[s.next].previous) = s.previous;
}

}  // namespace quire::sync
