// SPDX-License-Identifier: BSD-3-Clause
// What the tests of mounted directories have in common: files in memory, and a mount over them. Skipped where this
// process may not mount.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "container/lock_queue.hpp"
#include "mount/mount.hpp"
#include "os/mounts.hpp"
#include "os/process.hpp"

namespace quire::mount {

/// Files in this process. `most_bytes` is what one may have; `fails` is the error of all reads and syncs, if it is not
/// 0.
class files_in_memory final : public files {
 public:
  struct content {
    std::string bytes;
    bool read_only = false;
    std::uint64_t identity = ++last_identity;
    static inline std::uint64_t last_identity = 0;
    [[nodiscard]] file_facts facts() const { return {bytes.size(), identity, read_only}; }
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::shared_ptr<content>> named;
  std::map<handle, std::shared_ptr<content>> opened;
  std::uint64_t most_bytes = 1 << 24;
  int fails = 0;
  bool holds_reads = false;
  int held_reads = 0, syncs = 0, reads = 0;
  handle closes = 0;
  handle next = 1;
  std::function<void()> before_opening{};  ///< what another host does just before open() and create()

  void add(const std::string& name, const std::string& bytes, bool read_only = false) {
    const std::lock_guard lock(mutex);
    named[name] = std::make_shared<content>(content{bytes, read_only});
  }
  std::string of(const std::string& name) {
    const std::lock_guard lock(mutex);
    return named.contains(name) ? named[name]->bytes : "(none)";
  }
  int list(std::vector<named_file>& into) override {
    const std::lock_guard lock(mutex);
    for (const auto& [name, c] : named) into.push_back({name, c->facts()});
    return 0;
  }
  int look_up(const std::string& name, file_facts& into) override {
    const std::lock_guard lock(mutex);
    const auto at = named.find(name);
    if (at == named.end()) return ENOENT;
    into = at->second->facts();
    return 0;
  }
  int open(const std::string& name, bool writes, handle& into) override {
    if (before_opening) before_opening();
    const std::lock_guard lock(mutex);
    const auto at = named.find(name);
    if (at == named.end()) return ENOENT;
    if (writes && at->second->read_only) return EACCES;
    opened[into = next++] = at->second;
    return 0;
  }
  int create(const std::string& name, handle& into) override {
    if (before_opening) before_opening();
    const std::lock_guard lock(mutex);
    if (named.contains(name)) return EEXIST;
    opened[into = next++] = named[name] = std::make_shared<content>();
    return 0;
  }
  void close(handle h) override {
    const std::lock_guard lock(mutex);
    ++closes;
    opened.erase(h);
  }
  int facts(handle h, file_facts& into) override {
    const std::lock_guard lock(mutex);
    into = opened.at(h)->facts();
    return 0;
  }
  int read(handle h, std::uint64_t at, void* into, std::size_t size, std::size_t& done) override {
    std::unique_lock lock(mutex);
    ++held_reads;
    ++reads;
    changed.notify_all();
    changed.wait(lock, [this] { return !holds_reads; });
    --held_reads;
    if (fails != 0) return fails;
    const std::string& from = opened.at(h)->bytes;
    done = at >= from.size() ? 0 : std::min(size, from.size() - static_cast<std::size_t>(at));
    if (done != 0) std::memcpy(into, from.data() + at, done);
    return 0;
  }
  int write(handle h, std::uint64_t at, const void* from, std::size_t size, std::size_t& done) override {
    const std::lock_guard lock(mutex);
    std::string& to = opened.at(h)->bytes;
    if (at >= most_bytes) return EFBIG;
    done = std::min<std::size_t>(size, most_bytes - at);
    if (to.size() < at + done) to.resize(at + done);
    std::memcpy(to.data() + at, from, done);
    return 0;
  }
  int append(handle h, const void* from, std::size_t size) override {
    const std::lock_guard lock(mutex);
    opened.at(h)->bytes.append(static_cast<const char*>(from), size);
    return 0;
  }
  int truncate(handle h, std::uint64_t bytes) override {
    const std::lock_guard lock(mutex);
    if (bytes > most_bytes) return EFBIG;
    opened.at(h)->bytes.resize(bytes);
    return 0;
  }
  int sync(handle) override {
    const std::lock_guard lock(mutex);
    ++syncs;
    return fails;
  }
  int remove(const std::string& name) override {
    const std::lock_guard lock(mutex);
    return named.erase(name) == 1 ? 0 : ENOENT;
  }
  int rename(const std::string& from, const std::string& to, bool exclusive) override {
    const std::lock_guard lock(mutex);
    const auto at = named.find(from);
    if (at == named.end()) return ENOENT;
    if (exclusive && named.contains(to)) return EEXIST;
    named[to] = std::exchange(at->second, nullptr);
    if (at->second == nullptr) named.erase(at);
    return 0;
  }
  /// One that another host has: of all bytes of all files.
  std::atomic<file_lock::kind> elsewhere{file_lock::kind::none};
  container::lock_queue locks;
  int lock(handle h, const file_lock& wanted, lock_wait how) override {
    const std::lock_guard guard(mutex);
    if (wanted.is != file_lock::kind::none && elsewhere.load() != file_lock::kind::none) return EAGAIN;
    const auto number = static_cast<std::uint16_t>(opened.at(h)->identity);
    const auto got = locks.set(
        number,
        {{wanted.owner, 0, wanted.of_flock}, static_cast<container::lock_kind>(wanted.is), wanted.first, wanted.last},
        static_cast<container::lock_wait>(how));
    return got == container::lock_queue::outcome::done       ? 0
           : got == container::lock_queue::outcome::deadlock ? EDEADLK
                                                             : EAGAIN;
  }
  int test_lock(handle h, file_lock& wanted) override {
    const std::lock_guard guard(mutex);
    const auto number = static_cast<std::uint16_t>(opened.at(h)->identity);
    const container::lock_owner owner{wanted.owner, 0, wanted.of_flock};
    const auto* const other =
        locks.conflict(number, {owner, static_cast<container::lock_kind>(wanted.is), wanted.first, wanted.last});
    if (other == nullptr) return ENOENT;
    wanted.is = static_cast<file_lock::kind>(other->kind);
    wanted.first = other->first;
    wanted.last = other->last;
    return 0;
  }
  std::size_t waiting() {
    const std::lock_guard guard(mutex);
    return locks.waiting();
  }
  std::size_t locked() {
    const std::lock_guard guard(mutex);
    return locks.count();
  }
  void space(std::uint64_t& bytes, std::uint64_t& free) override { bytes = 1 << 30, free = 1 << 29; }
};

inline bool is_mounted(const std::string& canonical) {
  std::ifstream table("/proc/self/mounts");
  for (std::string line; std::getline(table, line);)
    if (line.find(" " + canonical + " fuse.quire ") != line.npos) return true;
  return false;
}

/// Waits for a condition that another process brings about.
inline bool within_10_s(const std::function<bool()>& holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class Mount : public ::testing::Test {
 protected:
  void SetUp() override { begin(false); }
  void begin(bool caches) {
    std::string name = std::filesystem::temp_directory_path() / "quire-mount-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    at = os::canonical_directory(name);
    if (::access("/dev/fuse", R_OK | W_OK) != 0) GTEST_SKIP() << "/dev/fuse cannot be opened";
    auto got = open(at, caches);
    if (!got.ok() && got.why().code() != QUIRE_BAD_OPTION) GTEST_SKIP() << "this process may not mount";
    ASSERT_TRUE(got.ok());
    here = std::move(got.value());
    here->serve(shown);
  }
  void TearDown() override {
    here.reset();
    EXPECT_FALSE(is_mounted(at));
    EXPECT_EQ(::rmdir(at.c_str()), 0) << std::strerror(errno);
  }
  [[nodiscard]] std::string path(const char* name) const { return at + "/" + name; }
  static std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static int shell(const std::string& words) { return WEXITSTATUS(std::system(words.c_str())); }
  /// Opens, or fails the test.
  static os::descriptor opened(const std::string& path, int flags) {
    os::descriptor d(::open(path.c_str(), flags | O_CLOEXEC, 0644));
    EXPECT_TRUE(d.open()) << path << ": " << std::strerror(errno);
    return d;
  }

  std::string at;
  files_in_memory shown;
  std::unique_ptr<mounted> here;
};

}  // namespace quire::mount
