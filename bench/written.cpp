// SPDX-License-Identifier: BSD-3-Clause
// quire_written: what it costs to learn which pages were written between two releases, per written page, by Quire's own
// detectors in one process and without a protocol. All pages are mapped before; a round takes the ways in turn, each
// with pages of its own. Nanoseconds a page.
//   fault      userfaultfd, inline: the first write faults, the handler copies the page to its twin and opens it; at
//              the end the pages are protected again, neighbours in one call
//   scan       the first write is the kernel's alone; at the end collect() over the whole region. The twin must be
//              there already: kept from when the page came
//   scan_copy  the same, and every page that is found is copied to its twin: what keeping twins costs
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

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
using quire::detect::page_range;
constexpr std::size_t page = bench::page_bytes;

struct settings {
  std::uint64_t small = 64;
  std::uint64_t large = 1024;
  std::uint64_t rounds = 40;
};

void expect(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

/// A pool of memfd with its detector; all pages are permitted to be read.
class area {
 public:
  area(quire::detect::kind which, std::size_t pages) : pages_(pages) {
    auto opened = quire::detect::open(which, false);
    expect(opened.ok(), "this machine has no such detector");
    detector_ = std::move(opened.value());
    int error = 0;
    void* const at = quire::os::reserve(bytes(), nullptr, error);
    auto made = quire::pool::make({}, reinterpret_cast<std::uint64_t>(at), bytes(), detector_->accessible());
    expect(made.ok(), "no memory for the pages");
    pool_ = std::move(made.value());
    expect(detector_->attach(base(), bytes()) == 0 && pool_->populate(0, bytes()) == 0, "cannot prepare the pages");
    std::memset(pool_->system_view(), 1, bytes());
    expect(detector_->permit(base(), bytes(), access::none, access::read) == 0, "cannot open the pages");
    // The kernel fills its tables with the first access.
    for (std::size_t i = 0; i < pages; ++i) (void)*static_cast<const volatile std::byte*>(base() + i * page);
  }
  [[nodiscard]] std::byte* base() const { return pool_->application_view(); }
  [[nodiscard]] const std::byte* content(std::size_t i) const { return pool_->system_view() + i * page; }
  [[nodiscard]] std::size_t bytes() const { return pages_ * page; }
  [[nodiscard]] detector& guard() const { return *detector_; }
  void write(const std::vector<std::size_t>& order) const {
    for (const std::size_t i : order) *static_cast<volatile std::byte*>(base() + i * page) = std::byte{2};
  }

 private:
  std::size_t pages_;
  std::unique_ptr<detector> detector_;
  std::unique_ptr<quire::pool::pool> pool_;
};

/// A twin for every page, there before anything is measured.
class twins {
 public:
  explicit twins(std::size_t pages) : bytes_(pages * page) {
    int error = 0;
    base_ = static_cast<std::byte*>(quire::os::map_table(bytes_, error));
    expect(base_ != nullptr, "no memory for twins");
    std::memset(base_, 1, bytes_);
  }
  ~twins() { quire::os::unmap(base_, bytes_); }
  twins(const twins&) = delete;
  twins& operator=(const twins&) = delete;
  void take(const area& from, std::size_t i) const noexcept { std::memcpy(base_ + i * page, from.content(i), page); }

 private:
  std::size_t bytes_;
  std::byte* base_ = nullptr;
};

/// For the handler.
const area* g_area = nullptr;
const twins* g_twins = nullptr;

bool on_fault(std::uint64_t address, bool) noexcept {
  const std::size_t i = (address - reinterpret_cast<std::uint64_t>(g_area->base())) / page;
  g_twins->take(*g_area, i);
  return g_area->guard().permit(g_area->base() + i * page, page, access::read, access::write) == 0;
}

/// Which pages are written in a round: scattered, or one after the other.
struct work {
  std::vector<std::size_t> order;  ///< as they are written
  std::vector<page_range> ranges;  ///< neighbours together
};

work choose(const area& a, std::size_t count, bool scattered, std::mt19937& random) {
  const std::size_t pages = a.bytes() / page;
  work w;
  if (scattered) {
    std::vector<bool> taken(pages);
    while (w.order.size() < count) {
      const std::size_t i = random() % pages;
      if (!taken[i]) w.order.push_back(i);
      taken[i] = true;
    }
  } else {
    const std::size_t first = random() % (pages - count + 1);
    for (std::size_t i = 0; i < count; ++i) w.order.push_back(first + i);
  }
  auto sorted = w.order;
  std::ranges::sort(sorted);
  for (const std::size_t i : sorted) {
    std::byte* const at = a.base() + i * page;
    if (!w.ranges.empty() && w.ranges.back().address + w.ranges.back().bytes == at) {
      w.ranges.back().bytes += page;
    } else {
      w.ranges.push_back({at, page});
    }
  }
  return w;
}

/// The times of one way: its writes, what is done at the end, and both.
class times {
 public:
  times(const std::string& name, std::size_t pages)
      : pages_(static_cast<double>(pages)),
        write_(name + " write", "ns"),
        end_(name + " end", "ns"),
        all_(name + " all", "ns") {}
  template <class Write, class End>
  void measure(Write&& write, End&& end) {
    const auto start = bench::now_ns();
    write();
    const auto written = bench::now_ns();
    end();
    const auto stop = bench::now_ns();
    write_.add(static_cast<double>(written - start) / pages_);
    end_.add(static_cast<double>(stop - written) / pages_);
    all_.add(static_cast<double>(stop - start) / pages_);
  }
  void print() const {
    for (const auto* t : {&write_, &end_, &all_}) t->print();
  }

 private:
  double pages_;
  bench::samples write_, end_, all_;
};

/// All pages found by collect(), each given to `use`.
template <class Use>
std::size_t collect_all(const area& a, Use&& use) {
  std::array<page_range, 256> found;
  std::size_t count = 0, pages = 0;
  std::byte* const end = a.base() + a.bytes();
  for (std::byte* at = a.base(); at != end;) {
    expect(a.guard().collect(at, end, found, count) == 0, "collect() failed");
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = static_cast<std::size_t>(found[i].address - a.base()) / page;
      for (std::size_t p = 0; p < found[i].bytes / page; ++p) use(first + p);
      pages += found[i].bytes / page;
    }
  }
  return pages;
}

