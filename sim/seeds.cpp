// SPDX-License-Identifier: BSD-3-Clause
#include "sim/seeds.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "base/check.hpp"
#include "sim/network.hpp"

namespace quire::sim {
namespace {

const network* g_running = nullptr;

void print_running() noexcept {
  if (g_running != nullptr) std::fputs(g_running->trace().c_str(), stderr);
}

/// A number of the environment.
std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

/// So many times fewer seeds; `make test-all` looks at all of them.
std::uint64_t part() {
  const char* const all = std::getenv("SIM_SEEDS");
  if (all != nullptr && std::string_view(all) == "all") return 1;
  return std::max<std::uint64_t>(1, number_of("QUIRE_SIM_PART", 1));
}

}  // namespace

std::vector<std::uint64_t> seeds(std::uint64_t first, std::uint64_t count, looks_for wanted) {
  if (std::getenv("QUIRE_SIM_SEED") != nullptr) return {number_of("QUIRE_SIM_SEED", 0)};
  const bool elsewhere = std::getenv("QUIRE_SIM_FIRST") != nullptr;
  first = number_of("QUIRE_SIM_FIRST", first);
  count *= number_of("QUIRE_SIM_SOAK", 1);
  if (wanted == looks_for::mistakes) count /= part();
  count = std::max<std::uint64_t>(1, count);
  if (elsewhere) std::printf("seeds %" PRIu64 " to %" PRIu64 "\n", first, first + count - 1);
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = first + i;
  return all;
}

bool usual_seeds() {
  const char* const names[] = {"QUIRE_SIM_SEED", "QUIRE_SIM_FIRST", "QUIRE_SIM_SOAK"};
  return part() == 1 && std::none_of(std::begin(names), std::end(names),
                                     [](const char* name) { return std::getenv(name) != nullptr; });
}

print_on_check_failure::print_on_check_failure(const network& net) noexcept {
  g_running = &net;
  base::set_check_hook(print_running);
}

print_on_check_failure::~print_on_check_failure() {
  base::set_check_hook(nullptr);
  g_running = nullptr;
}

}  // namespace quire::sim
