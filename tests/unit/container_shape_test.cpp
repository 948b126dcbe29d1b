// SPDX-License-Identifier: BSD-3-Clause
// How large a container is and may become, and what a throttle is told.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "base/detail.hpp"
#include "container/linkers.hpp"
#include "container/shape.hpp"

namespace quire::container::container_shape_test {
namespace {

quire_container_options how(unsigned flags = QUIRE_CONTAINER_CREATE) {
  quire_container_options o{};
  o.size = sizeof o;
  o.flags = flags;
  return o;
}

TEST(container_shape, capacity_follows_the_bytes) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  surroundings around{std::uint64_t{1} << 40, nullptr, UINT64_MAX};
  shape s;
  EXPECT_TRUE(shape_of(how(), around, s).ok());
  EXPECT_EQ(s.bytes, 0u);
  EXPECT_EQ(s.capacity, gib);
  auto o = how();
  o.bytes = gib + 1;
  EXPECT_TRUE(shape_of(o, around, s).ok());
  EXPECT_EQ(s.capacity, 2 * gib + 4096);
  o.bytes = 5;
  o.capacity = 6;
  EXPECT_TRUE(shape_of(o, around, s).ok());
  EXPECT_EQ(s.capacity, 4096u);
  const quire_linker file = file_linker();
  around.linker = &file;
  around.linked_bytes = 10'000;
  o = how(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY);
  o.bytes = 50'000;  // of what is read only means nothing
  EXPECT_TRUE(shape_of(o, around, s).ok());
  EXPECT_EQ(s.bytes, 10'000u);
  EXPECT_EQ(s.capacity, 12'288u);
  o.flags = QUIRE_CONTAINER_CREATE;
  EXPECT_TRUE(shape_of(o, around, s).ok());
  EXPECT_EQ(s.bytes, 50'000u);
}

TEST(container_shape, what_does_not_go_is_named) {
  const surroundings around{std::uint64_t{1} << 40, nullptr, UINT64_MAX};
  shape s;
  auto o = how();
  o.bytes = std::uint64_t{1} << 60;
  EXPECT_EQ(shape_of(o, around, s).code(), QUIRE_NO_ADDRESSES);
  o.bytes = UINT64_MAX;
  EXPECT_EQ(shape_of(o, around, s).code(), QUIRE_NO_ADDRESSES);
  o.bytes = 100;
  o.capacity = 99;
  EXPECT_EQ(shape_of(o, around, s).code(), QUIRE_INVALID);
  EXPECT_NE(std::strstr(base::detail(), "less than the content"), nullptr);
  quire_linker large = file_linker();
  large.grain = 65536;
  o = how();
  o.unit_bytes = 4096;
  std::uint64_t unit = 0;
  EXPECT_EQ(unit_of(o, &large, unit).code(), QUIRE_INVALID);
  o.unit_bytes = 0;
  EXPECT_TRUE(unit_of(o, &large, unit).ok());
  EXPECT_EQ(unit, 65536u);
}

TEST(container_throttle, reads_what_it_is_told) {
  throttling t;
  EXPECT_TRUE(read("mbps=100,latency_us=7,flush=3,times=2,error=ENOSPC;file;/a;b", t));
  EXPECT_DOUBLE_EQ(t.bytes_per_ns, 0.1);
  EXPECT_EQ(t.latency_ns, 7000u);
  EXPECT_EQ(t.flush, 3u);
  EXPECT_EQ(t.times, 2u);
  EXPECT_EQ(t.error, ENOSPC);
  EXPECT_EQ(t.linker, "file");
  EXPECT_EQ(t.what, "/a;b");
  for (const char* const bad : {"", "mbps=1", "mbps=1;file", "mbps;file;x", "mbps=0;file;x", "fill=-1;file;x",
                                "error=no;file;x", "x=1;file;y"}) {
    throttling none;
    EXPECT_FALSE(read(bad, none)) << bad;
  }
}

}  // namespace
}  // namespace quire::container::container_shape_test
