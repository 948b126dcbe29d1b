// SPDX-License-Identifier: BSD-3-Clause
#include "elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "os/process.hpp"

namespace quire::tools {
namespace {

constexpr std::size_t most_segments = 1024, most_sections = 65536, most_entries = 65536, most_versions = 65536;

#if defined(__x86_64__)
constexpr auto own_machine = EM_X86_64;
#else
constexpr auto own_machine = EM_AARCH64;
#endif

std::string name_of_machine(unsigned machine) {
  switch (machine) {
    case EM_386:
      return "32-bit x86";
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "arm";
    case EM_PPC64:
      return "ppc64";
    case EM_RISCV:
      return "riscv";
    case EM_S390:
      return "s390";
    default:
      return "machine number " + std::to_string(machine);
  }
}

/// Reads the tables of one file in turn. The first thing that is wrong ends it.
class elf_reader {
 public:
  explicit elf_reader(const std::string& path) { open(path); }

  [[nodiscard]] elf_answer read(elf_parts parts) {
    if (answer_.trouble != elf_trouble::none || !read_header() || !read_segments() || !read_dynamic())
      return std::move(answer_);
    file_.has_symbol_table =
        std::any_of(sections_.begin(), sections_.end(), [](const auto& s) { return s.sh_type == SHT_SYMTAB; });
    if (parts == elf_parts::all) {
      look_for_checks();
      read_stubs();
    }
    answer_.file = std::move(file_);
    return std::move(answer_);
  }

 private:
  bool wrong(elf_trouble trouble, std::string why) {
    answer_.trouble = trouble;
    answer_.why = std::move(why);
    return false;
  }
  bool damaged(const char* what) { return wrong(elf_trouble::damaged, std::string("is damaged: ") + what); }

  void open(const std::string& path) {
    struct stat about;
    if (::stat(path.c_str(), &about) != 0) {
      wrong(elf_trouble::unreadable, "cannot be read: " + os::error_text(errno));
    } else if (!S_ISREG(about.st_mode)) {  // not opened: to open a pipe waits, to open a device may do anything
      wrong(elf_trouble::unreadable, S_ISDIR(about.st_mode) ? "is a directory" : "is not a regular file");
    } else {
      descriptor_ = os::descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
      if (!descriptor_.open()) wrong(elf_trouble::unreadable, "cannot be read: " + os::error_text(errno));
      bytes_ = static_cast<std::uint64_t>(about.st_size);
    }
  }

  [[nodiscard]] bool lies_within(std::uint64_t offset, std::uint64_t bytes) const {
    return offset <= bytes_ && bytes <= bytes_ - offset;
  }

