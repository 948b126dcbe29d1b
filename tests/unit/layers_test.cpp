// SPDX-License-Identifier: BSD-3-Clause
// The layers: every #include in src/ and in program/ is one that the row of its folder in layers.txt there allows, and
// the folders that run in fault context use nothing that allocates behind the scenes, locks, or prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using layer_rows = std::map<std::string, std::set<std::string>>;

/// A folder with a layers.txt. Its files write paths that begin with `prefix`, or with one of `others`, which are of
/// src/.
struct tree {
  fs::path root;
  std::string prefix;
  std::set<std::string> others;
  std::size_t least_rows, least_includes;
};
const fs::path source = fs::path(QUIRE_SOURCE_DIR) / "src";
const tree library{source, "", {}, 11, 301};
const tree trees[] = {library, {fs::path(QUIRE_SOURCE_DIR) / "program", "program/", {"base/", "os/"}, 11, 301}};

/// `lower`, or what floor/* means of the rows before.
std::set<std::string> meant_by(const std::string& lower, const layer_rows& before) {
  if (!lower.ends_with("/*")) return {lower};
  std::set<std::string> all;
  for (const auto& [folder, lowers] : before)
    if (folder.starts_with(lower.substr(0, lower.size() - 1))) all.insert(folder);
  return all;
}

/// Folder -> folders that it may include, from layers.txt.
layer_rows read_rows(const tree& of = library) {
  layer_rows rows;
  std::ifstream file(of.root / "layers.txt");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
    std::istringstream lowers(line.substr(colon + 1));
    std::set<std::string> row;
    for (std::string lower; lowers >> lower;) row.merge(meant_by(lower, rows));
    rows[line.substr(0, colon)] = row;
  }
  return rows;
}

struct included {
  std::string file;    ///< relative to the tree
  std::string folder;  ///< its row; empty for files of the tree's folder itself
  std::string name;
  bool quoted;  ///< "name" rather than <name>
};

/// The row that a path belongs to: the longest folder that has one.
std::string row_of(const layer_rows& rows, const std::string& path) {
  std::string best;
  for (const auto& [folder, lowers] : rows)
    if (path.starts_with(folder + "/") && folder.size() > best.size()) best = folder;
  return best;
}

std::vector<included> all_includes(const layer_rows& rows, const tree& of = library) {
  static const std::regex pattern(R"re(^\s*#\s*include\s+(["<])([^">]+)[">])re");
  std::vector<included> found;
  for (const auto& entry : fs::recursive_directory_iterator(of.root)) {
    if (!entry.is_regular_file() || (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp"))
      continue;
    const std::string path = fs::relative(entry.path(), of.root).string();
    std::ifstream file(entry.path());
    std::smatch match;
    for (std::string line; std::getline(file, line);)
      if (std::regex_search(line, match, pattern))
        found.push_back({path, row_of(rows, path), match[2], match[1] == "\""});
  }
  return found;
}

void expect_order(const tree& of) {
  std::ifstream file(of.root / "layers.txt");
  std::set<std::string> seen;
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.empty() || line[0] == '#') continue;
    ASSERT_NE(colon, std::string::npos) << line;
    std::istringstream lowers(line.substr(colon + 1));
    for (std::string lower; lowers >> lower;)
      EXPECT_TRUE(lower.ends_with("/*") || seen.contains(lower)) << line << ": " << lower << " is not a lower layer";
    EXPECT_TRUE(seen.insert(line.substr(0, colon)).second) << line;
  }
  EXPECT_GE(seen.size(), of.least_rows);
}

TEST(layers, rows_name_only_rows_above_them) {
  for (const tree& of : trees) expect_order(of);
}

TEST(layers, every_file_belongs_to_a_row) {
  for (const tree& of : trees) {
    const auto rows = read_rows(of);
    for (const auto& entry : fs::recursive_directory_iterator(of.root)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      const std::string path = fs::relative(entry.path(), of.root).string();
      EXPECT_TRUE(path.find('/') == std::string::npos || !row_of(rows, path).empty()) << path << " is in no layer";
    }
  }
}

void expect_allowed(const tree& of, const layer_rows& rows, const included& i) {
  if (std::any_of(of.others.begin(), of.others.end(),
                  [&](const std::string& other) { return i.name.starts_with(other); }))
    return;
  ASSERT_TRUE(i.name.starts_with(of.prefix)) << i.file << " includes \"" << i.name << "\"";
  const std::string name = i.name.substr(of.prefix.size());
  EXPECT_TRUE(fs::exists(of.root / name)) << i.file << " includes \"" << i.name << "\", which is no such path";
  const std::string target = row_of(rows, name);
  const bool allowed = i.folder.empty() || target == i.folder || rows.at(i.folder).contains(target);
  EXPECT_TRUE(allowed) << i.file << " includes " << i.name << ": layer '" << i.folder << "' may not use '" << target
                       << "'";
}

