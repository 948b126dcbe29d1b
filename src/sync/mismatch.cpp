// SPDX-License-Identifier: BSD-3-Clause
#include "sync/mismatch.hpp"

#include <cstring>

#include "sync/collective.hpp"
#include "sync/names.hpp"

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
    case meeting::group_create:
      return "quire_group_create()";
    case meeting::group_destroy:
      return "quire_group_destroy()";
    case meeting::adopt:
      return "quire_region_adopt()";
    case meeting::gc_collect:
      return "quire_gc_collect()";
  }
  return nullptr;
}

std::string name_of(signature s) {
  static constexpr const char* combines[] = {"QUIRE_SUM", "QUIRE_MIN", "QUIRE_MAX", "QUIRE_PRODUCT"};
  if (s == 0) return "a collective with arguments that are not valid";
  if (const char* const whole = name_of(meeting_of(s)); whole != nullptr) return whole;
  const std::string count = std::to_string(s >> 32), call = std::string(name_of(operation_of(s))) + "()";
  switch (operation_of(s)) {
    case operation::barrier_wait:
      return call + " of the job";
    case operation::group_wait:
      return call;
    case operation::broadcast:
      return call + " of " + count + " bytes from node " + std::to_string(root_of(s));
    case operation::group_broadcast:
      return call + " of " + count + " bytes from member " + std::to_string(root_of(s));
    default:
      return call + " of " + count + " values by " + combines[combine_of(s)];
  }
}

}  // namespace

signature signature_of(const call& c, std::uint32_t self, std::uint32_t members) noexcept {
  const auto what = static_cast<signature>(c.what) | static_cast<signature>(c.within) << 10;
  if (c.what == operation::barrier_wait || c.what == operation::group_wait) return what;
  const std::uint64_t bytes = c.count * element_bytes(c.what);
  const bool whole = is_array(c.what, c.count) ? c.data.size() == bytes : c.values.size() == bytes;
  if (c.what == operation::broadcast || c.what == operation::group_broadcast) {
    if (c.operand >= members || (c.what == operation::broadcast && c.count > value::capacity)) return 0;
    if ((c.operand == self || is_array(c.what, c.count)) && !whole) return 0;
    return what | c.operand << 16 | signature{c.count} << 32;
  }
  const bool many =
      c.what != operation::group_reduce_f64 && c.what != operation::group_reduce_i64 && c.count > max_reduce_values;
  if (many || c.combine > QUIRE_PRODUCT || !whole) return 0;
  return what | signature{c.combine} << 8 | signature{c.count} << 32;
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
  if (m.node[0] == m.node[1])
    return m.what[0] == m.what[1] ? first : first + " while another thread of it is in " + name_of(m.what[1]);
  return first + " while node " + std::to_string(m.node[1]) + " is in " + name_of(m.what[1]);
}

}  // namespace quire::sync
