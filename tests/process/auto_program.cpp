// SPDX-License-Identifier: BSD-3-Clause
// What `quire run --auto` can make faster, and what it cannot. auto_program small|sparse|still|fail: nodes write small
// allocations of their own that lie on one page; or one of them reads a word of each 64 KiB that another writes, so
// that larger units only bring more, and it does more then; or they wait for nothing; or they fail where units are
// large.
#include <quire/quire.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

quire_barrier all_nodes{0};

void meet() {
  if (quire_barrier_wait(all_nodes) != QUIRE_OK) std::abort();
}

/// Of node 0's making.
template <class F>
void* shared(const char* name, F&& make) {
  void* memory = nullptr;
  if (quire_node() == 0 && quire_publish(name, make()) != QUIRE_OK) std::abort();
  if (quire_lookup(name, -1, &memory) != QUIRE_OK) std::abort();
  return memory;
}
void* allocate(std::size_t bytes, std::size_t alignment) {
  void* memory = nullptr;
  if (quire_aligned_alloc(alignment, bytes, &memory) != QUIRE_OK) std::abort();
  return memory;
}

/// Much more faults than barriers: the machine may be busy.
void write_small() {
  constexpr int rounds = 60, pages = 16, a_page = 64;
  struct table {
    std::uint64_t* of[pages * a_page];
  };
  auto* const small = static_cast<table*>(shared("small", [] {
    auto* const made = static_cast<table*>(allocate(sizeof(table), 4096));
    for (auto& one : made->of) one = static_cast<std::uint64_t*>(allocate(64, 64));
    return made;
  }));
  std::uint64_t* mine[pages];
  for (int i = 0; i < pages; ++i) mine[i] = small->of[i * a_page + quire_node()];
  for (int round = 0; round < rounds; ++round) {
    for (auto* const one : mine) ++*one;
    meet();
  }
  for (auto* const one : mine)
    if (*one != rounds) std::abort();
}

void read_sparsely(std::uint64_t rounds) {
  constexpr std::size_t pieces = 128, words = (64 << 10) / sizeof(std::uint64_t);
  auto* const all = static_cast<volatile std::uint64_t*>(
      shared("sparse", [] { return allocate(pieces * words * sizeof(std::uint64_t), 1 << 16); }));
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    for (std::size_t i = 0; i < pieces; ++i) {
      const std::size_t at = i * 37 % pieces;  // no order that could be read ahead
      if (quire_node() == 0) all[at * words] = round;
    }
    meet();
    for (std::size_t i = 0; i < pieces; ++i)
      if (quire_node() == 1 && all[i * 37 % pieces * words] != round) std::abort();
    meet();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "still";
  if (quire_start(nullptr) != QUIRE_OK) return 1;
  const char* const unit = std::getenv("QUIRE_UNIT");
  if (std::strcmp(how, "fail") == 0 && unit != nullptr) return 3;
  meet();
  if (std::strcmp(how, "small") == 0) write_small();
  constexpr std::uint64_t rounds = 12, more_with_large_units = 5;  // so that noise does not decide
  if (std::strcmp(how, "sparse") == 0 || std::strcmp(how, "fail") == 0)
    read_sparsely(unit != nullptr ? more_with_large_units * rounds : rounds);
  return quire_end() == QUIRE_OK ? 0 : 1;
}
