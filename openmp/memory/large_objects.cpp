// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/memory/large_objects.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace quire::openmp {
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

}  // namespace

std::vector<large_object> large_objects(const module& m) {
  std::vector<large_object> found;
  const mapped_file file(m.name[0] != 0 ? m.name : "/proc/self/exe");
  for (const Elf64_Sym& s : symbols_of(file)) {
    if (ELF64_ST_TYPE(s.st_info) != STT_OBJECT || s.st_shndx == SHN_UNDEF || s.st_size < least_large_bytes) continue;
    const std::uint64_t first = std::max((m.base + s.st_value + page - 1) / page * page, m.data_first());
    const std::uint64_t end = std::min((m.base + s.st_value + s.st_size) / page * page, m.data_end());
    if (first < end) found.push_back({first, end - first});
  }
  std::sort(found.begin(), found.end(), [](const large_object& a, const large_object& b) { return a.first < b.first; });
  std::uint64_t end = 0;  // two names of one object
  std::erase_if(found, [&end](const large_object& o) {
    if (o.first < end) return true;
    end = o.first + o.bytes;
    return false;
  });
  return found;
}

}  // namespace quire::openmp
