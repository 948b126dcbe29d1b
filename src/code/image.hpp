// SPDX-License-Identifier: BSD-3-Clause
// From a shared library to what lies in shared memory: which bytes go where, and which relocations are the same on all
// nodes. Those that are not, addresses of imports, are left to each node (attach.hpp). Pure; application thread of the
// node that loads.
//
//   plan()     what the module needs: imports, and sizes of the parts
//   imports    the caller finds out what each is, on this node
//   link()     the bytes of all parts, for the addresses that they will have
//
// A definition of the module counts before those of others: its address is the same on all nodes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "code/elf_file.hpp"
#include "code/module_record.hpp"

namespace quire::code {

struct import {
  std::string_view name{};
  bool weak = false;
  unsigned type = 0;  ///< STT_ of the reference, often none
  import_kind kind = import_kind::absent;
  /// Descriptors of types that variables point to, as tables of what is caught do: each node has a copy at the same
  /// address. They are compared by their names.
  static constexpr std::uint32_t no_copy = ~std::uint32_t{0}, most_copied_bytes = 128;
  std::uint32_t copy = no_copy;  ///< number of the copy
  std::uint32_t bytes = 0;       ///< of what is copied, on this node
};

/// Sizes in bytes, whole pages.
struct part_sizes {
  std::uint64_t code = 0;  ///< record, thunks, and what of the image is not written
  std::uint64_t gap = 0;   ///< RELRO
  std::uint64_t data = 0;  ///< the rest of the image, and the table of entries
  std::uint64_t slots = 0;
};

struct linked_parts {
  std::vector<std::byte> code{}, data{};
};

class image {
 public:
  /// `file` must stay as long as the object is used. Refuses what cannot be in shared memory: thread-local variables,
  /// functions that are chosen when they are loaded (IFUNC), relocations of other kinds.
  refusal plan(const elf_file& file, std::string_view name);
  [[nodiscard]] std::vector<import>& imports() noexcept { return imports_; }
  [[nodiscard]] const part_sizes& sizes() const noexcept { return sizes_; }

  struct place {
    std::uint64_t base = 0;  ///< of the code; data and slots follow as sizes() says
    std::uint64_t code_handle = 0, data_handle = 0;
  };
  /// When all imports have a kind, and those with a copy their size. Refuses data that would hold what differs between
  /// nodes: the address of an imported object.
  refusal link(const place& at, linked_parts& made) const;

 private:
  struct writer;
  refusal check_relocation(const elf_relocation& r) const;
  [[nodiscard]] std::string name_at(const elf_relocation& r) const;
  refusal relocate(writer& to, const elf_relocation& r) const;
  refusal relocate_import(writer& to, const elf_relocation& r) const;
  void fill(writer& to) const;
  void write_tables(writer& to) const;

  const elf_file* file_ = nullptr;
  std::string name_{};
  std::vector<import> imports_{};
  std::vector<std::uint32_t> import_of_{};  ///< by symbol
  std::vector<std::uint32_t> exports_{};    ///< symbols, in the order of their names
  std::uint64_t functions_ = 0;             ///< of them, with an entry
  std::uint64_t most_patches_ = 0;
  std::uint32_t copies_ = 0;
  std::uint64_t record_bytes_ = 0, thunks_at_ = 0;
  part_sizes sizes_{};
};

}  // namespace quire::code
