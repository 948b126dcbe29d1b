// SPDX-License-Identifier: BSD-3-Clause
// Pointers to private memory in shared memory, for pointers_test: some, many, none; and where private memory lies.
#include <sys/personality.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <quire/quire.hpp>
#include <string_view>

#include "node.hpp"

namespace {

using namespace quire::test;

int g_variable = 3;

struct table {
  quire::mutex guard = quire::mutex::create();
  std::map<int, double, std::less<>, quire::allocator<std::pair<const int, double>>> numbers;
};

bool is_last() { return quire_node() == quire_nodes() - 1; }

void some() {
  auto* const words = shared_object<void*>("words", 8);
  barrier();
  int on_the_stack = 0;
  if (is_last()) {
    words[0] = std::malloc(100);
    words[1] = &on_the_stack;
    words[2] = &g_variable;
    words[3] = words;                                // shared: right
    words[4] = reinterpret_cast<void*>(0x12345678);  // a number
    for (int i = 0; i < 3; ++i) std::printf("stored %p at %p\n", words[i], static_cast<void*>(words + i));
  }
  barrier();
  barrier();  // they are told once
}

void many() {
  if (is_last()) {
    void* words = nullptr;
    REQUIRE_OK(quire_calloc(100, sizeof(void*), &words));
    for (int i = 0; i < 100; ++i) static_cast<void**>(words)[i] = std::malloc(10);
  }
  barrier();
}

void none() {
  auto* const t = quire::from_node(0, [] { return quire::new_object<table>(); });
  for (int i = 0; i < 200; ++i) {
    const std::scoped_lock lock(t->guard);
    t->numbers[i * quire_nodes() + quire_node()] = 0.5 * i;
  }
  barrier();
  REQUIRE_EQUAL(t->numbers.size(), 200 * quire_nodes());
}

/// Where malloc, mmap and the stack of a new thread are; the same on all nodes without randomised addresses, unless
/// Quire sees to it.
void addresses() {
  std::printf("small %p\n", std::malloc(24));
  std::printf("heap %p\n", std::malloc(70'000));
  std::printf("mapping %p\n", std::malloc(10 << 20));
  on_threads(1, [](int) {
    int local = 0;
    std::printf("stack %p\n", static_cast<void*>(&local));
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "addresses" && (::personality(0xffffffff) & ADDR_NO_RANDOMIZE) == 0) {
    if (::personality(ADDR_NO_RANDOMIZE) == -1) return 77;
    ::execv("/proc/self/exe", argv);
    return 77;
  }
  return node_main([what] {
    if (what == "some") some();
    if (what == "many") many();
    if (what == "none") none();
    if (what == "addresses") addresses();
  });
}
