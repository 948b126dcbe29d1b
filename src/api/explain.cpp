// SPDX-License-Identifier: BSD-3-Clause
#include "api/explain.hpp"

#include "base/detail.hpp"
#include "core/counters.hpp"
#include "sync/collective.hpp"
#include "sync/edges.hpp"
#include "sync/mismatch.hpp"
#include "sync/names.hpp"

namespace quire::api {
namespace {

using base::explain_if_unsaid;
using sync::object_id;
using sync::object_kind;
using sync::operation;

/// A number that is no handle of its kind. False if it may be one.
bool explain_handle(const char* call, const char* which, object_id id, object_kind wanted, unsigned makers) noexcept {
  const char* const kind = sync::name_of(wanted);
  if (id.value() == 0) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): the handle of %s %s is zero: no quire_%s_create() has filled it in",
                            call, which, kind, kind);
  } else if (sync::kind_of(id) != wanted && sync::kind_of(id) > object_kind::none &&
             sync::kind_of(id) <= object_kind::last) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): %s %s was expected, and 0x%lx is a handle of another kind, %s", call,
                            which, kind, static_cast<unsigned long>(id.value()), sync::name_of(sync::kind_of(id)));
  } else if (!sync::is_possible(id, wanted, makers)) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): 0x%lx is no handle of a %s that this job has made", call,
                            static_cast<unsigned long>(id.value()), kind);
  } else {
    return false;
  }
  return true;
}

void explain_collective(const sync::call& c, const char* call, unsigned nodes) noexcept {
  if (const auto why = sync::mismatch_in(c.values); c.what == operation::await_nodes && !why) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): node 0 calls it, while it is in no other collective", call);
  } else if (c.what == operation::broadcast && c.count > sync::value::capacity) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): %u bytes are more than the %u that it takes", call, c.count,
                            static_cast<unsigned>(sync::value::capacity));
  } else if (c.what == operation::broadcast && c.operand >= nodes) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): there is no node %ld for a root; the job has %u nodes", call,
                            static_cast<long>(c.operand), nodes);
  } else if (c.what != operation::broadcast && c.count > sync::max_reduce_values) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): %u values are more than the %u that it takes", call, c.count,
                            sync::max_reduce_values);
  } else if (c.what != operation::broadcast && c.combine > QUIRE_PRODUCT) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): %u is no quire_operation", call, c.combine);
  } else {
    const auto why = sync::mismatch_in(c.values);
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): the calls of the nodes differ: %s", call,
                            why ? sync::text_of(*why).c_str() : "all nodes call the same, in the same order");
  }
}

void explain_group(const sync::call& c, const char* call, unsigned makers) noexcept {
  const object_id id{c.object};
  if (c.object != 0 && explain_handle(call, "the", id, object_kind::group, makers)) return;
  const auto why = sync::mismatch_in(c.values);
  const sync::object_name name(id);
  const bool member =
      c.what != operation::group_create && c.what != operation::group_destroy && c.what != operation::group_join;
  if (c.object == 0 &&
      (c.what == operation::group_join || c.what == operation::group_leave || c.what == operation::group_destroy)) {
    (void)explain_if_unsaid(
        QUIRE_INVALID,
        "%s(): the group of the job is there by itself, and has one thread of each node, whichever calls", call);
  } else if (why && (why->what[0] != 0 || why->what[1] != 0)) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): the calls of its threads differ: %s", call,
                            sync::text_of(*why).c_str());
  } else if (why && c.combine > QUIRE_PRODUCT) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): %u is no quire_operation", call, c.combine);
  } else if (why && c.what == operation::group_broadcast) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): a thread calls it with a root that the group has not; here it is %lu",
                            call, static_cast<unsigned long>(c.operand));
  } else if (why) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): a thread calls it with arguments that are not valid: %s", call,
                            sync::text_of(*why).c_str());
  } else if (c.what == operation::group_join) {
    (void)explain_if_unsaid(QUIRE_INVALID,
                            "%s(): %s has no place %lu on this node, or the calling thread (%u) has one already", call,
                            name.text, static_cast<unsigned long>(c.operand), c.thread);
  } else if (member) {
    (void)explain_if_unsaid(QUIRE_INVALID,
                            "%s(): the calling thread (%u) is no member of %s: it has not called quire_group_join()",
                            call, c.thread, name.text);
  }
}

void explain_invalid(const sync::call& c, const char* call, unsigned nodes, unsigned makers) noexcept {
  const object_id id{c.object};
  if (c.what >= operation::group_create) return explain_group(c, call, makers);
  if (sync::is_collective(c)) return explain_collective(c, call, nodes);
  if (c.what == operation::barrier_create) {
    (void)explain_if_unsaid(QUIRE_INVALID, "%s(): a barrier needs at least one participant", call);
    return;
  }
  if (explain_handle(call, "the", id, sync::object_of(c.what), makers)) return;
  if (c.what == operation::condition_wait &&
      explain_handle(call, "its", object_id{c.operand}, object_kind::mutex, makers))
    return;
  const sync::object_name name(id);
  switch (c.what) {
    case operation::mutex_lock:
    case operation::rwlock_read_lock:
    case operation::rwlock_write_lock:
      (void)explain_if_unsaid(QUIRE_INVALID,
                              "%s(): the calling thread (%u) has locked %s already, and would wait for itself", call,
                              c.thread, name.text);
      return;
    case operation::semaphore_release:
      (void)explain_if_unsaid(QUIRE_INVALID, "%s(): %s would count beyond 2^64", call, name.text);
      return;
    default:
      (void)explain_if_unsaid(QUIRE_INVALID, "%s(): %s cannot be used so", call, name.text);
  }
}

}  // namespace

quire_status explain(const sync::call& c, quire_status why, unsigned nodes, unsigned makers) noexcept {
  if (why == QUIRE_OK) return why;
  const char* const call = sync::name_of(c.what);
  const object_id id{c.object};
  switch (why) {
    case QUIRE_INVALID:
      explain_invalid(c, call, nodes, makers);
      return why;
    case QUIRE_NOT_FOUND:
      return explain_if_unsaid(why, "%s(): %s was destroyed, or never made", call, sync::object_name(id).text);
    case QUIRE_NOT_OWNER:
      return explain_if_unsaid(why, "%s(): the calling thread (%u) does not hold %s", call, c.thread,
                               sync::object_name(c.what == operation::condition_wait ? object_id{c.operand} : id).text);
    case QUIRE_EXISTS:
      return explain_if_unsaid(why, "%s(): another thread has place %lu of this node in %s", call,
                               static_cast<unsigned long>(c.operand), sync::object_name(id).text);
    case QUIRE_LOST:
      if (sync::kind_of(id) == object_kind::group)
        return explain_if_unsaid(why, "%s(): a node of %s has died, and what it gave, or the rest of an array, with it",
                                 call, sync::object_name(id).text);
      return c.object == 0
                 ? why
                 : explain_if_unsaid(why, "%s(): %s was kept by a node that is dead", call, sync::object_name(id).text);
    default:
      return why;
  }
}

}  // namespace quire::api
