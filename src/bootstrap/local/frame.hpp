// SPDX-License-Identifier: BSD-3-Clause
// What a node and `quire run` say to each other over the control socket: frames of a header and a payload.
//
//   node -> launcher   hello      payload: version of this protocol, and the node's pid (struct greeting)
//                      address    payload: what the node gives to the others; once a round, answered by `addresses`
//                      leave      payload: counters of the node as JSON
//                      departs    the same, of a node that leaves while the others go on: they get node_died
//                      accuse     payload: who is lost, and for how many ms it was silent (struct loss)
//                      withdraw   payload: who was accused of silence, and has been heard since (struct loss)
//                      bereaved   this node can do nothing more, as it has lost another: its end is a consequence
//                      ready      the node has started: it can go on when others die
//                      waits      payload: what its threads wait for (src/waits), the answer to `show_waits`
//                      counters   payload: a flat JSON object, the answer to `show_counters`
//                      leaving    payload: what becomes of the wish that it leaves (bootstrap/leave_word.hpp)
//                      record     payload: pid, descriptor and path (pack_addresses) of its record for the report, to
//                                 be kept for it (launcher/kept_record.hpp)
//   launcher -> node   addresses  payload: of all nodes, in order (pack_addresses)
//                      node_died  node: who; payload: the sentence for people
//                      job_ends   payload: the sentence for people
//                      show_waits  somebody asks what the job waits for; to nodes that are ready
//                      show_counters  somebody looks at the job (`quire top`); to nodes that are ready
//                      leave_wanted  somebody wants it to leave (`quire leave`); to a node that is ready
//
// `quire top` and `quire leave`, which look at a job, and the launcher:
//
//   launcher -> viewer counters   payload: a view of the job, packed (launcher/viewers.hpp), twice a second
//                      leaving    node: which; payload: its own words
//                      departs    node: it has left
//                      cannot     payload: the sentence for people; nothing more comes
//                      job_ends   payload: the sentence for people
//   viewer -> launcher leave_wanted  node: which is to leave; payload: version of this protocol (struct greeting)
//
// Between `quire run --hosts` and its agent on a host the same frames of each node travel, with its number, among
// others:
//
//   launcher -> agent  start      payload: what to start, packed (launcher/agent.hpp); `alive` may come before
//                      to_node    node: for whom, -1 for all who listen; payload: an encoded frame
//                      signal     payload: a number (int), for `node`, or all nodes of the host (-1)
//                      input      payload: standard input of node 0; empty at its end
//                      output_taken  payload: so many bytes of output have found room (std::uint64_t)
//   agent -> launcher  started    payload: the pid of `node` (int)
//                      cannot     node: exit status; payload: the sentence for people. Nothing runs then
//                      output     payload: whole or broken lines of `node`; error_output likewise
//                      closed     `node` has closed its control socket
//                      ended      payload: the wait status of `node` (int); nothing more comes from it
//                      input_taken  the next input may come
//                      stopped    payload: whether `node` is stopped by a signal (int); told when it changes
//   both ways          alive      so that silence means something; the agent's first word
//
// Nodes of a rendezvous use some of these frames, and three more: rendezvous/hub.hpp.
//
// Both ends are the same build of Quire, or find out by the version in hello and start.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire::bootstrap::local {

inline constexpr std::uint32_t protocol_version = 8;
/// The most that a node may give to the others in one round.
inline constexpr std::size_t most_address_bytes = 60 << 10;

enum class frame_kind : std::uint32_t {
  hello = 1,
  address,
  leave,
  addresses,
  node_died,
  job_ends,
  start,
  to_node,
  signal,
  input,
  started,
  cannot,
  output,
  error_output,
  closed,
  ended,
  input_taken,
  accuse,
  alive,
  output_taken,
  ready,
  withdraw,
  bereaved,
  stopped,
  show_waits,
  waits,
  show_counters,
  counters,
  record,
  members,
  notice,
  abort,
  departs,
  leave_wanted,
  leaving,
  last = leaving
};

/// What a node says of itself in `hello`.
struct greeting {
  std::uint32_t version = protocol_version;
  std::int32_t pid = 0;
};

/// What a node says of another in `accuse` and `withdraw`.
struct loss {
  std::uint64_t node = 0;
  std::uint64_t silent_ms = 0;  ///< 0: the connection is lost
};

struct frame {
  frame_kind kind{};
  int node = -1;
  std::string payload;
};

/// A frame as bytes for the stream.
[[nodiscard]] std::string encode(frame_kind kind, int node, std::string_view payload);
/// The same in a buffer that many channels may queue.
[[nodiscard]] inline std::shared_ptr<const std::string> make_frame(frame_kind kind, int node,
                                                                   std::string_view payload) {
  return std::make_shared<const std::string>(encode(kind, node, payload));
}
/// A payload that is one int; 0 of an empty one.
[[nodiscard]] inline int int_of(std::string_view payload) {
  int number = 0;
  std::memcpy(&number, payload.data(), std::min(sizeof number, payload.size()));
  return number;
}

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

/// Strings one after the other, each behind its length.
[[nodiscard]] std::string pack_addresses(std::span<const std::string> addresses);
/// Nothing unless `packed` holds exactly `nodes` addresses.
[[nodiscard]] std::optional<std::vector<std::vector<std::byte>>> unpack_addresses(std::string_view packed, int nodes);
/// Any number of strings; nothing if `packed` is not a sequence of them.
[[nodiscard]] std::optional<std::vector<std::string>> unpack_strings(std::string_view packed);

}  // namespace quire::bootstrap::local
