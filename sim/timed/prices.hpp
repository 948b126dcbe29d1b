// SPDX-License-Identifier: BSD-3-Clause
// What things cost in virtual time: the network, and what a node does by itself. All times are nanoseconds. Presets
// hold measured figures, where there are any; docs/design/model.md says where each comes from.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace quire::timed {

using time_ns = std::uint64_t;

/// Of a rate in 10^6 bytes a second; 0 stands for no limit.
[[nodiscard]] constexpr time_ns time_for(std::uint64_t bytes, std::uint64_t megabytes_per_s) noexcept {
  return megabytes_per_s == 0 ? 0 : (bytes * 1000 + megabytes_per_s / 2) / megabytes_per_s;
}

struct prices {
  // The network: each node has one link out and one in, and a link carries one message at a time.
  time_ns latency_ns = 100;
  std::uint64_t link_mbs = 0;  ///< 10^6 bytes a second, each way; 0: as fast as you like
  // A message at its sender and at its receiver, the protocol's step included; a node works on one thing at a time.
  time_ns send_ns = 150;
  time_ns receive_ns = 200;
  std::uint64_t copy_out_mbs = 8'000;  ///< a payload is copied at the sender, 10^6 bytes a second; 0: it is not
  std::uint64_t copy_in_mbs = 10'000;  ///< and at the receiver
  time_ns spin_ns = 20'000;            ///< who has had nothing to do for so long sleeps,
  time_ns wake_ns = 5'000;             ///< and takes so long to wake
  time_ns poll_ns =
      0;  ///< who computes looks so late whether a message has come, as where nobody is told (Millipage, section 3.5)
  // Where nodes share cores: how long a thread computes while others wait for its core, and how long a runtime that was
  // woken keeps a core beyond its work: two switches, and the look for what may follow (pace::follow_up_ns).
  time_ns slice_ns = 4'000'000;
  time_ns steal_ns = 15'000;
  time_ns wake_late_ns = 10'000;  ///< to wake takes so much longer where a thread computes on the core
  time_ns follow_up_ns = 10'000;  ///< who has served something looks on for so long (pace::follow_up_ns)
  // Memory: a fault on its way in and the thread's way back; a change of permission, for the call and for each 4 KiB.
  time_ns fault_ns = 2'200;
  time_ns resume_ns = 500;
  time_ns permit_ns = 120;
  time_ns permit_page_ns = 360;
  time_ns protect_ns = 1'000;
  time_ns protect_page_ns = 50;
  // Release consistency, for each 4 KiB; and for each write notice, told or heard.
  time_ns twin_page_ns = 800;
  time_ns diff_page_ns = 750;
  time_ns apply_page_ns = 500;
  time_ns notice_ns = 40;
  // Transactions: to begin one, and for each 4 KiB.
  time_ns begin_ns = 300;
  time_ns copy_page_ns = 2'400;   ///< the kernel makes a private copy, at the first write
  time_ns publish_page_ns = 500;  ///< the copy is copied to the frame
  time_ns drop_page_ns = 900;     ///< it is given back
};

/// A price by its name in the command line.
struct price_option {
  const char* name;
  std::uint64_t prices::*value;
  const char* about;
};
[[nodiscard]] std::span<const price_option> price_options() noexcept;

/// The networks that preset() knows.
inline constexpr const char* preset_names[] = {"shm", "tcp", "ib", "gigabit", "ethernet100"};
/// shm: shared memory, measured. tcp: TCP over the loopback device, measured. Assumed: ib, an InfiniBand-like network;
/// gigabit, TCP over Ethernet of 1 Gbit/s; ethernet100, over Fast Ethernet of 100 Mbit/s, with nodes of today at its
/// ends. Throws std::invalid_argument for other names.
[[nodiscard]] prices preset(const std::string& name);

}  // namespace quire::timed
