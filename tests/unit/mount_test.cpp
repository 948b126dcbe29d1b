// SPDX-License-Identifier: BSD-3-Clause
// A mounted directory over files in memory: what programs see through the kernel, by system calls and by programs of the system; errors; and that nothing
// stays mounted, whoever dies. Skipped where this process may not mount.
#include "mount/mount.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

#include "container/lock_table.hpp"
#include "os/mounts.hpp"
#include "os/process.hpp"

namespace quire::mount {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Files in this process. `most_bytes` is what one may have; `fails` is the error of all reads and syncs, if it is not 0.
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
    const std::lock_guard lock(mutex);
    const auto at = named.find(name);
    if (at == named.end()) return ENOENT;
    if (writes && at->second->read_only) return EACCES;
    opened[into = next++] = at->second;
    return 0;
  }
  int create(const std::string& name, handle& into) override {
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
  container::lock_table locks;
  int lock(handle h, const file_lock& wanted) override {
    const std::lock_guard guard(mutex);
    if (wanted.is != file_lock::kind::none && elsewhere.load() != file_lock::kind::none) return EAGAIN;
    const auto number = static_cast<std::uint16_t>(opened.at(h)->identity);
    const auto got = locks.set(number, {{wanted.owner, 0, wanted.of_flock}, static_cast<container::lock_kind>(wanted.is), wanted.first, wanted.last});
    return got == container::lock_table::outcome::done ? 0 : EAGAIN;
  }
  int test_lock(handle h, file_lock& wanted) override {
    const std::lock_guard guard(mutex);
    const auto number = static_cast<std::uint16_t>(opened.at(h)->identity);
    const container::lock_owner owner{wanted.owner, 0, wanted.of_flock};
    const auto* const other = locks.conflict(number, {owner, static_cast<container::lock_kind>(wanted.is), wanted.first, wanted.last});
    if (other == nullptr) return ENOENT;
    wanted.is = static_cast<file_lock::kind>(other->kind);
    wanted.first = other->first;
    wanted.last = other->last;
    return 0;
  }
  std::size_t locked() {
    const std::lock_guard guard(mutex);
    return locks.count();
  }
  void space(std::uint64_t& bytes, std::uint64_t& free) override { bytes = 1 << 30, free = 1 << 29; }
};

bool is_mounted(const std::string& canonical) {
  std::ifstream table("/proc/self/mounts");
  for (std::string line; std::getline(table, line);)
    if (line.find(" " + canonical + " fuse.quire ") != line.npos) return true;
  return false;
}

/// Waits for a condition that another process brings about.
bool within_10_s(const std::function<bool()>& holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
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

TEST_F(Mount, ListsFilesWithTheirSizesAndModes) {
  shown.add("b", "12345");
  shown.add("a", std::string(5000, 'x'), true);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(at)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_THAT(names, ElementsAre("a", "b"));
  struct stat s {};
  ASSERT_EQ(::stat(path("a").c_str(), &s), 0);
  EXPECT_EQ(s.st_size, 5000);
  EXPECT_EQ(s.st_mode & 07777, 0444u);
  ASSERT_EQ(::stat(path("b").c_str(), &s), 0);
  EXPECT_EQ(s.st_size, 5);
  EXPECT_EQ(s.st_mode & 07777, 0644u);
  EXPECT_NE(::stat(path("c").c_str(), &s), 0);
  EXPECT_EQ(errno, ENOENT);
  struct statvfs space {};
  ASSERT_EQ(::statvfs(at.c_str(), &space), 0);
  EXPECT_EQ(space.f_blocks * space.f_frsize, 1u << 30);
  EXPECT_EQ(space.f_bavail * space.f_frsize, 1u << 29);
}

TEST_F(Mount, ListsMoreThanFitsIntoOneAnswer) {
  for (int i = 0; i < 3000; ++i) shown.add("a-file-with-a-longer-name-" + std::to_string(i), "");
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(at)) found += entry.path().filename().string().starts_with("a-file");
  EXPECT_EQ(found, 3000u);
}

