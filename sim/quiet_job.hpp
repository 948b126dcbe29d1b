// SPDX-License-Identifier: BSD-3-Clause
// A launcher that says nothing: nodes in simulation are all there from the start.
#pragma once

#include "bootstrap/bootstrap.hpp"

namespace quire::sim {

class quiet_job final : public bootstrap::bootstrap {
 public:
  quiet_job(unsigned self, unsigned nodes) : self_(self), nodes_(nodes) {}
  [[nodiscard]] int node() const noexcept override { return static_cast<int>(self_); }
  [[nodiscard]] int nodes() const noexcept override { return static_cast<int>(nodes_); }
  [[nodiscard]] int local_nodes() const noexcept override { return 1; }
  [[nodiscard]] base::result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte>) override {
    return QUIRE_UNSUPPORTED;
  }
  [[nodiscard]] bool accuse(int, std::uint64_t) noexcept override { return true; }
  [[nodiscard]] bool announces_deaths() const noexcept override { return true; }
  void abort(int, const std::string&) noexcept override {}
  void leave(std::string_view) noexcept override {}
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] ::quire::bootstrap::news poll_news() noexcept override { return {}; }

 private:
  unsigned self_, nodes_;
};

}  // namespace quire::sim
