// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::program::watch {

using look_function = void (*)();
/// For watch_table::look. Null: this processor cannot save its registers (xsave).
[[nodiscard]] look_function look_for_stubs() noexcept;

}  // namespace quire::program::watch
