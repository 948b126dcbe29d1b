// SPDX-License-Identifier: BSD-3-Clause
// What others on the host could get at: memory, files and sockets of a job belong to its user alone and have no names
// that can be foretold; it listens where its nodes are; and its secret stands neither in an environment nor on a
// command line.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>

#include "command.hpp"
#include "processes.hpp"

namespace quire::test::secrets_test {
namespace {

constexpr int nodes = 2;
const char* const program = QUIRE_PROGRAMS "/intruder_program";

struct way {
  const char* name;
  std::vector<std::string> options;
  command::settings environment;
};
void PrintTo(const way& w, std::ostream* out) { *out << w.name; }

class secrets : public testing::TestWithParam<way> {
 protected:
  secrets() : mask_(::umask(0)) {}  // so that no mode is right by the user's favour
  ~secrets() override { ::umask(mask_); }

  /// A job that runs until end_of() it is asked for.
  [[nodiscard]] std::vector<std::string> words() const {
    std::vector<std::string> w{QUIRE_TOOL, "run", "--timeout", "50"};
    const auto& options = GetParam().options;
    w.insert(w.end(), options.begin(), options.end());
    w.insert(w.end(), {program, "0", end_});
    return w;
  }
  [[nodiscard]] int end_of(command& job) const {
    std::ofstream{end_};
    const int status = job.finish(50).status;
    std::filesystem::remove(end_);
    return status;
  }
  static bool is_up(command& job) {
    for (int node = 0; node < nodes; ++node)
      if (!job.wait_for("node " + std::to_string(node) + " is ", 30)) return false;
    return true;
  }

