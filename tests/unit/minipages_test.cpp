// SPDX-License-Identifier: BSD-3-Clause
// Units smaller than a page: where they lie, which view shows them, and what of each view is mapped.
#include "core/minipages/minipages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "core/minipages/view_states.hpp"
#include "core/region_slot.hpp"
#include "core/view_map.hpp"

namespace quire::core::minipages_test {
namespace {

constexpr std::uint64_t page = 4096, pages = 5, bytes = pages * page;

std::unique_ptr<layout_body> make(std::uint64_t unit_bytes, unsigned views) {
  return minipages::make({.bytes = bytes, .unit_bytes = unit_bytes, .views = views});
}

/// Each byte is in one unit, which its view alone shows; numbers that are not used have no bytes.
void check_layout(const minipages& body) {
  const auto layout = unit_layout::of(body);
  ASSERT_EQ(layout.units(), pages * layout.units_a_page());
  std::uint64_t offset = 0;
  for (std::uint64_t unit = 0; unit < layout.units(); ++unit) {
    ASSERT_EQ(layout.offset_of(unit), offset);
    const std::uint64_t size = layout.bytes_of(unit);
    if (size == 0) continue;
    ASSERT_EQ(layout.unit_of(offset), unit);
    ASSERT_EQ(layout.unit_of(offset + size - 1), unit);
    ASSERT_EQ(offset / page, (offset + size - 1) / page) << "a unit leaves its page";
    ASSERT_EQ(unit / layout.units_a_page(), offset / page);
    const std::uint64_t of_page = body.bytes_of_page(offset / page);
    ASSERT_EQ(layout.view_of(unit), of_page == 0 ? 0 : offset % page / of_page + 1);
    offset += size;
  }
  EXPECT_EQ(offset, bytes);
  EXPECT_EQ(layout.offset_of(layout.units()), bytes);
  // A page is a frame, whatever its units are.
  ASSERT_EQ(layout.frames(), pages);
  for (std::uint64_t unit = 0; unit < layout.units(); ++unit)
    ASSERT_EQ(layout.frame_of(unit), unit / layout.units_a_page());
  for (std::uint64_t frame = 0; frame < pages; ++frame) {
    ASSERT_EQ(layout.offset_of_frame(frame), frame * page);
    ASSERT_EQ(layout.bytes_of_frames(frame, pages - frame), (pages - frame) * page);
    for (const std::uint64_t room : {std::uint64_t{1}, page - 1, page, 2 * page, 3 * page - 1}) {
      ASSERT_EQ(layout.frames_fitting(frame, room), std::min(std::max(room / page, std::uint64_t{1}), pages - frame));
    }
  }
}

TEST(minipages_layout, gives_each_byte_to_one_unit_of_every_size) {
  for (std::uint64_t size = 16; size <= 2048; size += 16) {
    const auto views = static_cast<unsigned>(page / size);
    const auto made = make(size, views);
    ASSERT_NE(made, nullptr) << size;
    check_layout(dynamic_cast<const minipages&>(*made));
  }
}

TEST(minipages_layout, refuses_what_it_cannot_be) {
  for (const std::uint64_t size : {0u, 1u, 15u, 17u, 2049u, 2064u, 4095u, 8192u})
    EXPECT_EQ(make(size, 256), nullptr) << size;
  EXPECT_EQ(make(256, 15), nullptr) << "more units a page than views";
  EXPECT_NE(make(256, 16), nullptr);
  EXPECT_EQ(make(16, 0), nullptr);
  EXPECT_EQ(make(16, 257), nullptr);
  EXPECT_EQ(minipages::make({.bytes = page + 1, .unit_bytes = 256, .views = 16}), nullptr);
}

TEST(minipages_layout, is_divided_page_by_page) {
  const auto made = make(page, 16);
  auto& body = dynamic_cast<minipages&>(*made);
  check_layout(body);
  EXPECT_TRUE(body.divide(1, 2, 672));
  EXPECT_TRUE(body.divide(4, 1, 256));
  check_layout(body);
  EXPECT_TRUE(body.divide(1, 1, 672)) << "the same again";
  EXPECT_FALSE(body.divide(2, 1, 256)) << "otherwise";
  EXPECT_FALSE(body.divide(0, 3, 256)) << "some of them otherwise";
  EXPECT_EQ(body.bytes_of_page(0), 0u);
  EXPECT_FALSE(body.divide(3, 3, 256)) << "beyond the end";
  EXPECT_FALSE(body.divide(~std::uint64_t{0}, 1, 256));
  EXPECT_FALSE(body.divide(3, 1, 240)) << "more units than views";
  EXPECT_FALSE(body.divide(3, 1, 100));
  EXPECT_FALSE(dynamic_cast<minipages&>(*make(256, 16)).divide(0, 1, 512)) << "static";
  check_layout(body);
}

TEST(view_map, leads_to_an_address_and_back) {
  for (const unsigned fine : {1u, 6u, 16u, 256u}) {
    const view_map views(bytes, fine);
    for (unsigned view = 0; view <= fine; ++view) {
      for (const std::uint64_t offset : {std::uint64_t{0}, page, bytes - 1}) {
        const std::uint64_t distance = views.distance({view, offset});
        ASSERT_TRUE(views.has(distance));
        EXPECT_EQ(views.of(distance).view, view);
        EXPECT_EQ(views.of(distance).offset, offset);
      }
      EXPECT_FALSE(views.has(views.distance({view, 0}) + bytes)) << "the gap behind a view, or what is behind all";
    }
    EXPECT_FALSE(views.has(views.span()));
  }
  const view_map one(bytes, 0);
  EXPECT_EQ(one.span(), bytes);
  EXPECT_EQ(one.of(bytes - 1).offset, bytes - 1);
}

TEST(region_slot, knows_how_an_address_is_accessed) {
  region_slot r;
  r.about.base = 0x10000000;
  r.about.bytes = bytes;
  r.about.views = 16;
  r.views = views_of(r.about);
  const auto body = make(page, 16);
  EXPECT_TRUE(dynamic_cast<minipages&>(*body).divide(1, 1, 256));
  r.layout = unit_layout::of(*body);
  const std::uint64_t whole = r.about.base + 8, divided = r.about.base + page + 256 + 8;
  EXPECT_EQ(r.access_at(whole).page, accessed::by::own_page);
  EXPECT_EQ(r.fine(whole), whole);
  EXPECT_EQ(r.access_at(divided).page, accessed::by::composed_page);
  EXPECT_EQ(r.access_at(divided).unit, 16u);
  const std::uint64_t fine = r.fine(divided);
  EXPECT_EQ(fine, divided + 2 * r.views.stride());
  EXPECT_EQ(r.natural(fine), divided);
  EXPECT_EQ(r.fine(fine), fine);
  EXPECT_EQ(r.access_at(fine).page, accessed::by::own_page);
  EXPECT_EQ(r.access_at(fine).unit, 17u);
  EXPECT_EQ(r.bytes_from(fine), 248u);
  EXPECT_EQ(r.bytes_from(divided), bytes - page - 264);
  EXPECT_EQ(r.access_at(fine - 9).page, accessed::by::wrong_page) << "the neighbour's bytes";
  EXPECT_EQ(r.bytes_from(fine - 9), 0u);
  EXPECT_EQ(r.beside(fine - 9).page, accessed::by::own_page) << "read by a vector";
  EXPECT_EQ(r.beside(fine - 9).unit, 17u);
  EXPECT_EQ(r.beside(fine - 8 + 256 + 63).unit, 17u);
  EXPECT_EQ(r.beside(fine - 8 - 64).page, accessed::by::wrong_page);
  EXPECT_EQ(r.beside(fine - 8 + 256 + 64).page, accessed::by::wrong_page);
  EXPECT_EQ(r.beside(whole + r.views.stride()).page, accessed::by::wrong_page);
  EXPECT_EQ(r.access_at(whole + r.views.stride()).page, accessed::by::wrong_page) << "a page that is not divided";
}

/// A detector that notes what it is told, against a copy of what each page of each view should permit.
struct told {
  std::map<std::pair<unsigned, std::uint64_t>, access> pages_of{};
  std::uint64_t calls = 0;
  auto to(access level) {
    return [this, level](const view_pages& run) {
      ++calls;
      for (std::uint64_t p = run.page; p < run.page + run.count; ++p) {
        access& now = pages_of[{run.view, p}];
        EXPECT_EQ(now, run.now) << "view " << run.view << " page " << p;
        now = level;
      }
      return 0;
    };
  }
};

TEST(view_states, follow_a_model_for_random_steps) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 draw(seed);
    const auto body = make(page, 16);
    auto& divided = dynamic_cast<minipages&>(*body);
    (void)divided.divide(0, 1, 256);
    (void)divided.divide(2, 1, 672);
    (void)divided.divide(3, 1, 2048);
    const auto layout = unit_layout::of(*body);
    view_states states(zeroes);
    ASSERT_EQ(states.make(pages, 16), 0);
    told detector;
    for (unsigned step = 0; step < 300; ++step) {
      const std::uint64_t first = draw() % layout.units(), count = 1 + draw() % (layout.units() - first);
      const auto level = static_cast<access>(draw() % 3);
      const std::uint64_t p = draw() % pages;
      switch (draw() % 4) {
        case 0:
          if (level != access::none) {
            ASSERT_EQ(states.raise(layout, first, count, level, detector.to(level)), 0);
          }
          for (std::uint64_t unit = first; unit < first + count; ++unit) {
            const bool left = layout.bytes_of(unit) == 0 || (layout.view_of(unit) != 0 && states.used_whole(unit / 16));
            if (!left) {
              ASSERT_GE(states.own(unit), level);
            }
          }
          break;
        case 1:
          if (level != access::write) {
            ASSERT_EQ(states.lower(layout, first, count, level, detector.to(level)), 0);
            for (std::uint64_t unit = first; unit < first + count; ++unit) {
              ASSERT_LE(states.own(unit), level);
              ASSERT_LE(states.composed(unit / 16), level);
            }
          }
          break;
        case 2:
          states.use_whole(p, draw() % 2 != 0);
          break;
        default:
          if (divided.bytes_of_page(p) == 0 || level <= states.composed(p)) break;
          detector.pages_of[{0, p}] = level;
          states.set_composed(p, level);
      }
    }
    for (const auto& [at, now] : detector.pages_of) {
      const auto [view, p] = at;
      const access known = view != 0                       ? states.own(p * 16 + view - 1)
                           : divided.bytes_of_page(p) == 0 ? states.own(p * 16)
                                                           : states.composed(p);
      EXPECT_EQ(known, now) << "view " << view << " page " << p;
    }
  }
}

