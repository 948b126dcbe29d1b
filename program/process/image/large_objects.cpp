// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/image/large_objects.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace quire::program {
namespace {

constexpr std::uint64_t page = 4096;

/// A file, for as long as it is looked at.
class mapped_file {
 public:
  explicit mapped_file(const char* path) noexcept {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (file >= 0 && ::fstat(file, &about) == 0 && about.st_size > 0) {
      void* const at = ::mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) bytes_ = {static_cast<const std::byte*>(at), static_cast<std::size_t>(about.st_size)};
    }
    if (file >= 0) ::close(file);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  /// Empty if the file has no such place.
  template <class T>
  [[nodiscard]] std::span<const T> table(std::uint64_t offset, std::uint64_t count) const noexcept {
    if (offset > bytes_.size() || offset % alignof(T) != 0 || count > (bytes_.size() - offset) / sizeof(T)) return {};
    return {reinterpret_cast<const T*>(bytes_.data() + offset), count};
  }

 private:
  std::span<const std::byte> bytes_{};
};

std::span<const Elf64_Sym> symbols_of(const mapped_file& file) noexcept {
  const auto header = file.table<Elf64_Ehdr>(0, 1);
  if (header.empty() || header[0].e_ident[EI_CLASS] != ELFCLASS64) return {};
  for (const Elf64_Shdr& s : file.table<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum)) {
    if (s.sh_type == SHT_SYMTAB) return file.table<Elf64_Sym>(s.sh_offset, s.sh_size / sizeof(Elf64_Sym));
  }
  return {};
}

/// A name of the symbol table that has an address in the data.
struct named {
  std::uint64_t first = 0, end = 0;  ///< without an end: its size is not known
};

/// All names of the module's data, in the order of their addresses. `whole`: the table has names that only one file of
/// the program's source knows; a table without them (strip -x) may leave small objects unnamed.
std::vector<named> names_of(const module& m, const data_range& data, const mapped_file& file, bool& whole) {
  std::vector<named> found;
  whole = false;
  for (const Elf64_Sym& s : symbols_of(file)) {
    const unsigned type = ELF64_ST_TYPE(s.st_info);
    if ((type != STT_OBJECT && type != STT_NOTYPE && type != STT_COMMON) || s.st_shndx == SHN_UNDEF ||
        s.st_shndx == SHN_ABS)
      continue;
    whole = whole || (type == STT_OBJECT && ELF64_ST_BIND(s.st_info) == STB_LOCAL);
    const std::uint64_t first = m.base + s.st_value;
    if (first >= data.first && first < data.end) found.push_back({first, first + (type == STT_NOTYPE ? 0 : s.st_size)});
  }
  std::sort(found.begin(), found.end(),
            [](const named& a, const named& b) { return a.first != b.first ? a.first < b.first : a.end > b.end; });
  return found;
}

bool is_large(const named& n) noexcept { return n.end - n.first >= least_large_bytes; }

/// The page on which one large object ends and the next one begins has nothing else, if no name lies between them, and
/// no more than alignment asks for.
bool share_page(const std::vector<named>& names, std::size_t one, bool whole) noexcept {
  constexpr std::uint64_t most_alignment = 64;
  if (!whole || one + 1 == names.size()) return false;
  const named &before = names[one], &after = names[one + 1];
  return is_large(after) && after.first >= before.end && after.first - before.end < most_alignment &&
         before.end % page != 0 && before.end / page == after.first / page;
}

}  // namespace

std::vector<large_object> large_objects(const module& m, const data_range& data) {
  std::vector<large_object> found;
  const mapped_file file(m.name[0] != 0 ? m.name : own_file());
  bool whole = false;
  std::vector<named> names = names_of(m, data, file, whole);
  std::uint64_t covered = 0;  // two names of one object, or a name within it
  std::erase_if(names, [&covered](const named& n) {
    if (n.first < covered) return true;
    covered = std::max(covered, n.end);
    return false;
  });
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_large(names[i])) continue;
    const std::uint64_t first = (names[i].first + page - 1) / page * page;
    const std::uint64_t last = names[i].end / page * page + (share_page(names, i, whole) ? page : 0),
                        end = std::min(last, data.end);
    if (first < end) found.push_back({first, end - first});
  }
  return found;
}

}  // namespace quire::program
