// SPDX-License-Identifier: BSD-3-Clause
// Locks of libc and the standard library in shared memory work within one node only: the first use of each kind says
// so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.hpp"

namespace quire::test::foreign_locks_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const std::string plain_c = QUIRE_PROGRAMS "/foreign_locks";
const std::string libc_first = QUIRE_PROGRAMS "/foreign_locks_late";

command_result run_nodes(int nodes, const std::vector<std::string>& program,
                         const std::string& detector = "userfault") {
  std::vector<std::string> words = {QUIRE_TOOL,  "run", "-n",       std::to_string(nodes),
                                    "--timeout", "40",  "--detect", detector};
  words.insert(words.end(), program.begin(), program.end());
  auto result = run(words);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  return result;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(foreign_locks, of_each_kind_are_told_once_by_the_node_that_uses_them) {
  for (const auto& program : {plain_c, libc_first}) {
    const auto result = run_nodes(2, {program, "shared"});
    for (const char* function : {"pthread_mutex_lock", "pthread_rwlock_rdlock", "pthread_cond_signal",
                                 "pthread_barrier_wait", "pthread_spin_lock", "sem_wait"}) {
      EXPECT_THAT(result.err, ContainsRegex("quire\\[1\\]: warning: " + std::string(function) +
                                            "\\(0x2[0-9a-f]+\\): the object lies in shared memory"));
    }
    EXPECT_THAT(result.err, HasSubstr("use quire::mutex (quire_mutex_create)\n"));
    EXPECT_EQ(lines_in(result.err), 6u) << result.err;
  }
}

TEST(foreign_locks, are_told_with_every_detector) {
  for (const char* detector : {"segv", "thread"})
    EXPECT_EQ(lines_in(run_nodes(2, {plain_c, "shared"}, detector).err), 6u);
}

TEST(foreign_locks, that_are_private_or_in_a_job_of_one_node_are_not_told) {
  EXPECT_EQ(run_nodes(2, {plain_c}).err, "");
  EXPECT_EQ(run_nodes(1, {plain_c, "shared"}).err, "");
}

TEST(foreign_locks, of_the_standard_library_are_libcs) {
  for (const auto& [what, function] :
       {std::pair{"mutex", "pthread_mutex_lock"}, std::pair{"shared_mutex", "pthread_rwlock_rdlock"},
        std::pair{"condition_variable", "pthread_cond_"}}) {
    const auto result = run_nodes(2, {QUIRE_PROGRAMS "/standard_locks_program", what});
    EXPECT_THAT(result.err, HasSubstr("warning: " + std::string(function))) << what;
  }
}

}  // namespace
}  // namespace quire::test::foreign_locks_test