TEST(view_states, take_one_call_a_view) {
  const auto body = make(1024, 4);
  const auto layout = unit_layout::of(*body);
  view_states states(zeroes);
  ASSERT_EQ(states.make(pages, 4), 0);
  told detector;
  ASSERT_EQ(states.raise(layout, 0, layout.units(), access::write, detector.to(access::write)), 0);
  EXPECT_EQ(detector.calls, 4u);
  ASSERT_EQ(states.raise(layout, 3, 7, access::write, detector.to(access::write)), 0);
  EXPECT_EQ(detector.calls, 4u) << "all is mapped";
  ASSERT_EQ(states.lower(layout, 1, 4, access::none, detector.to(access::none)), 0);
  EXPECT_EQ(detector.calls, 8u) << "units 1 to 4 are in all views";
}

TEST(view_states, leave_what_fails) {
  const auto body = make(1024, 4);
  const auto layout = unit_layout::of(*body);
  view_states states(zeroes);
  ASSERT_EQ(states.make(pages, 4), 0);
  EXPECT_EQ(states.raise(layout, 0, 4, access::read, [](const view_pages& run) { return run.view == 3 ? 14 : 0; }), 14);
  EXPECT_EQ(states.own(1), access::read);
  EXPECT_EQ(states.own(2), access::none);
  told rest;
  rest.pages_of = {{{1, 0}, access::read}, {{2, 0}, access::read}};
  EXPECT_EQ(states.raise(layout, 0, 4, access::read, rest.to(access::read)), 0);
  EXPECT_EQ(rest.calls, 2u);
}

}  // namespace
}  // namespace quire::core::minipages_test
