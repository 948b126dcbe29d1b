// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::openmp {

/// From now on libraries of the program's own may not be loaded any more, if there are several nodes: only one would
/// have them.
void refuse_to_load() noexcept;
/// Ends the job if one was. Where regions begin and end.
void look_at_loaded() noexcept;

}  // namespace quire::openmp
