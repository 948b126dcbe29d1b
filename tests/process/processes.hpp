// SPDX-License-Identifier: BSD-3-Clause
// What /proc tells of the processes of a job: who they are, where they listen, what they have open. For tests that look
// at a job from outside, as the same user or as root.
#pragma once

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace quire::test {

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // a process that ends meanwhile is an error of reading: what came is told
  return text.str();
}
inline std::vector<std::string> entries_of(const std::string& path) {
  std::vector<std::string> names;
  DIR* const directory = ::opendir(path.c_str());
  while (const dirent* entry = directory != nullptr ? ::readdir(directory) : nullptr)
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  if (directory != nullptr) ::closedir(directory);
  return names;
}

inline pid_t parent_of(pid_t pid) {
  const std::string stat = content_of("/proc/" + std::to_string(pid) + "/stat");
  const auto end = stat.rfind(')');
  return end == stat.npos ? -1 : std::atoi(stat.c_str() + end + 4);
}

/// A process and all that came of it.
inline std::vector<pid_t> family_of(pid_t first) {
  std::vector<pid_t> family{first};
  const auto names = entries_of("/proc");
  for (std::size_t i = 0; i < family.size(); ++i)
    for (const std::string& name : names) {
      const pid_t pid = std::atoi(name.c_str());
      if (pid > 0 && parent_of(pid) == family[i]) family.push_back(pid);
    }
  return family;
}

/// Sockets of any kind by their inodes.
inline std::set<std::string> sockets_of(pid_t pid) {
  std::set<std::string> inodes;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd/";
  for (const std::string& name : entries_of(folder)) {
    char target[256];
    const auto length = ::readlink((folder + name).c_str(), target, sizeof target - 1);
    if (length <= 0) continue;
    const std::string text(target, static_cast<std::size_t>(length));
    if (text.starts_with("socket:[")) inodes.insert(text.substr(8, text.size() - 9));
  }
  return inodes;
}

/// Where a process listens, over IPv4. `any_v6`: whether it has a socket of IPv6 that listens.
inline std::vector<sockaddr_in> listeners_of(pid_t pid, bool& any_v6) {
  const auto mine = sockets_of(pid);
  std::vector<sockaddr_in> found;
  for (const char* const table : {"tcp", "tcp6", "udp", "udp6"}) {
    const std::string name = table;
    std::istringstream lines(content_of("/proc/" + std::to_string(pid) + "/net/" + name));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      std::vector<std::string> w{std::istream_iterator<std::string>(fields), {}};
      // The state: listening, or a datagram socket that takes from anybody.
      if (w.size() < 10 || !(w[3] == "0A" || w[3] == "07") || !mine.contains(w[9])) continue;
      if (name.ends_with("6")) {
        any_v6 = true;
        continue;
      }
      sockaddr_in where{};
      where.sin_family = AF_INET;
      where.sin_addr.s_addr = static_cast<in_addr_t>(std::strtoul(w[1].c_str(), nullptr, 16));
      where.sin_port = htons(static_cast<in_port_t>(std::strtoul(w[1].c_str() + w[1].find(':') + 1, nullptr, 16)));
      found.push_back(where);
    }
  }
  return found;
}

}  // namespace quire::test
