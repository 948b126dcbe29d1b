// SPDX-License-Identifier: BSD-3-Clause
// The numbers of this node: for quire_counters_read(), and as JSON for `quire run --stats`.
#pragma once

#include <string>

#include "runtime/runtime.hpp"

namespace quire::api {

// Application threads, as both ask the driver.
void fill(const runtime& r, quire_counters& out) noexcept;
/// An object: name to integer, and what statistics.hpp of the launcher reads.
[[nodiscard]] std::string counters_json(const runtime& r);

}  // namespace quire::api
