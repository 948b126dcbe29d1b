// Which seeds a randomised test runs: a range, or the one of QUIRE_SIM_SEED when a failure is replayed. Also what a broken
// CHECK inside a machine prints before the process ends: the run that was under way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quire::sim {

class network;

/// `count` seeds from `first` on, or only QUIRE_SIM_SEED (decimal) if that is set.
[[nodiscard]] std::vector<std::uint64_t> seeds(std::uint64_t first, std::uint64_t count);

/// While this lives, a failing CHECK prints the trace of `net`, seed included.
class print_on_check_failure {
 public:
  explicit print_on_check_failure(const network& net) noexcept;
  ~print_on_check_failure();
  print_on_check_failure(const print_on_check_failure&) = delete;
  print_on_check_failure& operator=(const print_on_check_failure&) = delete;
};

}  // namespace quire::sim
