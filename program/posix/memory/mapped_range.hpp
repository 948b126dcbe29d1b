// SPDX-License-Identifier: BSD-3-Clause
// The addresses that files have been mapped at (posix/mapped), on each node.
#pragma once

#include <cstdint>

namespace quire::program::mapped {

/// Whether an address may be of a mapped file; all such addresses are of Quire's range. In any context.
[[nodiscard]] bool may_have(const void* at) noexcept;
/// A file is mapped there from now on.
void note_mapped(std::uint64_t first, std::uint64_t end) noexcept;
[[nodiscard]] bool was_any_mapped() noexcept;

}  // namespace quire::program::mapped
