// SPDX-License-Identifier: BSD-3-Clause
#include "code/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#ifndef DT_RELRSZ  // of glibc 2.36
#define DT_RELRSZ 35
#define DT_RELR 36
#define DT_RELRENT 37
#endif

namespace quire::code {
namespace {

constexpr std::uint64_t most_headers = 128, most_symbols = 1u << 24, most_name_bytes = elf_file::most_bytes;

refusal too_many_names() {
  return refuse(QUIRE_LIMIT, "the names of its symbols and libraries have more than 1 GiB together");
}

#if defined(__x86_64__)
constexpr unsigned own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned own_machine = EM_AARCH64;
#else
#error "which machine is this, in words of ELF?"
#endif

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

template <class T>
std::optional<T> taken(std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
  T value;
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// A string that ends within a table.
std::optional<std::string_view> text_at(std::span<const std::byte> table, std::uint64_t offset) noexcept {
  if (offset >= table.size()) return std::nullopt;
  const auto* const text = reinterpret_cast<const char*>(table.data()) + offset;
  const std::size_t length = ::strnlen(text, table.size() - offset);
  if (length == table.size() - offset) return std::nullopt;
  return std::string_view(text, length);
}

}  // namespace

struct elf_file::dynamic_section {
  std::uint64_t strings = 0, strings_bytes = 0, symbols = 0, hash = 0, gnu_hash = 0, versions = 0;
  std::uint64_t rela = 0, rela_bytes = 0, plt = 0, plt_bytes = 0, relr = 0, relr_bytes = 0;
  std::uint64_t init_array = 0, init_array_bytes = 0, fini_array = 0, fini_array_bytes = 0;
  std::vector<std::uint64_t> needed{};
  std::span<const std::byte> text{};
};

template <class T>
std::optional<T> elf_file::in_file(std::uint64_t offset) const noexcept {
  return taken<T>(file_, offset);
}

template <class T>
std::optional<T> elf_file::at(std::uint64_t address) const noexcept {
  const auto bytes = content(address, sizeof(T));
  return bytes.empty() ? std::nullopt : taken<T>(bytes, 0);
}

std::span<const std::byte> elf_file::rest_at(std::uint64_t address) const noexcept {
  for (const elf_segment& s : segments_) {
    if (address >= s.address && address - s.address < s.content.size()) return s.content.subspan(address - s.address);
  }
  return {};
}

std::span<const std::byte> elf_file::content(std::uint64_t address, std::uint64_t bytes) const noexcept {
  const auto rest = rest_at(address);
  return bytes <= rest.size() ? rest.first(bytes) : std::span<const std::byte>{};
}

refusal elf_file::read(std::span<const std::byte> file) {
  *this = {};
  file_ = file;
  if (auto why = read_header(); !why.ok()) return why;
  if (auto why = read_segments(); !why.ok()) return why;
  if (auto why = read_dynamic(); !why.ok()) return why;
  if (auto why = check_alignment(); !why.ok()) return why;
  return read_unwind_tables();
}

refusal elf_file::read_header() {
  const auto h = in_file<Elf64_Ehdr>(0);
  const bool elf = file_.size() >= SELFMAG && std::memcmp(file_.data(), ELFMAG, SELFMAG) == 0;
  if (!elf) return invalid("it is no ELF file");
  if (!h) return invalid("it ends within the header of the file");
  if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
    return invalid("it is not for a machine of 64 bits and little-endian order");
  if (h->e_machine != own_machine) {
    return invalid("it is for another kind of machine (number " + std::to_string(h->e_machine) +
                   " in ELF, this one is " + std::to_string(own_machine) + ")");
  }
  if (h->e_type == ET_REL) return invalid("it is an object file: link it with -shared");
  if (h->e_type == ET_EXEC)
    return invalid("it is a program, and no shared library: compile with -fPIC, and link with -shared");
  if (h->e_type != ET_DYN) return invalid("it is no shared library (type " + std::to_string(h->e_type) + " in ELF)");
  if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0 || h->e_phnum > most_headers) {
    return invalid("its table of program headers has a size that is none");
  }
  headers_at_ = h->e_phoff;
  headers_ = h->e_phnum;
  if (headers_at_ > file_.size() || file_.size() - headers_at_ < headers_ * sizeof(Elf64_Phdr)) {
    return invalid("it ends within the table of its program headers");
  }
  return {};
}

refusal elf_file::read_segments() {
  address_range relro;
  for (std::uint64_t i = 0; i < headers_; ++i) {
    const Elf64_Phdr h = *in_file<Elf64_Phdr>(headers_at_ + i * sizeof(Elf64_Phdr));
    if (h.p_type == PT_TLS && h.p_memsz != 0) has_thread_local_ = true;
    if (h.p_type == PT_DYNAMIC) dynamic_ = h.p_vaddr, dynamic_bytes_ = h.p_memsz;
    if (h.p_type == PT_GNU_EH_FRAME) unwind_header_ = h.p_vaddr;
    if (h.p_type == PT_GNU_RELRO && h.p_memsz <= most_bytes && h.p_vaddr <= most_bytes)
      relro = {h.p_vaddr, h.p_vaddr + h.p_memsz};
    if (h.p_type != PT_LOAD || h.p_memsz == 0) continue;
    const std::string which = "its segment at " + hex(h.p_vaddr);
    if (h.p_vaddr > most_bytes || h.p_memsz > most_bytes || h.p_vaddr + h.p_memsz > most_bytes) {
      return refuse(QUIRE_LIMIT, which + " ends beyond 1 GiB, the most that is loaded");
    }
    if (h.p_filesz > h.p_memsz) return invalid(which + " has more in the file than in memory");
    if (h.p_offset > file_.size() || file_.size() - h.p_offset < h.p_filesz)
      return invalid("the file ends within " + which.substr(4) + ": it is truncated");
    const bool written = (h.p_flags & PF_W) != 0, run = (h.p_flags & PF_X) != 0;
    if (written && run) return refuse(QUIRE_UNSUPPORTED, which + " may be both written and run");
    if (!segments_.empty() && page_down(h.p_vaddr) < image_.end)
      return invalid(which + " begins in a page of the one before");
    if (!segments_.empty() && segments_.back().written && !written) {
      return refuse(QUIRE_UNSUPPORTED,
                    which + " is not written, and lies behind one that is: link with another linker");
    }
    if (segments_.empty()) image_.first = page_down(h.p_vaddr);
    image_.end = page_up(h.p_vaddr + h.p_memsz);
    segments_.push_back({h.p_vaddr, h.p_memsz, file_.subspan(h.p_offset, h.p_filesz), written, run});
  }
  if (segments_.empty()) return invalid("it has nothing that is loaded");
  const auto written = std::find_if(segments_.begin(), segments_.end(), [](const elf_segment& s) { return s.written; });
  const std::uint64_t first = written != segments_.end() ? page_down(written->address) : image_.end;
  relro_ = {first, first};
  if (relro.end == 0) return {};
  const std::uint64_t end = page_down(relro.end);
  if (page_down(relro.first) != first || end > image_.end) {
    return invalid("what is read-only after relocation does not lie at the beginning of what is written");
  }
  if (end > first) relro_.end = end;
  return {};
}

refusal elf_file::read_dynamic() {
  if (dynamic_ == 0) return invalid("it has no dynamic section: it is no shared library, or was linked with -static");
  const auto bytes = content(dynamic_, dynamic_bytes_);
  if (bytes.empty()) return invalid("its dynamic section lies outside of what is loaded");
  dynamic_section d;
  bool text_relocations = false;
  for (std::uint64_t offset = 0;; offset += sizeof(Elf64_Dyn)) {
    const auto entry = taken<Elf64_Dyn>(bytes, offset);
    if (!entry || entry->d_tag == DT_NULL) break;
    const std::uint64_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
      case DT_STRTAB:
        d.strings = value;
        break;
      case DT_STRSZ:
        d.strings_bytes = value;
        break;
      case DT_SYMTAB:
        d.symbols = value;
        break;
      case DT_HASH:
        d.hash = value;
        break;
      case DT_GNU_HASH:
        d.gnu_hash = value;
        break;
      case DT_VERSYM:
        d.versions = value;
        break;
      case DT_RELA:
        d.rela = value;
        break;
      case DT_RELASZ:
        d.rela_bytes = value;
        break;
      case DT_JMPREL:
        d.plt = value;
        break;
      case DT_PLTRELSZ:
        d.plt_bytes = value;
        break;
      case DT_RELR:
        d.relr = value;
        break;
      case DT_RELRSZ:
        d.relr_bytes = value;
        break;
      case DT_INIT:
        init_ = value;
        break;
      case DT_FINI:
        fini_ = value;
        break;
      case DT_INIT_ARRAY:
        d.init_array = value;
        break;
      case DT_INIT_ARRAYSZ:
        d.init_array_bytes = value;
        break;
      case DT_FINI_ARRAY:
        d.fini_array = value;
        break;
      case DT_FINI_ARRAYSZ:
        d.fini_array_bytes = value;
        break;
      case DT_NEEDED:
        d.needed.push_back(value);
        break;
      case DT_SYMENT:
        if (value != sizeof(Elf64_Sym)) return invalid("its symbols have a size that is none");
        break;
      case DT_RELAENT:
        if (value != sizeof(Elf64_Rela)) return invalid("its relocations have a size that is none");
        break;
      case DT_REL:
        return invalid("it has relocations without addends, which this machine does not have");
      case DT_PLTREL:
        if (value != DT_RELA) return invalid("it has relocations without addends, which this machine does not have");
        break;
      case DT_TEXTREL:
        text_relocations = true;
        break;
      case DT_FLAGS:
        text_relocations = text_relocations || (value & DF_TEXTREL) != 0;
        break;
      case DT_FLAGS_1:
        if ((value & DF_1_PIE) != 0) return invalid("it is a program, and no shared library: link it with -shared");
        break;
      default:
        break;
    }
  }
  if (text_relocations)
    return refuse(QUIRE_UNSUPPORTED, "its code would be changed by relocation: compile all of it with -fPIC");
  d.text = content(d.strings, d.strings_bytes);
  if (d.strings != 0 && d.text.empty() && d.strings_bytes != 0)
    return invalid("its table of names lies outside of what is loaded");
  for (const std::uint64_t offset : d.needed) {
    const auto name = text_at(d.text, offset);
    if (!name || name->empty())
      return invalid("the name of a library that it needs lies outside of its table of names");
    if (name_bytes_ += name->size() + 1; name_bytes_ > most_name_bytes) return too_many_names();
    needed_.push_back(*name);
  }
  if (auto why = read_relocations(d); !why.ok()) return why;
  if (auto why = read_symbols(d); !why.ok()) return why;
  if (auto why = read_array("constructors", d.init_array, d.init_array_bytes, init_array_); !why.ok()) return why;
  if (auto why = read_array("destructors", d.fini_array, d.fini_array_bytes, fini_array_); !why.ok()) return why;
  const auto is_code = [&](std::uint64_t address) {
    return address == 0 || std::any_of(segments_.begin(), segments_.end(),
                                       [&](const elf_segment& s) { return s.run && address - s.address < s.bytes; });
  };
  if (!is_code(init_) || !is_code(fini_)) return invalid("the function of its start or its end is no code of it");
  return {};
}

