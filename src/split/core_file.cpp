// SPDX-License-Identifier: BSD-3-Clause
#include "split/core_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "os/process.hpp"

namespace quire::split {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half machine = EM_X86_64;
#else
constexpr Elf64_Half machine = EM_AARCH64;
#endif

int write_all(int fd, const void* from, std::uint64_t bytes) {
  const char* at = static_cast<const char*>(from);
  for (std::uint64_t left = bytes; left != 0;) {
    const auto n = ::write(fd, at, std::min<std::uint64_t>(left, 1u << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : ENOSPC;
    at += n;
    left -= static_cast<std::uint64_t>(n);
  }
  return 0;
}

/// The headers, padded to whole pages: content begins behind them.
std::vector<char> headers_of(std::span<const memory_run> runs) {
  constexpr std::uint64_t page = 4096;
  // More segments than 16 bits count stand in the first section header.
  const bool many = runs.size() >= PN_XNUM;
  const std::uint64_t sections_at = sizeof(Elf64_Ehdr) + runs.size() * sizeof(Elf64_Phdr);
  std::uint64_t content = (sections_at + sizeof(Elf64_Shdr) + page - 1) / page * page;
  std::vector<char> bytes(content);
  Elf64_Ehdr file{};
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_ident[EI_DATA] = ELFDATA2LSB;
  file.e_ident[EI_VERSION] = EV_CURRENT;
  file.e_type = ET_CORE;
  file.e_machine = machine;
  file.e_version = EV_CURRENT;
  file.e_phoff = sizeof file;
  file.e_ehsize = sizeof file;
  file.e_phentsize = sizeof(Elf64_Phdr);
  file.e_phnum = static_cast<Elf64_Half>(many ? PN_XNUM : runs.size());
  if (many) {
    file.e_shoff = sections_at;
    file.e_shentsize = sizeof(Elf64_Shdr);
    file.e_shnum = 1;
    Elf64_Shdr section{};
    section.sh_info = static_cast<Elf64_Word>(runs.size());
    std::memcpy(bytes.data() + sections_at, &section, sizeof section);
  }
  std::memcpy(bytes.data(), &file, sizeof file);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = PF_R | PF_W;
    segment.p_offset = content;
    segment.p_vaddr = runs[i].address;
    segment.p_filesz = segment.p_memsz = runs[i].bytes;
    segment.p_align = page;
    content += runs[i].bytes;
    std::memcpy(bytes.data() + sizeof file + i * sizeof segment, &segment, sizeof segment);
  }
  return bytes;
}

}  // namespace

int write_core_file(const std::string& path, std::span<const memory_run> runs) {
  const os::descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.open()) return errno;
  const auto headers = headers_of(runs);
  int error = write_all(file.number(), headers.data(), headers.size());
  for (std::size_t i = 0; error == 0 && i < runs.size(); ++i) {
    error = write_all(file.number(), reinterpret_cast<const void*>(runs[i].address), runs[i].bytes);
  }
  if (error != 0) ::unlink(path.c_str());
  return error;
}

}  // namespace quire::split
