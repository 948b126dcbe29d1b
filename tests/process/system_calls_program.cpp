// SPDX-License-Identifier: BSD-3-Clause
// System calls whose buffers lie on pages that are elsewhere. Node 0 is home of all pages and takes them back before
// each case; node 1 makes the calls. Nothing may be lost.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096, pages = 64, bytes_of_all = page * pages;

char* g_memory = nullptr;

#define REQUIRE_CALL(call, wanted)                                                                       \
  do {                                                                                                   \
    const auto value = static_cast<long>(call);                                                          \
    if (value != static_cast<long>(wanted))                                                              \
      fail(__FILE__, __LINE__, "%s gave %ld (errno %d: %s)", #call, value, errno, std::strerror(errno)); \
  } while (false)

char pattern(std::size_t i, int salt) { return static_cast<char>(mix(i + static_cast<std::size_t>(salt) * 7777)); }
void fill(char* at, std::size_t bytes, int salt) {
  for (std::size_t i = 0; i < bytes; ++i) at[i] = pattern(i, salt);
}
void check(const char* at, std::size_t bytes, int salt, const char* what) {
  for (std::size_t i = 0; i < bytes; ++i)
    if (at[i] != pattern(i, salt)) fail(__FILE__, __LINE__, "%s: byte %zu of %zu is wrong", what, i, bytes);
}

/// One case: node 0 writes `source` (pattern 1) to the first half and zeroes the second half, both absent on node 1.
void on_absent_pages(const char* name, const std::function<void(char* source, char* target)>& calls) {
  section(name, [&] {
    if (quire_node() == 0) {
      fill(g_memory, bytes_of_all / 2, 1);
      std::memset(g_memory + bytes_of_all / 2, 0, bytes_of_all / 2);
    }
    barrier();
    if (quire_node() == 1) calls(g_memory, g_memory + bytes_of_all / 2);
  });
}

int temporary_file(int flags = 0) {
  std::string name = (std::filesystem::temp_directory_path() / "quire-test-XXXXXX").string();
  const int fd = ::mkostemp(name.data(), flags | O_CLOEXEC);
  if (fd >= 0) ::unlink(name.c_str());
  return fd;
}

void files(char* source, char* target) {
  const int fd = temporary_file();
  REQUIRE(fd >= 0);
  constexpr std::size_t bytes = 5 * page + 123;
  REQUIRE_CALL(::write(fd, source + 50, bytes), bytes);  // begins and ends within pages
  REQUIRE_CALL(::lseek(fd, 0, SEEK_SET), 0);
  REQUIRE_CALL(::read(fd, target + 77, bytes_of_all / 4), bytes);  // a short count at the end of the file
  for (std::size_t i = 0; i < bytes; ++i) REQUIRE_EQUAL(target[77 + i], pattern(50 + i, 1));
  REQUIRE_CALL(::read(fd, target + 8 * page, 100), 0);
  REQUIRE_CALL(::pwrite(fd, source + 10 * page, 3 * page, 1000), 3 * page);
  REQUIRE_CALL(::pread(fd, target + 10 * page, 3 * page, 1000), 3 * page);
  for (std::size_t i = 0; i < 3 * page; ++i) REQUIRE_EQUAL(target[10 * page + i], pattern(10 * page + i, 1));
  // Errors stay errors.
  errno = 0;
  REQUIRE_CALL(::read(-1, target + 20 * page, 10), -1);
  REQUIRE_EQUAL(errno, EBADF);
  ::close(fd);
}

/// The kernel's code in user space tells these, or the kernel itself (of processor time).
void clocks(char*, char* target) {
  auto* const times = reinterpret_cast<timespec*>(target + page - sizeof(timespec) / 2);  // on two pages
  int at = 0;
  for (const clockid_t clock :
       {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_BOOTTIME}) {
    REQUIRE_CALL(::clock_gettime(clock, &times[256 * at]), 0);
    REQUIRE(times[256 * at].tv_sec != 0 || times[256 * at].tv_nsec != 0);
    ++at;
  }
  auto* const day = reinterpret_cast<timeval*>(target + 20 * page);
  REQUIRE_CALL(::gettimeofday(day, nullptr), 0);
  REQUIRE(day->tv_sec - times[0].tv_sec < 100 && day->tv_usec < 1'000'000);
  auto* const zone = target + 22 * page;
  REQUIRE_CALL(::gettimeofday(day + 256, reinterpret_cast<struct timezone*>(zone)), 0);
  errno = 0;
  REQUIRE_CALL(::clock_gettime(static_cast<clockid_t>(12345), &times[0]), -1);
  REQUIRE_EQUAL(errno, EINVAL);
}

void vectors(char* source, char* target) {
  const int fd = temporary_file();
  char here[100], back[100] = {};
  fill(here, sizeof here, 3);
  const iovec out[] = {{source, 700}, {here, sizeof here}, {source + 9 * page, 2 * page}, {nullptr, 0}};
  const std::size_t all = 700 + sizeof here + 2 * page;
  REQUIRE_CALL(::writev(fd, out, 4), all);
  REQUIRE_CALL(::lseek(fd, 0, SEEK_SET), 0);
  const iovec in[] = {{target, 700}, {back, sizeof back}, {target + 9 * page + 5, 4 * page}};
  REQUIRE_CALL(::readv(fd, in, 3), all);
  check(target, 700, 1, "readv");
  check(back, sizeof back, 3, "readv");
  for (std::size_t i = 0; i < 2 * page; ++i) REQUIRE_EQUAL(target[9 * page + 5 + i], pattern(9 * page + i, 1));
  // The vector itself may lie there too.
  auto* parts = reinterpret_cast<iovec*>(target + 16 * page);
  parts[0] = {source + 12 * page, page};
  REQUIRE_CALL(::writev(fd, parts, 1), page);
  ::close(fd);
}

void streams(char* source, char* target) {
  int pair[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  REQUIRE_CALL(::send(pair[0], source, 3 * page, 0), 3 * page);
  REQUIRE_CALL(::recv(pair[1], target, 3 * page, MSG_WAITALL), 3 * page);
  check(target, 3 * page, 1, "recv");
  REQUIRE_CALL(::send(pair[0], source, 10, 0), 10);
  REQUIRE_CALL(::recv(pair[1], target + 4 * page, page, MSG_PEEK), 10);
  REQUIRE_CALL(::recv(pair[1], target + 5 * page, page, 0), 10);
  check(target + 5 * page, 10, 1, "recv after peek");
  REQUIRE_CALL(::recv(pair[1], target + 6 * page, page, MSG_DONTWAIT), -1);
  REQUIRE_EQUAL(errno, EAGAIN);
  iovec out[] = {{source + 7 * page, 500}, {source + 8 * page, 500}},
        in[] = {{target + 7 * page, 300}, {target + 9 * page, 700}};
  msghdr m{};
  m.msg_iov = out;
  m.msg_iovlen = 2;
  REQUIRE_CALL(::sendmsg(pair[0], &m, 0), 1000);
  m.msg_iov = in;
  REQUIRE_CALL(::recvmsg(pair[1], &m, MSG_WAITALL), 1000);
  for (std::size_t i = 0; i < 1000; ++i)
    REQUIRE_EQUAL(i < 300 ? target[7 * page + i] : target[9 * page + i - 300],
                  pattern(i < 500 ? 7 * page + i : 8 * page + i - 500, 1));
  ::close(pair[0]);
  REQUIRE_CALL(::recv(pair[1], target + 10 * page, page, 0), 0);
  ::close(pair[1]);
}

/// A datagram whose receive fails is gone: so it must not fail.
void datagrams(char* source, char* target) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in self{}, peer{};
  self.sin_family = AF_INET;
  self.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof self;
  REQUIRE(fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&self), length) == 0);
  REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&self), &length) == 0);
  const timeval limit{5, 0};
  REQUIRE(::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  constexpr std::size_t bytes = 2 * page + 10;
  for (std::size_t i = 0; i < 4; ++i) {
    char* const from = source + i * 3 * page;
    char* const to = target + i * 3 * page;
    REQUIRE_CALL(::sendto(fd, from, bytes, 0, reinterpret_cast<sockaddr*>(&self), length), bytes);
    length = sizeof peer;
    if (i % 2 == 0) {
      REQUIRE_CALL(::recvfrom(fd, to, 3 * page, 0, reinterpret_cast<sockaddr*>(&peer), &length), bytes);
    } else {
      iovec parts[] = {{to, page}, {to + page, 2 * page}};
      msghdr m{};
      m.msg_name = &peer;
      m.msg_namelen = sizeof peer;
      m.msg_iov = parts;
      m.msg_iovlen = 2;
      REQUIRE_CALL(::recvmsg(fd, &m, 0), bytes);
      REQUIRE_EQUAL(m.msg_flags & MSG_TRUNC, 0);
    }
    REQUIRE_EQUAL(peer.sin_port, self.sin_port);
    for (std::size_t k = 0; k < bytes; ++k) REQUIRE_EQUAL(to[k], pattern(i * 3 * page + k, 1));
  }
  // Too long for the buffer: the start arrives, and MSG_TRUNC tells the length of all.
  REQUIRE_CALL(::sendto(fd, source, bytes, 0, reinterpret_cast<sockaddr*>(&self), length), bytes);
  REQUIRE_CALL(::recv(fd, target + 20 * page, 100, MSG_TRUNC), bytes);
  check(target + 20 * page, 100, 1, "a cut datagram");
  REQUIRE_EQUAL(target[20 * page + 100], 0);
  REQUIRE_CALL(::sendto(fd, source, bytes, 0, reinterpret_cast<sockaddr*>(&self), length), bytes);
  iovec small{target + 22 * page, 100};
  msghdr cut{};
  cut.msg_iov = &small;
  cut.msg_iovlen = 1;
  REQUIRE_CALL(::recvmsg(fd, &cut, MSG_TRUNC), bytes);
  REQUIRE((cut.msg_flags & MSG_TRUNC) != 0);
  check(target + 22 * page, 100, 1, "a cut message");
  // Many at once.
  for (std::size_t i = 0; i < 2; ++i)
    REQUIRE_CALL(::sendto(fd, source + i * page, 200, 0, reinterpret_cast<sockaddr*>(&self), length), 200);
  iovec parts[] = {{target + 24 * page, 500}, {target + 25 * page, 500}};
  mmsghdr many[2] = {};
  for (int i = 0; i < 2; ++i) many[i].msg_hdr.msg_iov = &parts[i], many[i].msg_hdr.msg_iovlen = 1;
  int received = 0;  // one call may bring fewer than asked for
  while (received < 2) {
    const int got = ::recvmmsg(fd, many + received, static_cast<unsigned>(2 - received), MSG_WAITFORONE, nullptr);
    if (got < 1) fail(__FILE__, __LINE__, "recvmmsg gave %d (errno %d), a datagram is lost", got, errno);
    received += got;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE_EQUAL(many[i].msg_len, 200);
    for (std::size_t k = 0; k < 200; ++k) REQUIRE_EQUAL(target[(24 + i) * page + k], pattern(i * page + k, 1));
  }
  ::close(fd);
}

