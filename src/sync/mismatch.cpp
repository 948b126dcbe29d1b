// SPDX-License-Identifier: BSD-3-Clause
#include "sync/mismatch.hpp"

#include <cstring>

#include "sync/collective.hpp"

namespace quire::sync {
namespace {

const char* name_of(meeting m) noexcept {
  switch (m) {
    case meeting::none:
      return nullptr;
    case meeting::start:
      return "quire_start()";
    case meeting::end:
      return "quire_end()";
    case meeting::produce_end:
      return "quire_produce_end()";
    case meeting::set_consistency:
      return "quire_region_set_consistency()";
    case meeting::block_begin:
      return "quire_block_begin()";
    case meeting::block_end:
      return "quire_block_end()";
    case meeting::checkpoint:
      return "quire_checkpoint()";
    case meeting::restore:
      return "quire_restore()";
  }
  return nullptr;
}

std::string name_of(signature s) {
  static constexpr const char* combines[] = {"QUIRE_SUM", "QUIRE_MIN", "QUIRE_MAX", "QUIRE_PRODUCT"};
  if (s == 0) return "a collective with arguments that are not valid";
  if (const char* const whole = name_of(meeting_of(s)); whole != nullptr) return whole;
  const std::string count = std::to_string(s >> 32);
  const operation what = operation_of(s);
  if (what == operation::barrier_wait) return "quire_barrier_wait() of the job";
  if (what == operation::broadcast)
    return "quire_broadcast() of " + count + " bytes from node " + std::to_string(root_of(s));
  return std::string(what == operation::reduce_f64 ? "quire_reduce_f64()" : "quire_reduce_i64()") + " of " + count +
         " values by " + combines[combine_of(s)];
}

}  // namespace

signature signature_of(const call& c, std::uint16_t self, unsigned nodes) noexcept {
  const auto what = static_cast<signature>(c.what) | static_cast<signature>(c.within) << 10;
  switch (c.what) {
    case operation::barrier_wait:
      return what;
    case operation::broadcast:
      if (c.count > value::capacity || c.operand >= nodes) return 0;
      if (c.operand == self && c.values.size() != c.count) return 0;
      return what | c.operand << 16 | signature{c.count} << 32;
    default:
      if (c.count > max_reduce_values || c.combine > QUIRE_PRODUCT || c.values.size() != c.count * sizeof(double))
        return 0;
      return what | signature{c.combine} << 8 | signature{c.count} << 32;
  }
}

value value_of(const mismatch& m) noexcept { return value(std::as_bytes(std::span(&m, 1))); }

std::optional<mismatch> mismatch_in(const value& v) noexcept {
  mismatch m;
  if (v.size() != sizeof m) return std::nullopt;
  std::memcpy(&m, v.bytes().data(), sizeof m);
  return m;
}

std::string text_of(const mismatch& m) {
  const std::string first = "node " + std::to_string(m.node[0]) + " is in " + name_of(m.what[0]);
  if (m.node[0] == m.node[1]) return first;
  return first + " while node " + std::to_string(m.node[1]) + " is in " + name_of(m.what[1]);
}

}  // namespace quire::sync
