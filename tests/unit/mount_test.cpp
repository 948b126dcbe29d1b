// SPDX-License-Identifier: BSD-3-Clause
// A mounted directory over files in memory: what programs see through the kernel, by system calls and by programs of
// the system; errors; and that nothing stays mounted, whoever dies. Skipped where this process may not mount.
#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mount_support.hpp"

namespace quire::mount::mount_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  for (const auto& entry : std::filesystem::directory_iterator(at))
    found += entry.path().filename().string().starts_with("a-file");
  EXPECT_EQ(found, 3000u);
}

TEST_F(Mount, ListsAnewWhatIsRewound) {
  shown.add("a", "");
  DIR* const directory = ::opendir(at.c_str());
  ASSERT_NE(directory, nullptr);
  const auto count = [&] {
    int found = 0;
    while (::readdir(directory) != nullptr) ++found;
    return found;
  };
  EXPECT_EQ(count(), 3);
  shown.add("b", "");
  ::rewinddir(directory);
  EXPECT_EQ(count(), 4);
  ::closedir(directory);
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

TEST_F(Mount, ShowsWhenAFileGrewElsewhere) {
  shown.add("f", "first");
  ASSERT_EQ(shell("touch -d 2001-01-01 " + path("f")), 0);
  const auto time_of = [&] {
    struct stat s {};
    EXPECT_EQ(::stat(path("f").c_str(), &s), 0);
    return s.st_mtim;
  };
  EXPECT_LT(time_of().tv_sec, 1'000'000'000);
  {
    const std::lock_guard lock(shown.mutex);
    shown.named["f"]->bytes += "more";
  }
  EXPECT_GT(time_of().tv_sec, 1'500'000'000);
  // What was written here is not news: the order of changes stays what it was.
  ASSERT_EQ(shell("echo x >> " + path("f")), 0);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::this_thread::sleep_for(10ms);
  const auto at_append = time_of();
  EXPECT_TRUE(at_append.tv_sec < now.tv_sec || (at_append.tv_sec == now.tv_sec && at_append.tv_nsec <= now.tv_nsec));
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
  ASSERT_EQ(shell("head -c 3000000 /dev/urandom > " + path("g") + " && cp " + path("g") + " " + path("h") + " && cmp " +
                  path("g") + " " + path("h")),
            0);
  EXPECT_EQ(shown.of("g").size(), 3'000'000u);
  EXPECT_TRUE(shown.of("g") == shown.of("h"));
  ASSERT_EQ(shell("truncate -s 7 " + path("g")), 0);
  EXPECT_EQ(shown.of("g").size(), 7u);
  ASSERT_EQ(shell("mv " + path("g") + " " + path("moved") + " && rm " + path("h")), 0);
  EXPECT_EQ(shown.named.size(), 2u);
  EXPECT_EQ(shown.of("moved").size(), 7u);
}

TEST_F(Mount, CutsAFileThatIsOpenedForReading) {
  shown.add("f", "content");
  shown.add("constant", "content", true);
  const auto d = opened(path("f"), O_RDONLY | O_TRUNC);
  EXPECT_EQ(shown.of("f"), "");
  EXPECT_LT(::open(path("constant").c_str(), O_RDONLY | O_TRUNC | O_CLOEXEC), 0);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(shown.of("constant"), "content");
}

TEST_F(Mount, MakesAFileThatOthersMakeAndRemoveMeanwhile) {
  int times = 0;
  shown.before_opening = [&] {
    if (++times > 4) return;
    const std::lock_guard lock(shown.mutex);
    if (shown.named.erase("f") == 0) shown.named["f"] = std::make_shared<files_in_memory::content>();
  };
  const auto d = opened(path("f"), O_WRONLY | O_CREAT);
  EXPECT_EQ(::write(d.number(), "x", 1), 1);
  EXPECT_EQ(shown.of("f"), "x");
  EXPECT_GT(times, 4);
  shown.before_opening = [&] {
    const std::lock_guard lock(shown.mutex);
    shown.named["constant"] = std::make_shared<files_in_memory::content>(files_in_memory::content{"content", true});
  };
  EXPECT_TRUE(opened(path("constant"), O_RDONLY | O_CREAT).open()) << "made by another host in between";
  shown.before_opening = nullptr;
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
  EXPECT_NE(shell("printf x | dd of=" + path("f") + " conv=notrunc status=none 2> /dev/null"), 0)
      << "who wrote hears of it at close()";
  shown.fails = 0;
  EXPECT_EQ(::fsync(d.number()), 0);
  EXPECT_NE(::mkdir(path("d").c_str(), 0755), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(::open(path(std::string(64, 'n').c_str()).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644), 0);
  EXPECT_EQ(errno, ENAMETOOLONG);
}

TEST_F(Mount, KeepsModesAndHasNoOwners) {
  shown.add("f", "content");
  shown.add("constant", "content", true);
  const auto mode_of = [&](const char* name) {
    struct stat s {};
    EXPECT_EQ(::stat(path(name).c_str(), &s), 0) << name;
    return s.st_mode & 07777;
  };
  const auto change = [&](const char* name, mode_t mode) { return ::chmod(path(name).c_str(), mode) == 0 ? 0 : errno; };
  EXPECT_EQ(change("f", 0750), 0);
  EXPECT_EQ(mode_of("f"), 0750u);
  ASSERT_EQ(::rename(path("f").c_str(), path("g").c_str()), 0);
  EXPECT_EQ(mode_of("g"), 0750u);
  EXPECT_EQ(change("g", 04755), EPERM);
  EXPECT_EQ(mode_of("g"), 0750u);
  EXPECT_EQ(change("constant", 0644), EPERM) << "nobody may write it";
  EXPECT_EQ(change("constant", 0500), 0);
  EXPECT_EQ(mode_of("constant"), 0500u);
  EXPECT_EQ(mode_of(""), 0755u);
  EXPECT_EQ(change("", 0700), 0);
  EXPECT_EQ(mode_of(""), 0700u);
  ::umask(022);
  const os::descriptor made(::open(path("made").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0660));
  EXPECT_EQ(mode_of("made"), 0640u);
  EXPECT_EQ(::fchmod(made.number(), 0600), 0);
  EXPECT_EQ(mode_of("made"), 0600u);
  EXPECT_EQ(::chown(path("g").c_str(), ::geteuid(), ::getegid()), 0) << "as it is";
  EXPECT_NE(::chown(path("g").c_str(), ::geteuid() + 1, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(::chown(path("g").c_str(), static_cast<uid_t>(-1), ::getegid() + 1), 0);
  EXPECT_EQ(errno, EPERM);
}

TEST_F(Mount, TheDirectoryChangesWithItsNames) {
  shown.add("f", "content");
  const auto changes = [&](const std::string& words) {
    EXPECT_EQ(shell("touch -d 2001-01-01 " + at), 0);
    EXPECT_EQ(shell(words), 0) << words;
    struct stat s {};
    EXPECT_EQ(::stat(at.c_str(), &s), 0);
    return s.st_mtim.tv_sec > 1'500'000'000;
  };
  EXPECT_FALSE(changes("echo more >> " + path("f")));
  EXPECT_TRUE(changes("true > " + path("made")));
  EXPECT_TRUE(changes("mv " + path("made") + " " + path("moved")));
  EXPECT_TRUE(changes("rm " + path("moved")));
  EXPECT_FALSE(changes("! rmdir " + path("f") + " 2> /dev/null"));
}

TEST_F(Mount, SyncsAtCloseWhatWasWrittenOnly) {
  shown.add("f", "content");
  ASSERT_EQ(shell("cat " + path("f") + " > /dev/null && true < " + path("f") + " && true >> " + path("f")), 0);
  EXPECT_EQ(shown.syncs, 0);
  ASSERT_EQ(shell("printf C | dd of=" + path("f") + " conv=notrunc status=none"), 0);
  EXPECT_EQ(shown.syncs, 1);
  ASSERT_EQ(shell("printf C | dd of=" + path("f") + " conv=notrunc,fsync status=none"), 0);
  EXPECT_EQ(shown.syncs, 2) << "nothing was written since the fsync";
  ASSERT_EQ(shell(": > " + path("f")), 0);
  EXPECT_EQ(shown.syncs, 3) << "it has lost its content";
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
  const auto* const mapped =
      static_cast<const volatile char*>(::mmap(nullptr, 100'000, PROT_READ, MAP_SHARED, d.number(), 0));
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
  EXPECT_THAT(os::why_no_mount_at(at + "/../" + std::filesystem::path(at).filename().string() + "/"),
              HasSubstr("another job is mounted"));
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
}  // namespace quire::mount::mount_test