void stdio(char* source, char* target) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  REQUIRE_CALL(std::fwrite(source, 10, 3 * page / 10 * 2, file), 3 * page / 10 * 2);
  const std::size_t bytes = 3 * page / 10 * 20;
  std::rewind(file);
  REQUIRE_CALL(std::fread(target, 1, 16 * page, file), bytes);
  check(target, bytes, 1, "fread");
  REQUIRE(std::feof(file) != 0);
  std::rewind(file);
  REQUIRE_CALL(std::fread(target + 20 * page, 7, 5, file), 5);
  check(target + 20 * page, 35, 1, "fread of 35 bytes");
  std::rewind(file);
  source[100] = '\n';
  REQUIRE_CALL(std::fwrite(source, 1, 101, file), 101);
  std::rewind(file);
  std::fprintf(file, "%s\n", "a line of text");
  std::rewind(file);
  REQUIRE(std::fgets(target + 22 * page, page, file) == target + 22 * page);
  REQUIRE(std::strcmp(target + 22 * page, "a line of text\n") == 0);
  std::fclose(file);
}

void direct(char* source, char* target) {
  const int fd = temporary_file(O_DIRECT);
  if (fd < 0) {
    std::printf("  no O_DIRECT on this file system\n");
    return;
  }
  REQUIRE_CALL(::pwrite(fd, source, 8 * page, 0), 8 * page);
  REQUIRE_CALL(::pread(fd, target, 8 * page, 0), 8 * page);
  check(target, 8 * page, 1, "O_DIRECT");
  ::close(fd);
}

