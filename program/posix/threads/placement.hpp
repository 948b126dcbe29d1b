// SPDX-License-Identifier: BSD-3-Clause
// On which node a thread begins that the program makes itself: `quire run --place`, `quire exec --place`. Pure.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace quire::program {

struct placement {
  enum class kind : std::uint8_t {
    here,    ///< on the node of the thread that makes it
    least,   ///< where the fewest run; node 0, which has main(), is the last of equals
    blocks,  ///< so many on node 0, then so many on node 1, and after the last node again on node 0
  };
  kind how = kind::least;
  std::uint32_t block = 1;
};

/// "here", "least", "round", which is blocks of one, or "blocks:N".
[[nodiscard]] inline std::optional<placement> placement_of(std::string_view text) noexcept {
  constexpr std::string_view blocks = "blocks:";
  if (text == "here") return placement{placement::kind::here};
  if (text == "least") return placement{placement::kind::least};
  if (text == "round") return placement{placement::kind::blocks};
  if (!text.starts_with(blocks)) return std::nullopt;
  text.remove_prefix(blocks.size());
  std::uint32_t block = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), block);
  if (error != std::errc() || end != text.data() + text.size() || block == 0) return std::nullopt;
  return placement{placement::kind::blocks, block};
}

/// `running(node)`: how many threads of the program run there, main() not counted; `number`: how many were made before.
template <class Running>
[[nodiscard]] int node_of_new_thread(const placement& p, int nodes, int here, std::uint64_t number,
                                     Running&& running) noexcept {
  if (p.how == placement::kind::here) return here;
  if (p.how == placement::kind::blocks) return static_cast<int>(number / p.block % static_cast<std::uint64_t>(nodes));
  int best = 0;
  for (int node = nodes - 1; node > 0; --node) {
    if (running(node) <= running(best)) best = node;
  }
  return best;
}

}  // namespace quire::program