  [[nodiscard]] bool read_at(std::uint64_t offset, void* into, std::size_t bytes) const {
    return lies_within(offset, bytes) &&
           ::pread(descriptor_.number(), into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }

  /// `count` records. The file's size is looked at before any memory is taken.
  template <class Record>
  [[nodiscard]] bool read_records(std::uint64_t offset, std::uint64_t count, std::vector<Record>& into) const {
    if (count > bytes_ / sizeof(Record) || !lies_within(offset, count * sizeof(Record))) return false;
    into.resize(count);
    return count == 0 || read_at(offset, into.data(), count * sizeof(Record));
  }

  bool read_header();
  bool read_segments();
  void read_sections();
  bool read_interpreter(const Elf64_Phdr& segment);
  void read_notes();
  void read_note(std::uint64_t at, const Elf64_Nhdr& note);
  bool read_dynamic();
  bool read_strings();
  bool read_names();
  bool read_needed_versions();
  bool read_defined_versions();
  bool read_symbols();
  [[nodiscard]] std::map<std::uint64_t, std::string> read_slots() const;
  void read_stubs();
  void look_for_checks();
  [[nodiscard]] std::optional<std::uint64_t> count_symbols(std::uint64_t table) const;

  /// Where in the file stands what the program has at an address, if all of these bytes do.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address, std::uint64_t bytes) const {
    for (const auto& one : segments_)
      if (one.p_type == PT_LOAD && address >= one.p_vaddr && address - one.p_vaddr < one.p_filesz &&
          bytes <= one.p_filesz - (address - one.p_vaddr) && one.p_offset <= bytes_)
        return one.p_offset + (address - one.p_vaddr);
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::uint64_t> entry(std::int64_t tag) const {
    for (const auto& one : dynamic_)
      if (one.d_tag == tag) return one.d_un.d_val;
    return std::nullopt;
  }

  template <class Record>
  [[nodiscard]] bool read_mapped(std::uint64_t address, Record& into) const {
    const auto offset = offset_of(address, sizeof into);
    return offset && read_at(*offset, &into, sizeof into);
  }

  [[nodiscard]] std::optional<std::string> text(std::uint64_t at) const {
    const std::size_t end = at < strings_.size() ? strings_.find('\0', at) : strings_.npos;
    if (end == strings_.npos) return std::nullopt;
    return strings_.substr(at, end - at);
  }

  elf_answer answer_{};
  elf_file file_{};
  os::descriptor descriptor_;
  std::uint64_t bytes_ = 0;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Dyn> dynamic_;
  std::string strings_;
  std::vector<std::string> symbol_names_;                    ///< by number
  std::map<std::uint16_t, std::string> library_of_version_;  ///< by the number that a symbol has for its version
};

bool elf_reader::read_header() {
  unsigned char ident[EI_NIDENT] = {};
  if (!read_at(0, ident, std::min<std::uint64_t>(sizeof ident, bytes_)))
    return wrong(elf_trouble::unreadable, "cannot be read");
  if (std::memcmp(ident, "#!", 2) == 0) return wrong(elf_trouble::script, "is a script");
  if (std::memcmp(ident, ELFMAG, SELFMAG) != 0)
    return wrong(elf_trouble::other_format, "is no program (not an ELF file)");
  if (ident[EI_CLASS] != ELFCLASS64)
    return wrong(elf_trouble::other_machine,
                 ident[EI_CLASS] == ELFCLASS32
                     ? "is a 32-bit program, and Quire is for those of 64 bits (compile it without -m32)"
                     : "is not a 64-bit program");
  if (ident[EI_DATA] != ELFDATA2LSB) return wrong(elf_trouble::other_machine, "is for another machine (big-endian)");
  if (!read_at(0, &header_, sizeof header_)) return damaged("its header is cut off");
  if (header_.e_machine != own_machine)
    return wrong(elf_trouble::other_machine, "is for another machine (" + name_of_machine(header_.e_machine) +
                                                 "; this is " + name_of_machine(own_machine) + ")");
  if (header_.e_type != ET_EXEC && header_.e_type != ET_DYN)
    return wrong(elf_trouble::no_program, "is an ELF file, but neither a program nor a library");
  return true;
}

bool elf_reader::read_segments() {
  if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum > most_segments ||
      !read_records(header_.e_phoff, header_.e_phnum, segments_))
    return damaged("its table of segments lies outside");
  if (std::any_of(segments_.begin(), segments_.end(),
                  [&](const auto& s) { return s.p_type == PT_LOAD && !lies_within(s.p_offset, s.p_filesz); }))
    return damaged("it is cut off, and lacks a part of its code or data");
  read_sections();
  read_notes();
  return true;
}

/// These serve linkers and debuggers: without them, or with bad ones, a program runs.
void elf_reader::read_sections() {
  if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shnum > most_sections ||
      !read_records(header_.e_shoff, header_.e_shnum, sections_))
    sections_.clear();
}

bool elf_reader::read_interpreter(const Elf64_Phdr& segment) {
  if (segment.p_filesz > PATH_MAX) return damaged("the name of its loader is too long");
  file_.interpreter.resize(segment.p_filesz);
  if (!read_at(segment.p_offset, file_.interpreter.data(), file_.interpreter.size()))
    return damaged("the name of its loader lies outside");
  file_.interpreter.resize(std::strlen(file_.interpreter.c_str()));
  return true;
}

/// Go's linker leaves one under its name in all programs; most linkers leave the build-id.
void elf_reader::read_note(std::uint64_t at, const Elf64_Nhdr& note) {
  char name[4] = {};
  if ((note.n_namesz != 3 && note.n_namesz != 4) || !read_at(at, name, note.n_namesz)) return;
  file_.is_go |= std::string_view(name, 3) == std::string_view("Go\0", 3);
  std::vector<unsigned char> id;
  if (note.n_type != NT_GNU_BUILD_ID || std::string_view(name, 4) != std::string_view("GNU\0", 4) ||
      !read_records(at + 4, note.n_descsz, id))
    return;
  file_.build_id.clear();
  for (const unsigned char byte : id) {
    constexpr std::string_view digits = "0123456789abcdef";
    file_.build_id += {digits[byte >> 4], digits[byte & 15]};
  }
}

void elf_reader::read_notes() {
  for (const auto& one : segments_) {
    if (one.p_type != PT_NOTE) continue;
    Elf64_Nhdr note;
    for (std::uint64_t at = 0; at + sizeof note <= one.p_filesz && read_at(one.p_offset + at, &note, sizeof note);) {
      at += sizeof note;
      read_note(one.p_offset + at, note);
      at += (std::uint64_t{note.n_namesz} + 3) / 4 * 4 + (std::uint64_t{note.n_descsz} + 3) / 4 * 4;
    }
  }
}

bool elf_reader::read_dynamic() {
  const auto find = [&](std::uint32_t type) {
    return std::find_if(segments_.begin(), segments_.end(), [type](const auto& s) { return s.p_type == type; });
  };
  const auto loader = find(PT_INTERP);
  const bool interpreted = loader != segments_.end();
  if (interpreted && !read_interpreter(*loader)) return false;
  const auto table = find(PT_DYNAMIC);
  if (table != segments_.end()) {
    if (!read_records(table->p_offset, std::min<std::uint64_t>(table->p_filesz / sizeof(Elf64_Dyn), most_entries),
                      dynamic_))
      return damaged("its dynamic table lies outside");
    dynamic_.erase(std::find_if(dynamic_.begin(), dynamic_.end(), [](const auto& e) { return e.d_tag == DT_NULL; }),
                   dynamic_.end());
  }
  if (header_.e_type == ET_DYN) {
    const bool pie = interpreted || (entry(DT_FLAGS_1).value_or(0) & DF_1_PIE) != 0;
    file_.what = pie ? elf_file::form::position_independent : elf_file::form::library;
  }
  file_.is_static = !interpreted && file_.what != elf_file::form::library;
  return dynamic_.empty() ||
         (read_strings() && read_names() && read_needed_versions() && read_defined_versions() && read_symbols());
}

bool elf_reader::read_strings() {
  const auto address = entry(DT_STRTAB), bytes = entry(DT_STRSZ);
  if (!address || !bytes) return damaged("it has no table of names");
  const auto offset = offset_of(*address, *bytes);
  if (!offset || !lies_within(*offset, *bytes)) return damaged("its table of names lies outside");
  strings_.resize(*bytes);
  return read_at(*offset, strings_.data(), strings_.size()) || damaged("its table of names cannot be read");
}

bool elf_reader::read_names() {
  for (const auto& one : dynamic_) {
    if (one.d_tag != DT_NEEDED && one.d_tag != DT_SONAME) continue;
    auto name = text(one.d_un.d_val);
    if (!name) return damaged("the name of a library lies outside its table");
    if (one.d_tag == DT_NEEDED)
      file_.needed.push_back(std::move(*name));
    else
      file_.soname = std::move(*name);
  }
  return true;
}

bool elf_reader::read_needed_versions() {
  const auto first = entry(DT_VERNEED);
  std::uint64_t at = first.value_or(0);
  for (std::uint64_t left = first ? entry(DT_VERNEEDNUM).value_or(0) : 0; left > 0; --left) {
    Elf64_Verneed library;
    if (!read_mapped(at, library)) return damaged("its table of needed versions lies outside");
    const auto name = text(library.vn_file);
    std::uint64_t aux = at + library.vn_aux;
    for (unsigned count = library.vn_cnt; count > 0; --count) {
      Elf64_Vernaux one;
      if (!read_mapped(aux, one)) return damaged("its table of needed versions lies outside");
      const auto version = text(one.vna_name);
      if (!name || !version) return damaged("the name of a version lies outside its table");
      if (file_.needed_versions.size() >= most_versions) return damaged("it needs too many versions");
      file_.needed_versions.push_back({*name, *version});
      library_of_version_[one.vna_other] = *name;
      aux += one.vna_next;
    }
    if (library.vn_next == 0) break;
    at += library.vn_next;
  }
  return true;
}

bool elf_reader::read_defined_versions() {
  const auto first = entry(DT_VERDEF);
  std::uint64_t at = first.value_or(0);
  for (std::uint64_t left = first ? entry(DT_VERDEFNUM).value_or(0) : 0; left > 0; --left) {
    Elf64_Verdef one;
    Elf64_Verdaux named;
    if (!read_mapped(at, one) || !read_mapped(at + one.vd_aux, named))
      return damaged("its table of versions lies outside");
    auto name = text(named.vda_name);
    if (!name) return damaged("the name of a version lies outside its table");
    if (file_.defined_versions.size() >= most_versions) return damaged("it has too many versions");
    if ((one.vd_flags & VER_FLG_BASE) == 0) file_.defined_versions.push_back(std::move(*name));
    if (one.vd_next == 0) break;
    at += one.vd_next;
  }
  return true;
}

/// A shared run-time is a library as others are.
void elf_reader::look_for_checks() {
  constexpr std::string_view wanted = "__ubsan_handle_type_mismatch_v1";
  const auto& dynamic = file_.symbols;
  file_.checks_itself =
      std::any_of(dynamic.begin(), dynamic.end(), [&](const auto& s) { return s.defined && s.name == wanted; });
  for (const auto& section : sections_) {
    std::vector<Elf64_Sym> symbols;
    std::vector<char> names;
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections_.size() ||
        !read_records(section.sh_offset, section.sh_size / sizeof(Elf64_Sym), symbols) ||
        !read_records(sections_[section.sh_link].sh_offset, sections_[section.sh_link].sh_size, names))
      continue;
    const std::string_view texts(names.data(), names.size());
    file_.checks_itself |= std::any_of(symbols.begin(), symbols.end(), [&](const Elf64_Sym& s) {
      return s.st_shndx != SHN_UNDEF && s.st_name < texts.size() && texts.substr(s.st_name).starts_with(wanted) &&
             texts.substr(s.st_name + wanted.size()).starts_with('\0');
    });
  }
}

