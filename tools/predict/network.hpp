// SPDX-License-Identifier: BSD-3-Clause
// What a network between hosts costs, for `quire predict` (Alexandrov, Ionescu, Schauser and Scheiman, LogGP, SPAA
// 1995: latency, overhead, gap for each byte).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quire::tools::predict {

struct network {
  std::string name{};
  double latency_ns = 0;          ///< of the first byte, from one host to the other
  double send_ns = 0;             ///< processor time of a message where it leaves, beyond that within one host
  double receive_ns = 0;          ///< and where it comes
  double bytes_a_second = 0;      ///< of a host's link, each way; 0: no limit
  double wake_ns = 7'000;         ///< until a node that computes has woken for a message, beyond all that
  double beside_ns = 0;           ///< of a core, that a message takes at either end beside its sender and receiver
  std::uint64_t frame_bytes = 0;  ///< that a message has beside its own: headers of its packets
};

[[nodiscard]] const std::vector<network>& known_networks();
/// A known one, or that of a file of `quire bench network`. Nothing, and a sentence in `why`.
[[nodiscard]] std::optional<network> find_network(const std::string& name, std::string& why);
/// The text of such a file.
[[nodiscard]] std::string write_network(const network& n);
[[nodiscard]] std::optional<network> read_network(std::string_view text, std::string& why);

}  // namespace quire::tools::predict
