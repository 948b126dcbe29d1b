// SPDX-License-Identifier: BSD-3-Clause
// The largest grain of a linker, the most threads, and as many containers at a time as there may be.
#include <quire/container.h>
#include <quire/linker.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "containers.hpp"

namespace {

using namespace quire::test;

void extremes() {
  constexpr std::uint64_t grain = 2u << 20;
  static std::atomic<unsigned> inside{0}, most{0};
  quire_linker wide{};
  wide.size = sizeof wide;
  wide.name = "wide";
  wide.can = QUIRE_LINK_ANYWHERE;
  wide.grain = grain;
  wide.threads = 64;
  wide.open = [](void*, const char*, unsigned, std::uint64_t* bytes, void** self) {
    *bytes = 5 * grain;
    *self = &inside;
    return 0;
  };
  wide.fill = [](void*, std::uint64_t at, void* into, std::size_t bytes) {
    if (at % grain != 0 || bytes % grain != 0) return EINVAL;
    const unsigned now = ++inside;
    for (unsigned before = most; before < now && !most.compare_exchange_weak(before, now);) continue;
    for (std::size_t i = 0; i < bytes; i += 8) {
      const std::uint64_t word = mix(at + i);
      std::memcpy(static_cast<std::byte*>(into) + i, &word, 8);
    }
    --inside;
    return 0;
  };
  quire_linker wider = wide;
  wider.grain = 2 * grain;
  REQUIRE_STATUS(quire_linker_register(&wider), QUIRE_INVALID);
  REQUIRE(said("2 MiB"));
  wider = wide;
  wider.threads = 65;
  REQUIRE_STATUS(quire_linker_register(&wider), QUIRE_INVALID);
  REQUIRE(said("0 to 64"));
  REQUIRE_OK(quire_linker_register(&wide));
  barrier();
  const quire_container c = open("wide", options(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY, "wide"));
  const auto* const words = reinterpret_cast<const std::uint64_t*>(map(c));
  on_threads(5, [&](int thread) {
    for (std::uint64_t i = 0; i < 5; ++i) {
      const std::uint64_t at = ((i + static_cast<std::uint64_t>(thread)) % 5 * grain + 4096 * i) / 8;
      REQUIRE(words[at] == mix(at * 8));
    }
  });
  barrier();
  REQUIRE(most <= 64);
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [] { REQUIRE_OK(quire_container_remove("wide", 0)); });
  on_node(quire_nodes() - 1, [] {
    constexpr int all = 4095;
    std::vector<quire_container> open_ones;
    const std::string what = path("every");
    make_file("every", content(page, 1));
    const auto how = options(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY, "file", what.c_str());
    quire_status why = QUIRE_OK;
    for (int i = 0; i < all + 1 && why == QUIRE_OK; ++i) {
      quire_container one{};
      why = quire_container_open(("every-" + std::to_string(i)).c_str(), &how, &one);
      if (why == QUIRE_OK) open_ones.push_back(one);
    }
    std::printf("%zu containers at a time, then: %s\n", open_ones.size(), quire_last_error());
    REQUIRE_STATUS(why, QUIRE_LIMIT);
    REQUIRE(std::strlen(quire_last_error()) > 20);
    REQUIRE(open_ones.size() >= 4000);
    for (std::size_t i = 0; i < open_ones.size(); i += 61) REQUIRE_SAME(read(open_ones[i], 0, page), content(page, 1));
    for (std::size_t i = 0; i < open_ones.size(); ++i) {
      REQUIRE_OK(quire_container_close(open_ones[i]));
      REQUIRE_OK(quire_container_remove(("every-" + std::to_string(i)).c_str(), 0));
    }
  });
}

}  // namespace

int main() {
  REQUIRE_OK(quire_start(nullptr));
  make_directory();
  extremes();
  remove_directory();
  REQUIRE_OK(quire_end());
  return 0;
}