/// Threads of one node sleep and wake on a shared word, by the system call and by std::atomic.
void futexes(char*, char* target) {
  auto* word = reinterpret_cast<std::uint32_t*>(target);
  REQUIRE_CALL(::syscall(SYS_futex, word, FUTEX_WAIT, 1, nullptr, nullptr, 0), -1);
  REQUIRE_EQUAL(errno, EAGAIN);
  const timespec moment{0, 20'000'000};
  REQUIRE_CALL(::syscall(SYS_futex, word + page / 4, FUTEX_WAIT, 0, &moment, nullptr, 0), -1);
  REQUIRE_EQUAL(errno, ETIMEDOUT);
  std::atomic_ref<std::uint32_t> flag(*word);
  std::thread sleeper([&] {
    while (flag.load() == 0) ::syscall(SYS_futex, word, FUTEX_WAIT, 0, nullptr, nullptr, 0);
    flag.store(2);
  });
  sleep_ms(20);
  flag.store(1);
  ::syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  sleeper.join();
  REQUIRE_EQUAL(flag.load(), 2);
  // What happens to stand where a second word would be is not touched.
  const auto before = counters().write_faults;
  std::uint32_t own = 0;
  REQUIRE_CALL(::syscall(SYS_futex, &own, FUTEX_WAKE, 1, nullptr, target + 8 * page, 0), 0);
  REQUIRE_EQUAL(counters().write_faults, before);
  std::atomic_ref<int> other(*reinterpret_cast<int*>(target + 2 * page));
  std::thread waiter([&] { other.wait(0); });
  sleep_ms(20);
  other.store(1);
  other.notify_all();
  waiter.join();
}

