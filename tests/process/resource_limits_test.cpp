// SPDX-License-Identifier: BSD-3-Clause
// Each limit of getrlimit(2), and of a control group, at a value that is too small: a job works all the same, or ends
// with a line that names the limit; no signal, no assertion of a library, nothing left. Also a /proc that is not there.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "command.hpp"
#include "control_group.hpp"
#include "own_shm.hpp"

namespace quire::test::resource_limits_test {
namespace {

using words = std::vector<std::string>;
words operator+(words all, const words& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

constexpr std::uint64_t shm_bytes = 64 << 20;
/// Of nobody else: RLIMIT_NPROC counts all processes of a user.
std::string lonely_user() { return std::to_string(100'000 + ::getpid()); }

words as_lonely_user() {
  const std::string user = lonely_user();
  return {"setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups", "--no-new-privs"};
}
words job_of(int nodes) { return {QUIRE_TOOL, "run", "-n", std::to_string(nodes), "--timeout", "30"}; }
const words ends{QUIRE_PROGRAMS "/death_program", "ends"};

/// An end that this names, with nothing of it that nobody should see.
void expect_named(const command_result& result, const std::string& name) {
  EXPECT_NE(result.status, 0);
  EXPECT_LT(result.status, 128) << result.err;
  EXPECT_NE(result.err.find(name), std::string::npos) << result.err;
  for (const char* const never : {"signal", "Assertion", "terminate called", "broken belief", "given up"})
    EXPECT_EQ((result.out + result.err).find(never), std::string::npos) << result.out << result.err;
  EXPECT_LT(result.seconds, 15);
}

enum class user { any, lonely };
struct limited {
  const char* name;
  const char* limit;  ///< an option of prlimit(1)
  int nodes = 2;
  const char* says = nullptr;  ///< none: the job works, and nobody complains
  bool works = false;          ///< although it says so
  user who = user::any;
  command::settings settings = {};
};
void PrintTo(const limited& l, std::ostream* out) { *out << l.limit; }

const limited rows[] = {
    {"file_size_none", "--fsize=0", 2, "ulimit -f", true},
    {"file_size_of_a_page", "--fsize=4096", 2, "ulimit -f", true},
    {"file_size", "--fsize=16777216"},
    {"file_size_by_tcp", "--fsize=0", 2, nullptr, false, user::any, {{"QUIRE_TRANSPORT", "tcp"}}},
    {"file_size_that_may_be_raised", "--fsize=0:"},
    {"file_size_of_memfd", "--fsize=16777216", 2, "ulimit -f", false, user::any, {{"QUIRE_POOL", "memfd"}}},
    {"file_size_of_posix", "--fsize=16777216", 2, "ulimit -f", false, user::any, {{"QUIRE_POOL", "posix"}}},
    {"data_for_libraries", "--data=1048576", 2, "ulimit -d"},
    {"data_for_threads", "--data=16777216", 2, "ulimit -d"},
    {"data", "--data=67108864"},
    {"addresses_for_libraries", "--as=16777216", 2, "ulimit -v"},
    {"addresses", "--as=268435456", 2, "ulimit -v"},
    {"addresses_for_the_engine", "--as=1649267441664", 2, "no addresses for the engine"},
    {"addresses_and_range", "--as=268435456", 2, nullptr, false, user::any, {{"QUIRE_RANGE", "64M"}}},
    {"descriptors_of_a_node", "--nofile=16", 2, "ulimit -n"},
    {"descriptors_of_the_launcher", "--nofile=40", 2, "ulimit -n"},
    {"descriptors_that_may_be_raised", "--nofile=12:"},
    {"descriptors_by_tcp", "--nofile=12:", 4, nullptr, false, user::any, {{"QUIRE_TRANSPORT", "tcp"}}},
    {"stack", "--stack=32768", 2, "ulimit -s"},
    {"stack_of_64_kib", "--stack=65536"},
    {"locked_memory", "--memlock=0"},
    {"pending_signals", "--sigpending=0"},
    {"messages", "--msgqueue=0"},
    {"processes_of_the_launcher", "--nproc=1", 2, "ulimit -u", false, user::lonely},
    {"processes_for_some_nodes", "--nproc=3", 4, "ulimit -u", false, user::lonely},
    {"processes_without_threads", "--nproc=3", 2, "ulimit -u", false, user::lonely},
    {"processes_for_some_threads", "--nproc=8", 2, "ulimit -u", false, user::lonely},
    {"processes_for_no_service", "--nproc=2", 1, "ulimit -u", false, user::lonely},
    {"processes", "--nproc=16", 2, nullptr, false, user::lonely},
};

class too_small : public testing::TestWithParam<limited> {};
INSTANTIATE_TEST_SUITE_P(limit, too_small, testing::ValuesIn(rows),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(too_small, is_named_or_does_no_harm) {
  const limited& l = GetParam();
  if (l.who == user::lonely && ::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  if (l.who == user::lonely && run(as_lonely_user() + words{"test", "-x", QUIRE_TOOL}).status != 0)
    GTEST_SKIP() << "others cannot reach the build directory";
  const own_shm shm(shm_bytes);
  const words under = l.who == user::lonely ? as_lonely_user() : words{};
  const auto result = run(under + words{"prlimit", l.limit} + job_of(l.nodes) + ends, l.settings);
  if (l.says != nullptr && !l.works) {
    expect_named(result, l.says);
  } else {
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.err.find(l.says != nullptr ? l.says : ""), std::string::npos) << result.err;
    EXPECT_TRUE(l.says != nullptr || result.err.empty()) << result.err;
  }
  EXPECT_TRUE(!shm.there() || own_shm::names().empty());
}

TEST(processor_time, that_is_used_up_is_named) {
  const auto result = run(words{"prlimit", "--cpu=1:3"} + job_of(1) + words{"sh", "-c", "while :; do :; done"});
  EXPECT_EQ(result.status, 128 + SIGXCPU);
  EXPECT_NE(result.err.find("ulimit -t"), std::string::npos) << result.err;
}

/// `quire info` goes on, and shows what there is.
TEST(info, shows_limits_that_are_too_small) {
  for (const char* const limit : {"--fsize=0", "--data=1048576", "--as=16777216", "--nofile=8"}) {
    const auto result = run({"prlimit", limit, QUIRE_TOOL, "info"});
    EXPECT_EQ(result.status, 0) << limit << result.err;
    for (const char* const name :
         {"size of a file", "  data  ", "address space", "open files", "processes and threads"})
      EXPECT_NE(result.out.find(name), std::string::npos) << limit << name << result.out;
  }
  const auto little = run({"prlimit", "--fsize=16777216", QUIRE_TOOL, "info", "--json"});
  EXPECT_NE(little.out.find("\"pool\": \"mdup\""), std::string::npos) << little.out;
}

/// What the launcher writes for the nodes, too: an error, as on a full disk, and no signal.
TEST(file_size, of_the_output_of_a_job_is_told) {
  char folder[] = "/tmp/quire-limits-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string file = std::string(folder) + "/out";
  const auto result = run({"prlimit", "--fsize=1000", "sh", "-c", "\"$@\" > " + file, "sh", QUIRE_TOOL, "run", "-n",
                           "1", "--tag", "seq", "10000"});
  EXPECT_NE(result.status, 0);
  EXPECT_LT(result.status, 128);
  EXPECT_NE(result.err.find("File too large"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("ulimit -f"), std::string::npos) << result.err;
  const auto counted = run(words{"prlimit", "--fsize=1000"} + job_of(1) + words{"--stats=" + file} + ends);
  EXPECT_NE(counted.err.find("cannot write the statistics: File too large"), std::string::npos) << counted.err;
  EXPECT_NE(counted.err.find("ulimit -f"), std::string::npos) << counted.err;
  ::unlink(file.c_str());
  ::rmdir(folder);
}

TEST(processes_of_a_control_group, that_are_too_few_are_named) {
  for (const std::uint64_t most : {1, 3, 8}) {
    const small_group group("pids", "pids.max", most);
    if (!group.made()) GTEST_SKIP() << "making a control group takes root, and version 1 of them";
    expect_named(run(group.inside(job_of(2) + ends)), "pids.max");
  }
}

/// The kernel kills a node for it, or all, if not even the launcher fits: nothing is left.
TEST(memory_of_a_control_group, that_is_too_little_for_nodes_is_named) {
  int named = 0;
  for (std::uint64_t KiB = 512; KiB <= 64 << 10; KiB += 256) {
    const small_group group("memory", "memory.limit_in_bytes", KiB << 10);
    if (!group.made()) GTEST_SKIP() << "making a control group takes root, and version 1 of them";
    const auto result = run(group.inside(job_of(2) + ends));
    if (result.status == 0) break;  // so much is enough
    EXPECT_EQ(result.status, 128 + SIGKILL) << KiB << result.err;
    named += result.err.find("may have " + std::to_string(KiB) + " KiB (memory.limit_in_bytes)") != std::string::npos;
  }
  EXPECT_GT(named, 0) << "no size was too little for nodes, and enough for the launcher";
}

/// Their files, where this machine has version 1.
TEST(control_groups_of_version_2, are_read) {
  const auto info = [](const std::string& files) {
    return run({"unshare", "-m", "sh", "-c",
                "mount -t tmpfs none /sys/fs/cgroup && cd /sys/fs/cgroup && " + files + " && exec \"$@\"", "sh",
                QUIRE_TOOL, "info", "--json"});
  };
  if (info("true").status != 0) GTEST_SKIP() << "mounting takes root";
  const auto both = info(
      "echo 67108864 >memory.max; echo 33554432 >memory.high; echo 1048576 >memory.current; "
      "echo 77 >pids.max; echo 3 >pids.current");
  EXPECT_NE(both.out.find("33554432"), std::string::npos) << both.out;
  EXPECT_NE(both.out.find("77"), std::string::npos) << both.out;
  const auto one = info("echo 67108864 >memory.max; echo max >memory.high; echo 1048576 >memory.current");
  EXPECT_NE(one.out.find("67108864"), std::string::npos) << one.out;
}

TEST(proc, that_is_not_mounted_is_named) {
  const words without{"unshare", "-m", "sh", "-c", "umount -l /proc && exec \"$@\"", "sh"};
  if (run(without + words{"true"}).status != 0) GTEST_SKIP() << "unmounting takes root";
  for (const char* const transport : {"auto", "tcp"})
    expect_named(run(without + job_of(2) + words{"--transport", transport} + ends), "/proc is not there");
  const std::string stock = QUIRE_PROGRAMS "/../threads/threads_few_threads";
  if (::access(stock.c_str(), X_OK) == 0) expect_named(run(without + job_of(2) + words{stock}), "/proc is not there");
}

/// The system keeps such a program's memory from others: all nodes use TCP. What it is linked with nobody can see.
TEST(executable, that_may_not_be_read) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  char folder[] = "/tmp/quire-limits-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string file = std::string(folder) + "/program";
  ASSERT_EQ(run({"cp", ends[0], file}).status, 0);
  ASSERT_EQ(::chmod(folder, 0755), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0711), 0);
  if (run(as_lonely_user() + words{"test", "-x", QUIRE_TOOL}).status == 0) {
    expect_named(run(as_lonely_user() + job_of(2) + words{file, "ends"}), "may be executed and not read");
    const auto by_tcp = run(as_lonely_user() + job_of(2) + words{"--copies", file, "ends"});
    EXPECT_EQ(by_tcp.status, 0) << by_tcp.err;
    EXPECT_NE(by_tcp.err.find("may not read the executable"), std::string::npos) << by_tcp.err;
    expect_named(run(as_lonely_user() + job_of(2) + words{"--transport", "shm", "--copies", file, "ends"}), "chmod +r");
  }
  ::unlink(file.c_str());
  ::rmdir(folder);
}

}  // namespace
}  // namespace quire::test::resource_limits_test
