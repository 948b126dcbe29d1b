// SPDX-License-Identifier: BSD-3-Clause
// multiview_overhead: what it costs to read an array through n views (Millipage, section 4.1 and Figure 5). One process
// without Quire: a memfd, mapped n times. Each page has n minipages of one size, and minipage j is read in view j; the
// array is read from its first element to its last. `skewed`: views are nine pages farther from each other than they
// are long, as Quire's (core/view_map.hpp); `even`: they follow each other.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/order.hpp"
#include "common/program.hpp"
#include "common/ratio.hpp"
#include "common/samples.hpp"

namespace {

using bench::page_bytes;
constexpr std::size_t least_bytes = 512 << 10;
constexpr std::size_t skew = 9 * page_bytes;
constexpr std::size_t bytes_a_round = 4 << 20;  ///< or more: small arrays are read several times

struct settings {
  std::uint64_t largest = 16 << 20;
  std::uint64_t views = 512;
  std::uint64_t rounds = 7;
};

/// One array, with all its views.
class mapped_array {
 public:
  mapped_array(std::size_t bytes, std::size_t views, bool skewed)
      : bytes_(bytes), views_(views), stride_(bytes + (skewed ? skew : 0)) {
    const int file = ::memfd_create("multiview", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0)
      throw std::runtime_error("no memory for the array");
    void* const at = ::mmap(nullptr, stride_ * views, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::runtime_error("no addresses for " + std::to_string(views) + " views");
    at_ = static_cast<std::byte*>(at);
    for (std::size_t v = 0; v < views; ++v) {
      const void* const view =
          ::mmap(at_ + v * stride_, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
      if (view == MAP_FAILED) throw std::runtime_error("a view cannot be mapped");
    }
    ::close(file);
    for (std::size_t i = 0; i < bytes; ++i) at_[i] = static_cast<std::byte>(i);
  }
  ~mapped_array() { ::munmap(at_, stride_ * views_); }
  mapped_array(const mapped_array&) = delete;
  mapped_array& operator=(const mapped_array&) = delete;

  [[nodiscard]] std::size_t views() const noexcept { return views_; }
  [[nodiscard]] std::size_t passes() const noexcept { return std::max<std::size_t>(bytes_a_round / bytes_, 1); }
  /// Each element once, by a load of its own.
  template <class Element>
  [[gnu::noinline]] std::uint64_t read() const {
    const std::size_t minipage = page_bytes / views_;
    std::uint64_t sum = 0;
    for (std::size_t page = 0; page < bytes_; page += page_bytes)
      for (std::size_t v = 0; v < views_; ++v) {
        const auto* const first = reinterpret_cast<const volatile Element*>(at_ + v * stride_ + page + v * minipage);
        for (std::size_t i = 0; i < minipage / sizeof(Element); ++i) sum += first[i];
      }
    return sum;
  }

 private:
  std::size_t bytes_, views_, stride_;
  std::byte* at_ = nullptr;
};

/// Microseconds of a pass, when there has just been one.
template <class Element>
double time_of(const mapped_array& a, std::uint64_t expected) {
  std::uint64_t wrong = a.read<Element>() ^ expected;
  const auto start = bench::now_ns();
  for (std::size_t pass = 0; pass < a.passes(); ++pass) wrong |= a.read<Element>() ^ expected;
  const auto took = bench::now_ns() - start;
  if (wrong != 0) throw std::runtime_error("views show different contents");
  return static_cast<double>(took) / 1000 / static_cast<double>(a.passes());
}

/// Each round reads through every number of views, in turn: its ratios are of one moment.
template <class Element>
void measure(const std::vector<std::unique_ptr<mapped_array>>& arrays, const std::string& what, const std::string& how,
             std::uint64_t rounds) {
  std::vector<bench::samples> times;
  std::vector<bench::ratio> ratios;
  for (const auto& a : arrays) {
    const std::string name = what + " " + std::to_string(a->views()) + " " + how;
    times.emplace_back(name + " time", "us");
    ratios.emplace_back(name, "of one view");
  }
  const std::uint64_t expected = arrays.front()->template read<Element>();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    double one = 0;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const double took = time_of<Element>(*arrays[i], expected);
      if (i == 0) one = took;
      times[i].add(took);
      ratios[i].add(took, one);
    }
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) times[i].print(), ratios[i].print();
}

void run(const settings& wanted) {
  for (const bool skewed : {true, false})
    for (std::size_t bytes = least_bytes; bytes <= wanted.largest; bytes *= 2) {
      std::vector<std::unique_ptr<mapped_array>> arrays;
      for (std::size_t views = 1; views <= wanted.views; views *= 2)
        arrays.push_back(std::make_unique<mapped_array>(bytes, views, skewed));
      const std::string how = std::to_string(bytes) + (skewed ? " skewed" : " even");
      measure<std::uint8_t>(arrays, "bytes", how, wanted.rounds);
      measure<std::uint64_t>(arrays, "words", how, wanted.rounds);
    }
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("An array that is read through several views, in one process; against one view.");
  here.add_size("--largest", wanted.largest, "the largest array; the smallest has 512 KiB");
  here.add_number("--views", wanted.views, 1, 512, "the most views");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "times that each is read");
  return here.run(argc, argv, [&] { run(wanted); });
}