/// While node 1 reads files into a page, node 0 counts in a word of the same page: neither loses anything.
void calls_on_pages_that_are_written() {
  if (quire_node() == 0) std::memset(g_memory, 0, 4 * page);
  barrier();
  constexpr int times = 300;
  auto* counter = reinterpret_cast<std::uint64_t*>(g_memory + page - 8);
  if (quire_node() == 0) {
    for (int i = 0; i < times * 10; ++i) std::atomic_ref(*counter).store(std::atomic_ref(*counter).load() + 1);
  } else if (quire_node() == 1) {
    int pair[2];
    REQUIRE(::pipe(pair) == 0);
    char text[64], back[64];
    for (int i = 0; i < times; ++i) {
      fill(text, sizeof text, i);
      REQUIRE_CALL(::write(pair[1], text, sizeof text), sizeof text);
      REQUIRE_CALL(::read(pair[0], g_memory + 100, sizeof text), sizeof text);
      REQUIRE_CALL(::write(pair[1], g_memory + 100, sizeof text), sizeof text);
      REQUIRE_CALL(::read(pair[0], back, sizeof back), sizeof back);
      check(back, sizeof back, i, "a pipe");
    }
    ::close(pair[0]);
    ::close(pair[1]);
  }
  barrier();
  REQUIRE_EQUAL(*counter, times * 10);
}

}  // namespace

int main() {
  return node_main([] {
    g_memory = shared_region<char>("memory", bytes_of_all, region_options(page, QUIRE_PLACE_NODE, 0));
    on_absent_pages("clocks", clocks);
    on_absent_pages("files", files);
    on_absent_pages("vectors", vectors);
    on_absent_pages("stream sockets", streams);
    on_absent_pages("datagrams", datagrams);
    on_absent_pages("stdio", stdio);
    on_absent_pages("O_DIRECT", direct);
    on_absent_pages("futex", futexes);
    section("pages that are written meanwhile", calls_on_pages_that_are_written);
  });
}