TEST_F(Mount, ShowsAtOnceWhatChangesElsewhere) {
  shown.add("f", "first");
  const auto d = opened(path("f"), O_RDONLY);
  char text[16] = {};
  ASSERT_EQ(::pread(d.number(), text, 5, 0), 5);
  EXPECT_STREQ(text, "first");
  shown.named["f"]->bytes = "second, longer";
  ASSERT_EQ(::pread(d.number(), text, 15, 0), 14);
  EXPECT_STREQ(text, "second, longer");
  struct stat s {};
  ASSERT_EQ(::fstat(d.number(), &s), 0);
  EXPECT_EQ(s.st_size, 14);
  shown.named.erase("f");
  EXPECT_NE(::access(path("f").c_str(), F_OK), 0);
}

TEST_F(Mount, TakesWhatProgramsWrite) {
  ASSERT_EQ(shell("echo one > " + path("f")), 0);
  EXPECT_EQ(shown.of("f"), "one\n");
  ASSERT_EQ(shell("echo two >> " + path("f")), 0);
  EXPECT_EQ(shown.of("f"), "one\ntwo\n");
  ASSERT_EQ(shell("echo three > " + path("f")), 0) << "truncated";
  EXPECT_EQ(shown.of("f"), "three\n");
  ASSERT_EQ(shell("printf XY | dd of=" + path("f") + " bs=1 seek=2 conv=notrunc status=none"), 0);
  EXPECT_EQ(shown.of("f"), "thXYe\n");
  ASSERT_EQ(shell("head -c 3000000 /dev/urandom > " + path("g") + " && cp " + path("g") + " " + path("h") + " && cmp " + path("g") + " " + path("h")), 0);
  EXPECT_EQ(shown.of("g").size(), 3'000'000u);
  EXPECT_TRUE(shown.of("g") == shown.of("h"));
  ASSERT_EQ(shell("truncate -s 7 " + path("g")), 0);
  EXPECT_EQ(shown.of("g").size(), 7u);
  ASSERT_EQ(shell("mv " + path("g") + " " + path("moved") + " && rm " + path("h")), 0);
  EXPECT_EQ(shown.named.size(), 2u);
  EXPECT_EQ(shown.of("moved").size(), 7u);
}

TEST_F(Mount, AppendsAtTheEndThatOthersHaveMoved) {
  shown.add("log", "a");
  const auto d = opened(path("log"), O_WRONLY | O_APPEND);
  ASSERT_EQ(::write(d.number(), "b", 1), 1);
  shown.named["log"]->bytes += "from elsewhere";
  ASSERT_EQ(::write(d.number(), "c", 1), 1);
  EXPECT_EQ(shown.of("log"), "abfrom elsewherec");
}

TEST_F(Mount, MapsWhatIsForReadingOnlyAndRefusesToWriteIt) {
  std::string bytes(3 * 4096 + 100, 0);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  shown.add("constant", bytes, true);
  const auto d = opened(path("constant"), O_RDONLY);
  void* const mapped = ::mmap(nullptr, bytes.size(), PROT_READ, MAP_SHARED, d.number(), 0);
  ASSERT_NE(mapped, MAP_FAILED) << std::strerror(errno);
  EXPECT_EQ(std::memcmp(mapped, bytes.data(), bytes.size()), 0);
  ::munmap(mapped, bytes.size());
  EXPECT_LT(::open(path("constant").c_str(), O_RDWR | O_CLOEXEC), 0);
  EXPECT_EQ(errno, EACCES);
  // Another file by that name: what the kernel has kept is not shown.
  std::string other = bytes;
  other[0] = 'o';
  shown.add("constant", other, true);
  EXPECT_TRUE(content_of(path("constant")) == other);
}

