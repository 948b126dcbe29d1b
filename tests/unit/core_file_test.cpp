// SPDX-License-Identifier: BSD-3-Clause
#include "split/core_file.hpp"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

namespace quire::split::core_file_test {
namespace {

std::string path() { return testing::TempDir() + "quire-core-" + std::to_string(::getpid()); }

std::string content() {
  std::stringstream text;
  text << std::ifstream(path()).rdbuf();
  return text.str();
}

TEST(core_file, holds_each_run_where_its_segment_says) {
  alignas(4096) static char memory[4][4096];
  for (int i = 0; i < 4; ++i) std::memset(memory[i], 'a' + i, 4096);
  const auto at = [](int page) { return reinterpret_cast<std::uint64_t>(memory[page]); };
  const memory_run runs[] = {{at(0), 4096}, {at(2), 8192}};
  ASSERT_EQ(write_core_file(path(), runs), 0);
  const std::string file = content();
  struct stat about {};
  ASSERT_EQ(::stat(path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  Elf64_Ehdr head;
  std::memcpy(&head, file.data(), sizeof head);
  EXPECT_EQ(head.e_type, ET_CORE);
  ASSERT_EQ(head.e_phnum, 2);
  Elf64_Phdr second;
  std::memcpy(&second, file.data() + head.e_phoff + sizeof second, sizeof second);
  EXPECT_EQ(second.p_vaddr, at(2));
  EXPECT_EQ(file.substr(second.p_offset, 8192), std::string(4096, 'c') + std::string(4096, 'd'));
  EXPECT_EQ(write_core_file(path(), runs), EEXIST);  // nothing of others is overwritten
  ::unlink(path().c_str());
}

TEST(core_file, has_more_runs_than_a_header_counts) {
  static char page[4096];
  const std::vector<memory_run> runs(70'000, {reinterpret_cast<std::uint64_t>(page), 1});
  ASSERT_EQ(write_core_file(path(), runs), 0);
  const std::string file = content();
  Elf64_Ehdr head;
  std::memcpy(&head, file.data(), sizeof head);
  EXPECT_EQ(head.e_phnum, PN_XNUM);
  Elf64_Shdr section;
  std::memcpy(&section, file.data() + head.e_shoff, sizeof section);
  EXPECT_EQ(section.sh_info, 70'000u);
  ::unlink(path().c_str());
}

TEST(core_file, memory_that_cannot_be_read_leaves_no_file) {
  const memory_run nowhere[] = {{4096, 4096}};
  EXPECT_EQ(write_core_file(path(), nowhere), EFAULT);
  EXPECT_NE(::access(path().c_str(), F_OK), 0);
}

}  // namespace
}  // namespace quire::split::core_file_test
