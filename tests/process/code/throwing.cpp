// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

namespace {
struct static_object {
  static_object() { throw std::runtime_error("no"); }
} object;
}  // namespace
extern "C" const void* address_of_object() { return &object; }