void measure(const settings& wanted, const area& fault, const area& scan, const twins& twin, const std::string& prefix,
             std::size_t count, bool scattered) {
  const std::string name = prefix + " " + std::to_string(count) + (scattered ? " scattered " : " in_a_row ");
  std::array<times, 3> ways{times(name + "fault", count), times(name + "scan", count),
                            times(name + "scan_copy", count)};
  std::mt19937 random(static_cast<unsigned>(count));
  for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
    const work at_fault = choose(fault, count, scattered, random), at_scan = choose(scan, count, scattered, random),
               at_copy = choose(scan, count, scattered, random);
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      const std::size_t way = (round + turn) % ways.size();
      if (way == 0) {
        ways[0].measure([&] { fault.write(at_fault.order); },
                        [&] {
                          for (const auto& r : at_fault.ranges) {
                            expect(fault.guard().protect(r.address, r.bytes, access::write, access::read) == 0,
                                   "protect");
                          }
                        });
      } else {
        std::size_t found = 0;
        ways[way].measure([&] { scan.write(way == 1 ? at_scan.order : at_copy.order); },
                          [&] {
                            found = collect_all(scan, [&](std::size_t i) {
                              if (way == 2) twin.take(scan, i);
                            });
                          });
        expect(found == count, "collect() has not found what was written");
      }
    }
  }
  for (const auto& way : ways) way.print();
}

void run(const settings& wanted) {
  for (const std::uint64_t mebibytes : {wanted.small, wanted.large}) {
    const std::size_t pages = (mebibytes << 20) / page;
    const area fault(quire::detect::kind::userfault_inline, pages), scan(quire::detect::kind::userfault_scan, pages);
    const twins twin(pages);
    g_area = &fault;
    g_twins = &twin;
    expect(quire::detect::install_signals(&on_fault).ok(), "no signal handler");
    for (const bool scattered : {true, false}) {
      for (const std::size_t count : {1, 10, 100, 1000, 10000}) {
        if (count <= pages) measure(wanted, fault, scan, twin, std::to_string(mebibytes) + "_MiB", count, scattered);
      }
    }
    quire::detect::remove_signals();
  }
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("What it costs to learn which pages were written, in ns per page: by faults, and by scans.");
  here.add_number("--small", wanted.small, 1, 1 << 20, "MiB of the first region");
  here.add_number("--large", wanted.large, 1, 1 << 20, "MiB of the second; memory for three times as much is needed");
  here.add_number("--rounds", wanted.rounds, 1, 1 << 20, "times that each is done");
  return here.run(argc, argv, [&] { run(wanted); });
}
