// Arrays for programs that divide their data into blocks.
#pragma once

#include <cstddef>
#include <span>

#include <quire/quire.hpp>

namespace apps {

/// `n` zeros in a region of their own, so on pages of their own. Its units are spread over the nodes in blocks, as rows
/// are over the workers. One node calls it; unit_kib 0 stands for 4.
[[nodiscard]] inline std::span<double> make_shared_array(std::size_t n, std::size_t unit_kib = 0) {
  const auto options = quire::region_options{.unit_bytes = unit_kib * 1024};
  return quire::region::create(n * sizeof(double), options).span<double>().first(n);
}

}  // namespace apps
