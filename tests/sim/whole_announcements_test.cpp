// SPDX-License-Identifier: BSD-3-Clause
// Heaps with minipages on whole nodes: what src/region does when pages are to be cut, with delays, and while nodes die.
// Threads of all nodes allocate objects of ever new sizes, and use at once what others have just been given: every node
// must know where each begins.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/configuration.hpp"
#include "core/region_slot.hpp"
#include "heap/minipage_heap.hpp"
#include "region/announcements.hpp"
#include "region/services.hpp"
#include "region/shared_heap.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole::whole_announcements_test {
namespace {

constexpr std::uint64_t page = 4096, base = base_address + (std::uint64_t{2} << 20), bytes = std::uint64_t{3} << 20;
constexpr unsigned most_nodes = 4;

core::region_description region(sim::random& draw) {
  core::region_description about;
  about.id = 1;
  about.base = base;
  about.bytes = bytes;
  about.placement = QUIRE_PLACE_BLOCK;
  about.heap = 1;
  about.views = draw.chance(50) ? 2 : 8;
  about.layout = core::layouts::divided.id;
  return about;
}

/// What region::registry does for a thread of its own node.
class heap_of_node {
 public:
  heap_of_node(node& at, const core::region_description& about)
      : at_(at),
        handle_(core::handle_of(about)),
        memory_(about, at.core().config.nodes, at.self()),
        telling_(at.core()) {
    telling_.open([](void* self, std::uint64_t, const heap::span_plan& plan,
                     base::status why) noexcept { static_cast<heap_of_node*>(self)->on_laid(plan, why); },
                  [](void* self, std::uint64_t handle, std::uint64_t first, std::uint64_t count, node_id by) noexcept {
                    const auto& of = *static_cast<heap_of_node*>(self);
                    return handle == of.handle_ && of.memory_.is_slice_of(by, first, count);
                  },
                  this);
  }
  /// The natural address; 0 if there is no more.
  std::uint64_t allocate(std::uint64_t size) {
    request r(*this, size);
    (void)at_.run(r, -1, false);
    return r.given;
  }
  void set_chunk(unsigned slots) { memory_.set_chunk_here(slots); }
  [[nodiscard]] std::uint64_t told() const noexcept { return told_; }

 private:
  struct request : core::op {
    request(heap_of_node& h, std::uint64_t size)
        : op([](core::core&,
                core::op& self) noexcept { static_cast<request&>(self).of.serve(static_cast<request&>(self)); },
             core::op::type::call),
          of(h),
          size(size) {}
    heap_of_node& of;
    std::uint64_t size, given = 0;
  };
  void serve(request& r) noexcept {
    for (int tries = 0; tries < 2; ++tries) {
      const auto got = memory_.allocate_here(r.size, 16);
      if (got.ok()) r.given = got.value().address;
      if (got.why().code() != QUIRE_BUSY) return r.complete(got.why());
      const auto plan = memory_.plan_here(r.size, 16);
      if (!plan.ok() && plan.why().code() != QUIRE_BUSY) continue;
      waiting_.push_back(&r);
      if (plan.ok()) telling_.tell_all(handle_, plan.value());
      if (plan.ok()) ++told_;
      return;
    }
    r.complete(QUIRE_NO_MEMORY);
  }
  void on_laid(const heap::span_plan& plan, base::status why) noexcept {
    CHECK(why.ok());
    memory_.settle_here(plan, true);
    for (request* const r : std::exchange(waiting_, {})) serve(*r);
  }

