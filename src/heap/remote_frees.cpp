// SPDX-License-Identifier: BSD-3-Clause
#include "heap/remote_frees.hpp"

#include <algorithm>
#include <utility>

namespace quire::heap {

bool remote_frees::contains(unsigned node, std::uint64_t address) const noexcept {
  const auto& all = nodes_[node].addresses;
  return std::find(all.begin(), all.end(), address) != all.end();
}

remote_frees::outcome remote_frees::add(unsigned node, std::uint64_t address, std::uint64_t now_ns) {
  if (contains(node, address)) return outcome::twice;
  waiting_for& w = nodes_[node];
  if (w.addresses.empty()) {
    w.oldest_ns = now_ns;
    w.addresses.reserve(batch_);
  }
  w.addresses.push_back(address);
  ++waiting_;
  return w.addresses.size() >= batch_ ? outcome::full : outcome::kept;
}

std::vector<std::uint64_t> remote_frees::take(unsigned node) {
  std::vector<std::uint64_t> all = std::exchange(nodes_[node].addresses, {});
  waiting_ -= all.size();
  if (!all.empty()) nodes_[node].unconfirmed = true;
  return all;
}

std::vector<unsigned> remote_frees::take_unconfirmed() {
  std::vector<unsigned> all;
  for (unsigned node = 0; node < nodes_.size(); ++node) {
    if (std::exchange(nodes_[node].unconfirmed, false)) all.push_back(node);
  }
  return all;
}

}  // namespace quire::heap
