// SPDX-License-Identifier: BSD-3-Clause
// Texts of records, which may hold any bytes, as strings of JSON that also may stand within a script of a page.
#pragma once

#include <string>
#include <string_view>

namespace quire::tools::report {

/// In quotes; ASCII only, and without < and &.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace quire::tools::report
