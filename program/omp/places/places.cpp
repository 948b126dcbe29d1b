// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/places/places.hpp"

#include <quire/quire.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "program/omp/places/topology.hpp"
#include "program/process/fail.hpp"

namespace quire::program {
namespace {

processor_set* g_all = nullptr;  ///< of all nodes, in shared memory
int g_count = 0, g_first = 0, g_here = 0;
thread_local int t_place = -1;  ///< that the thread is bound to, of this node's

void sum(std::vector<std::int64_t>& values) {
  if (const quire_status why = quire_reduce_i64(values.data(), values.size(), QUIRE_SUM); why != QUIRE_OK)
    fail("nodes cannot agree on their places", why);
}

/// A number for the host, its name and when it was started, and for the processors of it that this node may use: others
/// divide what is theirs.
std::int64_t host_number() {
  char name[256] = {};
  (void)::gethostname(name, sizeof name - 1);
  std::string all(name);
  if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "re"); file != nullptr) {
    char text[64] = {};
    if (std::fgets(text, sizeof text, file) != nullptr) all += text;
    std::fclose(file);
  }
  cpu_set_t mine;
  if (::sched_getaffinity(0, sizeof mine, &mine) == 0) all.append(reinterpret_cast<const char*>(&mine), sizeof mine);
  return static_cast<std::int64_t>(std::hash<std::string>{}(all));
}

/// This node's share of its host's places. Collective.
std::vector<processor_set> share(std::vector<processor_set> places) {
  const auto self = static_cast<std::size_t>(job().node), nodes = static_cast<std::size_t>(job().nodes);
  std::vector<std::int64_t> hosts(nodes);
  hosts[self] = host_number();
  sum(hosts);
  const auto before = static_cast<std::size_t>(
      std::count(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(self), hosts[self]));
  const auto together = static_cast<std::size_t>(std::count(hosts.begin(), hosts.end(), hosts[self]));
  const part_of_host mine = part_of(places.size(), before, together);
  return {places.begin() + static_cast<std::ptrdiff_t>(mine.first),
          places.begin() + static_cast<std::ptrdiff_t>(mine.first + mine.count)};
}

std::vector<processor_set> places_here() {
  const std::vector<processor> available = processors_here();
  const char* const text = std::getenv("OMP_PLACES");
  std::string why;
  std::vector<processor_set> places;
  if (text != nullptr && *text != 0) places = read_places(text, available, why);
  if (!why.empty())
    std::fprintf(stderr, "quire: OpenMP: OMP_PLACES is \"%s\", which is %s; each processor is a place\n", text,
                 why.c_str());
  if (places.empty()) places = read_places("threads", available, why);
  return places;
}

/// All nodes' places where all can read them. Collective.
void publish(const std::vector<processor_set>& places) {
  const auto self = static_cast<std::size_t>(job().node);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(job().nodes));
  counts[self] = static_cast<std::int64_t>(places.size());
  sum(counts);
  for (std::size_t node = 0; node < counts.size(); ++node) {
    if (node < self) g_first += static_cast<int>(counts[node]);
    g_count += static_cast<int>(counts[node]);
  }
  void* at = nullptr;
  if (job().node == 0 && quire_malloc(static_cast<std::uint64_t>(g_count) * sizeof(processor_set), &at) != QUIRE_OK)
    fail("no shared memory for places", QUIRE_NO_MEMORY);
  if (const quire_status why = quire_broadcast(&at, sizeof at, 0); why != QUIRE_OK)
    fail("nodes cannot agree on their places", why);
  g_all = static_cast<processor_set*>(at);
  std::copy(places.begin(), places.end(), g_all + g_first);
  g_here = static_cast<int>(places.size());
  if (const quire_status why = quire_barrier_wait(quire_barrier{0}); why != QUIRE_OK)
    fail("nodes cannot agree on their places", why);
}

void bind_to(int number) noexcept {
  if (number == t_place || number < 0 || number >= g_here) return;
  const processor_set& p = g_all[g_first + number];
  cpu_set_t processors;
  static_assert(sizeof processors == sizeof p.words);
  std::memcpy(&processors, p.words.data(), sizeof processors);
  if (::sched_setaffinity(0, sizeof processors, &processors) == 0) t_place = number;
}

}  // namespace

bool has_bound_threads() noexcept { return job().bind_at[0] != binding::none; }

void open_places() {
  note_processors();
  if (!has_bound_threads()) return;
  const std::vector<processor_set> places = share(places_here());
  if (places.empty()) fail("the system does not say which processors there are (sched_getaffinity)", QUIRE_SYSTEM);
  publish(places);
}

binding binding_of_region(binding asked, int level) noexcept {
  if (!has_bound_threads()) return binding::none;
  if (asked != binding::none) return asked;
  return job().bind_at[std::min(level, settings::most_levels - 1)];
}

seat first_seat() noexcept { return g_here == 0 ? seat{} : seat{0, {0, g_here}}; }

seat take_seat(binding how, int count, int number, const seat& of) noexcept {
  if (g_here == 0) return {};
  const seat mine = seat_of(how, count, number, of.place < 0 ? first_seat() : of);
  bind_to(mine.place);
  return mine;
}

int count_places() noexcept { return g_count; }
int first_place_here() noexcept { return g_first; }
const processor_set* place_by_number(int number) noexcept {
  return number < 0 || number >= g_count ? nullptr : g_all + number;
}

}  // namespace quire::program
