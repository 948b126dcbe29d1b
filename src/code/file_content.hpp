// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a file, on the node that loads it. Application thread.
#pragma once

#include <cstddef>
#include <vector>

#include "code/refusal.hpp"

namespace quire::code {

/// QUIRE_NOT_FOUND: there is none; QUIRE_SYSTEM; QUIRE_INVALID: it is no regular file; QUIRE_LIMIT: it has more than
/// `most_bytes`.
refusal read_file(const char* path, std::size_t most_bytes, std::vector<std::byte>& into);

}  // namespace quire::code