TEST(layers, every_include_is_allowed_by_its_row) {
  for (const tree& of : trees) {
    const auto rows = read_rows(of);
    const auto includes = all_includes(rows, of);
    EXPECT_GE(includes.size(), of.least_includes);
    for (const included& i : includes)
      if (i.quoted) expect_allowed(of, rows, i);
  }
}

/// Floors of program/ are the first parts of its rows: none is used by a lower one, nor is there a way around.
TEST(layers, floors_of_programs_lie_on_each_other) {
  std::vector<std::string> order;
  std::ifstream file(trees[1].root / "layers.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::string floor = line.substr(0, line.find_first_of(":/"));
    if (order.empty() || order.back() != floor) order.push_back(floor);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"sites", "process", "job", "posix", "omp", "loader"}));
}

TEST(layers, only_public_headers_of_c_are_included_from_outside) {
  for (const included& i : all_includes(read_rows())) {
    const bool facade = !i.quoted && i.name.starts_with("quire/") && !i.name.ends_with(".h");
    EXPECT_FALSE(facade) << i.file << " includes <" << i.name << ">: the C++ facade is for programs";
  }
}

/// What runs while a thread is in a fault: no streams, no locks that may sleep, no containers that allocate unseen.
TEST(layers, fault_context_uses_neither_locks_nor_streams) {
  const std::set<std::string> forbidden = {
      "mutex",   "shared_mutex", "condition_variable", "iostream", "fstream", "sstream",    "cstdio", "stdio.h",
      "ostream", "map",          "unordered_map",      "list",     "deque",   "functional", "regex"};
  const std::vector<std::string> places = {
      "detect/",          "protocol/",         "directory/",        "model/",       "os/futex",
      "os/memory",        "os/userfault",      "os/injection",      "pool/",        "wire/",
      "core/performer",   "core/fault",        "drive/threads",     "drive/driver", "core/inbox",
      "core/outbox",      "core/node_effects", "core/unit_waiters", "core/op",      "core/read_ahead",
      "core/region_slot", "core/protocol_set", "core/unit_layout",  "diff/"};
  int looked_at = 0;
  for (const included& i : all_includes(read_rows())) {
    for (const std::string& place : places) {
      if (!i.file.starts_with(place)) continue;
      ++looked_at;
      EXPECT_FALSE(!i.quoted && forbidden.contains(i.name)) << i.file << " includes <" << i.name << ">";
    }
  }
  EXPECT_GT(looked_at, 100);
}

/// A core runs in the simulator as it does in a process: it has no threads, no clock and no descriptors of its own.
TEST(layers, cores_have_neither_threads_nor_clocks_nor_descriptors) {
  const std::set<std::string> forbidden = {"thread",        "chrono",        "ctime",        "time.h",
                                           "random",        "unistd.h",      "fcntl.h",      "fstream",
                                           "pthread.h",     "poll.h",        "sched.h",      "sys/epoll.h",
                                           "sys/eventfd.h", "sys/timerfd.h", "sys/socket.h", "base/clock.hpp"};
  for (const included& i : all_includes(read_rows()))
    EXPECT_FALSE(i.folder == "core" && forbidden.contains(i.name)) << i.file << " includes " << i.name;
}

/// A core is a list of parts, each with a state of its own: nobody is let in by a back door.
TEST(layers, cores_have_no_friends) {
  int looked_at = 0;
  for (const auto& entry : fs::directory_iterator(source / "core")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line); ++looked_at) {
      EXPECT_FALSE(std::regex_search(line, std::regex(R"(^\s*friend (class|struct) )")))
          << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(looked_at, 5000);
}

/// Machines are without I/O: their layers include no header of the system.
TEST(layers, machines_do_no_input_or_output) {
  for (const included& i : all_includes(read_rows())) {
    const bool machine =
        i.folder == "model" || i.folder == "directory" || i.folder == "sync" || i.folder.starts_with("protocol/");
    if (!machine || i.quoted) continue;
    const bool system = i.name.starts_with("sys/") || i.name.starts_with("linux/") || i.name == "unistd.h" ||
                        i.name == "fcntl.h" || i.name == "pthread.h" || i.name == "thread" || i.name == "chrono" ||
                        i.name == "atomic" || i.name == "ctime" || i.name == "random" || i.name == "fstream" ||
                        i.name == "iostream" || i.name == "cstdio";
    EXPECT_FALSE(system) << i.file << " includes <" << i.name << ">";
  }
}

}  // namespace
