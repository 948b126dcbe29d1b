// SPDX-License-Identifier: BSD-3-Clause
// All sites of a program's file, or of a library's: its sections of code are decoded from their start to their end,
// which is exact for what gcc and clang make. Nothing of the file is believed. Pure: the same file gives the same on
// all nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "program/sites/decoder.hpp"

namespace quire::program::sites {

struct code {
  std::string
      trouble{};  ///< why not all is known, as the end of a sentence that begins with the file's name; empty: all is
  std::vector<site> found{};            ///< by address, as in the file
  std::vector<std::string> updating{};  ///< functions that it calls for atomic operations
  std::vector<std::string> fencing{};   ///< and as a fence
};

/// What sections of code have.
struct sections {
  std::vector<site> found{};
  std::vector<std::uint64_t> targets{};  ///< of direct jumps and calls
};
/// One section. False if an instruction cannot be read, whose address `bad` then has.
[[nodiscard]] bool read_section(const decoder& by, std::span<const std::byte> bytes, std::uint64_t address,
                                sections& into, std::uint64_t& bad);
/// What somebody wants to know.
enum class wanted : std::uint8_t {
  all,
  fences,  ///< those only: only functions are decoded that have bytes of one
};
/// Where the next fence (site_kind::fence), as assemblers write it, may be, wherever instructions begin: the byte at
/// which it has 0xf0, from `from` on; bytes.size(): there is none.
[[nodiscard]] std::size_t next_fence(std::span<const std::byte> bytes, std::size_t from) noexcept;
/// An ELF file.
[[nodiscard]] code read_code(const decoder& by, std::span<const std::byte> file, wanted what = wanted::all);
/// The function around an address, by the file's symbols; empty if there is none.
[[nodiscard]] std::string function_at(std::span<const std::byte> file, std::uint64_t address);

}  // namespace quire::program::sites
