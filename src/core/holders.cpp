// SPDX-License-Identifier: BSD-3-Clause
// Who holds what others may wait for, for people who ask (src/drive/waits.cpp).
#include "core/core.hpp"
#include "core/region_slot.hpp"
#include "core/sync_calls.hpp"
#include "waits/record.hpp"

namespace quire::core {

using waits::record;
using waits::what;

/// Driver's thread. Allocates nothing: it may be within a fault.
void sync_calls::add_holders(const wait_board& notes, std::vector<record>& all) noexcept {
  const auto add = [&all](const record& r) {
    if (all.size() < all.capacity()) all.push_back(r);
  };
  const auto record_of = [](what kind, sync::object_id id, std::uint32_t thread) {
    record r;
    r.kind = kind;
    r.object = id.value();
    r.thread = thread;
    return r;
  };
  machine_.for_each_lock([&](sync::object_id id, bool held, std::uint32_t thread) {
    add(record_of(held ? what::holds : what::right, id, held ? thread : waits::no_thread));
  });
  machine_.for_each_arrival([&](sync::object_id id, model::node_id node, std::uint32_t number, std::uint32_t of) {
    record r = record_of(what::arrivals, id, waits::no_thread);
    r.node = node.value();
    r.number = number;
    r.of = of;
    add(r);
  });
  notes.for_each([&](const wait_note& n) {
    const region_ref r = n.kind == what::memory ? core_.regions.find(n.object) : region_ref{};
    if (r == nullptr) return;
    const std::uint64_t unit = r->unit_of(n.object);
    record asked;
    asked.kind = what::memory;
    asked.object = n.object;
    asked.node = r->machine->authority_of(unit).value();
    add(asked);
  });
  // Woken, but without their mutex.
  machine_.for_each_reacquiring([&](std::uint32_t thread, sync::object_id mutex) {
    record r = record_of(what::something, mutex, thread);
    add(r);
  });
}

}  // namespace quire::core
