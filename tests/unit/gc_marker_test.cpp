// SPDX-License-Identifier: BSD-3-Clause
// Collections of several nodes without processes: units are kept by nodes at random, objects of many shapes refer to
// each other at random, messages come in any order, nodes work in turns that a seed decides. What is marked, and what
// is free afterwards, is compared with a search of the graph from its roots.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "gc/allocator.hpp"
#include "gc/ending.hpp"
#include "gc/marker.hpp"

namespace quire::gc::gc_marker_test {
namespace {

constexpr std::uint64_t base = 0x100000000000;

struct parcel {
  unsigned from = 0, to = 0;
  item what{};
  std::vector<std::byte> content{};
  wave_member::answer wave{};
};

class world {
 public:
  explicit world(std::uint64_t seed)
      : random_(seed),
        nodes_(1 + static_cast<unsigned>(random_() % 5)),
        shape_(heap_shape::of(256u << 10, 4096, nodes_)) {
    truth_.resize(shape_.bytes);
    make_types();
    for (unsigned node = 0; node < nodes_; ++node) memories_.emplace_back(shape_.slice(node), shape_.granules_a_unit());
  }

  void run() {
    for (int round = 0; round < 3 && !testing::Test::HasFatalFailure(); ++round) {
      mutate();
      collect();
    }
  }
  /// A reference that is none.
  void break_one() {
    mutate();
    for (const auto& [granule, object] : objects_) {
      if (types_.find(object.type)->offsets.empty()) continue;
      const std::uint64_t field = object_offset(granule) + types_.find(object.type)->offsets[0];
      const std::uint64_t wrong[] = {0x1234560, base + shape_.bytes + 16, base + object_offset(granule) + 8, base + 16};
      put(field, wrong[random_() % 4]);
      roots_.push_back(granule);
      mark();
      std::uint64_t bad = 0;
      for (auto& m : markers_) bad += m->bad_count();
      EXPECT_EQ(bad, 1u);
      return;
    }
  }

 private:
  struct object {
    unsigned type = 0;
    std::uint64_t length = 0, count = 0;
  };
  struct post final : outlet {
    world* in = nullptr;
    unsigned self = 0;
    void send(unsigned node, item what, std::span<const std::byte> content) override {
      ASSERT_NE(node, self);
      ASSERT_LE(content.size(), packer::capacity);
      in->members_[self].on_sent();
      in->on_way_.push_back({self, node, what, {content.begin(), content.end()}});
    }
  };

  void make_types() {
    const auto add = [&](std::uint64_t bytes, std::vector<std::uint32_t> offsets) {
      types_.set(static_cast<unsigned>(++type_count_), bytes, offsets);
    };
    add(8, {0});
    add(24, {0, 16});
    add(40, {8});
    add(13, {});
    add(128, {0, 8, 120});
    add(5000, {0, 2048, 4992});
    add(1, {});
  }
  std::uint64_t word(std::uint64_t offset) const {
    std::uint64_t value = 0;
    std::memcpy(&value, &truth_[offset], 8);
    return value;
  }
  void put(std::uint64_t offset, std::uint64_t value) { std::memcpy(&truth_[offset], &value, 8); }
  template <class F>
  void for_each_field(std::uint64_t granule, const object& o, F&& f) const {
    const auto& type = *types_.find(o.type);
    for (std::uint64_t i = 0; i < o.length; ++i)
      for (const auto offset : type.offsets) f(object_offset(granule) + i * type.bytes + offset);
  }
  std::uint64_t any_object() {
    if (objects_.empty()) return 0;
    auto o = objects_.lower_bound(random_() % shape_.granules());
    return (o == objects_.end() ? objects_.begin() : o)->first;
  }
  void mutate() {
    for (int i = 0; i < 150; ++i) {
      const unsigned node = static_cast<unsigned>(random_() % nodes_),
                     type = 1 + static_cast<unsigned>(random_() % type_count_);
      const std::uint64_t length = random_() % 4 != 0    ? 1
                                   : random_() % 20 != 0 ? 1 + random_() % 9
                                                         : 1 + random_() % 3000;
      const std::uint64_t count = granules_of(types_.find(type)->bytes, length);
      const auto given = memories_[node].allocate(count);
      if (!given) continue;
      for (std::uint64_t g = given->at; g < given->at + count; ++g)
        ASSERT_TRUE(used_.insert(g).second) << "handed out, and live";
      const auto bytes = static_cast<std::ptrdiff_t>(header_offset(given->at));
      std::fill_n(truth_.begin() + bytes, count * granule_bytes, std::byte{0});
      put(header_offset(given->at), object_header::of(type, length).word);
      objects_[given->at] = {type, length, count};
    }
    for (const auto& [granule, o] : objects_) {
      for_each_field(granule, o, [&](std::uint64_t field) {
        if (random_() % 3 == 0) put(field, random_() % 4 == 0 ? 0 : base + object_offset(any_object()));
      });
    }
    roots_.clear();
    for (int i = 0; i < 3 && !objects_.empty(); ++i) roots_.push_back(any_object());
  }
  std::set<std::uint64_t> reachable() const {
    std::set<std::uint64_t> found(roots_.begin(), roots_.end());
    std::vector<std::uint64_t> waiting(roots_.begin(), roots_.end());
    while (!waiting.empty()) {
      const std::uint64_t granule = waiting.back();
      waiting.pop_back();
      for_each_field(granule, objects_.at(granule), [&](std::uint64_t field) {
        if (const std::uint64_t value = word(field); value != 0 && found.insert(granule_at(value - base)).second)
          waiting.push_back(granule_at(value - base));
      });
    }
    return found;
  }