/// The dynamic table does not say how long the table of symbols is: the sections do, and the older kind of hash table;
/// else it ends, with every linker, where at the latest the next table begins.
std::optional<std::uint64_t> elf_reader::count_symbols(std::uint64_t table) const {
  for (const auto& section : sections_)
    if (section.sh_type == SHT_DYNSYM && section.sh_addr == table) return section.sh_size / sizeof(Elf64_Sym);
  if (const auto hash = entry(DT_HASH)) {
    std::uint32_t counts[2];  // buckets, and chains: one for each symbol
    if (!read_mapped(*hash, counts)) return std::nullopt;
    return counts[1];
  }
  std::uint64_t end = UINT64_MAX;
  for (const std::int64_t tag : {DT_STRTAB, DT_GNU_HASH, DT_VERSYM, DT_VERNEED, DT_VERDEF, DT_RELA, DT_JMPREL, DT_INIT})
    if (const auto address = entry(tag); address && *address > table) end = std::min(end, *address);
  if (end == UINT64_MAX) return std::nullopt;
  return (end - table) / sizeof(Elf64_Sym);
}

bool elf_reader::read_symbols() {
  const auto table = entry(DT_SYMTAB);
  if (!table) return true;
  const auto count = count_symbols(*table);
  std::vector<Elf64_Sym> symbols;
  const auto offset =
      count && *count <= bytes_ / sizeof(Elf64_Sym) ? offset_of(*table, *count * sizeof(Elf64_Sym)) : std::nullopt;
  if (!offset || !read_records(*offset, *count, symbols)) return damaged("its table of symbols lies outside");
  std::vector<std::uint16_t> versions;
  if (const auto address = entry(DT_VERSYM)) {
    const auto at = offset_of(*address, *count * sizeof(std::uint16_t));
    if (!at || !read_records(*at, *count, versions)) return damaged("its table of versions of symbols lies outside");
  }
  symbol_names_.resize(symbols.size());
  for (std::size_t number = 0; number < symbols.size(); ++number) {
    const auto& one = symbols[number];
    const unsigned binding = ELF64_ST_BIND(one.st_info);
    if (one.st_name == 0 || (binding != STB_GLOBAL && binding != STB_WEAK && binding != STB_GNU_UNIQUE)) continue;
    auto name = text(one.st_name);
    if (!name) return damaged("the name of a symbol lies outside its table");
    symbol_names_[number] = *name;
    const bool defined = one.st_shndx != SHN_UNDEF;
    const auto library =
        defined || versions.empty() ? library_of_version_.end() : library_of_version_.find(versions[number] & 0x7fff);
    file_.symbols.push_back(
        {std::move(*name), defined, binding == STB_WEAK, library == library_of_version_.end() ? "" : library->second});
  }
  return true;
}

