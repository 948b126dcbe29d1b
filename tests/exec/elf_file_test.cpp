// SPDX-License-Identifier: BSD-3-Clause
// What is read from ELF files: from this test's own, and from files that are cut off, damaged, or something else.
#include "elf_file.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "os/process.hpp"
#include "source_lines.hpp"

namespace quire::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ElfFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "quire-elf-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  /// A file with this content, for as long as there is no other: in memory, as there are very many.
  std::string put(const std::string& bytes) {
    EXPECT_EQ(::ftruncate(memory.number(), 0), 0);
    EXPECT_EQ(::pwrite(memory.number(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return "/proc/self/fd/" + std::to_string(memory.number());
  }

  static std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// A file has what is in it, or a trouble with a reason.
  static void is_sane(const elf_answer& answer) {
    EXPECT_EQ(answer.file.has_value(), answer.trouble == elf_trouble::none);
    EXPECT_EQ(answer.why.empty(), answer.file.has_value());
  }

  fs::path folder;
  os::descriptor memory{::memfd_create("elf", MFD_CLOEXEC)};
};

constexpr const char* small_program = "/bin/true";

TEST_F(ElfFile, TellsHowThisTestIsLinked) {
  const auto own = read_elf("/proc/self/exe");
  ASSERT_TRUE(own.file.has_value()) << own.why;
  EXPECT_NE(own.file->what, elf_file::form::library);
  EXPECT_FALSE(own.file->is_static);
  EXPECT_TRUE(needs(*own.file, "libc.so"));
  EXPECT_FALSE(needs(*own.file, "libgomp"));
  EXPECT_THAT(own.file->needed_versions, Contains(Field(&elf_version::version, StartsWith("GLIBC_"))));
  EXPECT_TRUE(own.file->defined_versions.empty());
}

TEST_F(ElfFile, TellsWhichLibraryASymbolComesFrom) {
  const auto own = read_elf("/proc/self/exe");
  ASSERT_TRUE(own.file.has_value());
  const auto& symbols = own.file->symbols;
  const auto found = std::find_if(symbols.begin(), symbols.end(), [](const auto& s) { return s.name == "mkdtemp"; });
  ASSERT_NE(found, symbols.end());
  EXPECT_FALSE(found->defined);
  EXPECT_FALSE(found->weak);
  EXPECT_THAT(found->library, StartsWith("libc.so"));
}

/// The table of sections serves debuggers; a program may lack it.
/// The first module is this test, where the kernel has put it.
std::uint64_t place_of_this_test() {
  std::uint64_t place = 0;
  (void)::dl_iterate_phdr(
      [](dl_phdr_info* about, std::size_t, void* to) {
        *static_cast<std::uint64_t*>(to) = about->dlpi_addr;
        return 1;
      },
      &place);
  return place;
}

/// Whoever jumps to the stub comes to the function.
TEST_F(ElfFile, NamesWhatStubsJumpTo) {
#if defined(__x86_64__)
  (void)::getppid();
  const auto answer = read_elf("/proc/self/exe");
  ASSERT_TRUE(answer.file) << answer.why;
  const auto& all = answer.file->stubs;
  const auto stub = std::find_if(all.begin(), all.end(), [](const elf_stub& s) { return s.name == "getppid"; });
  ASSERT_NE(stub, all.end()) << all.size() << " stubs";
  const auto call = reinterpret_cast<pid_t (*)()>(place_of_this_test() + stub->address);
  EXPECT_EQ(call(), ::getppid());
  // A line of a report, where there is no line of the program.
  char place[64];
  std::snprintf(place, sizeof place, "/proc/self/exe+0x%lx", static_cast<unsigned long>(stub->address));
  const std::vector<std::vector<std::string>> stacks{{place}};
  EXPECT_EQ(source_lines(stacks).own_line(stacks[0]), "a call of getppid()");
#else
  GTEST_SKIP() << "stubs are read on x86-64";
#endif
}

TEST_F(ElfFile, NeedsNoSections) {
  const auto whole = read_elf("/proc/self/exe");
  std::string bytes = bytes_of("/proc/self/exe");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.e_shoff = 0;
  header.e_shnum = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  const auto without = read_elf(put(bytes));
  ASSERT_TRUE(without.file.has_value()) << without.why;
  EXPECT_FALSE(without.file->has_symbol_table);
  EXPECT_EQ(without.file->needed, whole.file->needed);
  const auto& symbols = without.file->symbols;
  EXPECT_TRUE(std::any_of(symbols.begin(), symbols.end(), [](const auto& s) { return s.name == "mkdtemp"; }));
}

TEST_F(ElfFile, SaysWhatOtherFilesAre) {
  const auto trouble = [](const std::string& path) { return read_elf(path).trouble; };
  EXPECT_EQ(trouble(put("#!/bin/sh\ntrue\n")), elf_trouble::script);
  EXPECT_EQ(trouble(put("")), elf_trouble::other_format);
  EXPECT_EQ(trouble(put("\x7f")), elf_trouble::other_format);
  EXPECT_EQ(trouble(put("\x7f"
                        "ELF")),
            elf_trouble::other_machine)
      << "which class it is of is cut off";
  EXPECT_EQ(trouble(folder), elf_trouble::unreadable);
  EXPECT_EQ(trouble(folder / "missing"), elf_trouble::unreadable);
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(trouble(pipe), elf_trouble::unreadable) << "nobody writes: it must not wait";
}

TEST_F(ElfFile, NamesOtherMachines) {
  std::string bytes = bytes_of(small_program);
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(read_elf(put(bytes)).trouble, elf_trouble::other_machine);
  bytes[EI_CLASS] = ELFCLASS64;
  const Elf64_Half other = EM_RISCV;
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_machine), &other, sizeof other);
  const auto answer = read_elf(put(bytes));
  EXPECT_EQ(answer.trouble, elf_trouble::other_machine);
  EXPECT_THAT(answer.why, HasSubstr("riscv"));
}

