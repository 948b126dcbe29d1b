// SPDX-License-Identifier: BSD-3-Clause
// Rounds of barriers or of a mutex, and after some of them a call that stops the region for all nodes: a checkpoint, a
// change of consistency, a parallel block. No thread runs beside them. Every value that a round leaves is checked in
// the next one.
#include "../process/node.hpp"
#include "arguments.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t units = 4;

struct settings {
  std::uint64_t seed = 1, unit = 4096, phases = 10, rounds = 30, call = 0, mutex = 0, release = 1, checked = 0,
                detector = 0, placement = 0, pool = 0;
};
enum call : std::uint64_t { checkpoint, change, block };

/// Each node has words of its own in every unit: two for rounds, which take turns, and one for parallel blocks.
class grid {
 public:
  grid(std::uint64_t* base, std::size_t unit_bytes) : base_(base), unit_words_(unit_bytes / sizeof(std::uint64_t)) {}
  [[nodiscard]] volatile std::uint64_t& at(std::size_t unit, std::size_t row, int node) const {
    return base_[unit * unit_words_ + 1 + row * static_cast<std::size_t>(quire_nodes()) +
                 static_cast<std::size_t>(node)];
  }
  [[nodiscard]] volatile std::uint64_t& counter() const { return base_[0]; }

 private:
  std::uint64_t* base_;
  std::size_t unit_words_;
};

class program {
 public:
  explicit program(const settings& s) : settings_(s), random_(mix(s.seed)) {
    if (quire_node() == 0) {
      auto about = region_options(s.unit, static_cast<quire_placement>(s.placement));
      about.consistency = s.release != 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
      about.detector = static_cast<quire_detector>(s.detector);
      about.pool = static_cast<quire_pool>(s.pool);
      REQUIRE_OK(quire_region_create(&about, s.unit * units, &region_));
      REQUIRE_OK(quire_mutex_create(&mutex_));
    }
    REQUIRE_OK(quire_broadcast(&region_, sizeof region_, 0));
    REQUIRE_OK(quire_broadcast(&mutex_, sizeof mutex_, 0));
  }

  void run() {
    void* address = nullptr;
    REQUIRE_OK(quire_region_range(region_, &address, nullptr));
    const grid g(static_cast<std::uint64_t*>(address), settings_.unit);
    bool released = settings_.release != 0;
    for (std::uint64_t phase = 0; phase < settings_.phases; ++phase) {
      for (std::uint64_t round = 0; round < settings_.rounds; ++round) settings_.mutex != 0 ? count(g) : exchange(g);
      barrier();
      if (settings_.mutex != 0)
        see(g.counter(), (phase + 1) * settings_.rounds * static_cast<std::uint64_t>(quire_nodes()));
      if (settings_.call == checkpoint) REQUIRE_OK(quire_checkpoint("checkpoint"));
      if (settings_.call == change)
        REQUIRE_OK(quire_region_set_consistency(region_, (released = !released) ? QUIRE_RELEASE : QUIRE_SEQUENTIAL));
      if (settings_.call == block) in_a_block(g, phase);
    }
    std::int64_t reads = static_cast<std::int64_t>(reads_);
    REQUIRE_OK(quire_reduce_i64(&reads, 1, QUIRE_SUM));
    if (quire_node() == 0) std::printf("checked %" PRId64 " reads, %" PRIu64 " phases\n", reads, settings_.phases);
  }

 private:
  static std::uint64_t value(std::uint64_t round, int node) {
    return mix(round * 1009 + static_cast<std::uint64_t>(node));
  }
  void see(std::uint64_t got, std::uint64_t wanted) {
    if (got != wanted) fail(__FILE__, __LINE__, "%" PRIu64 " was read, not %" PRIu64, got, wanted);
    ++reads_;
  }

  void exchange(const grid& g) {
    const int me = quire_node(), next = (me + 1) % quire_nodes();
    for (std::size_t u = 0; u < units; ++u) {
      if (done_ > 0) see(g.at(u, (done_ - 1) % 2, next), value(done_ - 1, next));
      g.at(u, done_ % 2, me) = value(done_, me);
    }
    ++done_;
    barrier();
  }
  void count(const grid& g) {
    REQUIRE_OK(quire_mutex_lock(mutex_));
    g.counter() = g.counter() + 1;
    REQUIRE_OK(quire_mutex_unlock(mutex_));
  }
  /// Each node writes its words of some units; all read all of them afterwards.
  void in_a_block(const grid& g, std::uint64_t phase) {
    quire_overlap overlap;
    const std::uint64_t written = 1 + random_.below((1 << units) - 1);  // the same on all nodes
    REQUIRE_OK(quire_block_begin(region_, settings_.checked != 0 ? QUIRE_BLOCK_CHECK : 0));
    for (std::size_t u = 0; u < units; ++u)
      if ((written >> u & 1) != 0) g.at(u, 2, quire_node()) = value(phase, quire_node());
    REQUIRE_OK(quire_block_end(region_, &overlap));
    for (std::size_t u = 0; u < units; ++u)
      for (int node = 0; node < quire_nodes(); ++node)
        if ((written >> u & 1) != 0) see(g.at(u, 2, node), value(phase, node));
    barrier();
  }

  settings settings_;
  random_numbers random_;
  quire_region region_{};
  quire_mutex mutex_{};
  std::uint64_t done_ = 0, reads_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  settings s;
  read_arguments(argc, argv,
                 "Checks what rounds of barriers or of a mutex leave, around calls that stop a region for all nodes.",
                 {{"seed", &s.seed, ~std::uint64_t{0}, "of what blocks write"},
                  {"unit", &s.unit, 2 << 20, "bytes of the region's units"},
                  {"phases", &s.phases, 1 << 20, "how often the call is made"},
                  {"rounds", &s.rounds, 1 << 20, "barriers, or turns of the mutex, before each"},
                  {"call", &s.call, 2,
                   "0: a checkpoint in the working directory, 1: a change of consistency, 2: a parallel block"},
                  {"mutex", &s.mutex, 1, "rounds of a mutex instead of barriers"},
                  {"release", &s.release, 1, "release consistency at first"},
                  {"checked", &s.checked, 1, "blocks that are checked"},
                  {"detector", &s.detector, 4, "quire_detector of the region"},
                  {"placement", &s.placement, 3, "quire_placement of the region"},
                  {"pool", &s.pool, 6, "quire_pool of the region"}});
  return node_main([&] { program(s).run(); });
}
