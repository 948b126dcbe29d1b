// SPDX-License-Identifier: BSD-3-Clause
#include "core/layouts.hpp"

#include "core/minipages/minipages.hpp"

namespace quire::core::layouts {

std::span<const layout_row* const> built_in() noexcept {
  static constexpr const layout_row* rows[] = {&uniform, &divided};
  return rows;
}

}  // namespace quire::core::layouts