  /// Each unit with content is kept by some node; other nodes have old content of it, or none.
  void hand_out_units() {
    content_.assign(nodes_, std::vector<std::byte>(shape_.bytes));
    away_.clear();
    away_.resize(nodes_);
    keeps_.assign(nodes_, std::vector<bool>(shape_.units()));
    for (unsigned node = 0; node < nodes_; ++node) {
      for (auto& byte : content_[node]) byte = std::byte{0xa5};
      views_[node].base = content_[node].data();
      views_[node].away.clear();
    }
    unsigned keeper = 0;
    for (std::uint64_t unit = 0; unit < shape_.units(); ++unit) {
      const auto begin = truth_.begin() + static_cast<std::ptrdiff_t>(unit * shape_.unit_bytes),
                 end = begin + static_cast<std::ptrdiff_t>(shape_.unit_bytes);
      if (std::all_of(begin, end, [](std::byte b) { return b == std::byte{0}; }) && random_() % 2 == 0) continue;
      if (random_() % 3 == 0) keeper = static_cast<unsigned>(random_() % nodes_);
      if (random_() % 3 == 0) keeper = shape_.node_of(unit);
      keeps_[keeper][unit] = true;
      if (random_() % 8 == 0) {
        auto& copy = away_[keeper].emplace_back(std::make_unique<std::vector<std::byte>>(begin, end));
        views_[keeper].away[unit] = copy->data();
      } else {
        std::copy(begin, end, content_[keeper].begin() + static_cast<std::ptrdiff_t>(unit * shape_.unit_bytes));
      }
    }
  }
  void deliver(std::size_t which) {
    const parcel p = std::move(on_way_[which]);
    on_way_.erase(on_way_.begin() + static_cast<std::ptrdiff_t>(which));
    switch (p.what) {
      case item::wave:
        return members_[p.to].on_wave(p.wave.wave);
      case item::answer:
        return on_answer(p.wave);
      case item::marked:
        done_[p.to] = true;
        return;
      default:
        break;
    }
    members_[p.to].on_received();
    if (p.what == item::kept) markers_[p.to]->on_kept(p.from, p.content);
    if (p.what == item::references) markers_[p.to]->on_references(p.content);
    if (p.what == item::sections) markers_[p.to]->on_sections(p.content);
    if (p.what == item::live) markers_[p.to]->on_live(p.content);
    if (p.what == item::references || p.what == item::sections) idle_[p.to] = false;
  }
  void deliver_all() {
    while (!on_way_.empty()) deliver(random_() % on_way_.size());
  }
  void on_answer(const wave_member::answer& a) {
    const auto next = leader_->on_answer(a);
    if (next == wave_leader::next::wait) return;
    if (next == wave_leader::next::done) check_that_all_is_quiet();
    for (unsigned node = 0; node < nodes_; ++node)
      on_way_.push_back(
          {0, node, next == wave_leader::next::wave ? item::wave : item::marked, {}, {leader_->wave(), 0, 0}});
  }
  void check_that_all_is_quiet() {
    for (unsigned node = 0; node < nodes_; ++node) EXPECT_TRUE(idle_[node]) << "node " << node << " was not done";
    for (const parcel& p : on_way_)
      EXPECT_TRUE(p.what == item::wave || p.what == item::answer || p.what == item::marked)
          << "a message was under way";
  }

  void mark() {
    views_.resize(nodes_);
    hand_out_units();
    posts_.assign(nodes_, {});
    members_.assign(nodes_, {});
    markers_.clear();
    leader_.emplace(nodes_);
    idle_.assign(nodes_, false);
    done_.assign(nodes_, false);
    for (unsigned node = 0; node < nodes_; ++node) {
      posts_[node].in = this;
      posts_[node].self = node;
      markers_.push_back(std::make_unique<marker>(shape_, base, node, types_, views_[node], posts_[node]));
      for (std::uint64_t unit = 0; unit < shape_.units(); ++unit)
        if (keeps_[node][unit]) markers_[node]->keep(unit, 1);
    }
    for (auto& m : markers_) m->tell_kept();
    deliver_all();
    for (const std::uint64_t root : roots_) markers_[random_() % nodes_]->add_root(base + object_offset(root));
    for (std::uint64_t steps = 0; !std::ranges::all_of(done_, [](bool d) { return d; }); ++steps) {
      ASSERT_LT(steps, 10'000'000u) << "it does not end";
      const unsigned node = static_cast<unsigned>(random_() % nodes_);
      if (!on_way_.empty() && random_() % 2 == 0) {
        deliver(random_() % on_way_.size());
      } else if (!markers_[node]->work(1 + random_() % 20)) {
        idle_[node] = true;
        if (const auto a = members_[node].on_idle()) on_way_.push_back({node, 0, item::answer, {}, *a});
      } else {
        idle_[node] = false;
      }
    }
  }

