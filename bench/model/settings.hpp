// SPDX-License-Identifier: BSD-3-Clause
// The command line of quire_model.
#pragma once

#include <string>
#include <vector>

#include "sim/timed/patterns.hpp"

namespace bench::model {

struct settings {
  std::vector<std::string> applications{"sor", "cg", "md", "helmholtz", "ep", "raytracer"};
  std::vector<std::string> consistencies{"sequential", "release"};
  std::vector<unsigned> nodes{};
  std::string network = "ib";
  quire::timed::node_options node{};  ///< but for nodes and consistency
  quire::timed::sor_shape sor{};
  quire::timed::cg_shape cg{};
  quire::timed::md_shape md{};
  quire::timed::helmholtz_shape helmholtz{};
  quire::timed::ep_shape ep{};
  quire::timed::raytracer_shape raytracer{};
  unsigned openmp_rounds = quire::timed::openmp_shape{}.rounds;
  unsigned runs = 1;  ///< of which the median is told
  bool json = false;

  /// Throws std::runtime_error where the application has no transactions.
  [[nodiscard]] quire::timed::pattern pattern_of(const std::string& application, unsigned on_nodes,
                                                 bool transactional) const;
};

/// Prints and exits on --help and on errors.
[[nodiscard]] settings parse(int argc, char** argv);

}  // namespace bench::model
