// SPDX-License-Identifier: BSD-3-Clause
#include "os/program_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "os/process.hpp"

namespace quire::os {
namespace {

using file_header = ElfW(Ehdr);
using segment = ElfW(Phdr);
using dynamic_entry = ElfW(Dyn);

constexpr std::size_t most_segments = 1024, most_entries = 65536, most_name_bytes = 4096;

#if defined(__x86_64__)
constexpr auto machine = EM_X86_64;
#else
constexpr auto machine = EM_AARCH64;
#endif

/// Reads parts of a file; whatever lies beyond its end cannot be read.
class reader {
 public:
  explicit reader(const std::string& path) {
    struct stat about;
    if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return;
    file_ = descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    bytes_ = static_cast<std::uint64_t>(about.st_size);
  }

  [[nodiscard]] bool read(std::uint64_t offset, void* into, std::size_t bytes) const {
    if (!file_.open() || offset > bytes_ || bytes > bytes_ - offset) return false;
    return ::pread(file_.number(), into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }

  template <class Value>
  [[nodiscard]] bool read_all(std::uint64_t offset, std::vector<Value>& values) const {
    return read(offset, values.data(), values.size() * sizeof(Value));
  }

  /// Up to the zero that ends it.
  [[nodiscard]] std::optional<std::string> text(std::uint64_t offset) const {
    if (offset >= bytes_) return std::nullopt;
    std::string name(std::min<std::uint64_t>(most_name_bytes, bytes_ - offset), '\0');
    if (!read(offset, name.data(), name.size())) return std::nullopt;
    const std::size_t end = name.find('\0');
    if (end == name.npos) return std::nullopt;
    name.resize(end);
    return name;
  }

 private:
  descriptor file_;
  std::uint64_t bytes_ = 0;
};

bool is_executable_of_this_machine(const file_header& header) noexcept {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == machine &&
         (header.e_type == ET_EXEC || header.e_type == ET_DYN) && header.e_phentsize == sizeof(segment) &&
         header.e_phnum <= most_segments;
}

/// Where in the file stands what the program has at an address.
std::optional<std::uint64_t> offset_of(std::uint64_t address, const std::vector<segment>& segments) noexcept {
  for (const auto& one : segments)
    if (one.p_type == PT_LOAD && address >= one.p_vaddr && address - one.p_vaddr < one.p_filesz)
      return one.p_offset + (address - one.p_vaddr);
  return std::nullopt;
}

std::optional<program_linkage> read_names(const reader& file, const std::vector<dynamic_entry>& entries,
                                          const std::vector<segment>& segments) {
  const auto strings = std::find_if(entries.begin(), entries.end(), [](const auto& e) { return e.d_tag == DT_STRTAB; });
  if (strings == entries.end()) return std::nullopt;
  const auto table = offset_of(strings->d_un.d_ptr, segments);
  if (!table) return std::nullopt;
  program_linkage found;
  for (const auto& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
    const auto text = file.text(*table + entry.d_un.d_val);
    if (!text) return std::nullopt;
    if (entry.d_tag == DT_NEEDED) found.needed.push_back(*text);
    if (entry.d_tag == DT_RPATH) found.rpath = *text;
    if (entry.d_tag == DT_RUNPATH) found.runpath = *text;
  }
  return found;
}

}  // namespace

std::optional<program_linkage> linkage_of(const std::string& path) {
  const reader file(path);
  file_header header;
  if (!file.read(0, &header, sizeof header) || !is_executable_of_this_machine(header)) return std::nullopt;
  std::vector<segment> segments(header.e_phnum);
  if (!file.read_all(header.e_phoff, segments)) return std::nullopt;
  const auto dynamic =
      std::find_if(segments.begin(), segments.end(), [](const auto& s) { return s.p_type == PT_DYNAMIC; });
  if (dynamic == segments.end()) return program_linkage{};
  std::vector<dynamic_entry> entries(std::min<std::size_t>(dynamic->p_filesz / sizeof(dynamic_entry), most_entries));
  if (!file.read_all(dynamic->p_offset, entries)) return std::nullopt;
  return read_names(file, entries, segments);
}

}  // namespace quire::os
