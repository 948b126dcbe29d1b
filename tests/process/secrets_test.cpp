// What others on the host could get at: memory, files and sockets of a job belong to its user alone and have no names that can
// be foretold; it listens where its nodes are; and its secret stands neither in an environment nor on a command line.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "command.hpp"
#include "processes.hpp"

namespace quire::test {
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

  static std::vector<std::string> words(double seconds) {
    std::vector<std::string> w{QUIRE_TOOL, "run", "--timeout", "50"};
    const auto& options = GetParam().options;
    w.insert(w.end(), options.begin(), options.end());
    w.insert(w.end(), {program, std::to_string(seconds)});
    return w;
  }
  static bool is_up(command& job) {
    for (int node = 0; node < nodes; ++node)
      if (!job.wait_for("node " + std::to_string(node) + " is ", 30)) return false;
    return true;
  }

 private:
  mode_t mask_;
};

void belongs_to_its_user_alone(const std::string& path, const std::string& what) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return;
  EXPECT_EQ(about.st_mode & 077, 0u) << what << " has mode " << std::oct << (about.st_mode & 07777);
}

void look_at_descriptors(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd/";
  for (const std::string& name : entries_of(folder)) {
    char target[4096] = {};
    if (std::atoi(name.c_str()) < 3 || ::readlink((folder + name).c_str(), target, sizeof target - 1) <= 0) continue;
    const std::string file = target;
    if (!file.starts_with("/") || file.starts_with("/dev/null") || file.starts_with("/proc/") || file.starts_with("/sys/")) continue;
    struct stat about {};
    if (::stat((folder + name).c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
    belongs_to_its_user_alone(folder + name, file);
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
    belongs_to_its_user_alone(process + "/map_files/" + line.substr(0, line.find(' ')), file);
  }
  return seen;
}

void look_at_named_sockets(pid_t pid) {
  const auto mine = sockets_of(pid);
  std::istringstream lines(content_of("/proc/" + std::to_string(pid) + "/net/unix"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    const std::vector<std::string> w{std::istream_iterator<std::string>(fields), {}};
    if (w.size() > 7) {
      EXPECT_FALSE(mine.contains(w[6])) << "a socket that others find: " << w[7];
    }
  }
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
  command job(words(2), GetParam().environment);
  ASSERT_TRUE(is_up(job)) << job.out() << job.finish(1).err;
  const auto family = family_of(job.pid());
  ASSERT_GT(family.size(), static_cast<std::size_t>(nodes));
  unsigned mappings = 0, listeners = 0;
  bool any_v6 = false;
  for (const pid_t pid : family) {
    look_at_descriptors(pid);
    mappings += look_at_mappings(pid);
    look_at_named_sockets(pid);
    for (const auto& where : listeners_of(pid, any_v6)) {
      ++listeners;
      EXPECT_EQ(where.sin_addr.s_addr, htonl(INADDR_LOOPBACK)) << "process " << pid << " listens beyond its interface";
    }
  }
  look_at_segments(family);
  EXPECT_GT(mappings, 0u);
  EXPECT_FALSE(any_v6);
  const bool over_tcp = std::string(GetParam().name).find("tcp") != std::string::npos;
  EXPECT_EQ(listeners, over_tcp ? nodes : 0);
  EXPECT_EQ(job.finish(50).status, 0);
}

/// Two jobs have two secrets. So what is alike in both cannot tell a secret.
TEST_P(secrets, environments_and_command_lines_are_the_same_in_every_job) {
  std::vector<std::string> told[2];
  for (auto& all : told) {
    command job(words(0.5), GetParam().environment);
    ASSERT_TRUE(is_up(job)) << job.out() << job.finish(1).err;
    for (const pid_t pid : family_of(job.pid())) {
      const std::string process = "/proc/" + std::to_string(pid);
      std::string text = content_of(process + "/cmdline");
      std::istringstream variables(content_of(process + "/environ"));
      for (std::string one; std::getline(variables, one, '\0');)
        if (!one.starts_with("COMMAND_UNDER_TEST=")) text += "\n" + one;
      all.push_back(std::move(text));
    }
    EXPECT_EQ(job.finish(50).status, 0);
    std::sort(all.begin(), all.end());
  }
  EXPECT_GT(told[0].size(), static_cast<std::size_t>(nodes));
  EXPECT_EQ(told[0], told[1]);
}

/// "Hosts" that are this one.
const std::string& agent() {
  static const std::string path = [] {
    const std::string made = QUIRE_BINARY_DIR "/tests/agent_here";
    std::ofstream(made) << "#!/bin/sh\nshift\nexec sh -c \"exec $*\"\n";
    std::filesystem::permissions(made, std::filesystem::perms::owner_all);
    return made;
  }();
  return path;
}

std::vector<way> ways() {
  std::vector<way> all;
  for (const char* const transport : {"shm", "tcp"})
    all.push_back({transport, {"-n", "2", "--transport", transport}, {}});
  for (const char* const pool : {"posix", "file", "sysv", "fork"})
    all.push_back({pool, {"-n", "2", "--pool", pool, "--transport", "shm"}, {}});
  all.push_back({"limited", {"-n", "2", "--memory-limit", "1M", "--transport", "shm"}, {}});
  all.push_back({"hosts_tcp", {"--hosts", "a,b", "--agent", agent()}, {{"QUIRE_NET_DEVICES", "lo"}}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(ways, secrets, testing::ValuesIn(ways()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace quire::test