TEST_F(ElfFile, BeginningsAreReadAsFarAsTheyGo) {
  const std::string all = bytes_of(small_program);
  const auto whole = read_elf(small_program);
  ASSERT_TRUE(whole.file.has_value()) << whole.why;
  EXPECT_EQ(read_elf(put(all.substr(0, 100))).trouble, elf_trouble::damaged);
  // The header and the tables behind it byte by byte, then in steps.
  for (std::size_t bytes = 0; bytes < all.size(); bytes += bytes < 1024 ? 1 : 97) {
    const auto part = read_elf(put(all.substr(0, bytes)));
    is_sane(part);
    if (part.file.has_value()) {
      EXPECT_EQ(part.file->needed, whole.file->needed) << bytes;
    }
  }
}

TEST_F(ElfFile, DamagedBytesLeadNowhere) {
  const std::string all = bytes_of(small_program);
  const auto damage = [&](std::size_t at, char value) {
    std::string damaged = all;
    damaged[at] = value;
    is_sane(read_elf(put(damaged)));
  };
  // Headers and the tables after them: it ends, and touches nothing beyond the file.
  for (std::size_t at = 0; at < std::min<std::size_t>(all.size(), 4096); ++at)
    for (const char value : {'\xff', '\x7f', '\0'}) damage(at, value);
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) damage(random() % all.size(), static_cast<char>(random()));
}

/// Every word of the dynamic table in turn: far out, and at the end of the address space, where sums wrap around.
TEST_F(ElfFile, DamagedTablesLeadNowhere) {
  const std::string all = bytes_of(small_program);
  Elf64_Ehdr header;
  std::memcpy(&header, all.data(), sizeof header);
  for (int i = 0; i < header.e_phnum; ++i) {
    const std::size_t segment_at = header.e_phoff + static_cast<std::size_t>(i) * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, all.data() + segment_at, sizeof segment);
    const std::size_t begin = segment.p_type == PT_DYNAMIC ? segment.p_offset : segment_at;
    const std::size_t end = segment.p_type == PT_DYNAMIC ? begin + segment.p_filesz : begin + sizeof segment;
    for (std::size_t at = begin; at + 8 <= end; at += 8)
      for (const std::uint64_t value :
           {~std::uint64_t{0}, ~std::uint64_t{0} - 15, std::uint64_t{1} << 40, std::uint64_t{all.size() - 1}}) {
        std::string damaged = all;
        std::memcpy(damaged.data() + at, &value, sizeof value);
        is_sane(read_elf(put(damaged)));
      }
  }
}

}  // namespace
}  // namespace quire::tools
