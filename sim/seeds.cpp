#include "sim/seeds.hpp"

#include <cstdio>
#include <cstdlib>

#include "base/check.hpp"
#include "sim/network.hpp"

namespace quire::sim {
namespace {

const network* g_running = nullptr;

void print_running() noexcept {
  if (g_running != nullptr) std::fputs(g_running->trace().c_str(), stderr);
}

}  // namespace

std::vector<std::uint64_t> seeds(std::uint64_t first, std::uint64_t count) {
  if (const char* one = std::getenv("QUIRE_SIM_SEED"); one != nullptr) return {std::strtoull(one, nullptr, 10)};
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = first + i;
  return all;
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