/// The words that the dynamic linker sets to the addresses of functions, with their names.
std::map<std::uint64_t, std::string> elf_reader::read_slots() const {
  std::map<std::uint64_t, std::string> names;
  for (const auto& [table, bytes] : {std::pair{DT_JMPREL, DT_PLTRELSZ}, std::pair{DT_RELA, DT_RELASZ}}) {
    const auto at = entry(table), length = entry(bytes);
    const auto offset = at && length ? offset_of(*at, *length) : std::nullopt;
    std::vector<Elf64_Rela> all;
    if (!offset || !read_records(*offset, *length / sizeof(Elf64_Rela), all)) continue;
    for (const Elf64_Rela& one : all) {
      const auto type = ELF64_R_TYPE(one.r_info), number = ELF64_R_SYM(one.r_info);
      if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) && number < symbol_names_.size())
        names[one.r_offset] = symbol_names_[number];
    }
  }
  return names;
}

/// Sections of code with entries of one size are made of stubs: `jmp *slot(%rip)`, with prefixes and padding. Without
/// sections, as in a stripped header, there are none; nothing here is an error.
void elf_reader::read_stubs() {
  constexpr std::uint64_t most_bytes = 64, jump_bytes = 6;
  if (header_.e_machine != EM_X86_64) return;
  const auto slots = read_slots();
  for (const auto& section : sections_) {
    std::vector<unsigned char> code;
    if (section.sh_type != SHT_PROGBITS || (section.sh_flags & SHF_EXECINSTR) == 0 || section.sh_entsize < jump_bytes ||
        section.sh_entsize > most_bytes || !read_records(section.sh_offset, section.sh_size, code))
      continue;
    for (std::uint64_t at = 0; at + section.sh_entsize <= code.size(); at += section.sh_entsize) {
      for (std::uint64_t i = at; i + jump_bytes <= at + section.sh_entsize; ++i) {
        if (code[i] != 0xff || code[i + 1] != 0x25) continue;
        std::int32_t distance = 0;
        std::memcpy(&distance, &code[i + 2], sizeof distance);
        const auto slot =
            slots.find(section.sh_addr + i + jump_bytes + static_cast<std::uint64_t>(std::int64_t{distance}));
        if (slot != slots.end() && !slot->second.empty())
          file_.stubs.push_back({section.sh_addr + at, section.sh_entsize, slot->second});
        break;
      }
    }
  }
}

}  // namespace

elf_answer read_elf(const std::string& path, elf_parts parts) { return elf_reader(path).read(parts); }

bool is_bad_elf(elf_trouble trouble) {
  return trouble == elf_trouble::other_machine || trouble == elf_trouble::no_program || trouble == elf_trouble::damaged;
}

bool needs(const elf_file& file, const char* prefix) {
  return std::any_of(file.needed.begin(), file.needed.end(),
                     [prefix](const auto& name) { return name.starts_with(prefix); });
}

}  // namespace quire::tools
