// SPDX-License-Identifier: BSD-3-Clause
// Which pages of a sparse table have ever been touched. Not for fault context.
#pragma once

#include <cstddef>
#include <functional>

namespace quire::os {

/// Calls f(offset, bytes) for runs of pages of a private mapping that have a frame or are swapped out, upwards; the
/// others read as zeroes. `at` lies on a page. All of it, if the system does not tell (/proc/self/pagemap).
void for_each_present(const void* at, std::size_t bytes, const std::function<void(std::size_t, std::size_t)>& f);

}  // namespace quire::os
