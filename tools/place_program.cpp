// SPDX-License-Identifier: BSD-3-Clause
#include "place_program.hpp"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "os/process.hpp"

namespace quire::tools {
namespace {

constexpr std::uint64_t page = 4096;

constexpr std::uint64_t down(std::uint64_t address) noexcept { return address / page * page; }
constexpr std::uint64_t up(std::uint64_t address) noexcept { return down(address + page - 1); }

struct refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void refuse(const std::string& what) { throw refused(what + ": " + os::error_text(errno)); }

/// Maps there and nowhere else; what is there already stays.
void map(std::uint64_t at, std::uint64_t bytes, int prot, const char* what) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (::mmap(reinterpret_cast<void*>(at), bytes, prot, flags, -1, 0) == MAP_FAILED)
    refuse(fmt::format("{} finds no room at {:#x}", what, at));
}

/// An ELF file as it lies in memory.
struct placed_file {
  std::uint64_t bias = 0, entry = 0, headers = 0;
  std::size_t header_count = 0;
  std::string interpreter{};
};

class elf_mapper {
 public:
  elf_mapper(const std::string& path, std::uint64_t at)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (!file_.open()) refuse("cannot read " + path);
    read(&head_, sizeof head_, 0);
    parts_.resize(head_.e_phnum);
    read(parts_.data(), parts_.size() * sizeof parts_[0], head_.e_phoff);
    std::uint64_t first = UINT64_MAX, end = 0;
    for (const auto& p : parts_) {
      if (p.p_type != PT_LOAD) continue;
      first = std::min(first, down(p.p_vaddr));
      end = std::max(end, up(p.p_vaddr + p.p_memsz));
    }
    if (first >= end) throw refused(path + " has nothing to load");
    made_.bias = head_.e_type == ET_DYN ? at - first : 0;
    map(made_.bias + first, end - first, PROT_NONE, path.c_str());
  }

  placed_file place() {
    made_.entry = made_.bias + head_.e_entry;
    made_.header_count = parts_.size();
    for (const auto& p : parts_) {
      if (p.p_type == PT_LOAD) load(p);
      if (p.p_type == PT_PHDR) made_.headers = made_.bias + p.p_vaddr;
      if (p.p_type == PT_INTERP) {
        made_.interpreter.resize(p.p_filesz);
        read(made_.interpreter.data(), p.p_filesz, p.p_offset);
        made_.interpreter.resize(std::strlen(made_.interpreter.c_str()));
      }
    }
    return made_;
  }

