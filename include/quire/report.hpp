// SPDX-License-Identifier: BSD-3-Clause
// Names for the report of a job (`quire run --report`): of memory, and of phases of threads. Any thread. Where nobody
// wants a report they do nothing but check.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <quire/error.hpp>
#include <quire/report.h>

namespace quire {

/// The report calls this memory so, as quire_label() says. errc::invalid, errc::bad_address, errc::limit.
inline void label(const void* address, std::size_t bytes, const std::string& name) {
  detail::check(quire_label(address, bytes, name.c_str()), "label");
}
template <class T, std::size_t N>
void label(std::span<T, N> memory, const std::string& name) {
  label(memory.data(), memory.size_bytes(), name);
}

/// What the calling thread does from construction to destruction, the report says under this name; afterwards under
/// none. errc::invalid, errc::limit.
class phase {
 public:
  explicit phase(const std::string& name) { detail::check(quire_phase(name.c_str()), "phase"); }
  ~phase() { (void)quire_phase(nullptr); }
  phase(const phase&) = delete;
  phase& operator=(const phase&) = delete;
};

}  // namespace quire