  void collect() {
    const std::set<std::uint64_t> wanted = reachable();
    mark();
    std::uint64_t marked = 0;
    for (auto& m : markers_) {
      marked += m->marked();
      EXPECT_EQ(m->bad_count(), 0u);
    }
    ASSERT_EQ(marked, wanted.size());
    std::uint64_t fields = 0, met = 0;
    for (const std::uint64_t granule : wanted)
      for_each_field(granule, objects_.at(granule), [&](std::uint64_t) { ++fields; });
    for (unsigned node = 0; node < nodes_; ++node) {
      markers_[node]->for_each_field([&](std::uint64_t) { ++met; });
      markers_[node]->for_each_marked(0, shape_.units(), [&](std::uint64_t granule, object_header header) {
        EXPECT_TRUE(wanted.contains(granule));
        EXPECT_EQ(header.type(), objects_.at(granule).type);
      });
    }
    // Fields in units that are zero, and that nobody keeps, are nobody's.
    EXPECT_LE(met, fields);
    for (auto& m : markers_) m->tell_live();
    deliver_all();
    std::erase_if(objects_, [&](const auto& o) {
      if (wanted.contains(o.first)) return false;
      for (std::uint64_t g = o.first; g < o.first + o.second.count; ++g) used_.erase(g);
      return true;
    });
    for (unsigned node = 0; node < nodes_; ++node) {
      (void)memories_[node].adopt(markers_[node]->live_of_slice());
      const granule_range slice = shape_.slice(node);
      for (std::uint64_t g = slice.first; g < slice.end; ++g)
        ASSERT_EQ(memories_[node].is_used(g), used_.contains(g)) << "granule " << g;
    }
  }

  std::mt19937_64 random_;
  unsigned nodes_;
  heap_shape shape_;
  std::vector<std::byte> truth_{};
  type_table types_{};
  std::size_t type_count_ = 0;
  std::vector<slice_allocator> memories_{};
  std::map<std::uint64_t, object> objects_{};
  std::set<std::uint64_t> used_{};
  std::vector<std::uint64_t> roots_{};
  std::vector<std::vector<std::byte>> content_{};
  std::vector<std::vector<std::unique_ptr<std::vector<std::byte>>>> away_{};
  std::vector<std::vector<bool>> keeps_{};
  std::vector<memory> views_{};
  std::vector<post> posts_{};
  std::vector<wave_member> members_{};
  std::optional<wave_leader> leader_{};
  std::vector<std::unique_ptr<marker>> markers_{};
  std::vector<parcel> on_way_{};
  std::vector<bool> idle_{}, done_{};
};

/// In parts, which run in processes of their own.
class gc_marker_seeds : public testing::TestWithParam<std::uint64_t> {};
TEST_P(gc_marker_seeds, marks_what_can_be_reached_and_nothing_else) {
  constexpr std::uint64_t seeds = 500;
  for (std::uint64_t seed = GetParam() * seeds; seed < (GetParam() + 1) * seeds && !testing::Test::HasFailure();
       ++seed) {
    SCOPED_TRACE(seed);
    world(seed).run();
  }
}
INSTANTIATE_TEST_SUITE_P(parts, gc_marker_seeds, testing::Range<std::uint64_t>(0, 4));

TEST(gc_marker, references_to_no_object_are_found) {
  for (std::uint64_t seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    world(seed).break_one();
  }
}

TEST(gc_items, numbers_of_all_sizes_come_back) {
  packer p;
  std::vector<std::uint64_t> all = {0, 127, 128, 1u << 14, ~std::uint64_t{0}};
  for (const auto n : all) ASSERT_TRUE(p.add(n));
  std::vector<std::uint64_t> back;
  for (unpacker u(p.content()); u.more();) back.push_back(u.take().value());
  EXPECT_EQ(back, all);
  while (p.add(std::uint64_t{1} << 40, std::uint64_t{2})) {
  }
  EXPECT_LE(p.content().size(), packer::capacity);
  const std::byte torn[] = {std::byte{0x80}};
  unpacker u(torn);
  EXPECT_FALSE(u.take());
  EXPECT_FALSE(u.more());
}

}  // namespace
}  // namespace quire::gc::gc_marker_test
