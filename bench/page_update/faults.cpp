// SPDX-License-Identifier: BSD-3-Clause
// page_update_faults: what it costs to notice an access and to give and take permission, by Quire's own pools and
// detectors, in one process and without a protocol: delivery of a fault, the permission, the way back; protections
// singly and in batches, with one running thread and with two; and how many pages in alternating states a process can
// have.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "common/clock.hpp"
#include "common/order.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"
#include "detect/detector.hpp"
#include "os/memory.hpp"
#include "pool/pool.hpp"

namespace {

using quire::detect::access;
using quire::detect::detector;

struct settings {
  std::uint64_t pages = 4096;
  std::uint64_t rounds = 5;
  std::uint64_t most_pages = 300'000;
};

struct pair {
  quire::pool::kind pool;
  quire::detect::kind detector;
  [[nodiscard]] std::string name() const {
    constexpr const char* words[] = {" userfault ", " thread ", " segv "};
    return quire::pool::name_of(pool) + std::string(words[static_cast<std::size_t>(detector)]);
  }
};

/// A pool with its detector, ready.
class area {
 public:
  area(const pair& p, std::uint64_t pages) : detector_(open(p)), pool_(make(p, pages * bench::page_bytes, *detector_)) {
    if (detector_->attach(base(), pages * bench::page_bytes) != 0)
      throw std::runtime_error(p.name() + ": cannot attach");
    if (pool_->populate(0, pages * bench::page_bytes) != 0) throw std::runtime_error(p.name() + ": no memory");
  }
  [[nodiscard]] std::byte* base() const { return pool_->application_view(); }
  [[nodiscard]] std::byte* page(std::size_t i) const { return base() + i * bench::page_bytes; }
  [[nodiscard]] detector& guard() const { return *detector_; }
  /// The permission of `count` pages from `first` on, from one level to another.
  void change(std::size_t first, std::size_t count, access from, access to) const {
    const std::size_t bytes = count * bench::page_bytes;
    const int error =
        to > from ? guard().permit(page(first), bytes, from, to) : guard().protect(page(first), bytes, from, to);
    if (error != 0) throw std::runtime_error("a permission cannot be changed");
  }

 private:
  static std::unique_ptr<detector> open(const pair& p) {
    auto opened = quire::detect::open(p.detector, false);
    if (!opened.ok()) throw std::runtime_error(p.name() + ": cannot open");
    return std::move(opened.value());
  }
  static std::unique_ptr<quire::pool::pool> make(const pair& p, std::uint64_t bytes, const detector& d) {
    int error = 0;
    void* const at = quire::os::reserve(bytes, nullptr, error);
    auto made = quire::pool::make({p.pool, "", false, 0}, reinterpret_cast<std::uint64_t>(at), bytes, d.accessible());
    if (!made.ok()) throw std::runtime_error(p.name() + ": cannot make");
    return std::move(made.value());
  }
  std::unique_ptr<detector> detector_;
  std::unique_ptr<quire::pool::pool> pool_;
};

/// For the handler: where it is, and when it came and went.
const area* g_area = nullptr;
std::atomic<std::uint64_t> g_entered{0}, g_left{0};

bool on_fault(std::uint64_t address, bool) noexcept {
  g_entered = bench::now_ns();
  const auto page = (address - reinterpret_cast<std::uint64_t>(g_area->base())) / bench::page_bytes;
  const bool done = g_area->guard().permit(g_area->page(page), bench::page_bytes, access::none, access::read) == 0;
  g_left = bench::now_ns();
  return done;
}

/// Where the kernel keeps the faulting thread and tells another one: that one, asleep between faults.
class handler_thread {
 public:
  explicit handler_thread(const area& a) : stop_(::eventfd(0, EFD_CLOEXEC)) {
    if (a.guard().descriptor() < 0) return;
    thread_ = std::thread([this, &a] {
      pollfd entries[] = {{a.guard().descriptor(), POLLIN, 0}, {stop_, POLLIN, 0}};
      while (entries[1].revents == 0) {
        (void)::poll(entries, 2, -1);
        for (quire::detect::fault_event event; a.guard().next(event);) (void)on_fault(event.address, event.write);
      }
    });
  }
  ~handler_thread() {
    const std::uint64_t one = 1;
    (void)!::write(stop_, &one, sizeof one);
    if (thread_.joinable()) thread_.join();
    ::close(stop_);
  }
  handler_thread(const handler_thread&) = delete;
  handler_thread& operator=(const handler_thread&) = delete;

