// SPDX-License-Identifier: BSD-3-Clause
// Every kind of address that libc hands to the kernel: names, structures, vectors, counts, sets. For each case node 0
// writes what the kernel is to read, and node 1 makes the call without having touched a page of it.
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <cerrno>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096, pages_of_case = 8;

#define WORKS(call, wanted)                                                                              \
  do {                                                                                                   \
    errno = 0;                                                                                           \
    const auto value = static_cast<long>(call);                                                          \
    if (value != static_cast<long>(wanted))                                                              \
      fail(__FILE__, __LINE__, "%s gave %ld (errno %d: %s)", #call, value, errno, std::strerror(errno)); \
  } while (false)

/// The pages of one case: `at<T>(i)` lies at the start of page i.
struct area {
  char* start;
  template <class T = char>
  T* at(std::size_t i) const {
    return reinterpret_cast<T*>(start + i * page + 40);
  }
};
struct test_case {
  const char* name;
  void (*prepare)(const area&);  ///< on node 0
  void (*call)(const area&);     ///< on node 1
};

void nothing(const area&) {}
void put(char* to, const std::string& text) { std::memcpy(to, text.c_str(), text.size() + 1); }
/// The same on both nodes: they have one parent.
std::string folder() { return "/tmp/quire-names-" + std::to_string(::getppid()); }
int some_file() {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int fd = ::dup(::fileno(file));
  std::fclose(file);
  REQUIRE_EQUAL(::write(fd, "0123456789", 10), 10);
  return fd;
}
struct socket_pair {
  int fd[2];
  explicit socket_pair(int type = SOCK_STREAM) { REQUIRE(::socketpair(AF_UNIX, type, 0, fd) == 0); }
  ~socket_pair() { ::close(fd[0]), ::close(fd[1]); }
};

const test_case g_cases[] = {
    {"getrandom, getentropy", nothing,
     [](const area& a) {
       WORKS(::getrandom(a.at(0), 100, 0), 100);
       WORKS(::getentropy(a.at(1), 100), 0);
       WORKS(::syscall(SYS_getrandom, a.at(2), 50, 0), 50);
       int zeroes = 0;
       for (int i = 0; i < 100; ++i) zeroes += (a.at(0)[i] == 0) + (a.at(1)[i] == 0);
       REQUIRE(zeroes < 40);
       REQUIRE_EQUAL(a.at(2)[50], 0);
     }},
    {"preadv2, pwritev2, syscall(preadv2)",
     [](const area& a) {
       put(a.at(1), "abcdef");
       a.at<iovec>(0)[0] = {a.at(1), 3};
       a.at<iovec>(0)[1] = {a.at(1) + 3, 3};
       *a.at<iovec>(2) = {a.at(3), 6};
       *a.at<iovec>(4) = {a.at(5), 6};
     },
     [](const area& a) {
       const int fd = some_file();
       WORKS(::pwritev2(fd, a.at<iovec>(0), 2, 0, 0), 6);
       WORKS(::preadv2(fd, a.at<iovec>(2), 1, 0, 0), 6);
       REQUIRE(std::memcmp(a.at(3), "abcdef", 6) == 0);
       WORKS(::syscall(SYS_preadv2, fd, a.at<iovec>(4), 1, 4L, 0L, 0), 6);
       REQUIRE(std::memcmp(a.at(5), "ef6789", 6) == 0);
       ::close(fd);
     }},
    {"sendfile, copy_file_range, splice",
     [](const area& a) {
       *a.at<off_t>(0) = 3;
       *a.at<off_t>(1) = 2;
       *a.at<off_t>(2) = 20;
       *a.at<off_t>(3) = 5;
     },
     [](const area& a) {
       const int fd = some_file();
       const socket_pair s;
       WORKS(::sendfile(s.fd[0], fd, a.at<off_t>(0), 4), 4);
       REQUIRE_EQUAL(*a.at<off_t>(0), 7);
       const ssize_t copied = ::copy_file_range(fd, a.at<off_t>(1), fd, a.at<off_t>(2), 3, 0);
       const int why = errno;
       REQUIRE(copied == -1
                   ? why != EFAULT
                   : copied == 3 && *a.at<off_t>(1) == 5 && *a.at<off_t>(2) == 23);  // not on every file system
       int two[2];
       REQUIRE(::pipe(two) == 0);
       WORKS(::splice(fd, a.at<off_t>(3), two[1], nullptr, 2, 0), 2);
       REQUIRE_EQUAL(*a.at<off_t>(3), 7);
       ::close(fd), ::close(two[0]), ::close(two[1]);
     }},
    {"names: mkdir, open, stat, rename, link, unlink",
     [](const area& a) {
       put(a.at(0), folder());
       put(a.at(1), folder() + "/file");
       put(a.at(2), folder() + "/other");
     },
     [](const area& a) {
       const std::string file = folder() + "/file", other = folder() + "/other";
       WORKS(::mkdir(a.at(0), 0700), 0);
       const int fd = ::open(a.at(1), O_CREAT | O_RDWR, 0640);
       REQUIRE(fd >= 0);
       WORKS(::write(fd, "text", 4), 4);
       ::close(fd);
       struct stat about;
       REQUIRE(::stat(file.c_str(), &about) == 0);
       REQUIRE_EQUAL(
           about.st_mode & 0777, 0640 & ~[] {
             const mode_t m = ::umask(0);
             ::umask(m);
             return m;
           }());
       WORKS(::rename(a.at(1), a.at(2)), 0);
       WORKS(::access(a.at(2), R_OK), 0);
       WORKS(::symlink(a.at(2), a.at(1)), 0);
       WORKS(::readlink(a.at(1), a.at(3), 1000), other.size());
       REQUIRE_EQUAL(other.compare(0, other.size(), a.at(3), other.size()), 0);
       WORKS(::lstat(a.at(1), a.at<struct stat>(4)), 0);
       REQUIRE(S_ISLNK(a.at<struct stat>(4)->st_mode));
       WORKS(::unlink(a.at(1)), 0);
       WORKS(::truncate(a.at(2), 2), 0);
       WORKS(::chmod(a.at(2), 0600), 0);
       WORKS(::unlinkat(AT_FDCWD, a.at(2), 0), 0);
       WORKS(::rmdir(a.at(0)), 0);
     }},
    {"stat into shared memory", nothing,
     [](const area& a) {
       const int fd = some_file();
       WORKS(::fstat(fd, a.at<struct stat>(0)), 0);
       REQUIRE_EQUAL(a.at<struct stat>(0)->st_size, 10);
       WORKS(::stat("/", a.at<struct stat>(1)), 0);
       REQUIRE(S_ISDIR(a.at<struct stat>(1)->st_mode));
       WORKS(::statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, a.at<struct statx>(2)), 0);
       REQUIRE_EQUAL(a.at<struct statx>(2)->stx_size, 10);
       WORKS(::statvfs("/", a.at<struct statvfs>(3)), 0);
       REQUIRE(a.at<struct statvfs>(3)->f_bsize > 0);
       ::close(fd);
     }},
    {"getcwd, realpath, opendir, fopen",
     [](const area& a) {
       put(a.at(2), "/proc");
       put(a.at(3), "/proc/self/stat");
       put(a.at(4), "/proc/../");
     },
     [](const area& a) {
       REQUIRE(::getcwd(a.at(0), 1000) == a.at(0));
       REQUIRE_EQUAL(a.at(0)[0], '/');
       REQUIRE(::realpath(a.at(4), a.at(1)) == a.at(1));
       REQUIRE(std::strcmp(a.at(1), "/") == 0);
       DIR* const d = ::opendir(a.at(2));
       REQUIRE(d != nullptr && ::closedir(d) == 0);
       std::FILE* const f = std::fopen(a.at(3), "r");
       REQUIRE(f != nullptr && std::fclose(f) == 0);
       // Too long for a name.
       std::memset(a.at(5), 'x', 2 * page);
       a.at(5)[2 * page] = 0;
       REQUIRE(::open(a.at(5), O_RDONLY) == -1);
       REQUIRE_EQUAL(errno, ENAMETOOLONG);
     }},
    {"poll, ppoll, select, epoll",
     [](const area& a) {
       *a.at<pollfd>(0) = {0, POLLIN, 0};
       a.at<epoll_event>(2)->events = EPOLLOUT;
       a.at<epoll_event>(2)->data.u64 = 77;
       a.at<timeval>(5)->tv_usec = 1000;
       a.at<timespec>(6)->tv_nsec = 1000;
     },
     [](const area& a) {
       const socket_pair s;
       const int kept = ::dup(0);
       REQUIRE(::dup2(s.fd[0], 0) == 0 && ::write(s.fd[1], "x", 1) == 1);
       WORKS(::poll(a.at<pollfd>(0), 1, 1000), 1);
       REQUIRE_EQUAL(a.at<pollfd>(0)->revents, POLLIN);
       WORKS(::ppoll(nullptr, 0, a.at<timespec>(6), nullptr), 0);
       if (kept >= 0) ::dup2(kept, 0), ::close(kept);
       const int e = ::epoll_create1(0);
       WORKS(::epoll_ctl(e, EPOLL_CTL_ADD, s.fd[0], a.at<epoll_event>(2)), 0);
       WORKS(::epoll_wait(e, a.at<epoll_event>(3), 8, 1000), 1);
       REQUIRE_EQUAL(a.at<epoll_event>(3)->data.u64, 77);
       ::close(e);
       WORKS(::select(0, nullptr, nullptr, nullptr, a.at<timeval>(5)), 0);
       auto* const set = a.at<fd_set>(4);  // here now, so the copy must keep what lies beside
       FD_ZERO(set);
       FD_SET(s.fd[0], set);
       timeval limit{5, 0};
       WORKS(::select(s.fd[0] + 1, set, nullptr, nullptr, &limit), 1);
       REQUIRE(FD_ISSET(s.fd[0], set));
     }},
    {"clocks and timers",
     [](const area& a) {
       a.at<timespec>(0)->tv_nsec = 1000;
       a.at<itimerspec>(4)->it_value.tv_nsec = 1000;
     },
     [](const area& a) {
       WORKS(::nanosleep(a.at<timespec>(0), a.at<timespec>(1)), 0);
       WORKS(::clock_nanosleep(CLOCK_MONOTONIC, 0, a.at<timespec>(0), nullptr), 0);
       WORKS(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, a.at<timespec>(2)), 0);
       REQUIRE(a.at<timespec>(2)->tv_sec + a.at<timespec>(2)->tv_nsec > 0);
       WORKS(::clock_gettime(CLOCK_MONOTONIC, a.at<timespec>(3)), 0);
       const int fd = ::timerfd_create(CLOCK_MONOTONIC, 0);
       WORKS(::timerfd_settime(fd, 0, a.at<itimerspec>(4), a.at<itimerspec>(5)), 0);
       WORKS(::read(fd, a.at(6), 8), 8);
       REQUIRE_EQUAL(*a.at<std::uint64_t>(6), 1);
       WORKS(::timerfd_gettime(fd, a.at<itimerspec>(7)), 0);
       ::close(fd);
     }},
    {"what a process uses and may use", nothing,
     [](const area& a) {
       WORKS(::getrusage(RUSAGE_SELF, a.at<rusage>(0)), 0);
       REQUIRE(a.at<rusage>(0)->ru_maxrss > 0);
       WORKS(::getrlimit(RLIMIT_NOFILE, a.at<rlimit>(1)), 0);
       WORKS(::setrlimit(RLIMIT_NOFILE, a.at<rlimit>(1)), 0);
       WORKS(::uname(a.at<utsname>(2)), 0);
       REQUIRE(std::strcmp(a.at<utsname>(2)->sysname, "Linux") == 0);
       WORKS(::sysinfo(a.at<struct sysinfo>(3)), 0);
       REQUIRE(::times(a.at<tms>(4)) != static_cast<clock_t>(-1));
       WORKS(::sched_getaffinity(0, sizeof(cpu_set_t), a.at<cpu_set_t>(5)), 0);
       REQUIRE(CPU_COUNT(a.at<cpu_set_t>(5)) > 0);
       WORKS(::sched_setaffinity(0, sizeof(cpu_set_t), a.at<cpu_set_t>(5)), 0);
       WORKS(::syscall(SYS_getrusage, RUSAGE_SELF, a.at<rusage>(6)), 0);
     }},
    {"addresses and options of sockets",
     [](const area& a) {
       auto* const self = a.at<sockaddr_in>(0);
       self->sin_family = AF_INET;
       self->sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
       *a.at<socklen_t>(2) = *a.at<socklen_t>(4) = sizeof(sockaddr_in);
       *a.at<socklen_t>(6) = sizeof(int);
       *a.at<int>(7) = 1;
     },
     [](const area& a) {
       const int server = ::socket(AF_INET, SOCK_STREAM, 0), client = ::socket(AF_INET, SOCK_STREAM, 0);
       WORKS(::setsockopt(server, SOL_SOCKET, SO_REUSEADDR, a.at<int>(7), sizeof(int)), 0);
       WORKS(::bind(server, a.at<sockaddr>(0), sizeof(sockaddr_in)), 0);
       REQUIRE(::listen(server, 1) == 0);
       WORKS(::getsockname(server, a.at<sockaddr>(1), a.at<socklen_t>(2)), 0);
       REQUIRE(a.at<sockaddr_in>(1)->sin_port != 0);
       WORKS(::connect(client, a.at<sockaddr>(1), sizeof(sockaddr_in)), 0);
       const int served = ::accept(server, a.at<sockaddr>(3), a.at<socklen_t>(4));
       REQUIRE(served >= 0);
       REQUIRE_EQUAL(a.at<sockaddr_in>(3)->sin_addr.s_addr, ::htonl(INADDR_LOOPBACK));
       REQUIRE_EQUAL(*a.at<socklen_t>(4), sizeof(sockaddr_in));
       WORKS(::getsockopt(served, SOL_SOCKET, SO_TYPE, a.at<int>(5), a.at<socklen_t>(6)), 0);
       REQUIRE_EQUAL(*a.at<int>(5), SOCK_STREAM);
       ::close(server), ::close(client), ::close(served);
     }},
    {"recvfrom's address",
     [](const area& a) {
       auto* const self = a.at<sockaddr_in>(0);
       self->sin_family = AF_INET;
       self->sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
       *a.at<socklen_t>(3) = sizeof(sockaddr_in);
       put(a.at(1), "datagram");
     },
     [](const area& a) {
       const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
       WORKS(::bind(fd, a.at<sockaddr>(0), sizeof(sockaddr_in)), 0);
       sockaddr_in self{};
       socklen_t length = sizeof self;
       REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&self), &length) == 0);
       WORKS(::sendto(fd, a.at(1), 9, 0, reinterpret_cast<sockaddr*>(&self), length), 9);
       WORKS(::recvfrom(fd, a.at(4), 100, 0, a.at<sockaddr>(2), a.at<socklen_t>(3)), 9);
       REQUIRE_EQUAL(a.at<sockaddr_in>(2)->sin_port, self.sin_port);
       ::close(fd);
     }},
    {"a descriptor in a message",
     [](const area& a) {
       auto* const m = a.at<msghdr>(0);
       *a.at<iovec>(1) = {a.at(2), 1};
       *m = {};
       m->msg_iov = a.at<iovec>(1);
       m->msg_iovlen = 1;
       m->msg_control = a.at(3);
       m->msg_controllen = CMSG_SPACE(sizeof(int));
       cmsghdr* const c = CMSG_FIRSTHDR(m);
       c->cmsg_level = SOL_SOCKET;
       c->cmsg_type = SCM_RIGHTS;
       c->cmsg_len = CMSG_LEN(sizeof(int));
       const int one = 1;
       std::memcpy(CMSG_DATA(c), &one, sizeof one);
       auto* const back = a.at<msghdr>(4);
       *a.at<iovec>(5) = {a.at(6), 1};
       *back = {};
       back->msg_iov = a.at<iovec>(5);
       back->msg_iovlen = 1;
       back->msg_control = a.at(7);
       back->msg_controllen = 200;
     },
     [](const area& a) {
       const socket_pair s;
       WORKS(::sendmsg(s.fd[0], a.at<msghdr>(0), 0), 1);
       WORKS(::recvmsg(s.fd[1], a.at<msghdr>(4), 0), 1);
       const cmsghdr* const c = CMSG_FIRSTHDR(a.at<msghdr>(4));
       REQUIRE(c != nullptr && c->cmsg_type == SCM_RIGHTS);
       int fd = -1;
       std::memcpy(&fd, CMSG_DATA(c), sizeof fd);
       REQUIRE(fd > 2 && ::close(fd) == 0);
     }},
    {"pipe, socketpair, ioctl, fcntl, eventfd", [](const area& a) { a.at<struct flock>(3)->l_type = F_RDLCK; },
     [](const area& a) {
       WORKS(::pipe(a.at<int>(0)), 0);
       WORKS(::write(a.at<int>(0)[1], "abc", 3), 3);
       WORKS(::ioctl(a.at<int>(0)[0], FIONREAD, a.at<int>(1)), 0);
       REQUIRE_EQUAL(*a.at<int>(1), 3);
       REQUIRE_EQUAL(a.at<int>(1)[1], 0);
       WORKS(::socketpair(AF_UNIX, SOCK_STREAM, 0, a.at<int>(2)), 0);
       const int fd = some_file(), e = ::eventfd(5, 0);
       WORKS(::fcntl(fd, F_GETLK, a.at<struct flock>(3)), 0);
       REQUIRE_EQUAL(a.at<struct flock>(3)->l_type, F_UNLCK);
       WORKS(::eventfd_read(e, a.at<eventfd_t>(4)), 0);
       REQUIRE_EQUAL(*a.at<eventfd_t>(4), 5);
       for (const int one : {a.at<int>(0)[0], a.at<int>(0)[1], a.at<int>(2)[0], a.at<int>(2)[1], fd, e}) ::close(one);
     }},
    {"posix_spawn, waitpid",
     [](const area& a) {
       put(a.at(0), "/bin/sh");
       put(a.at(1), "-c");
       put(a.at(2), "exit $CODE");
       put(a.at(3), "CODE=42");
       a.at<char*>(4)[0] = a.at(0);
       a.at<char*>(4)[1] = a.at(1);
       a.at<char*>(4)[2] = a.at(2);
       a.at<char*>(5)[0] = a.at(3);
     },
     [](const area& a) {
       WORKS(::posix_spawn(a.at<pid_t>(6), a.at(0), nullptr, nullptr, a.at<char*>(4), a.at<char*>(5)), 0);
       const pid_t child = *a.at<pid_t>(6);
       REQUIRE(child > 0);
       WORKS(::waitpid(child, a.at<int>(7), 0), child);
       REQUIRE(WIFEXITED(*a.at<int>(7)) && WEXITSTATUS(*a.at<int>(7)) == 42);
     }},
    {"sets of signals",
     [](const area& a) {
       sigemptyset(a.at<sigset_t>(0));
       sigaddset(a.at<sigset_t>(0), SIGUSR2);
       a.at<struct sigaction>(3)->sa_handler = SIG_IGN;
     },
     [](const area& a) {
       WORKS(::pthread_sigmask(SIG_BLOCK, a.at<sigset_t>(0), a.at<sigset_t>(1)), 0);
       REQUIRE(::raise(SIGUSR2) == 0);
       WORKS(::sigpending(a.at<sigset_t>(2)), 0);
       REQUIRE(sigismember(a.at<sigset_t>(2), SIGUSR2) == 1);
       WORKS(::sigaction(SIGUSR2, a.at<struct sigaction>(3), a.at<struct sigaction>(4)), 0);
       REQUIRE(a.at<struct sigaction>(4)->sa_handler == SIG_DFL);
       WORKS(::pthread_sigmask(SIG_SETMASK, a.at<sigset_t>(1), nullptr), 0);
     }},
    {"streams: fputs, fwrite without lock, a shared buffer",
     [](const area& a) {
       std::memset(a.start, 'y', 5 * page);
       a.at(4)[0] = 0;
     },
     [](const area& a) {
       std::FILE* const file = std::tmpfile();
       REQUIRE(std::setvbuf(file, a.at(5), _IOFBF, page) == 0);
       const std::size_t length = 4 * page;
       REQUIRE(std::fputs(a.at(0), file) >= 0);
       std::rewind(file);
       std::string back(length + 10, ' ');
       REQUIRE_EQUAL(std::fread(back.data(), 1, back.size(), file), length);
       REQUIRE_EQUAL(back.find_first_not_of('y'), length);
       std::fclose(file);
     }},
    {"ioctl at the end of a region, beside what others write", nothing,
     [](const area& a) {
       int two[2];
       REQUIRE(::pipe(two) == 0 && ::write(two[1], "abcd", 4) == 4);
       auto* const last = reinterpret_cast<int*>(a.start + pages_of_case * page) - 1;  // this case is the last one
       WORKS(::ioctl(two[0], FIONREAD, last), 0);
       REQUIRE_EQUAL(*last, 4);
       ::close(two[0]), ::close(two[1]);
     }},
};

}  // namespace

int main() {
  const char* const mode = std::getenv("QUIRE_DETECT");
  const bool kernel_fetches = mode != nullptr && mode == std::string("thread");
  return node_main([&] {
    constexpr std::size_t count = std::size(g_cases), bytes = page * pages_of_case;
    char* const memory = shared_region<char>("memory", count * bytes, region_options(page, QUIRE_PLACE_NODE, 0));
    // What is not covered says so where the kernel cannot wait.
    char* const more = shared_region<char>("more", page, region_options(page, QUIRE_PLACE_NODE, 0));
    if (quire_node() == 0) {
      std::memset(memory, 0, count * bytes);
      std::memset(more, 0, page);
      for (std::size_t i = 0; i < count; ++i) g_cases[i].prepare(area{memory + i * bytes});
    }
    barrier();
    if (quire_node() == 1) {
      for (std::size_t i = 0; i < count; ++i) {
        g_cases[i].call(area{memory + i * bytes});
        std::printf("%s\n", g_cases[i].name);
      }
      const long result = ::syscall(SYS_sysinfo, more);
      REQUIRE(kernel_fetches ? result == 0 : result == -1 && errno == EFAULT);
    }
    barrier();
  });
}
