// SPDX-License-Identifier: BSD-3-Clause
// Little room: a /dev/shm as small as a container's, or full, or a directory of page files that is full, or a node that
// has no shared memory. The job runs as well, all nodes by one transport, or an error says what is too small and what
// helps.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "command.hpp"
#include "control_group.hpp"
#include "own_shm.hpp"

namespace quire::test::room_test {
namespace {

constexpr std::uint64_t MiB = 1 << 20;
using words = std::vector<std::string>;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// Every line is one message of one speaker.
void expect_whole_lines(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(line.starts_with("quire")) << line;
}

words job_of(int nodes, const std::string& transport) {
  return {QUIRE_TOOL, "run", "-n", std::to_string(nodes), "--timeout", "60", "--transport", transport};
}
words operator+(words all, const words& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}
const words ends{QUIRE_PROGRAMS "/death_program", "ends"};
/// The same, but node 1 gets no memory for messages.
const words ends_without_node_1{"sh", "-c",
                                "test $QUIRE_JOB_NODE != 1 || export QUIRE_FAIL=memfd:1:12; exec " QUIRE_PROGRAMS
                                "/death_program ends"};

TEST(room_of_shm, that_containers_have_is_enough_for_many_nodes) {
  OWN_SHM_OR_SKIP(shm, 64 * MiB);
  const auto result = run(job_of(16, "shm") + ends);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
}

TEST(room_of_shm, is_not_needed) {
  OWN_SHM_OR_SKIP(shm, 1 * MiB);
  {
    std::ofstream file("/dev/shm/all-of-it");
    while (file << "as much as there is room for, and more" && file.flush()) continue;
  }
  const auto result = run(job_of(3, "shm") + ends);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
}

TEST(transport, is_the_same_on_all_nodes_where_one_has_no_shared_memory) {
  const auto result = run(job_of(3, "auto") + ends_without_node_1);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count_of(result.err, "node 1 has no shared memory for messages: all nodes use TCP"), 1u) << result.err;
  EXPECT_EQ(count_of(result.err, "a node needs 4 MiB of memory"), 1u) << result.err;
  expect_whole_lines(result.err);
}

TEST(transport, that_was_asked_for_and_cannot_be_had_is_an_error) {
  const auto result = run(job_of(3, "shm") + ends_without_node_1);
  EXPECT_NE(result.status, 0);
  EXPECT_EQ(count_of(result.err, "a node needs 4 MiB of memory"), 1u) << result.err;
  EXPECT_LT(result.seconds, 20);
}

/// Nodes that were told to use different ones: none is connected.
TEST(transport, that_nodes_disagree_about_is_an_error) {
  const auto result =
      run(job_of(4, "shm") + words{"sh", "-c",
                                   "test $QUIRE_JOB_NODE != 3 || export QUIRE_TRANSPORT=tcp; exec " QUIRE_PROGRAMS
                                   "/death_program ends"});
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.err.find("has another transport than"), std::string::npos) << result.err;
  EXPECT_LT(result.seconds, 20);
}

/// A user who wants UCX has it, also for its memory in a directory; and is told where there is too little.
TEST(transport, of_the_user_is_taken_on_one_host) {
  OWN_SHM_OR_SKIP(shm, 64 * MiB);
  const command::settings named{{"UCX_TLS", "posix"}, {"UCX_POSIX_DIR", "/dev/shm"}};
  const auto has_room = run(job_of(2, "shm") + words{"--stats"} + ends, named);
  EXPECT_EQ(has_room.status, 0) << has_room.err;
  EXPECT_NE((has_room.err + has_room.out).find("UCX_TLS=posix"), std::string::npos) << has_room.err << has_room.out;
}

TEST(transport, of_the_user_without_room_is_an_error) {
  OWN_SHM_OR_SKIP(shm, 16 * MiB);
  const command::settings named{{"UCX_TLS", "posix"}, {"UCX_POSIX_DIR", "/dev/shm"}};
  const auto refused = run(job_of(8, "shm") + ends, named);
  EXPECT_NE(refused.status, 0);
  EXPECT_NE(refused.err.find("cannot be opened"), std::string::npos) << refused.err;
}

struct full {
  const char *pool, *detector, *what, *advice;
};
void PrintTo(const full& f, std::ostream* out) { *out << f.pool << ", " << f.detector << ", " << f.what; }
class full_pool : public testing::TestWithParam<full> {};
INSTANTIATE_TEST_SUITE_P(pools, full_pool,
                         testing::Values(full{"posix", "userfault", "write", "/dev/shm is full"},
                                         full{"posix", "userfault", "read", "/dev/shm is full"},
                                         full{"posix", "thread", "read", "/dev/shm is full"},
                                         full{"posix", "segv", "read", "/dev/shm is full"},
                                         full{"posix", "segv", "write", "/dev/shm is full"},
                                         full{"file", "userfault", "write", "QUIRE_POOL_DIR is full"},
                                         full{"file", "segv", "read", "QUIRE_POOL_DIR is full"}),
                         [](const auto& info) {
                           return std::string(info.param.pool) + "_" + info.param.detector + "_" + info.param.what;
                         });

TEST_P(full_pool, says_what_is_full_and_what_helps) {
  OWN_SHM_OR_SKIP(shm, 8 * MiB);
  const full& f = GetParam();
  const bool reads = std::string(f.what) == "read";
  const command::settings where{{"QUIRE_POOL", f.pool}, {"QUIRE_POOL_DIR", "/dev/shm"}, {"QUIRE_DETECT", f.detector}};
  const auto start = [&](const char* mebibytes) {
    return run(job_of(2, "shm") + words{QUIRE_PROGRAMS "/room_program", f.what, mebibytes}, where);
  };
  const auto enough = start("3");
  EXPECT_EQ(enough.status, 0) << enough.err;
  EXPECT_EQ(count_of(enough.out, "ends well"), 2u);
  // For one node or for none: the two share what there is.
  const auto little = start(reads ? "6" : "16");
  EXPECT_NE(little.status, 0);
  EXPECT_EQ(count_of(little.out, "written"), reads ? 1u : 0u) << little.err;
  EXPECT_EQ(count_of(little.err, "there is no memory for the page at 0x"), 1u) << little.err;
  EXPECT_NE(little.err.find(f.advice), std::string::npos) << little.err;
  EXPECT_EQ(little.err.find("signal"), std::string::npos) << little.err;
}

TEST(memory_of_a_control_group, that_is_used_up_is_told) {
  const small_group group("memory", "memory.limit_in_bytes", 96 * MiB);
  if (!group.made()) GTEST_SKIP() << "making a control group takes root, and version 1 of them";
  const auto enough = run(group.inside(job_of(2, "shm") + words{QUIRE_PROGRAMS "/room_program", "write", "16"}));
  EXPECT_EQ(enough.status, 0) << enough.err;
  const auto little = run(group.inside(job_of(2, "shm") + words{QUIRE_PROGRAMS "/room_program", "write", "256"}));
  EXPECT_EQ(little.status, 128 + SIGKILL) << little.err;
  EXPECT_NE(little.err.find("probably by the kernel as memory is used up"), std::string::npos) << little.err;
  EXPECT_NE(little.err.find("QUIRE_MEMORY_LIMIT"), std::string::npos) << little.err;
}

}  // namespace
}  // namespace quire::test::room_test