 private:
  void read(void* to, std::size_t bytes, std::uint64_t offset) {
    if (::pread(file_.number(), to, bytes, static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes))
      refuse("cannot read all of " + path_);
  }
  static int protection_of(const ElfW(Phdr) & p) noexcept {
    return ((p.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((p.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
           ((p.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
  }
  /// What lies in the file, and zeros after it.
  void load(const ElfW(Phdr) & p) {
    const std::uint64_t first = made_.bias + down(p.p_vaddr), file_end = made_.bias + p.p_vaddr + p.p_filesz,
                        end = up(made_.bias + p.p_vaddr + p.p_memsz);
    const int prot = protection_of(p);
    if (p.p_filesz != 0 && ::mmap(reinterpret_cast<void*>(first), file_end - first, prot, MAP_PRIVATE | MAP_FIXED,
                                  file_.number(), static_cast<off_t>(down(p.p_offset))) == MAP_FAILED)
      refuse("cannot map " + path_);
    const std::uint64_t zeros = p.p_filesz != 0 ? up(file_end) : first;
    if (zeros < end && ::mmap(reinterpret_cast<void*>(zeros), end - zeros, prot,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
      refuse("no memory for the data of " + path_);
    if ((prot & PROT_WRITE) != 0 && p.p_memsz > p.p_filesz)
      std::memset(reinterpret_cast<void*>(file_end), 0, std::min(zeros, end) - std::min(file_end, zeros));
    if (made_.headers == 0 && p.p_offset == 0) made_.headers = made_.bias + p.p_vaddr + head_.e_phoff;
  }

  std::string path_;
  os::descriptor file_;
  ElfW(Ehdr) head_{};
  std::vector<ElfW(Phdr)> parts_{};
  placed_file made_{};
};

/// All that is free above the places of the program, up to the kernel's stack, which may still grow.
void close_gaps() {
  constexpr std::uint64_t room_of_stack = 64u << 20;
  std::ifstream maps("/proc/self/maps");
  std::uint64_t before = program_places::hole_end;
  for (std::string line; std::getline(maps, line);) {
    unsigned long first = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &first, &end) != 2 || end <= before) continue;
    const bool stack = line.find("[stack]") != line.npos;
    const std::uint64_t until = stack ? first - room_of_stack : first;
    if (first > before && until > before) map(before, until - before, PROT_NONE, "what closes gaps");
    before = end;
    if (stack) return;
  }
  throw refused("/proc/self/maps cannot be read to its end");
}

/// The stack as the kernel would fill it: texts, then the auxiliary vector, environment, arguments and their number.
class first_stack {
 public:
  explicit first_stack(std::uint64_t bytes) : top_(program_places::stack + up(bytes)) {
    map(program_places::stack, top_ - program_places::stack, PROT_READ | PROT_WRITE, "the stack");
    at_ = top_ - 16;
  }
  [[nodiscard]] std::uint64_t fill(char** arguments, const std::string& path, const placed_file& program,
                                   const placed_file& interpreter) {
    const std::uint64_t name = text(path.c_str());
    std::vector<std::uint64_t> words;
    std::uint64_t count = 0;
    for (; arguments[count] != nullptr; ++count) words.push_back(text(arguments[count]));
    words.push_back(0);
    for (char** e = environ; *e != nullptr; ++e) words.push_back(text(*e));
    words.push_back(0);
    add_auxiliary(words, name, program, interpreter);
    words.insert(words.begin(), count);
    at_ = (at_ - words.size() * sizeof words[0]) / 16 * 16;
    std::memcpy(reinterpret_cast<void*>(at_), words.data(), words.size() * sizeof words[0]);
    return at_;
  }

 private:
  std::uint64_t bytes(const void* from, std::size_t count) {
    at_ -= count;
    if (at_ < program_places::stack + page) throw refused("arguments and environment are longer than the stack");
    std::memcpy(reinterpret_cast<void*>(at_), from, count);
    return at_;
  }
  std::uint64_t text(const char* from) { return bytes(from, std::strlen(from) + 1); }
  void add_auxiliary(std::vector<std::uint64_t>& words, std::uint64_t name, const placed_file& program,
                     const placed_file& interpreter) {
    std::ifstream file("/proc/self/auxv", std::ios::binary);
    for (ElfW(auxv_t) one; file.read(reinterpret_cast<char*>(&one), sizeof one) && one.a_type != AT_NULL;) {
      std::uint64_t value = one.a_un.a_val;
      switch (one.a_type) {
        case AT_PHDR:
          value = program.headers;
          break;
        case AT_PHNUM:
          value = program.header_count;
          break;
        case AT_ENTRY:
          value = program.entry;
          break;
        case AT_BASE:
          value = interpreter.bias;
          break;
        case AT_EXECFN:
          value = name;
          break;
        case AT_RANDOM:
          value = bytes(reinterpret_cast<void*>(value), 16);
          break;
        case AT_PLATFORM:
          value = text(reinterpret_cast<const char*>(value));
          break;
        default:
          break;
      }
      words.insert(words.end(), {one.a_type, value});
    }
    words.insert(words.end(), {AT_NULL, 0});
  }

  std::uint64_t top_, at_;
};

/// What execve() would close.
void close_descriptors() {
  DIR* const directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return;
  std::vector<int> all;
  while (const dirent* entry = ::readdir(directory)) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] != '.' && fd != ::dirfd(directory) && (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0)
      all.push_back(fd);
  }
  ::closedir(directory);
  for (const int fd : all) ::close(fd);
}

[[noreturn]] void jump(std::uint64_t to, std::uint64_t stack) noexcept {
#if defined(__x86_64__)
  asm volatile("mov %1, %%rsp\n\txor %%edx, %%edx\n\txor %%ebp, %%ebp\n\tjmp *%0" : : "r"(to), "r"(stack) : "memory");
#elif defined(__aarch64__)
  asm volatile("mov sp, %1\n\tmov x0, #0\n\tbr %0" : : "r"(to), "r"(stack) : "memory");
#else
#error "how does a program begin on this processor?"
#endif
  __builtin_unreachable();
}

/// The program's libc has an area of its own for restartable sequences; ours goes with us.
void leave_restartable_sequences() noexcept {
#if defined(RSEQ_SIG)
  constexpr int unregister = 1;
  char* const area = static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
  if (__rseq_size != 0) ::syscall(SYS_rseq, area, 32, unregister, RSEQ_SIG);
#endif
}

}  // namespace

std::string place_program(const std::string& path, char** arguments, std::uint64_t stack_bytes) {
  try {
    const placed_file program = elf_mapper(path, program_places::program).place();
    if (program.interpreter.empty()) return path + " names no interpreter";
    first_stack stack(stack_bytes);
    constexpr std::uint64_t room_of_interpreter = 16u << 20;
    const placed_file interpreter =
        elf_mapper(program.interpreter, program_places::hole_end - room_of_interpreter).place();
    const std::uint64_t at = stack.fill(arguments, path, program, interpreter);
    ::prctl(PR_SET_NAME, path.substr(path.rfind('/') + 1).c_str());
    close_descriptors();
    close_gaps();
    leave_restartable_sequences();
    jump(interpreter.entry, at);
  } catch (const refused& why) {
    return why.what();
  }
}

}  // namespace quire::tools
