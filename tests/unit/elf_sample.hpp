// SPDX-License-Identifier: BSD-3-Clause
// A shared library of a few pages, made in memory, for tests of src/code: each part can be left out or spoilt. Offsets
// in the file are addresses.
//
//     0x0000   headers, symbols, names, hash table, relocations, unwind tables      read
//     0x1000   code                                                                run
//     0x2000   dynamic section; constructors; words to be relocated                RELRO
//     0x3000   words to be relocated, then .bss up to 0x6000                        written
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire::test {

class elf_sample {
 public:
  static constexpr std::uint64_t code = 0x1000, relro = 0x2000, constant_words = 0x2800, data = 0x3000, words = 0x3000,
                                 bss = 0x3100, end = 0x6000;
  static constexpr std::uint64_t hash = 0x400, symbols = 0x500, names = 0x900, relocations = 0xb00, relative = 0xe00;
  static constexpr std::uint64_t unwind_header = 0xf00, unwind_tables = 0xf40;
  enum header : std::size_t {
    read_segment,
    code_segment,
    written_segment,
    dynamic_segment,
    relro_segment,
    unwind_segment,
    headers
  };

  elf_sample() {
    text_.push_back(0);
    symbols_.push_back({});
    tags_ = {{DT_STRTAB, names}, {DT_SYMTAB, symbols}, {DT_SYMENT, sizeof(Elf64_Sym)}, {DT_HASH, hash}};
    segments = {segment(PT_LOAD, PF_R, 0, 0x1000, 0x1000),
                segment(PT_LOAD, PF_R | PF_X, code, 0x100, 0x100),
                segment(PT_LOAD, PF_R | PF_W, relro, 0x1100, end - relro),
                segment(PT_DYNAMIC, PF_R, relro, 0x400, 0x400),
                segment(PT_GNU_RELRO, PF_R, relro, data - relro, data - relro),
                segment(PT_GNU_EH_FRAME, PF_R, unwind_header, 8, 8)};
    head.e_type = ET_DYN;
    head.e_machine = EM_X86_64;
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_phoff = sizeof head;
    head.e_phentsize = sizeof(Elf64_Phdr);
  }
  std::uint32_t symbol(std::string_view name, unsigned type, unsigned binding, std::uint64_t value = 0,
                       std::uint16_t section = SHN_UNDEF) {
    Elf64_Sym s{};
    s.st_name = add(name);
    s.st_info = static_cast<unsigned char>(ELF64_ST_INFO(binding, type));
    s.st_value = value;
    s.st_shndx = section;
    symbols_.push_back(s);
    return static_cast<std::uint32_t>(symbols_.size() - 1);
  }
  std::uint32_t import(std::string_view name, unsigned type = STT_FUNC, unsigned binding = STB_GLOBAL) {
    return symbol(name, type, binding);
  }
  std::uint32_t function(std::string_view name, std::uint64_t value) {
    return symbol(name, STT_FUNC, STB_GLOBAL, value, 5);
  }
  void relocation(std::uint64_t where, std::uint32_t type, std::uint32_t of = 0, std::int64_t addend = 0) {
    relocations_.push_back({where, ELF64_R_INFO(std::uint64_t{of}, type), addend});
  }
  void tag(std::int64_t what, std::uint64_t value) { tags_.push_back({what, value}); }
  /// Headers of sections lie behind all else in the file.
  void section(std::uint32_t type, std::uint64_t flags, std::uint64_t alignment) {
    Elf64_Shdr s{};
    s.sh_type = type;
    s.sh_flags = flags;
    s.sh_addr = s.sh_offset = data;
    s.sh_size = 8;
    s.sh_addralign = alignment;
    sections_.push_back(s);
  }
  void needed(std::string_view library) { tag(DT_NEEDED, add(library)); }
  void word(std::uint64_t where, std::uint64_t value) { values_.push_back({where, value}); }

  [[nodiscard]] std::vector<std::byte> make() const {
    std::vector<std::byte> file(0x3100);
    const auto put = [&](std::uint64_t at, const void* from, std::size_t bytes) {
      if (bytes != 0) std::memcpy(file.data() + at, from, bytes);
    };
    Elf64_Ehdr h = head;
    if (h.e_phnum == 0) h.e_phnum = static_cast<Elf64_Half>(segments.size());
    put(0, &h, sizeof h);
    put(sizeof h, segments.data(), segments.size() * sizeof(Elf64_Phdr));
    put(symbols, symbols_.data(), symbols_.size() * sizeof(Elf64_Sym));
    put(names, text_.data(), text_.size());
    const std::uint32_t counts[] = {1, static_cast<std::uint32_t>(symbols_.size()), 0};
    put(hash, counts, sizeof counts);
    put(relocations, relocations_.data(), relocations_.size() * sizeof(Elf64_Rela));
    const std::uint8_t unwind[] = {1, 0x1b, 0x03, 0x3b};
    const auto distance = static_cast<std::int32_t>(unwind_tables - (unwind_header + 4));
    put(unwind_header, unwind, sizeof unwind);
    put(unwind_header + 4, &distance, sizeof distance);
    const std::uint32_t table[] = {12, 0, 0, 0, 0};  // a record of 12 bytes, then the end
    put(unwind_tables, table, sizeof table);
    std::vector<Elf64_Dyn> tags;
    for (const auto& [what, value] : tags_) tags.push_back({what, {value}});
    tags.push_back({DT_STRSZ, {text_.size()}});
    if (!relocations_.empty()) {
      const std::uint64_t bytes = relocations_.size() * sizeof(Elf64_Rela);
      tags.insert(tags.end(), {{DT_RELA, {relocations}}, {DT_RELASZ, {bytes}}, {DT_RELAENT, {sizeof(Elf64_Rela)}}});
    }
    tags.push_back({DT_NULL, {0}});
    put(relro, tags.data(), tags.size() * sizeof(Elf64_Dyn));
    for (const auto& [where, value] : values_) put(where, &value, sizeof value);
    if (!sections_.empty()) {
      h.e_shoff = file.size();
      h.e_shentsize = sizeof(Elf64_Shdr);
      h.e_shnum = static_cast<Elf64_Half>(sections_.size());
      put(0, &h, sizeof h);
      const auto bytes = std::as_bytes(std::span(sections_));
      file.insert(file.end(), bytes.begin(), bytes.end());
    }
    return file;
  }

  Elf64_Ehdr head{};
  std::vector<Elf64_Phdr> segments;

 private:
  static Elf64_Phdr segment(std::uint32_t type, std::uint32_t flags, std::uint64_t at, std::uint64_t file_bytes,
                            std::uint64_t bytes) {
    Elf64_Phdr h{};
    h.p_type = type;
    h.p_flags = flags;
    h.p_offset = h.p_vaddr = at;
    h.p_filesz = file_bytes;
    h.p_memsz = bytes;
    h.p_align = 0x1000;
    return h;
  }
  std::uint32_t add(std::string_view text) {
    const auto at = static_cast<std::uint32_t>(text_.size());
    text_.insert(text_.end(), text.begin(), text.end());
    text_.push_back(0);
    return at;
  }
  std::vector<char> text_{};
  std::vector<Elf64_Sym> symbols_{};
  std::vector<Elf64_Rela> relocations_{};
  std::vector<Elf64_Shdr> sections_{};
  std::vector<std::pair<std::int64_t, std::uint64_t>> tags_{};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> values_{};
};

}  // namespace quire::test