 private:
  int stop_;
  std::thread thread_;
};

void measure_delivery(const pair& p, const settings& wanted) {
  const area a(p, wanted.pages);
  g_area = &a;
  if (!quire::detect::install_signals(&on_fault).ok()) throw std::runtime_error("no signal handler");
  const handler_thread handler(a);
  bench::samples deliver(p.name() + "fault: to the handler", "us"), fix(p.name() + "fault: permission", "us"),
      resume(p.name() + "fault: back", "us"), total(p.name() + "fault: all", "us");
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000; };
  for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
    for (const std::size_t i : bench::random_order(wanted.pages, static_cast<std::uint32_t>(round))) {
      const auto start = bench::now_ns();
      (void)*static_cast<const volatile std::byte*>(a.page(i));
      const auto end = bench::now_ns();
      // A handler thread may not have looked at the clock yet when the kernel has let this one go.
      const std::uint64_t entered = g_entered, told = g_left, left = told < entered || told > end ? end : told;
      deliver.add(us(entered - start));
      fix.add(us(left - entered));
      resume.add(us(end - left));
      total.add(us(end - start));
    }
    a.change(0, wanted.pages, access::read, access::none);
  }
  quire::detect::remove_signals();
  for (const auto* times : {&deliver, &fix, &resume, &total}) times->print();
}

/// `count` neighbouring pages at a time, per page; a second thread keeps the other core busy in this address space.
void measure_changes(const pair& p, const settings& wanted, std::size_t count, bool second_thread) {
  const area a(p, wanted.pages);
  std::atomic<bool> stop{false};
  std::thread other;
  if (second_thread) {
    other = std::thread([&] {
      while (!stop.load(std::memory_order_relaxed)) bench::cpu_relax();
    });
  }
  const std::string which = p.name() + std::to_string(count) + (count == 1 ? " page, " : " pages, ") +
                            (second_thread ? "2 threads: " : "1 thread: ");
  bench::samples install(which + "none to read", "us"), upgrade(which + "read to write", "us"),
      downgrade(which + "write to read", "us"), invalidate(which + "read to none", "us");
  const auto step = [&](bench::samples& times, std::size_t at, access from, access to) {
    const auto start = bench::now_ns();
    a.change(at, count, from, to);
    times.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(count));
    // The mappings are really there, and written, before the next step takes them away.
    for (std::size_t i = at; i < at + count; ++i) {
      if (to == access::read) (void)*static_cast<const volatile std::byte*>(a.page(i));
      if (to == access::write) *static_cast<volatile std::byte*>(a.page(i)) = std::byte{1};
    }
  };
  for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
    for (std::size_t at = 0; at + count <= wanted.pages; at += count * 2) {
      step(install, at, access::none, access::read);
      step(upgrade, at, access::read, access::write);
      step(downgrade, at, access::write, access::read);
      step(invalidate, at, access::read, access::none);
    }
  }
  stop = true;
  if (other.joinable()) other.join();
  for (const auto* times : {&install, &upgrade, &downgrade, &invalidate}) times->print();
}

/// Every second page open, until the system refuses, or `most_pages`.
void measure_limit(const pair& p, const settings& wanted) {
  const area a(p, wanted.most_pages);
  std::uint64_t pages = 0;
  while (pages < wanted.most_pages &&
         a.guard().permit(a.page(pages), bench::page_bytes, access::none, access::read) == 0) {
    pages += 2;
  }
  bench::samples reached(p.name() + "pages in alternating states",
                         pages < wanted.most_pages ? "pages, then refused" : "pages, no limit met");
  reached.add(static_cast<double>(std::min(pages, wanted.most_pages)));
  reached.print();
}

void run(const settings& wanted) {
  using enum quire::pool::kind;
  using enum quire::detect::kind;
  for (const pair& p : {pair{memfd, userfault_inline}, pair{posix, userfault_inline}, pair{mdup, userfault_inline},
                        pair{memfd, userfault_thread}, pair{memfd, segv}, pair{posix, segv}, pair{mdup, segv},
                        pair{file, segv}, pair{sysv, segv}}) {
    measure_delivery(p, wanted);
    for (const bool second : {false, true}) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{64}, std::size_t{1024}}) {
        measure_changes(p, wanted, count, second);
      }
    }
    measure_limit(p, wanted);
  }
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("What faults and permissions cost, by page pool and detector.");
  here.add_number("--pages", wanted.pages, 2048, 1 << 20, "pages of 4 KiB");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "times that each is done");
  here.add_number("--limit", wanted.most_pages, 2, 1 << 22, "pages in alternating states to try");
  return here.run(argc, argv, [&] { run(wanted); });
}
