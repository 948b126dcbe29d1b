// SPDX-License-Identifier: BSD-3-Clause
// What nodes know of a module of code: it lies before the code itself, in the same region, so that it comes to a node
// as the code does. Written once, by the node that loads (image.hpp); after that nobody writes it. Addresses are those
// of the job, the same on all nodes; offsets count from the record's first byte.
//
//     address   what                                              on another node
//     base      record, thunks of imports, code, constants        comes by page faults
//               what is read-only after relocation (RELRO)        private, made by attach.hpp from the copy that the
//                                                                 record has
//     data      variables, then entries, `users` and `ended`        comes by page faults
//     slots     addresses of imports on this node, and copies     private, made by attach.hpp
#pragma once

#include <cstdint>
#include <string_view>

namespace quire::code {

enum class import_kind : std::uint8_t {
  absent,    ///< weak, and not found where the module was loaded: zero on all nodes
  function,  ///< has a thunk at the same address on all nodes, which jumps to what the node's slot holds
  object,    ///< its address is another on each node: for what is private
};

struct import_row {
  std::uint32_t name = 0;  ///< offset in strings
  import_kind kind = import_kind::absent;
  std::uint8_t reserved[3] = {};
};

/// A word of RELRO or of the slots that gets the address of an import on this node; or a place in the slots that gets a
/// copy of it.
struct patch_row {
  std::uint64_t where = 0;
  std::int64_t addend = 0;
  std::uint32_t import = 0;
  std::uint32_t copied_bytes = 0;  ///< 0: an address
};

struct export_row {
  std::uint64_t address = 0;
  std::uint32_t name = 0;
  std::uint32_t entry = no_entry;  ///< of functions: number in the table of entries
  static constexpr std::uint32_t no_entry = ~std::uint32_t{0};
};

struct record_table {
  std::uint64_t offset = 0, count = 0;
};

struct module_record {
  static constexpr std::uint64_t magic_number = 0x65646f6365726975;  // "uirecode"
  std::uint64_t magic = magic_number;
  std::uint64_t bytes = 0;                                               ///< of the record with its tables
  std::uint64_t code_handle = 0, data_handle = 0;                        ///< of the regions
  std::uint64_t base = 0, code_end = 0;                                  ///< of the region of code
  std::uint64_t private_at = 0, private_bytes = 0, private_content = 0;  ///< RELRO, and the offset of the copy
  std::uint64_t data = 0, data_bytes = 0, entries = 0;
  std::uint64_t users = 0;  ///< a word behind the entries: how many entries of other modules lead to this one
  std::uint64_t ended = 0;  ///< a word behind that: not 0, once destructors run or have run
  std::uint64_t slots = 0, slots_bytes = 0;
  std::uint64_t unwind_tables = 0, unwind_bytes = 0;  ///< 0: none
  std::uint64_t init = 0, fini = 0;                   ///< functions, or 0
  std::uint64_t init_array = 0, init_count = 0, fini_array = 0, fini_count = 0;
  record_table imports{}, patches{}, exports{}, needed{},
      strings{};  ///< exports in the order of their names; needed: offsets in strings
  std::uint32_t name = 0, reserved = 0;

  // Of a record with its tables, where it lies or copied.
  template <class Row>
  [[nodiscard]] const Row* rows(const record_table& of) const noexcept {
    return reinterpret_cast<const Row*>(reinterpret_cast<const char*>(this) + of.offset);
  }
  [[nodiscard]] const char* text(std::uint32_t offset) const noexcept { return rows<char>(strings) + offset; }
  /// Null: there is none.
  [[nodiscard]] const export_row* find(std::string_view symbol) const noexcept {
    const export_row* const all = rows<export_row>(exports);
    std::uint64_t first = 0, end = exports.count;
    while (first < end) {
      const std::uint64_t middle = (first + end) / 2;
      const int order = std::string_view(text(all[middle].name)).compare(symbol);
      if (order == 0) return &all[middle];
      if (order < 0) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    return nullptr;
  }
  [[nodiscard]] std::uint64_t* entry(std::uint32_t number) const noexcept {
    return reinterpret_cast<std::uint64_t*>(entries) + number;
  }
  /// Code or constants, RELRO or data of it.
  [[nodiscard]] bool has(std::uint64_t address) const noexcept { return address - base < slots + slots_bytes - base; }
};

}  // namespace quire::code
