// SPDX-License-Identifier: BSD-3-Clause
#include "sync/names.hpp"

#include <cstdarg>
#include <cstddef>

#include "base/log.hpp"

namespace quire::sync {
namespace {

// clang-format off
constexpr const char* operations[] = {
  "quire_mutex_create", "quire_mutex_lock", "quire_mutex_unlock", "quire_mutex_destroy",
  "quire_rwlock_create", "quire_rwlock_read_lock", "quire_rwlock_write_lock", "quire_rwlock_unlock",
  "quire_rwlock_destroy",
  "quire_condition_create", "quire_condition_wait", "quire_condition_notify_one",
  "quire_condition_notify_all", "quire_condition_destroy",
  "quire_barrier_create", "quire_barrier_wait", "quire_barrier_destroy",
  "quire_event_create", "quire_event_set", "quire_event_reset", "quire_event_wait", "quire_event_destroy",
  "quire_semaphore_create", "quire_semaphore_acquire", "quire_semaphore_release", "quire_semaphore_destroy",
  "quire_reduce_f64", "quire_reduce_i64", "quire_broadcast", "quire_await_nodes",
  "quire_group_create", "quire_group_destroy", "quire_group_join", "quire_group_leave",
  "quire_group_wait", "quire_group_reduce_f64", "quire_group_reduce_i64", "quire_group_broadcast",
};
// clang-format on
static_assert(std::size(operations) == static_cast<std::size_t>(last_operation) + 1);
constexpr const char* kinds[] = {"object", "mutex", "rwlock", "condition", "barrier", "event", "semaphore", "group"};
static_assert(std::size(kinds) == static_cast<std::size_t>(object_kind::last) + 1);

int format(char* to, int size, const char* text, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, text);
  const int length = base::format_to(to, size, text, arguments);
  va_end(arguments);
  return length;
}

}  // namespace

const char* name_of(operation what) noexcept {
  const auto i = static_cast<std::size_t>(what);
  return i < std::size(operations) ? operations[i] : "a call of no name";
}

const char* name_of(object_kind kind) noexcept {
  const auto i = static_cast<std::size_t>(kind);
  return i < std::size(kinds) ? kinds[i] : kinds[0];
}

object_name::object_name(object_id id) noexcept {
  (void)format(text, sizeof text, "%s %lu of node %u (0x%lx)", name_of(kind_of(id)),
               static_cast<unsigned long>(counter_of(id)), static_cast<unsigned>(maker_of(id).value()),
               static_cast<unsigned long>(id.value()));
}

}  // namespace quire::sync
