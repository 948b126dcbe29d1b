// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/actor.hpp"

#include "core/sync_calls.hpp"
#include "core/unit_calls.hpp"
#include "sync/names.hpp"

namespace quire::whole {

std::uint64_t actor::read(std::uint64_t address) {
  std::uint64_t latest = 0;
  const std::uint64_t found = here.load(address, latest);
  check(address, found, latest);
  return found;
}

void actor::check(std::uint64_t address, std::uint64_t found, std::uint64_t latest) {
  if (found == latest || world_.is_unknown(address)) return;
  world_.fail("node " + std::to_string(node_number()) + " finds " + std::to_string(found) + " in " +
              world_.name_of(address) + ", where " + std::to_string(latest) + " was written last");
}

std::uint64_t actor::operate(std::uint64_t address, model::atomic_operation what, std::uint64_t a, std::uint64_t b) {
  std::uint64_t before = 0;
  must(here.core().calls.atomic(address, static_cast<std::uint32_t>(what), a, b, before), "an atomic operation");
  return before;
}

base::status actor::call(sync::operation what, std::uint64_t& object, std::uint64_t operand, std::int64_t timeout_ms) {
  sync::call c;
  c.what = what;
  c.object = object;
  c.operand = operand;
  c.thread = number;
  const auto why = here.core().objects.synchronise(c, timeout_ms);
  object = c.object;
  return why;
}

void actor::must_call(sync::operation what, std::uint64_t object, std::uint64_t operand) {
  must(call(what, object, operand), sync::name_of(what));
}

std::uint64_t actor::create(sync::operation what, std::uint64_t operand) {
  std::uint64_t object = 0;
  must(call(what, object, operand), sync::name_of(what));
  return object;
}

void actor::must(const base::status& why, const std::string& what, quire_status also) {
  if (!why.ok() && why.code() != also) world_.fail(what + " ends with status " + std::to_string(why.code()));
}

void actor::rest() {
  if (draw.chance(60)) world_.sleep(draw.below(world_.options().think + 1));
}

}  // namespace quire::whole
