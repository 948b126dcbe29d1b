// SPDX-License-Identifier: BSD-3-Clause
// floor_container: what a file's pages cost at least, in one process without Quire: a fault that reads a page of the
// page cache into its frame (userfaultfd, as Quire has it), reading a file that is not cached into new frames of a
// memfd, a page from the disk, and writing with fdatasync.
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "common/program.hpp"
#include "common/samples.hpp"
#include "floor/double_view.hpp"

namespace {

constexpr std::size_t chunk = 1u << 20;

struct settings {
  std::string directory = ".";
  std::uint64_t bytes = 64u << 20;
  std::uint64_t rounds = 5;
};

/// A file that is there while the program runs.
class scratch_file {
 public:
  scratch_file(const std::string& directory, std::uint64_t bytes) {
    std::string path = directory + "/floor_container.XXXXXX";
    descriptor_ = ::mkstemp(path.data());
    if (descriptor_ < 0) bench::fail("mkstemp");
    direct_ = ::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    ::unlink(path.c_str());
    std::vector<std::byte> some(chunk, std::byte{7});
    for (std::uint64_t at = 0; at < bytes; at += chunk) {
      if (::pwrite(descriptor_, some.data(), some.size(), static_cast<off_t>(at)) != static_cast<ssize_t>(some.size()))
        bench::fail("pwrite");
    }
    if (::fdatasync(descriptor_) != 0) bench::fail("fdatasync");
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() {
    ::close(descriptor_);
    if (direct_ >= 0) ::close(direct_);
  }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// -1 where the file system has no such reads: then cached ones, of what is not cached.
  [[nodiscard]] int direct() const noexcept { return direct_; }
  void leave_cache() const noexcept { (void)::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED); }

 private:
  int descriptor_ = -1, direct_ = -1;
};

/// What the signal handler needs.
const bench::double_view* g_view = nullptr;
int g_file = -1;

void on_fault(int, siginfo_t* about, void*) {
  const auto page =
      static_cast<std::size_t>(static_cast<std::byte*>(about->si_addr) - g_view->application()) / bench::page_bytes;
  if (::pread(g_file, g_view->system() + page * bench::page_bytes, bench::page_bytes,
              static_cast<off_t>(page * bench::page_bytes)) <= 0 ||
      !g_view->permit_read(page)) {
    ::signal(SIGBUS, SIG_DFL);  // the access faults again, and ends this process
  }
}

void warm_faults(const settings& wanted, const scratch_file& file) {
  const std::size_t pages = std::min<std::uint64_t>(wanted.bytes, 16u << 20) / bench::page_bytes;
  const bench::double_view view(pages * bench::page_bytes);
  g_view = &view;
  g_file = file.descriptor();
  struct sigaction action {};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO;
  if (::sigaction(SIGBUS, &action, nullptr) != 0) bench::fail("sigaction");
  const auto order = bench::random_order(pages);
  bench::samples times("warm_fault", "us");
  for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
    view.discard();
    for (const std::size_t page : order) {
      times.time([&] { (void)*static_cast<volatile std::byte*>(view.application() + page * bench::page_bytes); });
    }
  }
  times.print();
}

/// Microseconds a page of 4 KiB.
void cold_reads(const settings& wanted, const scratch_file& file) {
  bench::samples in_order("cold_in_order", "us"), single("cold_page", "us");
  for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
    file.leave_cache();
    const int memory = ::memfd_create("frames", MFD_CLOEXEC);
    if (memory < 0 || ::ftruncate(memory, static_cast<off_t>(wanted.bytes)) != 0) bench::fail("memfd");
    void* const at = ::mmap(nullptr, wanted.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (at == MAP_FAILED) bench::fail("mmap");
    const int from = file.direct() >= 0 ? file.direct() : file.descriptor();
    const std::uint64_t start = bench::now_ns();
    for (std::uint64_t done = 0; done < wanted.bytes; done += chunk) {
      if (::pread(from, static_cast<std::byte*>(at) + done, chunk, static_cast<off_t>(done)) <= 0) bench::fail("pread");
    }
    in_order.add(static_cast<double>(bench::now_ns() - start) / 1000 /
                 static_cast<double>(wanted.bytes / bench::page_bytes));
    ::munmap(at, wanted.bytes);
    ::close(memory);
    file.leave_cache();
    alignas(4096) static std::byte page[bench::page_bytes];
    const auto order = bench::random_order(wanted.bytes / bench::page_bytes);
    for (std::size_t i = 0; i < std::min<std::size_t>(64, order.size()); ++i) {
      single.time([&] { (void)!::pread(from, page, sizeof page, static_cast<off_t>(order[i] * bench::page_bytes)); });
    }
  }
  in_order.print();
  single.print();
}

void writes(const settings& wanted, const scratch_file& file) {
  std::vector<std::byte> some(chunk, std::byte{9});
  bench::samples times("write_sync", "us");
  for (std::uint64_t round = 0; round < 4 * wanted.rounds; ++round) {
    times.time([&] {
      if (::pwrite(file.descriptor(), some.data(), some.size(), 0) <= 0 || ::fdatasync(file.descriptor()) != 0)
        bench::fail("writing");
    });
  }
  times.print();
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("The floors of containers: a file's pages without Quire.");
  here.add_size("--bytes", wanted.bytes, "of the file");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "times that all is done");
  here.add_text("--directory", wanted.directory, "for the file");
  return here.run(argc, argv, [&] {
    wanted.bytes = std::max<std::uint64_t>(1, wanted.bytes / chunk) * chunk;
    const scratch_file file(wanted.directory, wanted.bytes);
    warm_faults(wanted, file);
    cold_reads(wanted, file);
    writes(wanted, file);
  });
}