refusal elf_file::read_array(const char* name, std::uint64_t address, std::uint64_t bytes, address_range& to) const {
  if (bytes == 0) return {};
  if (address % sizeof(std::uint64_t) != 0 || bytes % sizeof(std::uint64_t) != 0 || address < relro_.first ||
      content(address, bytes).empty()) {
    return invalid(std::string("its table of ") + name + " lies outside of what is relocated");
  }
  to = {address, address + bytes};
  return {};
}

refusal elf_file::read_relocations(const dynamic_section& d) {
  if (auto why = read_table("relocations", d.rela, d.rela_bytes); !why.ok()) return why;
  // Some linkers count those of calls among the others, too; to apply one twice makes no difference.
  if (auto why = read_table("relocations of calls", d.plt, d.plt_bytes); !why.ok()) return why;
  return read_relative_words(d.relr, d.relr_bytes);
}

refusal elf_file::read_table(const char* name, std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return {};
  const auto table = content(address, bytes);
  if (table.empty() || bytes % sizeof(Elf64_Rela) != 0)
    return invalid(std::string("its table of ") + name + " lies outside of what is loaded");
  for (std::uint64_t offset = 0; offset < bytes; offset += sizeof(Elf64_Rela)) {
    const auto r = *taken<Elf64_Rela>(table, offset);
    relocations_.push_back({r.r_offset, static_cast<std::uint32_t>(ELF64_R_TYPE(r.r_info)),
                            static_cast<std::uint32_t>(ELF64_R_SYM(r.r_info)), r.r_addend});
  }
  return {};
}

