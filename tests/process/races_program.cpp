// SPDX-License-Identifier: BSD-3-Clause
// Programs of Quire's own calls under release consistency, for `quire run --check`: an argument names one that has a
// data race, in the marked lines, of two nodes; without one all those that have none are run.
#include <string_view>

#include "node.hpp"

using namespace quire::test;

namespace {

using word = std::uint64_t;
constexpr std::size_t page = 4096, count = std::size_t{1} << 15;
constexpr word rounds = 40;

volatile word* table = nullptr;
quire_mutex locks[2];
quire_semaphore turn;

word me() { return static_cast<word>(quire_node()); }
word nodes() { return static_cast<word>(quire_nodes()); }

// ---- With a race. Each does it again and again: by chance nodes hear of each other between their writes.

void all_write() {
  for (word r = 0; r < rounds; ++r) {
    for (std::size_t i = 0; i < count; ++i) table[i] = i + r * 1000 + 100'000 * me();  // RACE all_write
    barrier();
  }
}
void own_locks() {
  for (word r = 0; r < rounds; ++r) {
    REQUIRE_OK(quire_mutex_lock(locks[me() % 2]));
    for (std::size_t i = 0; i < 512; ++i) table[i] = table[i] + 1 + 100'000 * me();  // RACE own_locks
    REQUIRE_OK(quire_mutex_unlock(locks[me() % 2]));
    barrier();
  }
}
void too_early() {
  for (word r = 0; r < rounds; ++r) {
    if (me() == 0)
      for (std::size_t i = 0; i < 600; ++i) table[i] = i + r;  // RACE too_early
    else
      for (std::size_t i = 0; i < 600; ++i) table[i] = table[i] + 9 * r + me();  // RACE too_early
    barrier();
  }
}
void neighbours() {
  const std::size_t each = count / nodes(), first = me() * each, end = std::min(first + each + 1, count);
  for (word r = 0; r < rounds; ++r) {
    for (std::size_t i = first; i < end; ++i) table[i] = 2 * r + me() + 1;  // RACE neighbours
    barrier();
  }
}
/// Long one node's own: then another one writes it, too, without a barrier between.
void late_guest() {
  for (word r = 0; r < 10; ++r) {
    for (std::size_t i = 0; me() == 0 && i < count; ++i) table[i] = i + r;
    barrier();
  }
  for (word r = 0; r < rounds; ++r) {
    for (std::size_t i = 0; i < 5000; ++i) table[i] = i + 100 * r + 77 * me();  // RACE late_guest
    barrier();
  }
}

// ---- Without one.

void one_lock() {
  for (word r = 0; r < rounds; ++r) {
    REQUIRE_OK(quire_mutex_lock(locks[0]));
    for (std::size_t i = 0; i < 512; ++i) table[i] = table[i] + 1 + me();
    REQUIRE_OK(quire_mutex_unlock(locks[0]));
  }
  barrier();
}
void parts() {
  for (word r = 0; r < rounds; ++r) {
    for (std::size_t i = me(); i < count; i += nodes()) table[i] = i + r;
    barrier();
  }
}
void in_turn() {
  for (word r = 0; r < rounds; ++r) {
    if (r % nodes() == me())
      for (std::size_t i = 0; i < 3000; ++i) table[i] = 3 * table[i] + r;
    barrier();
  }
}
/// Epochs of one node's own before another one takes it, by a barrier and by a lock.
void owners() {
  for (word owner = 0; owner < nodes(); ++owner) {
    for (word r = 0; r < 8; ++r) {
      for (std::size_t i = 0; owner == me() && i < count; ++i) table[i] = 5 * table[i] + r + i;
      barrier();
    }
  }
}
void passed_on() {
  for (word r = 0; r < rounds; ++r) {
    REQUIRE_OK(quire_semaphore_acquire(turn, -1));
    for (std::size_t i = 0; i < 700; ++i) table[i] = table[i] + i + me();
    REQUIRE_OK(quire_semaphore_release(turn, 1));
  }
  barrier();
}

struct kind {
  std::string_view name;
  void (*run)();
};
constexpr kind racy[] = {{"all_write", all_write},
                         {"own_locks", own_locks},
                         {"too_early", too_early},
                         {"neighbours", neighbours},
                         {"late_guest", late_guest}};
constexpr kind race_free[] = {
    {"one_lock", one_lock}, {"parts", parts}, {"in_turn", in_turn}, {"owners", owners}, {"passed_on", passed_on}};

std::string_view asked;

int run() {
  auto about = region_options(page, QUIRE_PLACE_NODE, 0);
  about.consistency = QUIRE_RELEASE;
  table = shared_region<word>("table", count * sizeof(word), about);
  if (me() == 0) {
    for (auto& l : locks) REQUIRE_OK(quire_mutex_create(&l));
    REQUIRE_OK(quire_semaphore_create(1, &turn));
  }
  REQUIRE_OK(quire_broadcast(locks, sizeof locks, 0));
  REQUIRE_OK(quire_broadcast(&turn, sizeof turn, 0));
  for (const kind& k : racy)
    if (k.name == asked) k.run();
  for (const kind& k : race_free)
    if (asked.empty() || k.name == asked) k.run();
  return 0;
}

}  // namespace

int main(int arguments, char** words) {
  if (arguments > 1) asked = words[1];
  return node_main(run);
}