TEST_F(Mount, KeepsAnOpenFileWhoseNameGoes) {
  shown.add("f", "old");
  const auto d = opened(path("f"), O_RDWR);
  ASSERT_EQ(::unlink(path("f").c_str()), 0);
  EXPECT_EQ(shown.of("f"), "(none)");
  ASSERT_EQ(shell("echo new > " + path("f")), 0);
  char text[8] = {};
  ASSERT_EQ(::pread(d.number(), text, 3, 0), 3);
  EXPECT_STREQ(text, "old");
  struct stat s {};
  ASSERT_EQ(::fstat(d.number(), &s), 0);
  EXPECT_EQ(s.st_size, 3);
  EXPECT_EQ(shown.of("f"), "new\n");
  EXPECT_NE(::unlink(path("g").c_str()), 0);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(Mount, RenamesWhileFilesAreOpen) {
  shown.add("f", "one");
  shown.add("g", "two, longer");
  const auto f = opened(path("f"), O_RDWR), g = opened(path("g"), O_RDONLY);
  struct stat before {}, after {};
  ASSERT_EQ(::fstat(f.number(), &before), 0);
  ASSERT_EQ(::rename(path("f").c_str(), path("g").c_str()), 0);
  EXPECT_EQ(shown.of("f"), "(none)");
  EXPECT_EQ(shown.of("g"), "one");
  EXPECT_NE(::access(path("f").c_str(), F_OK), 0);
  ASSERT_EQ(::stat(path("g").c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
  ASSERT_EQ(::fstat(g.number(), &after), 0);
  EXPECT_EQ(after.st_size, 11) << "who has the old one open keeps it";
  char text[16] = {};
  ASSERT_EQ(::pread(g.number(), text, 11, 0), 11);
  EXPECT_STREQ(text, "two, longer");
  ASSERT_EQ(::pwrite(f.number(), "ONE", 3, 0), 3);
  EXPECT_EQ(shown.of("g"), "ONE");
  ASSERT_EQ(::rename(path("g").c_str(), path("g").c_str()), 0);
  EXPECT_EQ(shown.of("g"), "ONE");
}

TEST_F(Mount, RefusesOtherRenames) {
  shown.add("f", "one");
  shown.add("g", "two");
  const auto how = [&](const char* from, const char* to, unsigned flags) {
    return ::renameat2(AT_FDCWD, path(from).c_str(), AT_FDCWD, path(to).c_str(), flags) == 0 ? 0 : errno;
  };
  EXPECT_EQ(how("f", "g", RENAME_NOREPLACE), EEXIST);
  EXPECT_EQ(how("f", "g", RENAME_EXCHANGE), EINVAL);
  EXPECT_EQ(how("none", "g", 0), ENOENT);
  EXPECT_EQ(how("f", std::string(64, 'n').c_str(), 0), ENAMETOOLONG);
  EXPECT_EQ(shown.of("f"), "one");
  EXPECT_EQ(shown.of("g"), "two");
  EXPECT_EQ(how("f", "h", RENAME_NOREPLACE), 0);
  EXPECT_EQ(shown.of("h"), "one");
}

/// What another node does between two looks of the kernel.
TEST_F(Mount, KnowsAFileByWhatItIsNotByItsName) {
  shown.add("f", "one");
  const auto f = opened(path("f"), O_RDONLY);
  struct stat before {}, after {};
  ASSERT_EQ(::fstat(f.number(), &before), 0);
  shown.add("f", "another one");
  ASSERT_EQ(::fstat(f.number(), &after), 0);
  EXPECT_EQ(after.st_size, 3);
  ASSERT_EQ(::stat(path("f").c_str(), &after), 0);
  EXPECT_EQ(after.st_size, 11);
  EXPECT_NE(after.st_ino, before.st_ino);
  EXPECT_EQ(content_of(path("f")), "another one");
  ASSERT_EQ(shown.rename("f", "elsewhere", false), 0);
  ASSERT_EQ(::stat(path("elsewhere").c_str(), &before), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
}

TEST_F(Mount, MakesAndRemovesAJournalAgainAndAgain) {
  for (int i = 0; i < 50; ++i) {
    auto d = opened(path("f"), O_RDWR | O_CREAT | O_EXCL);
    ASSERT_EQ(::write(d.number(), "new", 3), 3);
    d.reset();
    ASSERT_EQ(::unlink(path("f").c_str()), 0);
    EXPECT_NE(::unlink(path("f").c_str()), 0);
    EXPECT_EQ(errno, ENOENT);
  }
  EXPECT_TRUE(std::filesystem::is_empty(at));
}

TEST_F(Mount, TellsErrorsByTheirNumbers) {
  shown.add("f", "content");
  shown.most_bytes = 1000;
  const auto d = opened(path("f"), O_RDWR);
  char byte = 'x';
  EXPECT_LT(::pwrite(d.number(), &byte, 1, 1000), 0);
  EXPECT_EQ(errno, EFBIG);
  EXPECT_LT(::ftruncate(d.number(), 1001), 0);
  EXPECT_EQ(errno, EFBIG);
  ASSERT_EQ(::pwrite(d.number(), &byte, 1, 0), 1);
  shown.fails = EIO;
  EXPECT_LT(::pread(d.number(), &byte, 1, 0), 0);
  EXPECT_EQ(errno, EIO);
  EXPECT_LT(::fsync(d.number()), 0);
  EXPECT_EQ(errno, EIO);
  EXPECT_NE(shell("printf x | dd of=" + path("f") + " conv=notrunc status=none 2> /dev/null"), 0) << "who wrote hears of it at close()";
  shown.fails = 0;
  EXPECT_EQ(::fsync(d.number()), 0);
  EXPECT_NE(::mkdir(path("d").c_str(), 0755), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(::open(path(std::string(64, 'n').c_str()).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644), 0);
  EXPECT_EQ(errno, ENAMETOOLONG);
  EXPECT_NE(::chmod(path("f").c_str(), 0600), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::chmod(path("f").c_str(), 0644), 0) << "as it is";
}

TEST_F(Mount, SyncsAtCloseWhatWasWrittenOnly) {
  shown.add("f", "content");
  ASSERT_EQ(shell("cat " + path("f") + " > /dev/null && true < " + path("f") + " && true >> " + path("f")), 0);
  EXPECT_EQ(shown.syncs, 0);
  ASSERT_EQ(shell("printf C | dd of=" + path("f") + " conv=notrunc status=none"), 0);
  EXPECT_EQ(shown.syncs, 1);
  ASSERT_EQ(shell("printf C | dd of=" + path("f") + " conv=notrunc,fsync status=none"), 0);
  EXPECT_EQ(shown.syncs, 2) << "nothing was written since the fsync";
  EXPECT_TRUE(within_10_s([&] {
    const std::lock_guard lock(shown.mutex);
    return shown.opened.empty() && shown.closes == shown.next - 1;
  }));
}

TEST_F(Mount, ServesOthersWhileARequestWaits) {
  shown.add("slow", "content");
  shown.holds_reads = true;
  std::thread reader([&] { EXPECT_EQ(content_of(path("slow")), "content"); });
  {
    std::unique_lock lock(shown.mutex);
    shown.changed.wait(lock, [this] { return shown.held_reads != 0; });
  }
  ASSERT_EQ(shell("echo word > " + path("f")), 0);
  EXPECT_EQ(shown.of("f"), "word\n");
  {
    const std::lock_guard lock(shown.mutex);
    shown.holds_reads = false;
  }
  shown.changed.notify_all();
  reader.join();
}

struct flock range(short type, off_t first, off_t bytes) {
  struct flock l {};
  l.l_type = type;
  l.l_whence = SEEK_SET;
  l.l_start = first;
  l.l_len = bytes;
  return l;
}

/// Another process; gives what `f` gives.
template <class F>
int in_a_child(F&& f) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(f());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Mount, LocksRangesBetweenProcesses) {
  shown.add("f", "content");
  const auto d = opened(path("f"), O_RDWR), other = opened(path("f"), O_RDONLY);
  auto mine = range(F_WRLCK, 10, 20), rest = range(F_RDLCK, 100, 0);
  ASSERT_EQ(::fcntl(d.number(), F_SETLK, &mine), 0);
  ASSERT_EQ(::fcntl(d.number(), F_SETLK, &rest), 0);
  EXPECT_EQ(in_a_child([&] {
              auto l = range(F_RDLCK, 29, 1);
              const int file = ::open(path("f").c_str(), O_RDWR);
              if (::fcntl(file, F_SETLK, &l) == 0 || (errno != EAGAIN && errno != EACCES)) return 1;
              l = range(F_WRLCK, 0, 0);
              if (::fcntl(file, F_GETLK, &l) != 0 || l.l_type != F_WRLCK || l.l_start != 10 || l.l_len != 20) return 2;
              l = range(F_WRLCK, 5000, 10);
              if (::fcntl(file, F_GETLK, &l) != 0 || l.l_type != F_RDLCK || l.l_start != 100 || l.l_len != 0) return 3;
              l = range(F_RDLCK, 100, 50);
              if (::fcntl(file, F_SETLK, &l) != 0) return 4;
              l = range(F_WRLCK, 30, 70);
              if (::fcntl(file, F_GETLK, &l) != 0 || l.l_type != F_UNLCK) return 5;
              return ::fcntl(file, F_SETLK, &l) == 0 ? 0 : 6;
            }),
            0);
  EXPECT_TRUE(within_10_s([&] { return shown.locked() == 2; })) << "the child's went with it";
  auto part = range(F_UNLCK, 15, 5);
  ASSERT_EQ(::fcntl(d.number(), F_SETLK, &part), 0);
  EXPECT_EQ(shown.locked(), 3u);
}

TEST_F(Mount, LocksGoWithTheFileThatHasThem) {
  shown.add("f", "content");
  EXPECT_EQ(in_a_child([&] {  // a close of any descriptor ends the process's locks; those of flock end with their own
              const int one = ::open(path("f").c_str(), O_RDWR), two = ::open(path("f").c_str(), O_RDONLY);
              auto l = range(F_WRLCK, 0, 0);
              if (::fcntl(one, F_SETLK, &l) != 0 || ::flock(one, LOCK_EX) != 0) return 1;
              ::close(two);
              return in_a_child([&] {
                const int file = ::open(path("f").c_str(), O_RDWR);
                return ::fcntl(file, F_SETLK, &l) != 0 ? 2 : ::flock(file, LOCK_SH | LOCK_NB) == 0 ? 3 : 0;
              });
            }),
            0);
  EXPECT_TRUE(within_10_s([&] { return shown.locked() == 0; }));
  auto d = opened(path("f"), O_RDWR);
  ASSERT_EQ(::flock(d.number(), LOCK_SH), 0);
  EXPECT_EQ(shown.locked(), 1u);
  EXPECT_EQ(in_a_child([&] {
              const int file = ::open(path("f").c_str(), O_RDWR);
              if (::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return 1;
              return ::flock(file, LOCK_SH | LOCK_NB) == 0 ? 0 : 2;
            }),
            0);
  EXPECT_TRUE(within_10_s([&] { return shown.locked() == 1; }));
  d.reset();
  EXPECT_TRUE(within_10_s([&] { return shown.locked() == 0; })) << "this process closes without a flush";
}

/// A child that waits for a lock, and then prints what it got: 'l', or 'i' when it was interrupted.
struct waiting {
  pid_t pid = -1;
  os::descriptor result{};
};
waiting start_waiting(const std::string& path) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t pid = ::fork();
  if (pid == 0) {
    struct sigaction act {};
    act.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &act, nullptr);
    const int file = ::open(path.c_str(), O_RDWR);
    auto l = range(F_WRLCK, 0, 0);
    const char word = ::fcntl(file, F_SETLKW, &l) == 0 ? 'l' : errno == EINTR ? 'i' : 'x';
    [[maybe_unused]] const auto told = ::write(ends[1], &word, 1);
    ::_exit(0);
  }
  ::close(ends[1]);
  return {pid, os::descriptor(ends[0])};
}
char result_of(const waiting& w) {
  char word = 0;
  (void)!::read(w.result.number(), &word, 1);
  ::waitpid(w.pid, nullptr, 0);
  return word;
}
bool waits_for_us(pid_t pid) {
  std::ifstream place("/proc/" + std::to_string(pid) + "/wchan");
  std::string word;
  place >> word;
  return word == "request_wait_answer";
}

TEST_F(Mount, MoreWaitForALockThanThereAreThreads) {
  shown.add("f", "content");
  shown.elsewhere = file_lock::kind::exclusive;
  std::vector<waiting> all;
  for (int i = 0; i < 40; ++i) all.push_back(start_waiting(path("f")));
  for (const auto& w : all) EXPECT_TRUE(within_10_s([&] { return waits_for_us(w.pid); }));
  EXPECT_EQ(content_of(path("f")), "content") << "others are served";
  ::kill(all[7].pid, SIGUSR1);
  EXPECT_EQ(result_of(all[7]), 'i');
  ::kill(all[8].pid, SIGKILL);
  EXPECT_EQ(result_of(all[8]), 0) << "it could not say anything";
  shown.elsewhere = file_lock::kind::none;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 7 || i == 8) continue;
    EXPECT_EQ(result_of(all[i]), 'l') << i;
  }
  EXPECT_TRUE(within_10_s([&] { return shown.locked() == 0; }));
  shown.elsewhere = file_lock::kind::exclusive;
  const auto last = start_waiting(path("f"));
  EXPECT_TRUE(within_10_s([&] { return waits_for_us(last.pid); }));
  here->close();
  EXPECT_NE(result_of(last), 'l') << "nothing is mounted any more";
}

TEST_F(Mount, GoesThoughProgramsHaveFilesOpen) {
  shown.add("f", "content");
  const auto d = opened(path("f"), O_RDONLY);
  here->close();
  EXPECT_FALSE(is_mounted(at));
  char byte = 0;
  EXPECT_LT(::pread(d.number(), &byte, 1, 0), 0);
  EXPECT_THAT(errno, ::testing::AnyOf(ENOTCONN, ECONNABORTED));
  EXPECT_TRUE(shown.opened.empty());
}

class CachingMount : public Mount {
 protected:
  void SetUp() override { begin(true); }
  void set(const char* name, const std::string& bytes) {  // as another node
    const std::lock_guard lock(shown.mutex);
    shown.named[name]->bytes = bytes;
  }
};

TEST_F(CachingMount, ReadsFromTheKernelsCache) {
  shown.add("f", std::string(100'000, 'a'));
  const auto d = opened(path("f"), O_RDONLY);
  char text[4096] = {};
  ASSERT_EQ(::pread(d.number(), text, sizeof text, 0), 4096);
  const auto* const mapped = static_cast<const volatile char*>(::mmap(nullptr, 100'000, PROT_READ, MAP_SHARED, d.number(), 0));
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(mapped[50'000], 'a');
  set("f", std::string(100'000, 'b'));
  EXPECT_TRUE(within_10_s([&] { return mapped[50'000] == 'b'; }));
  EXPECT_TRUE(within_10_s([&] { return ::pread(d.number(), text, sizeof text, 0) == 4096 && text[0] == 'b'; }));
  const auto first = shown.reads;
  EXPECT_LT(first, 40) << "the kernel asks again when it has to only";
  // Who opens the file sees it as it is, at once; so does who may write it.
  set("f", std::string(100'000, 'c'));
  EXPECT_TRUE(content_of(path("f")) == std::string(100'000, 'c'));
  const auto writes = opened(path("f"), O_RDWR);
  set("f", std::string(100'000, 'd'));
  ASSERT_EQ(::pread(writes.number(), text, sizeof text, 4096), 4096);
  EXPECT_EQ(text[4095], 'd');
  // What a program writes here others of this host see at once.
  ASSERT_EQ(::pread(d.number(), text, sizeof text, 0), 4096);
  ASSERT_EQ(::pwrite(writes.number(), "here", 4, 0), 4);
  ASSERT_EQ(::pread(d.number(), text, 4, 0), 4);
  EXPECT_EQ(std::string(text, 4), "here");
  set("f", "short");
  EXPECT_TRUE(within_10_s([&] { return ::pread(d.number(), text, 8, 0) == 5; }));
  ::munmap(const_cast<char*>(mapped), 100'000);
}

TEST_F(CachingMount, EndsWhileAReadIsHeld) {
  shown.add("f", std::string(100'000, 'a'));
  const auto d = opened(path("f"), O_RDONLY);
  shown.holds_reads = true;
  std::thread reader([&] {
    char byte = 0;
    (void)!::pread(d.number(), &byte, 1, 0);
  });
  {
    std::unique_lock lock(shown.mutex);
    shown.changed.wait(lock, [this] { return shown.held_reads != 0; });
  }
  std::this_thread::sleep_for(1500ms);  // the cache is being emptied, which waits for the read
  std::thread ends([&] { here->close(); });
  std::this_thread::sleep_for(100ms);
  {
    const std::lock_guard lock(shown.mutex);
    shown.holds_reads = false;
  }
  shown.changed.notify_all();
  ends.join();
  reader.join();
  EXPECT_FALSE(is_mounted(at));
}

TEST_F(Mount, RefusesADirectoryThatIsInUse) {
  EXPECT_THAT(os::why_no_mount_at(at), HasSubstr("another job is mounted"));
  EXPECT_THAT(os::why_no_mount_at(at + "/../" + std::filesystem::path(at).filename().string() + "/"), HasSubstr("another job is mounted"));
}

TEST(MountPoint, IsAnEmptyDirectory) {
  std::string folder = std::filesystem::temp_directory_path() / "quire-mount-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  EXPECT_THAT(os::why_no_mount_at(folder + "/none"), HasSubstr("make it: mkdir -p"));
  std::ofstream(folder + "/file") << "x";
  EXPECT_THAT(os::why_no_mount_at(folder), HasSubstr("is not empty"));
  EXPECT_THAT(os::why_no_mount_at(folder + "/file"), HasSubstr("Not a directory"));
  EXPECT_EQ(os::canonical_directory(folder + "/none/there"), "");
  std::filesystem::create_directory_symlink(folder, folder + "/link");
  EXPECT_EQ(os::canonical_directory(folder + "/link/"), os::canonical_directory(folder));
  EXPECT_EQ(os::canonical_directory("/"), "/");
  EXPECT_NE(os::place_of(folder), os::place_of("/tmp"));
  EXPECT_EQ(os::place_of(folder + "/link"), os::place_of(folder));
  std::filesystem::remove_all(folder);
}

/// A process that mounts, and then dies, or waits. Gives its pid when it has mounted; -1 where it may not.
pid_t start_mounter(const std::string& at) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  const pid_t pid = ::fork();
  if (pid == 0) {
    static files_in_memory shown;
    shown.add("f", "content");
    auto got = open(at, false);
    const char word = got.ok() ? 'm' : 'x';
    if (got.ok()) got.value()->serve(shown);
    [[maybe_unused]] const auto told = ::write(ends[1], &word, 1);
    ::pause();
    ::_exit(0);
  }
  char word = 0;
  ::close(ends[1]);
  [[maybe_unused]] const auto bytes = ::read(ends[0], &word, 1);
  ::close(ends[0]);
  if (word == 'm') return pid;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return -1;
}

TEST(DeadMount, GoesWhenItsProcessIsKilledThoughAFileIsOpen) {
  std::string at = std::filesystem::temp_directory_path() / "quire-mount-XXXXXX";
  ASSERT_NE(::mkdtemp(at.data()), nullptr);
  at = os::canonical_directory(at);
  const pid_t pid = start_mounter(at);
  if (pid < 0) GTEST_SKIP() << "this process may not mount";
  const os::descriptor file(::open((at + "/f").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(file.open());
  EXPECT_TRUE(is_mounted(at));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(within_10_s([&] { return !is_mounted(at); }));
  EXPECT_EQ(os::why_no_mount_at(at), "");
  EXPECT_EQ(::rmdir(at.c_str()), 0);
}

/// With what it mounts open itself, and written: the kernel closes that first, and must not wait for an answer.
TEST(DeadMount, GoesWhenItsProcessEndsWithAFileOpen) {
  std::string at = std::filesystem::temp_directory_path() / "quire-mount-XXXXXX";
  ASSERT_NE(::mkdtemp(at.data()), nullptr);
  at = os::canonical_directory(at);
  const pid_t pid = ::fork();
  if (pid == 0) {
    static files_in_memory shown;
    shown.add("f", "content");
    auto got = open(at, false);
    if (!got.ok()) ::_exit(77);
    got.value()->serve(shown);
    const int d = ::open((at + "/f").c_str(), O_RDWR);
    ::_exit(d >= 0 && ::write(d, "x", 1) == 1 ? 0 : 1);
  }
  int status = 0;
  const bool ended = within_10_s([&] { return ::waitpid(pid, &status, WNOHANG) == pid; });
  if (!ended) (void)::umount2(at.c_str(), MNT_FORCE | MNT_DETACH);
  ASSERT_TRUE(ended) << "it waits for itself";
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this process may not mount";
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(within_10_s([&] { return !is_mounted(at); }));
  EXPECT_EQ(::rmdir(at.c_str()), 0);
}

TEST(DeadMount, IsTakenAwayByWhoLooksForOne) {
  std::string at = std::filesystem::temp_directory_path() / "quire-mount-XXXXXX";
  ASSERT_NE(::mkdtemp(at.data()), nullptr);
  at = os::canonical_directory(at);
  EXPECT_TRUE(os::detach_if_dead(at)) << "nothing is there";
  const pid_t pid = start_mounter(at);
  if (pid < 0) GTEST_SKIP() << "this process may not mount";
  EXPECT_TRUE(os::detach_if_dead(at)) << "alive";
  EXPECT_TRUE(is_mounted(at));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(within_10_s([&] { return os::detach_if_dead(at) && !is_mounted(at); }));
  EXPECT_EQ(::rmdir(at.c_str()), 0);
}

}  // namespace
}  // namespace quire::mount
