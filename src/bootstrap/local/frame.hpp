// What a node and `quire run` say to each other over the control socket: frames of a header and a payload.
//
//   node -> launcher   hello      payload: version of this protocol
//                      address    payload: what the node gives to the others; once a round, answered by `addresses`
//                      leave      payload: counters of the node as JSON
//   launcher -> node   addresses  payload: of all nodes, in order (pack_addresses)
//                      node_died  node: who; payload: the sentence for people
//                      job_ends   payload: the sentence for people
//
// Both ends are the same build of Quire on the same machine, or find out by the version in hello.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire::bootstrap::local {

inline constexpr std::uint32_t protocol_version = 1;
/// The most that a node may give to the others in one round.
inline constexpr std::size_t most_address_bytes = 60 << 10;

enum class frame_kind : std::uint32_t { hello = 1, address, leave, addresses, node_died, job_ends };

struct frame {
  frame_kind kind{};
  int node = -1;
  std::string payload;
};

/// A frame as bytes for the stream.
[[nodiscard]] std::string encode(frame_kind kind, int node, std::string_view payload);

/// Cuts a stream of bytes, which arrives in pieces of any size, into frames.
class frame_reader {
 public:
  void append(std::string_view bytes);
  /// The next whole frame, if there is one.
  [[nodiscard]] std::optional<frame> next();
  /// True once the stream has turned out to be no sequence of frames. It gives none from then on.
  [[nodiscard]] bool broken() const noexcept { return broken_; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
  bool broken_ = false;
};

[[nodiscard]] std::string pack_addresses(std::span<const std::string> addresses);
/// Nothing unless `packed` holds exactly `nodes` addresses.
[[nodiscard]] std::optional<std::vector<std::vector<std::byte>>> unpack_addresses(std::string_view packed, int nodes);

}  // namespace quire::bootstrap::local