  node& at_;
  std::uint64_t handle_, told_ = 0;
  region::shared_heap memory_;
  region::announcements telling_;
  std::vector<request*> waiting_{};
};

struct job {
  job(std::uint64_t seed, bool deaths) : draw(sim::mix(seed ^ 0x1a1d)), dies(deaths), w(options(seed, deaths, draw)) {
    const auto about = region(draw);
    w.add_region(about);
    if (seed % 8 != 0) w.leave_region(about);  // to look at all units after each turn takes most of the time
    for (unsigned n = 0; n < w.nodes(); ++n) heaps.push_back(std::make_unique<heap_of_node>(w.at(n), about));
  }
  static world_options options(std::uint64_t seed, bool deaths, sim::random& draw) {
    world_options o;
    o.net.seed = seed;
    o.net.nodes = 2 + static_cast<unsigned>(seed % (most_nodes - 1));
    o.net.straggler_percent = draw.chance(50) ? 10 : 0;
    o.net.reads_late = draw.chance(50);
    o.node.read_ahead = draw.chance(70);
    o.node.survives = deaths;
    if (!deaths && draw.chance(30)) o.node.detector = detect::kind::userfault_thread;
    return o;
  }
  std::string run() {
    for (unsigned n = 0; n < w.nodes(); ++n) {
      for (unsigned t = 0; t < 2; ++t) {
        w.start(n, [this, n, s = draw.next()](node& here) { live(here, n, s); });
      }
    }
    if (dies)
      w.net().after(draw.below(1'500'000), [this] { w.kill(static_cast<unsigned>(draw.below(w.nodes())), 300'000); });
    return w.run();
  }
  void live(node& here, unsigned n, std::uint64_t seed) {
    sim::random mine(seed);
    for (unsigned i = 0; i < 25 && !w.failed(); ++i) {
      if (mine.chance(20)) heaps[n]->set_chunk(1 + static_cast<unsigned>(mine.below(4)));
      const std::uint64_t at = heaps[n]->allocate(1 + mine.below(2048));
      if (at != 0) all.push_back(at);
      const std::uint64_t own = here.core().regions.find(base)->fine(at);
      for (unsigned other = 0; at != 0 && other < w.nodes(); ++other) {
        if (w.at(other).is_dead() || w.at(other).core().regions.find(base)->fine(at) == own) continue;
        w.fail("a node has another address for an object that was handed out");
      }
      for (unsigned k = 0; k < 3 && !all.empty(); ++k) use(here, all[mine.below(all.size())], mine);
      if (mine.chance(40)) w.sleep(mine.below(20'000));
    }
  }
  void use(node& here, std::uint64_t natural, sim::random& mine) {
    const std::uint64_t at = mine.chance(80) ? here.core().regions.find(base)->fine(natural) : natural;
    if (mine.chance(50)) return lost += here.try_store(at, w.unique()) ? 0 : 1, void();
    std::uint64_t found = 0;
    if (!here.try_load(at, found)) return ++lost, void();
    if (found == w.latest(natural)) return;
    if (!dies) return w.fail("a word is old");
    w.wrote(natural, found, here.self());  // who wrote it last is dead
  }

  sim::random draw;
  bool dies;
  world w;
  std::vector<std::unique_ptr<heap_of_node>> heaps{};
  std::vector<std::uint64_t> all{};
  std::uint64_t lost = 0;
};

void run_all(bool deaths) {
  std::uint64_t told = 0;
  for (const std::uint64_t seed : sim::seeds(1, 80)) {
    job j(seed, deaths);
    const std::string wrong = j.run();
    if (!wrong.empty()) FAIL() << wrong << "replay: QUIRE_SIM_SEED=" << seed;
    for (const auto& h : j.heaps) told += h->told();
  }
  if (sim::usual_seeds()) {
    EXPECT_GT(told, 1000u);
  }
}
TEST(whole_announcements, reach_all_before_anybody_has_an_address) { run_all(false); }
TEST(whole_announcements, do_not_wait_for_the_dead) { run_all(true); }

/// A peer tells nonsense: the node ends with a line.
[[noreturn]] void tell(bool shorter, void (*spoil)(region::announcement&)) {
  sim::random draw(1);
  world_options o;
  o.net.nodes = 2;
  world w(o);
  auto about = region(draw);
  about.views = 8;
  w.add_region(about);
  heap_of_node first(w.at(0), about), second(w.at(1), about);
  w.start(0, [&](node& here) {
    struct telling : core::op {
      using op::op;
      region::announcement a{};
      std::size_t size = sizeof a;
    } o(
        [](core::core& c, core::op& self) noexcept {
          const auto& t = static_cast<telling&>(self);
          const auto value = std::as_bytes(std::span(&t.a, 1)).first(t.size);
          c.notify(node_id{1}, static_cast<std::uint32_t>(region::service::lay), 0, 0, 0, value);
          self.complete();
        },
        core::op::type::call);
    o.a = {.number = 1, .handle = core::handle_of(about), .address = base, .pages = 4, .minipage_bytes = 512};
    spoil(o.a);
    if (shorter) o.size -= 8;
    (void)here.run(o, -1, false);
    w.sleep(1'000'000);
  });
  std::fputs(w.run().c_str(), stderr);
  std::fputs("it was taken\n", stderr);
  std::exit(0);
}

TEST(whole_announcements, that_make_no_sense_are_refused) {
  using what = region::announcement;
  const char* const wrong = "node 0 sent a message that this node cannot take";
  EXPECT_DEATH(tell(true, [](what&) {}), wrong);
  EXPECT_DEATH(tell(false, [](what& a) { a.address += 16; }), wrong);
  EXPECT_DEATH(tell(false, [](what& a) { a.address = base - page; }), wrong);
  EXPECT_DEATH(tell(false, [](what& a) { a.pages = 0; }), wrong);
  EXPECT_DEATH(tell(false, [](what& a) { a.pages = ~std::uint64_t{0} / page; }), wrong);
  EXPECT_DEATH(tell(false, [](what& a) { a.pages = bytes / page + 1; }), wrong);
  for (const std::uint32_t size : {0u, 8u, 24u, 448u, 2064u, 4096u, ~0u}) {
    static std::uint32_t now;
    now = size;
    EXPECT_DEATH(tell(false, [](what& a) { a.minipage_bytes = now; }), wrong) << size;
  }
  EXPECT_DEATH(tell(false, [](what& a) { a.address = base + bytes - 4 * page; }), "another node's");
  EXPECT_DEATH(tell(false, [](what&) {}),
               "node 1 sent a message that this node cannot take.*it answers what nobody has asked");
}

}  // namespace
}  // namespace quire::whole::whole_announcements_test