/// An address, then bitmaps of the 63 words behind it.
refusal elf_file::read_relative_words(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return {};
  const auto table = content(address, bytes);
  if (table.empty() || bytes % sizeof(std::uint64_t) != 0)
    return invalid("its table of relative relocations lies outside of what is loaded");
  std::uint64_t next = 0;
  for (std::uint64_t offset = 0; offset < bytes; offset += sizeof(std::uint64_t)) {
    const std::uint64_t word = *taken<std::uint64_t>(table, offset);
    if (word % 2 == 0) {
      relative_words_.push_back(word);
      next = word + sizeof word;
      continue;
    }
    for (unsigned bit = 1; bit < 64; ++bit) {
      if ((word >> bit & 1) != 0) relative_words_.push_back(next + (bit - 1) * sizeof word);
    }
    next += 63 * sizeof word;
    if (relative_words_.size() > image_.bytes() / sizeof word)
      return invalid("its table of relative relocations has more words than the image");
  }
  return {};
}

/// The dynamic section does not say; the tables by which symbols are found do, but for those that only relocations
/// name.
std::optional<std::uint64_t> elf_file::count_symbols(const dynamic_section& d) const noexcept {
  std::uint64_t count = 1;
  for (const elf_relocation& r : relocations_) count = std::max<std::uint64_t>(count, std::uint64_t{r.symbol} + 1);
  if (d.hash != 0) {
    const auto chains = at<std::uint32_t>(d.hash + 4);
    if (!chains) return std::nullopt;
    count = std::max<std::uint64_t>(count, *chains);
  }
  if (d.gnu_hash == 0) return count;
  const auto buckets = at<std::uint32_t>(d.gnu_hash), first = at<std::uint32_t>(d.gnu_hash + 4),
             bloom = at<std::uint32_t>(d.gnu_hash + 8);
  if (!buckets || !first || !bloom || *buckets > most_symbols || *bloom > most_symbols) return std::nullopt;
  const std::uint64_t table = d.gnu_hash + 16 + std::uint64_t{*bloom} * 8, chains = table + std::uint64_t{*buckets} * 4;
  std::uint32_t last = 0;
  for (std::uint32_t b = 0; b < *buckets; ++b) {
    const auto bucket = at<std::uint32_t>(table + std::uint64_t{b} * 4);
    if (!bucket) return std::nullopt;
    last = std::max(last, *bucket);
  }
  if (last < *first) return count;
  for (std::uint64_t symbol = last;; ++symbol) {  // the last chain; it ends with a one
    const auto hash = at<std::uint32_t>(chains + (symbol - *first) * 4);
    if (!hash) return std::nullopt;
    if (*hash % 2 != 0) return std::max(count, symbol + 1);
  }
}

