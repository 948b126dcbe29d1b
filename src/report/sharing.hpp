// SPDX-License-Identifier: BSD-3-Clause
// What this node tells for the report on false sharing (QUIRE_SHARING): units that moved often, the parts that its
// threads have used, and the allocations that lie there. Application threads.
#pragma once

#include <string>
#include <vector>

#include "runtime/runtime.hpp"
#include "record/file.hpp"

namespace quire::api {

/// Asks who has allocated what lies on these units, while all nodes still answer. Nothing unless the report is wanted.
void find_allocations(runtime& r);
/// ,"sharing":[{"region":..., "address":..., "bytes":..., "release":..., "moves":..., "ns":..., "reads":[[line, times],
/// ...], "writes":[[word, times], ...],
///  "objects":[[address, bytes], ...], "calls":[...], "data":"file+0x1234"}, ...]
void add_sharing(std::string& json, const runtime& r);

/// The same for the report of `quire report`. Empty unless it is counted.
[[nodiscard]] std::vector<record::file_use> uses_of_units(const runtime& r);

}  // namespace quire::api
