// SPDX-License-Identifier: BSD-3-Clause
// The processors that this process may use, as the system describes them.
#pragma once

#include <vector>

#include "openmp/places/place_list.hpp"

namespace quire::openmp {

/// In the order of their numbers. Where /sys does not tell, each is a core, and there is one socket.
[[nodiscard]] std::vector<processor> processors_here();

}  // namespace quire::openmp
