// SPDX-License-Identifier: BSD-3-Clause
// multiview_costs: faults on minipages of 128 bytes beside those on pages, by units in random order (Millipage, Table 1
// and section 4.2). Start it on two nodes or more. Units lie on pages of their own, so both kinds touch as many pages,
// and have their manager at node 0. In each round, for both kinds in turn:
//   node 0 writes them; the last node reads (one copy to fetch); it writes (upgrade: one copy to take away); node 0
//   writes again; for each k: nodes 1 to k read; the last node writes (miss: node 0's copy, and k more, go).
#include <quire/quire.hpp>

#include <memory>

#include "common/job.hpp"
#include "common/order.hpp"
#include "common/program.hpp"
#include "common/ratio.hpp"
#include "common/samples.hpp"

namespace {

struct settings {
  std::uint64_t units = 2048;
  std::uint64_t rounds = 5;
};

constexpr std::size_t minipage_bytes = 128;

/// A word of each unit.
class units {
 public:
  units(const quire::session& job, std::size_t bytes, std::uint64_t count)
      : name_(std::to_string(bytes)), order_(bench::random_order(count)) {
    const auto memory = quire::from_node(0, [&] {
      return quire::region::create(
          count * bench::page_bytes,
          {.place = quire::placement::node, .home = 0, .minipage_bytes = bytes < bench::page_bytes ? bytes : 0});
    });
    std::byte* const first = memory.bytes().data();
    for (std::size_t page = 0; page < count; ++page) {
      void* at = first + page * bench::page_bytes;
      if (bytes < bench::page_bytes) {
        at = static_cast<std::byte*>(at) + page % (bench::page_bytes / bytes) * bytes;
        if (quire_view(at, QUIRE_FINE, &at) != QUIRE_OK) throw std::runtime_error("a minipage has no view");
      }
      words_.push_back(static_cast<volatile std::uint64_t*>(at));
    }
    node_ = job.node();
  }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// `node` writes all; `times`, if any, take how long each took. All nodes call.
  void write(int node, bench::samples* times) {
    ++version_;
    each(node, times, [&](std::size_t i) { *words_[i] = version_ + i; });
  }
  void read(int node, bench::samples* times) {
    each(node, times, [&](std::size_t i) {
      if (*words_[i] != version_ + i) throw std::runtime_error("a unit has an old content");
    });
  }

 private:
  template <class Access>
  void each(int node, bench::samples* times, const Access& access) {
    if (node_ == node)
      for (const std::size_t i : order_) {
        const auto start = bench::now_ns();
        access(i);
        if (times != nullptr) times->add(static_cast<double>(bench::now_ns() - start) / 1000);
      }
    quire::barrier{}.arrive_and_wait();
  }
  int node_ = 0;
  std::string name_;
  std::vector<std::size_t> order_;
  std::vector<volatile std::uint64_t*> words_;
  std::uint64_t version_ = 0;
};

/// All rounds of one thing, and each round's median.
struct figure {
  explicit figure(std::string what) : name(std::move(what)), all(name, "us") {}
  std::string name;
  bench::samples all;
  std::vector<double> rounds{};
  template <class Measure>
  void add(const Measure& measure) {
    bench::samples one(name, "us");
    measure(one);
    if (one.empty()) return;
    rounds.push_back(one.median());
    all.append(one);
  }
};

/// What is measured of one kind of units. The last node has the figures.
class kind {
 public:
  kind(const quire::session& job, std::size_t bytes, std::uint64_t count)
      : last_(job.nodes() - 1), all_(job, bytes, count) {
    for (const std::string what : {"read ", "upgrade "}) found.push_back(std::make_unique<figure>(what + all_.name()));
    for (int k = 0; k < last_; ++k)
      found.push_back(std::make_unique<figure>("write " + all_.name() + " " + std::to_string(k)));
  }
  /// The first time makes frames, and does not count.
  void round(bool counts) {
    const auto measured = [&](std::size_t which, const auto& step) {
      counts ? found[which]->add([&](bench::samples& times) { step(&times); }) : step(nullptr);
    };
    all_.write(0, nullptr);
    measured(0, [&](bench::samples* times) { all_.read(last_, times); });
    measured(1, [&](bench::samples* times) { all_.write(last_, times); });
    for (int k = 0; k < last_; ++k) {
      all_.write(0, nullptr);
      for (int reader = 1; reader <= k; ++reader) all_.read(reader, nullptr);
      measured(2 + static_cast<std::size_t>(k), [&](bench::samples* times) { all_.write(last_, times); });
    }
  }
  std::vector<std::unique_ptr<figure>> found;

 private:
  int last_;
  units all_;
};

/// The call that leads from an address of a minipage to its fine view: what a lookup costs.
void measure_lookup(std::byte* minipages, std::uint64_t count) {
  bench::samples times("lookup", "us");
  for (int round = 0; round < 16; ++round) {
    const auto start = bench::now_ns();
    for (std::uint64_t i = 0; i < count; ++i) {
      void* at = nullptr;
      if (quire_view(minipages + i * minipage_bytes, QUIRE_FINE, &at) != QUIRE_OK)
        throw std::runtime_error("a minipage has no view");
    }
    times.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(count));
  }
  times.print();
}

void run(const settings& wanted) {
  const quire::session job;
  bench::expect_nodes_or_more(job, 2);
  kind fine(job, minipage_bytes, wanted.units), pages(job, bench::page_bytes, wanted.units);
  for (std::uint64_t round = 0; round <= wanted.rounds; ++round)
    for (kind* const k : {&fine, &pages}) k->round(round != 0);
  const auto some =
      quire::from_node(0, [] { return quire::region::create(1 << 20, {.minipage_bytes = minipage_bytes}); });
  if (job.node() == job.nodes() - 1) {
    for (std::size_t i = 0; i < fine.found.size(); ++i) {
      const figure &a = *fine.found[i], &b = *pages.found[i];
      a.all.print();
      b.all.print();
      bench::ratio ratio(a.name, "of a page");
      for (std::size_t round = 0; round < a.rounds.size(); ++round) ratio.add(a.rounds[round], b.rounds[round]);
      ratio.print();
    }
    measure_lookup(some.bytes().data(), (1 << 20) / minipage_bytes);
  }
  quire::barrier{}.arrive_and_wait();
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here(
      "Faults on minipages of 128 bytes, and on pages. Start it as `quire run -n 2 multiview_costs`, or on more "
      "nodes.");
  here.add_number("--units", wanted.units, 1, 1 << 16, "units of each kind");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "times through all states");
  return here.run(argc, argv, [&] { run(wanted); });
}
