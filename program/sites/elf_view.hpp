// SPDX-License-Identifier: BSD-3-Clause
// Tables of an ELF file in memory, each looked at only if it lies within.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace quire::program::sites {

class elf_view {
 public:
  explicit elf_view(std::span<const std::byte> file) noexcept : file_(file) {
    const auto head = table<Elf64_Ehdr>(0, 1);
    if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0 || head[0].e_ident[EI_CLASS] != ELFCLASS64)
      return;
    if (head[0].e_ident[EI_DATA] != ELFDATA2LSB || head[0].e_machine != EM_X86_64) return;
    if (head[0].e_phentsize == sizeof(Elf64_Phdr)) segments_ = table<Elf64_Phdr>(head[0].e_phoff, head[0].e_phnum);
    if (head[0].e_shentsize == sizeof(Elf64_Shdr)) sections_ = table<Elf64_Shdr>(head[0].e_shoff, head[0].e_shnum);
  }

  [[nodiscard]] std::span<const Elf64_Phdr> segments() const noexcept { return segments_; }
  [[nodiscard]] std::span<const Elf64_Shdr> sections() const noexcept { return sections_; }
  /// Empty if the file has not all of it.
  template <class T>
  [[nodiscard]] std::span<const T> table(std::uint64_t offset, std::uint64_t count) const noexcept {
    if (offset > file_.size() || (reinterpret_cast<std::uintptr_t>(file_.data()) + offset) % alignof(T) != 0 ||
        count > (file_.size() - offset) / sizeof(T))
      return {};
    return {reinterpret_cast<const T*>(file_.data() + offset), static_cast<std::size_t>(count)};
  }
  [[nodiscard]] std::span<const Elf64_Sym> symbols(std::uint32_t type, std::span<const char>& names) const noexcept {
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != type || s.sh_link >= sections_.size()) continue;
      const Elf64_Shdr& texts = sections_[s.sh_link];
      names = table<char>(texts.sh_offset, texts.sh_size);
      return table<Elf64_Sym>(s.sh_offset, s.sh_size / sizeof(Elf64_Sym));
    }
    return {};
  }

 private:
  std::span<const std::byte> file_;
  std::span<const Elf64_Phdr> segments_{};
  std::span<const Elf64_Shdr> sections_{};
};

/// Empty if it does not end within the table.
[[nodiscard]] inline std::string_view name_in(std::span<const char> names, std::uint64_t at) noexcept {
  if (at >= names.size()) return {};
  const void* const end = std::memchr(names.data() + at, 0, names.size() - at);
  return end == nullptr ? std::string_view{} : std::string_view(names.data() + at, static_cast<const char*>(end));
}

}  // namespace quire::program::sites
