// SPDX-License-Identifier: BSD-3-Clause
// What omp_* says of objects of foreign runtimes, of tools, and of devices by name. There are no foreign runtimes and
// no tools: each object is omp_interop_none, which has no property.
#include <cstdint>
#include <cstring>

#include "program/omp/gomp/dependences.hpp"
#include "program/omp/gomp/export.hpp"
#include "program/omp/team/tasking.hpp"

namespace {

constexpr int no_tool = -2;               ///< of omp_control_tool()
constexpr int empty = -1, too_high = -2;  ///< omp_irc_empty, omp_irc_out_of_range
constexpr int invalid_device = -4;
constexpr char host_name[] = "OMP_INITIAL_DEVICE";
constexpr const char* properties[] = {"fr_id",    "fr_name", "vendor",         "vendor_name", "device_num",
                                      "platform", "device",  "device_context", "targetsync"};
constexpr int count = static_cast<int>(sizeof properties / sizeof properties[0]);

/// Properties are numbered from -1 downwards.
constexpr bool is_known(int property) noexcept { return property < 0 && property >= -count; }

void tell(int* code, int property) noexcept {
  if (code != nullptr) *code = is_known(property) ? empty : too_high;
}

}  // namespace

QUIRE_GOMP int omp_control_tool(int, int, void*) { return no_tool; }

QUIRE_GOMP int omp_get_num_interop_properties(const void*) { return 0; }
QUIRE_GOMP std::intptr_t omp_get_interop_int(const void*, int property, int* code) {
  tell(code, property);
  return 0;
}
QUIRE_GOMP void* omp_get_interop_ptr(const void*, int property, int* code) {
  tell(code, property);
  return nullptr;
}
QUIRE_GOMP const char* omp_get_interop_str(const void*, int property, int* code) {
  tell(code, property);
  return nullptr;
}
QUIRE_GOMP const char* omp_get_interop_name(const void*, int property) {
  return is_known(property) ? properties[-property - 1] : nullptr;
}
QUIRE_GOMP const char* omp_get_interop_type_desc(const void*, int) { return nullptr; }
QUIRE_GOMP const char* omp_get_interop_rc_desc(const void*, int code) {
  constexpr const char* texts[] = {"no error", "no meaningful value", "the object is empty, omp_interop_none"};
  return code == 0 ? texts[0] : code == 1 ? texts[1] : code == empty ? texts[2] : "the property is none";
}

QUIRE_GOMP const char* omp_get_uid_from_device(int device) { return device == 0 || device == -1 ? host_name : nullptr; }
QUIRE_GOMP int omp_get_device_from_uid(const char* uid) {
  return uid != nullptr && std::strcmp(uid, host_name) == 0 ? 0 : invalid_device;
}

/// Objects that a construct makes or destroys are none, too: there is no foreign runtime that they could be of.
QUIRE_GOMP void GOMP_interop(int, int made, void*** to_make, const void*, const void*, unsigned, const void*,
                             unsigned destroyed, void*** to_destroy, unsigned, void** depend) {
  if (depend != nullptr) quire::program::wait_for_dependences(quire::program::dependences_of(depend));
  for (int i = 0; i < made; ++i) *to_make[i] = nullptr;
  for (unsigned i = 0; i < destroyed; ++i) *to_destroy[i] = nullptr;
}
