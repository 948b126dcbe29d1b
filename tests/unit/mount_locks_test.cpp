// SPDX-License-Identifier: BSD-3-Clause
// Locks of fcntl and flock on files of a mounted directory, by processes. Skipped where this process may not mount.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "mount_support.hpp"

namespace quire::mount::mount_locks_test {
namespace {

class MountLocks : public Mount {};

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

TEST_F(MountLocks, RangesBetweenProcesses) {
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

TEST_F(MountLocks, GoWithTheFileThatHasThem) {
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

/// As flock has it: a lock goes before the owner waits for another kind.
TEST_F(MountLocks, TwoWhoShareAFlockBothGetItForThemselves) {
  shown.add("f", "content");
  int begin[2];
  ASSERT_EQ(::pipe2(begin, O_CLOEXEC), 0);
  std::vector<pid_t> both;
  for (int i = 0; i < 2; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const int file = ::open(path("f").c_str(), O_RDWR);
      char byte = 0;
      ::alarm(20);
      if (::flock(file, LOCK_SH) != 0 || ::read(begin[0], &byte, 1) != 1) ::_exit(1);
      ::_exit(::flock(file, LOCK_EX) == 0 ? 0 : 2);
    }
    both.push_back(pid);
  }
  EXPECT_TRUE(within_10_s([&] { return shown.locked() == 2; }));
  ASSERT_EQ(::write(begin[1], "12", 2), 2);
  for (const pid_t pid : both) {
    int status = -1;
    const bool ended = within_10_s([&] { return ::waitpid(pid, &status, WNOHANG) == pid; });
    EXPECT_TRUE(ended) << "they wait for each other";
    EXPECT_EQ(status, 0);
    if (!ended) ::kill(pid, SIGKILL);
    if (!ended) ::waitpid(pid, nullptr, 0);
  }
  ::close(begin[0]);
  ::close(begin[1]);
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

TEST_F(MountLocks, TheOneWhoClosesACircleIsTold) {
  shown.add("f", "content");
  const auto d = opened(path("f"), O_RDWR);
  auto mine = range(F_WRLCK, 0, 10), theirs = range(F_WRLCK, 10, 10);
  ASSERT_EQ(::fcntl(d.number(), F_SETLK, &mine), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int file = ::open(path("f").c_str(), O_RDWR);
    ::alarm(20);
    if (::fcntl(file, F_SETLK, &theirs) != 0) ::_exit(1);
    ::_exit(::fcntl(file, F_SETLKW, &mine) == 0 ? 0 : 2);
  }
  ASSERT_TRUE(within_10_s([&] { return shown.waiting() == 1; }));
  errno = 0;
  EXPECT_EQ(::fcntl(d.number(), F_SETLKW, &theirs), -1);
  EXPECT_EQ(errno, EDEADLK);
  mine.l_type = F_UNLCK;
  ASSERT_EQ(::fcntl(d.number(), F_SETLK, &mine), 0);
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST_F(MountLocks, WhoWaitsGetsItInOrder) {
  shown.add("f", "content");
  const auto d = opened(path("f"), O_RDWR);
  auto all = range(F_WRLCK, 0, 0);
  ASSERT_EQ(::fcntl(d.number(), F_SETLK, &all), 0);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  std::vector<pid_t> waiters;
  for (char name = 'a'; name < 'f'; ++name) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const int file = ::open(path("f").c_str(), O_RDWR);
      ::alarm(20);
      if (::fcntl(file, F_SETLKW, &all) != 0) ::_exit(1);
      ::_exit(::write(ends[1], &name, 1) == 1 ? 0 : 2);
    }
    waiters.push_back(pid);
    ASSERT_TRUE(within_10_s([&] { return shown.waiting() == waiters.size(); }));
  }
  all.l_type = F_UNLCK;
  ASSERT_EQ(::fcntl(d.number(), F_SETLK, &all), 0);
  std::string got(waiters.size(), ' ');
  for (char& name : got) EXPECT_EQ(::read(ends[0], &name, 1), 1);
  EXPECT_EQ(got, "abcde");
  for (const pid_t pid : waiters) ::waitpid(pid, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(MountLocks, MoreWaitForALockThanThereAreThreads) {
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

}  // namespace
}  // namespace quire::mount::mount_locks_test