refusal elf_file::read_symbols(const dynamic_section& d) {
  const auto count = count_symbols(d);
  if (!count || *count > most_symbols)
    return invalid("the tables by which its symbols are found lie outside of what is loaded");
  if (d.symbols == 0 && *count == 1) return {};
  const auto table = content(d.symbols, *count * sizeof(Elf64_Sym));
  if (table.empty())
    return invalid("its table of symbols lies outside of what is loaded, or a relocation names a symbol that is none");
  const auto versions =
      d.versions != 0 ? content(d.versions, *count * sizeof(Elf64_Half)) : std::span<const std::byte>{};
  if (d.versions != 0 && versions.empty()) return invalid("the versions of its symbols lie outside of what is loaded");
  constexpr Elf64_Half hidden = 0x8000;  // an older version: nobody finds it who asks for none
  symbols_.reserve(*count);
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto s = *taken<Elf64_Sym>(table, i * sizeof(Elf64_Sym));
    const auto name = s.st_name == 0 ? std::string_view{} : text_at(d.text, s.st_name);
    if (!name) return invalid("the name of its symbol " + std::to_string(i) + " lies outside of its table of names");
    if (name_bytes_ += name->size() + 1; name_bytes_ > most_name_bytes)
      return too_many_names();  // all may be one, the whole table
    elf_symbol& made = symbols_.emplace_back();
    made.name = *name;
    made.value = s.st_value;
    made.bytes = s.st_size;
    made.type = ELF64_ST_TYPE(s.st_info);
    made.binding = ELF64_ST_BIND(s.st_info);
    made.defined = s.st_shndx != SHN_UNDEF;
    made.absolute = s.st_shndx == SHN_ABS;
    const auto visibility = ELF64_ST_VISIBILITY(s.st_other);
    const auto version = taken<Elf64_Half>(versions, i * sizeof(Elf64_Half));
    const bool shown =
        (visibility == STV_DEFAULT || visibility == STV_PROTECTED) && (version.value_or(0) & hidden) == 0;
    made.exported = made.defined && shown && !made.absolute && !made.name.empty() && made.binding != STB_LOCAL &&
                    image_.has(made.value);
    if (made.defined && !made.absolute && made.type != STT_TLS && made.value > image_.end) {
      return invalid("its symbol '" + std::string(*name) + "' lies outside of what is loaded");
    }
  }
  return {};
}

