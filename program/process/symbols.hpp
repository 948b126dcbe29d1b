// SPDX-License-Identifier: BSD-3-Clause
// Dynamic symbols of a module in memory. No lock, no memory, nothing of libc but texts: malloc(3) asks.
#pragma once

#include <link.h>

#include <cstdint>

namespace quire::program {

class dynamic_symbols {
 public:
  dynamic_symbols(const ElfW(Dyn) * dynamic, std::uint64_t base) noexcept;

  /// Whether `is(name, address)` holds for a function that the module defines; asked until it does.
  template <class Is>
  bool any_defined(Is&& is) const noexcept {
    for (std::uint32_t i = 1; i < count_; ++i) {
      if (is_defined_function(table_[i]) && is(name(i), reinterpret_cast<const void*>(base_ + table_[i].st_value)))
        return true;
    }
    return false;
  }
  /// The same of names that it looks up in other modules.
  template <class Is>
  bool any_needed(Is&& is) const noexcept {
    for (std::uint32_t i = 1; i < count_; ++i) {
      if (table_[i].st_shndx == SHN_UNDEF && is(name(i))) return true;
    }
    return false;
  }
  [[nodiscard]] bool defines(const char* name) const noexcept;
  /// The function that programs get which are linked now, of several versions. Null: none.
  [[nodiscard]] const void* newest(const char* name) const noexcept;
  /// Of the symbol of a number.
  [[nodiscard]] const char* name(std::uint32_t i) const noexcept { return texts_ + table_[i].st_name; }

 private:
  [[nodiscard]] static bool is_defined_function(const ElfW(Sym) & s) noexcept {
    return s.st_shndx != SHN_UNDEF && s.st_value != 0 && ELF64_ST_TYPE(s.st_info) == STT_FUNC;
  }
  [[nodiscard]] bool is_newest(std::uint32_t i, const char* name) const noexcept;
  [[nodiscard]] const void* newest_by_hash(const char* name) const noexcept;
  void count_by(const std::uint32_t* gnu_hash) noexcept;
  void count_by(const ElfW(Rela) * first, std::uint64_t bytes) noexcept;

  std::uint64_t base_;
  const ElfW(Sym) * table_ = nullptr;
  const char* texts_ = nullptr;
  const ElfW(Versym) * versions_ = nullptr;
  const std::uint32_t* gnu_hash_ = nullptr;
  std::uint32_t count_ = 0;
};

}  // namespace quire::program
