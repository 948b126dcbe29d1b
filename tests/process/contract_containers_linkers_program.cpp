// SPDX-License-Identifier: BSD-3-Clause
// Linkers that the program brings: a function, and one whose content is in the memory of a node, which gives nonsense,
// and throws, on demand.
#include <quire/container.h>
#include <quire/linker.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "containers.hpp"

namespace {

using namespace quire::test;

struct numbers {
  static int fill(void* context, std::uint64_t at, void* into, std::size_t bytes) {
    static_cast<std::atomic<int>*>(context)->fetch_add(1);
    for (std::size_t i = 0; i < bytes; i += 8) {
      const std::uint64_t word = mix(at + i);
      std::memcpy(static_cast<char*>(into) + i, &word, 8);
    }
    return 0;
  }
};
std::atomic<int> g_filled{0};

/// Content in the memory of one node, with a grain; and faults on demand.
struct chest {
  std::vector<std::byte> all = std::vector<std::byte>(1 << 20);
  std::uint64_t bytes = 0;
  int opened = 0, closed = 0, synced = 0;
  std::atomic<int> wrong{0};  ///< 1: gives nonsense, 2: throws
};
chest g_chest;
quire_linker chest_linker(const char* name) {
  quire_linker l{};
  l.size = sizeof l;
  l.name = name;
  l.can = QUIRE_LINK_WRITE | QUIRE_LINK_TRUNCATE;
  l.grain = 16384;
  l.threads = 1;
  l.context = &g_chest;
  l.open = [](void* context, const char* what, unsigned, std::uint64_t* bytes, void** self) {
    auto* const c = static_cast<chest*>(context);
    if (std::string_view(what) != "oak") return ENOENT;
    ++c->opened;
    *bytes = c->bytes;
    *self = c;
    return 0;
  };
  l.fill = [](void* self, std::uint64_t at, void* into, std::size_t bytes) {
    auto* const c = static_cast<chest*>(self);
    REQUIRE(at % 16384 == 0 && bytes % 16384 == 0);
    if (c->wrong == 1) return -17;
    if (c->wrong == 2) throw std::runtime_error("no");
    std::memcpy(into, c->all.data() + at, bytes);
    return 0;
  };
  l.flush = [](void* self, std::uint64_t at, const void* from, std::size_t bytes) {
    auto* const c = static_cast<chest*>(self);
    REQUIRE(at % 16384 == 0 && bytes % 16384 == 0);
    if (c->wrong == 1) return 1 << 20;
    if (c->wrong == 2) throw 7;
    std::memcpy(c->all.data() + at, from, bytes);
    return 0;
  };
  l.sync = [](void* self) {
    ++static_cast<chest*>(self)->synced;
    return 0;
  };
  l.truncate = [](void* self, std::uint64_t bytes) {
    static_cast<chest*>(self)->bytes = bytes;
    return 0;
  };
  l.close = [](void* self) { ++static_cast<chest*>(self)->closed; };
  return l;
}

void linkers() {
  // A function of its own: each byte is computed by the node that needs it first, and no other.
  REQUIRE_OK(quire_linker_register_function("numbers", 0, numbers::fill, &g_filled));
  REQUIRE_STATUS(quire_linker_register_function("numbers", 0, numbers::fill, &g_filled), QUIRE_EXISTS);
  REQUIRE_STATUS(quire_linker_register_function("memory", 0, numbers::fill, &g_filled), QUIRE_EXISTS);
  REQUIRE_STATUS(quire_linker_register_function("none", 0, nullptr, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_linker_register_function("odd", 5000, numbers::fill, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_linker_register(nullptr), QUIRE_INVALID);
  barrier();
  constexpr std::uint64_t units = 64;
  quire_container c{};
  auto o = options(QUIRE_CONTAINER_CREATE, "numbers");
  on_node(0, [&] {
    REQUIRE_STATUS(quire_container_open("numbers", &o, &c), QUIRE_INVALID);
    REQUIRE(said("READ_ONLY"));
    o.flags |= QUIRE_CONTAINER_READ_ONLY;
    REQUIRE_STATUS(quire_container_open("numbers", &o, &c), QUIRE_INVALID);
    REQUIRE(said("how long"));
  });
  o.flags |= QUIRE_CONTAINER_READ_ONLY;
  o.bytes = units * page;
  c = open("numbers", o);
  const auto* const words = reinterpret_cast<const std::uint64_t*>(map(c));
  for (std::uint64_t i = 0; i < units * page / 8; i += 3) REQUIRE(words[i] == mix(i * 8));
  barrier();
  std::int64_t filled = g_filled;
  REQUIRE(quire_nodes() > 8 || filled > 0);  // all nodes take part
  REQUIRE_OK(quire_reduce_i64(&filled, 1, QUIRE_SUM));
  REQUIRE(filled > 0 && filled <= static_cast<std::int64_t>(units));
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [] { REQUIRE_OK(quire_container_remove("numbers", 0)); });

  // Errors that mean something else within Quire are a linker's like all others.
  if (quire_node() == 0) {
    for (const int error : {ESTALE, ENXIO, EAGAIN, EINTR}) {
      const std::string name = "wrong " + std::to_string(error);
      static int given;
      given = error;
      REQUIRE_OK(quire_linker_register_function(
          name.c_str(), 0, [](void*, std::uint64_t, void*, std::size_t) { return given; }, nullptr));
      auto wrong = options(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY, name.c_str(), nullptr, 2 * page);
      wrong.placement = QUIRE_PLACE_NODE;
      quire_container odd{};
      REQUIRE_OK(quire_container_open(name.c_str(), &wrong, &odd));
      std::byte one{};
      std::size_t done = 0;
      REQUIRE_STATUS(quire_container_read(odd, 0, &one, 1, &done), QUIRE_IO);
      REQUIRE_OK(quire_container_close(odd));
      REQUIRE_OK(quire_container_remove(name.c_str(), 0));
    }
  }
  barrier();

  // One that only some nodes have is refused by name, where they would have to do I/O.
  if (quire_node() == 0) {
    quire_linker some = chest_linker("some");
    some.can |= QUIRE_LINK_ANYWHERE;
    REQUIRE_OK(quire_linker_register(&some));
    const auto how = options(QUIRE_CONTAINER_CREATE, "some", "oak", page);
    if (quire_nodes() > 1) {
      REQUIRE_STATUS(quire_container_open("some", &how, &c), QUIRE_NOT_FOUND);
      REQUIRE(said("node 1 has no linker 'some'"));
      REQUIRE_EQUAL(g_chest.opened, g_chest.closed);
    }
    g_chest.opened = g_chest.closed = 0;
  }

  // With a grain, at one node.
  const quire_linker mine = chest_linker("chest");
  REQUIRE_OK(quire_linker_register(&mine));
  barrier();
  o = options(QUIRE_CONTAINER_CREATE, "chest", "oak");
  o.placement = QUIRE_PLACE_NODE;
  auto other = o;
  other.what = "pine";
  other.unit_bytes = 16384;
  if (quire_node() == 0) {
    REQUIRE_STATUS(quire_container_open("pine", &other, &c), QUIRE_NOT_FOUND);
    other.unit_bytes = 4096;
    REQUIRE_STATUS(quire_container_open("pine", &other, &c), QUIRE_INVALID);
    REQUIRE(said("grain of 16384"));
  }
  c = open("chest", o);
  on_node(quire_nodes() - 1, [&] {
    write(c, 0, content(50'000, 8));
    REQUIRE_OK(quire_container_sync(c, 0, 0));
  });
  if (quire_node() == 0) {
    REQUIRE_EQUAL(g_chest.bytes, 50'000);
    REQUIRE(g_chest.synced > 0);
    const auto wanted = content(50'000, 8);
    REQUIRE(std::equal(wanted.begin(), wanted.end(), g_chest.all.begin()));
    g_chest.wrong = 1;
  }
  barrier();
  for (int wrong = 1; wrong <= 2; ++wrong) {
    on_node(quire_nodes() - 1, [&] {
      write(c, 100, content(10, 9));
      REQUIRE_STATUS(quire_container_sync(c, 0, 0), QUIRE_IO);
    });
    if (quire_node() == 0) g_chest.wrong = 2;
    barrier();
  }
  if (quire_node() == 0) g_chest.wrong = 0;
  barrier();
  (void)quire_container_sync(c, 0, 0);
  barrier();
  REQUIRE_OK(quire_container_sync(c, 0, 0));
  barrier();
  if (quire_node() == 0) REQUIRE(g_chest.all[100] == pattern(0, 9));
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [] {
    REQUIRE_STATUS(quire_container_remove("chest", QUIRE_CONTAINER_REMOVE_CONTENT), QUIRE_UNSUPPORTED);
    REQUIRE_OK(quire_container_remove("chest", 0));
    REQUIRE_EQUAL(g_chest.opened, 1);
    REQUIRE_EQUAL(g_chest.closed, 1);
  });
}

/// A store that fails while the first asks, and is well when the second asks for the same: the failure is older than
/// the second's question.
struct mending {
  std::atomic<int> asked{0};
  std::atomic<bool> over{false};

  static int fill(void* context, std::uint64_t, void* into, std::size_t bytes) {
    auto& self = *static_cast<mending*>(context);
    if (self.asked.fetch_add(1) == 0) {
      while (!self.over) sleep_ms(1);
      return EIO;
    }
    std::memset(into, 7, bytes);
    return 0;
  }
};
void mends(const char* name, mending& store, int reader) {
  REQUIRE_OK(quire_linker_register_function(name, 0, mending::fill, &store));
  barrier();
  auto o = options(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY, name, nullptr, page);
  o.placement = QUIRE_PLACE_NODE;
  const quire_container c = open(name, o);
  std::thread opens([&] {
    while (quire_node() == 0 && store.asked == 0) sleep_ms(1);
    sleep_ms(200);
    store.over = true;
  });
  on_node(reader, [&] {
    std::thread first([&] {
      std::byte one{};
      std::size_t done = 0;
      (void)quire_container_read(c, 0, &one, 1, &done);
    });
    sleep_ms(100);
    REQUIRE_SAME(read(c, 0, 1), std::vector<std::byte>(1, std::byte{7}));
    first.join();
  });
  opens.join();
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [&] { REQUIRE_OK(quire_container_remove(name, 0)); });
}

}  // namespace

int main() {
  REQUIRE_OK(quire_start(nullptr));
  make_directory();
  linkers();
  static mending at_the_store, elsewhere;
  mends("mends", at_the_store, 0);
  mends("mends elsewhere", elsewhere, quire_nodes() - 1);
  remove_directory();
  REQUIRE_OK(quire_end());
  return 0;
}
