// SPDX-License-Identifier: BSD-3-Clause
// Arrays for programs that divide their data into blocks.
#pragma once

#include <cstddef>
#include <span>

#include <quire/quire.hpp>

#include "common/settings.hpp"

namespace apps {

/// A region for arrays of a program with these settings; unit_bytes 0 stands for 4096.
[[nodiscard]] inline quire::region_options array_region(const run_settings& wanted, std::size_t unit_bytes) {
  quire::region_options about{.unit_bytes = unit_bytes};
  if (wanted.consistency == "release" || wanted.consistency == "scan") about.consistency = quire::consistency::release;
  if (wanted.consistency == "scan") about.detector = quire::detector::scan;
  return about;
}

/// `n` zeros in a region of their own, so on pages of their own. Its units are spread over the nodes in blocks, as rows
/// are over the workers. One node calls it; unit_kib 0 stands for 4.
template <class T = double>
[[nodiscard]] std::span<T> make_shared_array(const run_settings& wanted, std::size_t n, std::size_t unit_kib = 0) {
  const auto options = array_region(wanted, unit_kib * 1024);
  return quire::region::create(n * sizeof(T), options).span<T>().first(n);
}

}  // namespace apps
