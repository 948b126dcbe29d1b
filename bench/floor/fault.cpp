// SPDX-License-Identifier: BSD-3-Clause
// floor_fault: what a read fault on a page of another process costs at least on this machine: fault, request, reply,
// copy into the frame, mapping, resume; no protocol, no locks, no other threads. Pages in random order. Start it as
// `pair floor_fault`.
#include <signal.h>

#include "common/program.hpp"
#include "common/samples.hpp"
#include "floor/double_view.hpp"
#include "floor/page_link.hpp"

namespace {

struct settings {
  std::string transport = "shm";
  std::uint64_t pages = 4096;
  std::uint64_t rounds = 3;
};

/// What the signal handler needs.
template <class Link>
struct handling {
  static inline const bench::double_view* memory = nullptr;
  static inline Link* link = nullptr;

  static void on_fault(int, siginfo_t* about, void*) {
    const auto page =
        static_cast<std::size_t>(static_cast<std::byte*>(about->si_addr) - memory->application()) / bench::page_bytes;
    if (!link->ask(static_cast<std::uint32_t>(page), memory->system() + page * bench::page_bytes) ||
        !memory->permit_read(page)) {
      ::signal(SIGBUS, SIG_DFL);  // the access faults again, and ends this process
    }
  }
};

std::byte first_byte(std::size_t page) { return static_cast<std::byte>(page % 251 + 1); }

void touch(const bench::double_view& memory, std::size_t page) {
  const auto* const at = static_cast<volatile std::byte*>(memory.application() + page * bench::page_bytes);
  if (*at != first_byte(page)) throw std::runtime_error("a page came with the wrong content");
}

template <class Link>
void measure(const settings& wanted, Link& link) {
  const bench::double_view memory(wanted.pages * bench::page_bytes);
  handling<Link>::memory = &memory;
  handling<Link>::link = &link;
  struct sigaction action {};
  action.sa_sigaction = &handling<Link>::on_fault;
  action.sa_flags = SA_SIGINFO;
  if (::sigaction(SIGBUS, &action, nullptr) != 0) bench::fail("sigaction");

  const auto order = bench::random_order(wanted.pages);
  bench::samples known("read_fault", "us"), fresh("first_read_fault", "us");
  for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
    memory.discard();
    for (const std::size_t page : order) fresh.time([&] { touch(memory, page); });
    memory.invalidate();
    for (const std::size_t page : order) known.time([&] { touch(memory, page); });
  }
  known.print();
  fresh.print();
  if (!link.ask(bench::no_more_pages, nullptr)) bench::fail("end");
}

template <class Link>
void run(const settings& wanted) {
  const bench::peer other;
  Link link(other);
  if (other.measures()) return measure(wanted, link);
  std::vector<std::byte> pages(wanted.pages * bench::page_bytes);
  for (std::size_t page = 0; page < wanted.pages; ++page) pages[page * bench::page_bytes] = first_byte(page);
  link.serve(pages.data());
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("The floor of a remote read fault. Start it as `pair floor_fault`.");
  here.add_transport(wanted.transport);
  here.add_number("--pages", wanted.pages, 1, 1 << 20, "pages of 4 KiB");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "times that each page is read");
  return here.run(argc, argv,
                  [&] { wanted.transport == "tcp" ? run<bench::tcp_link>(wanted) : run<bench::flag_link>(wanted); });
}
