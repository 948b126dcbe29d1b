// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/sites/code.hpp"

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <utility>

#include "openmp/sites/elf_view.hpp"
#include "openmp/sites/plain.hpp"

namespace quire::openmp::sites {
namespace {

/// More would delay each start by seconds.
constexpr std::uint64_t most_code_bytes = 256u << 20;
constexpr std::size_t most_sites = 1u << 20;

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> beginnings) noexcept {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [name](std::string_view one) { return name.starts_with(one); });
}

/// Calls of libatomic, of Intel's older compilers, of libstdc++ for reference counts, and strings that share their text
/// by such a count. GOMP_atomic_start() is none: it takes a mutex of the job, as a critical section does.
bool updates(std::string_view name) noexcept {
  return begins_with_any(name, {"__atomic_", "__sync_", "__kmpc_atomic_", "_ZN9__gnu_cxx18__exchange_and_add",
                                "_ZN9__gnu_cxx12__atomic_add", "_ZNSs", "_ZNKSs", "_ZNSbI", "_ZNKSbI"});
}
bool fences(std::string_view name) noexcept { return name == "__kmpc_flush" || name == "_mm_mfence"; }

void read_calls(const elf_view& elf, code& into) {
  std::span<const char> names;
  for (const Elf64_Sym& s : elf.symbols(SHT_DYNSYM, names)) {
    if (s.st_shndx != SHN_UNDEF) continue;
    const std::string_view name = name_in(names, s.st_name);
    if (updates(name)) into.updating.emplace_back(name);
    if (fences(name)) into.fencing.emplace_back(name);
  }
}

const char* hindrance(const elf_view& elf) noexcept {
  if (elf.segments().empty()) return "is not a program of this machine";
  if (elf.sections().empty()) return "has no table of sections";
  for (const Elf64_Phdr& s : elf.segments()) {
    if (s.p_type == PT_LOAD && (s.p_flags & (PF_W | PF_X)) == (PF_W | PF_X)) return "has code that it can write";
  }
  for (const Elf64_Shdr& s : elf.sections()) {
    if (s.sh_type != SHT_DYNAMIC) continue;
    for (const Elf64_Dyn& d : elf.table<Elf64_Dyn>(s.sh_offset, s.sh_size / sizeof(Elf64_Dyn))) {
      if (d.d_tag == DT_NULL) break;
      if (d.d_tag == DT_TEXTREL || (d.d_tag == DT_FLAGS && (d.d_un.d_val & DF_TEXTREL) != 0))
        return "has code that the dynamic linker changes";
    }
  }
  return nullptr;
}

bool is_code(const Elf64_Shdr& s) noexcept {
  constexpr std::uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;
  return s.sh_type == SHT_PROGBITS && (s.sh_flags & wanted) == wanted;
}

/// Code that jumps over a LOCK needs the update where it is.
void keep_entered(std::vector<site>& sites, const std::vector<std::uint64_t>& targets) {
  for (const std::uint64_t target : targets) {
    const auto after = std::upper_bound(sites.begin(), sites.end(), target,
                                        [](std::uint64_t at, const site& s) { return at < s.address; });
    if (after == sites.begin()) continue;
    site& s = *(after - 1);
    if (target > s.address && target < s.address + s.length) s.movable = false;
  }
}

}  // namespace

bool read_section(const decoder& by, std::span<const std::byte> bytes, std::uint64_t address, sections& into,
                  std::uint64_t& bad) {
  for (std::size_t at = 0; at < bytes.size();) {
    if (const plain_instruction p = read_plain(bytes.subspan(at)); p.length != 0) {
      at += p.length;
      if (p.jumps) into.targets.push_back(address + at + static_cast<std::uint64_t>(std::int64_t{p.offset}));
      continue;
    }
    instruction i;
    if (!by.decode(bytes.subspan(at), address + at, i)) {
      bad = address + at;
      return false;
    }
    if (i.is_site && into.found.size() < most_sites) into.found.push_back(i.what);
    if (i.jumps) into.targets.push_back(i.target);
    at += i.length;
  }
  return true;
}

code read_code(const decoder& by, std::span<const std::byte> file) {
  code all;
  const elf_view elf(file);
  if (const char* const why = hindrance(elf); why != nullptr) {
    all.trouble = why;
    return all;
  }
  std::uint64_t bytes = 0;
  sections read;
  for (const Elf64_Shdr& s : elf.sections()) {
    if (!is_code(s)) continue;
    const auto part = elf.table<std::byte>(s.sh_offset, s.sh_size);
    bytes += s.sh_size;
    std::uint64_t bad = 0;
    if (part.size() != s.sh_size) {
      all.trouble = "is cut off";
    } else if (bytes > most_code_bytes) {
      all.trouble = "has more code than is looked at";
    } else if (!read_section(by, part, s.sh_addr, read, bad)) {
      char text[100];
      std::snprintf(text, sizeof text, "has bytes at 0x%lx that are no instruction", static_cast<unsigned long>(bad));
      all.trouble = text;
    } else if (read.found.size() >= most_sites) {
      all.trouble = "has more atomic operations than are looked at";
    }
    if (!all.trouble.empty()) return all;
  }
  read_calls(elf, all);
  all.found = std::move(read.found);
  std::sort(all.found.begin(), all.found.end(), [](const site& a, const site& b) { return a.address < b.address; });
  keep_entered(all.found, read.targets);
  return all;
}

std::string function_at(std::span<const std::byte> file, std::uint64_t address) {
  const elf_view elf(file);
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    std::span<const char> names;
    for (const Elf64_Sym& s : elf.symbols(type, names)) {
      if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && address - s.st_value < s.st_size)
        return std::string(name_in(names, s.st_name));
    }
  }
  return {};
}

}  // namespace quire::openmp::sites
