// SPDX-License-Identifier: BSD-3-Clause
#include "program/sites/code.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "program/sites/elf_view.hpp"
#include "program/sites/function_starts.hpp"
#include "program/sites/plain.hpp"

namespace quire::program::sites {
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

/// All instructions from `at` on that begin before `until`, offsets; then it stands behind the last one.
bool read_until(const decoder& by, std::span<const std::byte> bytes, std::uint64_t address, std::size_t& at,
                std::size_t until, sections& into, std::uint64_t& bad) {
  while (at < until) {
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

/// `at`: behind LOCK. Prefixes, then or, add, sub or xor of a constant to what %rsp leads to: operands 0x04 to 0xbc
/// with a scale byte whose base is %rsp.
bool may_be_locked_fence(std::span<const std::byte> at) noexcept {
  for (std::size_t i = 0; i < site::most_bytes && i + 3 <= at.size(); ++i) {
    const auto opcode = static_cast<unsigned>(at[i]);
    if (opcode >= 0x80 && opcode <= 0x83) {
      const auto operands = static_cast<unsigned>(at[i + 1]), scale = static_cast<unsigned>(at[i + 2]);
      if ((operands & 7) == 4 && operands < 0xc0 && (scale & 7) == 4) return true;
    }
    const bool prefix = (opcode & 0xf0) == 0x40 || (opcode >= 0x64 && opcode <= 0x67) || opcode == 0xf0 ||
                        opcode == 0xf2 || opcode == 0xf3 || (opcode & 0xe7) == 0x26;
    if (!prefix) return false;
  }
  return false;
}

/// Of one section: functions with bytes of fences, from their starts to those of the next ones, so that what is no code
/// between them is found out as it was in a whole file. Nothing is read twice.
bool read_fences(const decoder& by, std::span<const std::byte> bytes, std::uint64_t address,
                 const function_starts& starts, sections& into, std::uint64_t& bad) {
  std::size_t read = 0;
  for (std::size_t at = next_fence(bytes, 0); at < bytes.size(); at = next_fence(bytes, std::max(read, at + 1))) {
    const std::uint64_t function = starts.before(address + at), next = starts.after(address + at);
    if (function > address) read = std::max(read, static_cast<std::size_t>(function - address));
    const std::size_t until =
        next == 0 ? bytes.size() : std::min(static_cast<std::size_t>(next - address), bytes.size());
    if (!read_until(by, bytes, address, read, until, into, bad)) return false;
  }
  return true;
}

}  // namespace

std::size_t next_fence(std::span<const std::byte> bytes, std::size_t from) noexcept {
  constexpr auto lock = 0xf0;  // it ends mfence, too: 0f ae f0
  for (std::size_t at = from; at < bytes.size(); ++at) {
    const void* const found = std::memchr(bytes.data() + at, lock, bytes.size() - at);
    if (found == nullptr) break;
    at = static_cast<std::size_t>(static_cast<const std::byte*>(found) - bytes.data());
    const bool fence = at >= 2 && bytes[at - 1] == std::byte{0xae} && bytes[at - 2] == std::byte{0x0f};
    if (fence || may_be_locked_fence(bytes.subspan(at + 1))) return at;
  }
  return bytes.size();
}

bool read_section(const decoder& by, std::span<const std::byte> bytes, std::uint64_t address, sections& into,
                  std::uint64_t& bad) {
  std::size_t at = 0;
  return read_until(by, bytes, address, at, bytes.size(), into, bad);
}

namespace {

/// All sites once, by address.
void put_in_order(std::vector<site>& sites) {
  std::sort(sites.begin(), sites.end(), [](const site& a, const site& b) { return a.address < b.address; });
  const auto same = [](const site& a, const site& b) { return a.address == b.address; };
  sites.erase(std::unique(sites.begin(), sites.end(), same), sites.end());
}

}  // namespace

code read_code(const decoder& by, std::span<const std::byte> file, wanted what) {
  code all;
  const elf_view elf(file);
  if (const char* const why = hindrance(elf); why != nullptr) {
    all.trouble = why;
    return all;
  }
  const function_starts starts(elf);
  std::uint64_t bytes = 0;
  sections read;
  for (const Elf64_Shdr& s : elf.sections()) {
    if (!is_code(s)) continue;
    const auto part = elf.table<std::byte>(s.sh_offset, s.sh_size);
    bytes += s.sh_size;
    std::uint64_t bad = 0;
    const auto reads = [&] {
      return what == wanted::fences ? read_fences(by, part, s.sh_addr, starts, read, bad)
                                    : read_section(by, part, s.sh_addr, read, bad);
    };
    if (part.size() != s.sh_size) {
      all.trouble = "is cut off";
    } else if (bytes > most_code_bytes) {
      all.trouble = "has more code than is looked at";
    } else if (!reads()) {
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
  put_in_order(all.found);
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

}  // namespace quire::program::sites