 private:
  mode_t mask_;
  const std::string end_ = std::filesystem::temp_directory_path() / ("quire-secrets-" + std::to_string(::getpid()));
};

void belongs_to_its_user_alone(const std::string& path, const std::string& what) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return;
  EXPECT_EQ(about.st_mode & 077, 0u) << what << " has mode " << std::oct << (about.st_mode & 07777);
}

/// What a process has open, by descriptor; without the standard streams.
std::map<std::string, std::string> open_files(const std::string& pid) {
  const std::string folder = "/proc/" + pid + "/fd/";
  std::map<std::string, std::string> found;
  for (const std::string& name : entries_of(folder)) {
    char target[4096] = {};
    if (std::atoi(name.c_str()) >= 3 && ::readlink((folder + name).c_str(), target, sizeof target - 1) > 0)
      found[folder + name] = target;
  }
  return found;
}

void look_at_descriptors(pid_t pid) {
  std::set<std::string> inherited;  // of whoever runs the tests
  for (const auto& [descriptor, file] : open_files("self")) inherited.insert(file);
  for (const auto& [descriptor, file] : open_files(std::to_string(pid))) {
    if (!file.starts_with("/") || file.starts_with("/proc/") || file.starts_with("/sys/") || inherited.contains(file))
      continue;
    struct stat about {};
    if (::stat(descriptor.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
    belongs_to_its_user_alone(descriptor, file);
    EXPECT_EQ(about.st_nlink, 0u) << file << " has a name";
  }
}

/// Mapped files that are neither programs nor libraries. Only root may look at them all.
unsigned look_at_mappings(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  std::istringstream lines(content_of(process + "/maps"));
  unsigned seen = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find('/');
    if (at == line.npos) continue;
    const std::string file = line.substr(at);
    const bool shared = file.starts_with("/dev/shm") || file.starts_with("/memfd:") || file.starts_with("/SYSV") ||
                        file.find("(deleted)") != file.npos;
    if (!shared) continue;
    ++seen;
    // Nothing of these can be opened: shared memory of a process and its children, and segments (look_at_segments).
    if (file == "/dev/zero (deleted)" || file.starts_with("/SYSV")) continue;
    belongs_to_its_user_alone(process + "/map_files/" + line.substr(0, line.find(' ')), file);
  }
  return seen;
}

/// Names that others can send to.
std::vector<std::string> names_of_sockets(pid_t pid) {
  const auto mine = sockets_of(pid);
  std::vector<std::string> names;
  std::istringstream lines(content_of("/proc/" + std::to_string(pid) + "/net/unix"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    const std::vector<std::string> w{std::istream_iterator<std::string>(fields), {}};
    if (w.size() <= 7 || !mine.contains(w[6])) continue;
    // `quire top` finds the launcher by this one; both ask the kernel who the other is (top_test.cpp).
    if (w[7].starts_with("@quire-run/" + std::to_string(::geteuid()) + "/")) continue;
    EXPECT_TRUE(w[4] == "0002" && w[7].starts_with("@")) << "a socket that others find: " << line;
    names.push_back(w[7]);
  }
  return names;
}

void look_at_segments(const std::vector<pid_t>& family) {
  std::istringstream lines(content_of("/proc/sysvipc/shm"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    const std::vector<std::string> w{std::istream_iterator<std::string>(fields), {}};
    if (w.size() < 6 || std::find(family.begin(), family.end(), std::atoi(w[4].c_str())) == family.end()) continue;
    EXPECT_EQ(std::strtoul(w[2].c_str(), nullptr, 8) & 077, 0u) << line;
    EXPECT_EQ(w[0], "0") << "a segment with a key: " << line;
  }
}

TEST_P(secrets, memory_files_and_sockets_are_the_users_own) {
  command job(words(), GetParam().environment);
  ASSERT_TRUE(is_up(job)) << job.out() << job.finish(1).err;
  const auto family = family_of(job.pid());
  ASSERT_GT(family.size(), static_cast<std::size_t>(nodes));
  const bool over_tcp = std::string(GetParam().name).find("tcp") != std::string::npos;
  unsigned mappings = 0, listeners = 0;
  bool any_v6 = false;
  for (const pid_t pid : family) {
    look_at_descriptors(pid);
    mappings += look_at_mappings(pid);
    EXPECT_TRUE(names_of_sockets(pid).empty());
    for (const auto& where : listeners_of(pid, any_v6)) {
      ++listeners;
      EXPECT_EQ(where.sin_addr.s_addr, htonl(INADDR_LOOPBACK)) << "process " << pid << " listens beyond its interface";
    }
  }
  look_at_segments(family);
  EXPECT_GT(mappings, 0u);
  EXPECT_FALSE(any_v6);
  EXPECT_EQ(listeners, over_tcp ? nodes : 0);
  EXPECT_EQ(end_of(job), 0);
}

/// Two jobs have two secrets. So what is alike in both cannot tell a secret.
TEST_P(secrets, environments_and_command_lines_are_the_same_in_every_job) {
  std::vector<std::string> told[2];
  for (auto& all : told) {
    command job(words(), GetParam().environment);
    ASSERT_TRUE(is_up(job)) << job.out() << job.finish(1).err;
    for (const pid_t pid : family_of(job.pid())) {
      const std::string process = "/proc/" + std::to_string(pid);
      std::string text = content_of(process + "/cmdline");
      std::istringstream variables(content_of(process + "/environ"));
      for (std::string one; std::getline(variables, one, '\0');)
        // The second names `quire run` by what everybody sees of it: its pid, and when it began.
        if (!one.starts_with("COMMAND_UNDER_TEST=") && !one.starts_with("QUIRE_RUN=")) text += "\n" + one;
      all.push_back(std::move(text));
    }
    EXPECT_EQ(end_of(job), 0);
    std::sort(all.begin(), all.end());
  }
  EXPECT_GT(told[0].size(), static_cast<std::size_t>(nodes));
  EXPECT_EQ(told[0], told[1]);
}

TEST(strangers, that_wake_nodes_by_datagrams_keep_nobody_from_working) {
  command job({QUIRE_TOOL, "run", "-n", "2", "--transport", "shm", "--timeout", "50", program, "3"});
  ASSERT_TRUE(job.wait_for("node 0 is ", 30) && job.wait_for("node 1 is ", 30));
  std::vector<std::string> names;
  for (const pid_t pid : family_of(job.pid()))
    for (const std::string& name : names_of_sockets(pid)) names.push_back(name);
  const int s = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  std::size_t sent = 0;
  for (std::size_t i = 0; i < 40'000 && !names.empty(); ++i) {
    const std::string& name = names[i % names.size()];
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    std::copy(name.begin() + 1, name.end(), where.sun_path + 1);  // a zero in place of the @
    const std::string said(i % 2'000, 'x');
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    if (::sendto(s, said.data(), said.size(), 0, reinterpret_cast<const sockaddr*>(&where), bytes) >= 0) ++sent;
  }
  ::close(s);
  EXPECT_TRUE(names.empty() || sent > 0) << "nobody was woken: this test shows nothing";
  const auto result = job.finish(50);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("refused 0 connections and 0 messages"), std::string::npos) << result.out;
}

std::vector<way> ways() {
  std::vector<way> all;
  for (const char* const transport : {"shm", "tcp"})
    all.push_back({transport, {"-n", "2", "--transport", transport}, {}});
  for (const char* const pool : {"posix", "file", "sysv", "fork"})
    all.push_back({pool, {"-n", "2", "--pool", pool, "--transport", "shm"}, {}});
  all.push_back({"limited", {"-n", "2", "--memory-limit", "1M", "--transport", "shm"}, {}});
  all.push_back({"hosts_tcp",
                 {"--hosts", "a,b", "--agent", QUIRE_SOURCE_DIR "/tests/process/agent_here.sh"},
                 {{"QUIRE_NET_DEVICES", "lo"}}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(ways, secrets, testing::ValuesIn(ways()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace quire::test::secrets_test
