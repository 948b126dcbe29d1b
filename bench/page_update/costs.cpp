// SPDX-License-Identifier: BSD-3-Clause
// page_update_costs: what the operations cost that make, use and end a page pool (ParADE, Table 1): create, map, second
// view, copy, protect, unmap, remove, for 4 KiB and 64 MiB, on the bare system calls, each pool in turn. One process.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "common/program.hpp"
#include "common/samples.hpp"
#include "floor/peer.hpp"

namespace {

struct settings {
  std::uint64_t rounds = 100;
  std::string directory = "/var/tmp";
};

/// The times of one pool and size, by operation, in the order in which they were first seen.
class table {
 public:
  table(std::string pool, std::size_t bytes) : prefix_(std::move(pool) + (bytes > 4096 ? " 64M " : " 4K ")) {}
  template <class Work>
  void time(const char* operation, Work&& work) {
    bench::samples* found = nullptr;
    for (auto& [name, times] : rows_)
      if (name == operation) found = &times;
    if (found == nullptr) found = &rows_.emplace_back(operation, bench::samples(prefix_ + operation, "us")).second;
    found->time(work);
  }
  void print() const {
    for (const auto& [name, times] : rows_) times.print();
  }

 private:
  std::string prefix_;
  std::vector<std::pair<std::string, bench::samples>> rows_;
};

void* mapped(void* at, const char* what) {
  if (at == MAP_FAILED) bench::fail(what);
  return at;
}
void* map(int fd, std::size_t bytes) {
  return mapped(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0),
                "mmap");
}
void expect(bool good, const char* what) {
  if (!good) bench::fail(what);
}

/// What all pools do with their two views.
void use(table& times, void* application, void* system, std::size_t bytes, const void* content) {
  times.time("copy, first", [&] { std::memcpy(system, content, bytes); });
  times.time("copy", [&] { std::memcpy(system, content, bytes); });
  const volatile std::byte* const page = static_cast<const std::byte*>(application);
  for (std::size_t at = 0; at < bytes; at += 4096) (void)page[at];
  times.time("protect none", [&] { expect(::mprotect(application, bytes, PROT_NONE) == 0, "mprotect"); });
  times.time("protect read-write",
             [&] { expect(::mprotect(application, bytes, PROT_READ | PROT_WRITE) == 0, "mprotect"); });
}

void with_descriptor(table& times, std::size_t bytes, const void* content, int (*create)(const settings&, std::size_t),
                     const settings& wanted, bool written) {
  int fd = -1;
  void *application = nullptr, *system = nullptr;
  times.time("create", [&] { fd = create(wanted, bytes); });
  if (written) {
    times.time("fill", [&] {
      for (std::size_t at = 0; at < bytes;) {
        const ssize_t done = ::write(fd, static_cast<const std::byte*>(content) + at, bytes - at);
        expect(done > 0, "write");
        at += static_cast<std::size_t>(done);
      }
    });
  } else {
    times.time("fill", [&] { expect(::ftruncate(fd, static_cast<off_t>(bytes)) == 0, "ftruncate"); });
  }
  times.time("map", [&] { application = map(fd, bytes); });
  times.time("second view", [&] { system = map(fd, bytes); });
  use(times, application, system, bytes, content);
  times.time("unmap", [&] { ::munmap(application, bytes), ::munmap(system, bytes); });
  times.time("remove", [&] { ::close(fd); });
}

int create_memfd(const settings&, std::size_t) { return ::memfd_create("costs", MFD_CLOEXEC); }
int create_posix(const settings&, std::size_t) {
  const int fd = ::shm_open("/quire.costs", O_RDWR | O_CREAT | O_EXCL, 0600);
  ::shm_unlink("/quire.costs");
  return fd;
}
int create_file(const settings& s, std::size_t) {
  const int fd = ::open(s.directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) bench::fail("file");
  return fd;
}

void with_segment(table& times, std::size_t bytes, const void* content) {
  int id = -1;
  void *application = nullptr, *system = nullptr;
  times.time("create", [&] { id = ::shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600); });
  expect(id >= 0, "shmget");
  times.time("map", [&] { application = mapped(::shmat(id, nullptr, 0), "shmat"); });
  times.time("second view", [&] { system = mapped(::shmat(id, nullptr, 0), "shmat"); });
  times.time("remove", [&] { ::shmctl(id, IPC_RMID, nullptr); });
  use(times, application, system, bytes, content);
  times.time("unmap", [&] { ::shmdt(application), ::shmdt(system); });
}

void with_duplicate(table& times, std::size_t bytes, const void* content) {
  void *application = nullptr, *system = nullptr;
  times.time("map", [&] { application = map(-1, bytes); });
  times.time("second view", [&] { system = mapped(::mremap(application, 0, bytes, MREMAP_MAYMOVE), "mremap"); });
  use(times, application, system, bytes, content);
  times.time("unmap", [&] { ::munmap(application, bytes), ::munmap(system, bytes); });
}

/// The second view of this method is a process: its own page tables for the same addresses.
void with_process(table& times, std::size_t bytes, const void* content) {
  void* application = nullptr;
  times.time("map", [&] { application = map(-1, bytes); });
  std::memcpy(application, content, bytes);
  pid_t child = 0;
  int ends[2];
  expect(::pipe2(ends, O_CLOEXEC) == 0, "pipe");
  times.time("second view", [&] { child = ::fork(); });
  if (child == 0) {
    char stop;
    ::close(ends[1]);
    (void)!::read(ends[0], &stop, 1);
    ::_exit(0);
  }
  expect(child > 0, "fork");
  use(times, application, application, bytes, content);
  times.time("unmap", [&] { ::munmap(application, bytes); });
  times.time("remove", [&] {
    ::close(ends[1]);
    ::waitpid(child, nullptr, 0);
  });
  ::close(ends[0]);
}

void run(const settings& wanted) {
  for (const std::size_t bytes : {std::size_t{4096}, std::size_t{64} << 20}) {
    const std::vector<std::byte> content(bytes, std::byte{1});
    table memfd("memfd", bytes), posix("posix", bytes), sparse("file, ftruncate()", bytes),
        full("file, write()", bytes), sysv("sysv", bytes), mdup("mdup", bytes), process("fork", bytes);
    for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
      with_descriptor(memfd, bytes, content.data(), create_memfd, wanted, false);
      with_descriptor(posix, bytes, content.data(), create_posix, wanted, false);
      with_descriptor(sparse, bytes, content.data(), create_file, wanted, false);
      with_descriptor(full, bytes, content.data(), create_file, wanted, true);
      with_segment(sysv, bytes, content.data());
      with_duplicate(mdup, bytes, content.data());
      with_process(process, bytes, content.data());
    }
    for (const auto* t : {&memfd, &posix, &sparse, &full, &sysv, &mdup, &process}) t->print();
  }
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("Costs of the operations that page pools are made of, on this machine.");
  here.add_number("--rounds", wanted.rounds, 1, 100000, "times that each is done");
  return here.run(argc, argv, [&] { run(wanted); });
}