/// Unwinders are given where the tables begin, and read to a length of zero.
refusal elf_file::read_unwind_tables() {
  if (unwind_header_ == 0) return {};
  const auto version = at<std::uint8_t>(unwind_header_), encoding = at<std::uint8_t>(unwind_header_ + 1);
  const auto distance = at<std::int32_t>(unwind_header_ + 4);
  constexpr std::uint8_t relative_to_itself = 0x1b;  // DW_EH_PE_pcrel | DW_EH_PE_sdata4
  if (!version || *version != 1 || !encoding || !distance) {
    return invalid("the header of its unwind tables lies outside of what is loaded, or is of another version");
  }
  if (*encoding != relative_to_itself)
    return refuse(QUIRE_UNSUPPORTED, "the address of its unwind tables is given in a way that linkers do not use");
  const std::uint64_t first = unwind_header_ + 4 + static_cast<std::uint64_t>(std::int64_t{*distance});
  for (std::uint64_t next = first;;) {
    const auto length = at<std::uint32_t>(next);
    if (!length || *length == 0xffffffff) {
      return invalid(
          "its unwind tables (.eh_frame) do not end with a zero: link it with the compiler, which adds crtend.o");
    }
    next += 4 + std::uint64_t{*length};
    if (*length != 0) continue;
    unwind_tables_ = {first, next};
    break;
  }
  return {};
}

std::optional<Elf64_Shdr> elf_file::section(std::uint64_t number) const noexcept {
  const auto h = in_file<Elf64_Ehdr>(0);
  if (!h || h->e_shentsize != sizeof(Elf64_Shdr) || number >= h->e_shnum || h->e_shoff > file_.size())
    return std::nullopt;
  return in_file<Elf64_Shdr>(h->e_shoff + number * sizeof(Elf64_Shdr));
}

/// Segments say no more than the size of the linker's pages. A file without headers of sections says nothing.
refusal elf_file::check_alignment() const {
  for (std::uint64_t i = 0;; ++i) {
    const auto s = section(i);
    if (!s) return {};
    if ((s->sh_flags & SHF_ALLOC) == 0 || s->sh_size == 0 || s->sh_addralign <= page_bytes) continue;
    return refuse(QUIRE_UNSUPPORTED, "its section at " + hex(s->sh_addr) + " has an alignment of " +
                                         std::to_string(s->sh_addralign) +
                                         " bytes, and 4096 is the most: allocate what needs more by itself");
  }
}

std::string_view elf_file::name_of(unsigned type, std::optional<std::uint64_t> address) const noexcept {
  const auto fits = [&](unsigned of, std::uint64_t value) { return of == type && (!address || value == *address); };
  for (const elf_symbol& s : symbols_) {
    if (fits(s.type, s.value) && !s.name.empty()) return s.name;
  }
  const auto bytes_of = [&](const Elf64_Shdr& s) {
    const bool inside = s.sh_offset <= file_.size() && s.sh_size <= file_.size() - s.sh_offset;
    return inside ? file_.subspan(s.sh_offset, s.sh_size) : std::span<const std::byte>{};
  };
  for (std::uint64_t i = 0;; ++i) {
    const auto table = section(i);
    if (!table) return {};
    if (table->sh_type != SHT_SYMTAB) continue;
    const auto names = section(table->sh_link);
    if (!names) continue;
    const auto symbols = bytes_of(*table);
    for (std::uint64_t offset = 0;; offset += sizeof(Elf64_Sym)) {
      const auto s = taken<Elf64_Sym>(symbols, offset);
      if (!s) break;
      if (!fits(ELF64_ST_TYPE(s->st_info), s->st_value)) continue;
      const auto name = text_at(bytes_of(*names), s->st_name);
      if (!name) return {};  // one that does not end, as others may: each is read to the end of the table
      if (!name->empty()) return *name;
    }
    return {};  // there is one such table
  }
}

}  // namespace quire::code
