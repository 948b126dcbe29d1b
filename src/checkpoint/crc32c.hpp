// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C (Castagnoli): the checksum of iSCSI, ext4 and Btrfs, for which processors have an instruction. Own code,
// against the house rule, as zlib (crc32 only) takes 0.8 ns a byte, several times as long as writing it to the page
// cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace quire::checkpoint {

/// Of `bytes`, after what gave `before`.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0) noexcept;
/// The same without the processor's instruction, for machines that have none and for tests.
[[nodiscard]] std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t before = 0) noexcept;

}  // namespace quire::checkpoint
