// SPDX-License-Identifier: BSD-3-Clause
// Reads a shared library of this machine: program headers and the dynamic section, as the System V ABI and that of the
// processor have them. Every offset, count and address is checked before use: what read() accepts, all other calls can
// be asked of. Pure; application thread of the node that loads.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code/refusal.hpp"

namespace quire::code {

inline constexpr std::uint64_t page_bytes = 4096;
[[nodiscard]] constexpr std::uint64_t page_down(std::uint64_t address) noexcept {
  return address / page_bytes * page_bytes;
}
[[nodiscard]] constexpr std::uint64_t page_up(std::uint64_t address) noexcept {
  return page_down(address + page_bytes - 1);
}

/// Addresses of a file are those that its linker gave; where it lies in memory is another matter.
struct address_range {
  std::uint64_t first = 0, end = 0;
  [[nodiscard]] bool has(std::uint64_t address, std::uint64_t bytes = 1) const noexcept {
    return address >= first && address < end && bytes <= end - address;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return end - first; }
};

struct elf_segment {
  std::uint64_t address = 0, bytes = 0;
  std::span<const std::byte> content{};  ///< of its beginning; the rest is zero
  bool written = false, run = false;
};

struct elf_symbol {
  std::string_view name{};
  std::uint64_t value = 0, bytes = 0;
  unsigned type = 0, binding = 0;  ///< STT_, STB_
  bool defined = false;
  bool absolute = false;  ///< its value is no address of the file
  bool exported = false;  ///< defined, and others may use it; of several versions the default one
};

struct elf_relocation {
  std::uint64_t where = 0;
  std::uint32_t type = 0, symbol = 0;  ///< 0: none
  std::int64_t addend = 0;
};

class elf_file {
 public:
  /// No larger image is loaded.
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

  /// `file` must stay as long as the object is used.
  refusal read(std::span<const std::byte> file);

  [[nodiscard]] std::span<const elf_segment> segments() const noexcept { return segments_; }
  /// From the first page of the first segment to the end of the last.
  [[nodiscard]] address_range image() const noexcept { return image_; }
  /// What is written by relocation alone; whole pages, maybe none. Begins where the first segment that is written does.
  [[nodiscard]] address_range relro() const noexcept { return relro_; }
  [[nodiscard]] std::span<const elf_symbol> symbols() const noexcept { return symbols_; }
  [[nodiscard]] std::span<const elf_relocation> relocations() const noexcept { return relocations_; }
  /// Words to which the distance of the image from its addresses is added (DT_RELR).
  [[nodiscard]] std::span<const std::uint64_t> relative_words() const noexcept { return relative_words_; }
  [[nodiscard]] std::span<const std::string_view> needed() const noexcept { return needed_; }
  /// Functions of the start and the end; 0: none.
  [[nodiscard]] std::uint64_t init() const noexcept { return init_; }
  [[nodiscard]] std::uint64_t fini() const noexcept { return fini_; }
  [[nodiscard]] address_range init_array() const noexcept { return init_array_; }
  [[nodiscard]] address_range fini_array() const noexcept { return fini_array_; }
  /// Unwind tables (.eh_frame), up to and with the zero that ends them; empty: there are none.
  [[nodiscard]] address_range unwind_tables() const noexcept { return unwind_tables_; }
  [[nodiscard]] bool has_thread_local() const noexcept { return has_thread_local_; }

  /// For people: a symbol with a type (STT_), at an address if one is given; also of those that the dynamic linker does
  /// not know. Empty: unknown.
  [[nodiscard]] std::string_view name_of(unsigned type, std::optional<std::uint64_t> address = {}) const noexcept;
  /// The bytes of a range of addresses, which lies within what the file has of one segment; else empty.
  [[nodiscard]] std::span<const std::byte> content(std::uint64_t address, std::uint64_t bytes) const noexcept;

 private:
  struct dynamic_section;
  refusal read_header();
  refusal read_segments();
  refusal read_dynamic();
  refusal read_relocations(const dynamic_section& d);
  refusal read_table(const char* name, std::uint64_t address, std::uint64_t bytes);
  refusal read_relative_words(std::uint64_t address, std::uint64_t bytes);
  refusal read_symbols(const dynamic_section& d);
  refusal read_array(const char* name, std::uint64_t address, std::uint64_t bytes, address_range& to) const;
  refusal read_unwind_tables();
  refusal check_alignment() const;
  /// Nothing: there are no more.
  [[nodiscard]] std::optional<Elf64_Shdr> section(std::uint64_t number) const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> count_symbols(const dynamic_section& d) const noexcept;
  [[nodiscard]] std::span<const std::byte> rest_at(std::uint64_t address) const noexcept;
  template <class T>
  [[nodiscard]] std::optional<T> at(std::uint64_t address) const noexcept;
  template <class T>
  [[nodiscard]] std::optional<T> in_file(std::uint64_t offset) const noexcept;

  std::span<const std::byte> file_{};
  std::uint64_t headers_at_ = 0, headers_ = 0;
  std::uint64_t dynamic_ = 0, dynamic_bytes_ = 0, unwind_header_ = 0;
  address_range image_{}, relro_{}, init_array_{}, fini_array_{}, unwind_tables_{};
  std::uint64_t init_ = 0, fini_ = 0, name_bytes_ = 0;
  bool has_thread_local_ = false;
  std::vector<elf_segment> segments_{};
  std::vector<elf_symbol> symbols_{};
  std::vector<elf_relocation> relocations_{};
  std::vector<std::uint64_t> relative_words_{};
  std::vector<std::string_view> needed_{};
};

}  // namespace quire::code
