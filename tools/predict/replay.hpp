// SPDX-License-Identifier: BSD-3-Clause
// What a job that has been recorded (record/events.hpp) would take on another network and on hosts of its own: a
// discrete-event simulation. Threads compute for the processor time that they have used; what they wait for comes when
// the messages that bring it come. Messages leave in the contexts in which they have left, and take what the network
// makes of them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "predict/network.hpp"
#include "record/events.hpp"

namespace quire::tools::predict {

/// Events of one node, in order.
struct node_events {
  std::vector<record::event> all{};
};

/// What of the order that was recorded stays as it is.
enum class order : std::uint8_t {
  loose,   ///< what one event needs of another: its message, its thread, its operation; and events about one thing
  likely,  ///< and a thread does not go beyond its next wait before content that had come to its node
  strict,  ///< and all that the driver of a node does
};

struct hardware {
  network net{};
  unsigned nodes_a_host = 1;
  unsigned threads_a_node = 1;  ///< or more
  unsigned cores_a_node = 2;    ///< where threads use all of them, what the node serves others takes time of theirs
  double speed = 1;             ///< of the cores, in that of this machine's
  double local_latency_ns = 0;  ///< of messages between nodes of one host
  double take_ns = 0;           ///< to take a message from the transport
};

struct outcome {
  double ns = 0;  ///< from when all nodes had met until the end
  // Of threads that the program has, or that have computed.
  double work_ns = 0;                                  ///< of all threads
  std::array<double, record::asked_kinds> waits_ns{};  ///< by what they have asked for
  std::uint64_t threads = 0, messages = 0, bytes = 0;
  double unseen_ns = 0;        ///< of the work: of threads that ask for nothing (unseen.hpp)
  double slept_ns = 0;         ///< of threads, in calls that are not Quire's
  double served_ns = 0;        ///< what nodes did for others and for the protocol
  double busiest_link_ns = 0;  ///< of one direction of one host
  std::uint64_t turned = 0;    ///< requests for a lock that come before one that came first in the record
  double turned_ns = 0;        ///< for so long they wait for that one
  std::uint64_t undone = 0;    ///< events that wait for what is not in the records, and messages from nowhere
};

[[nodiscard]] outcome replay(const std::vector<node_events>& job, const hardware& on, order keep);

}  // namespace quire::tools::predict
