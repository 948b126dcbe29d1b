// SPDX-License-Identifier: BSD-3-Clause
// Moving messages between nodes: the narrow interface, one folder a body (rings: shared memory; ucx: TCP; loopback;
// sealed and delayed: around another one; hosts: of two, one within hosts and one between them).
//
// Contract, tested by tests/unit/transport_test for every body:
//  - One thread at a time calls into a transport (the driver; the engine's lock sees to it); only `signal` may be
//    called by any thread at any time. Nothing blocks, nothing allocates in the steady state, and everything may be
//    called in fault context.
//  - Messages from one node to another arrive once, and are delivered in the order in which they were sent, whatever
//    their payloads. Protocols depend on it: an order about a unit does not overtake the unit.
//  - A message to this node itself is never given to a transport, and `progress` and `flush` are not called from a
//    sink.
//  - A payload of more than `copied_bytes` must stay unchanged until the receiver has it; protocols guarantee that for
//    the content of units (it changes, or comes back, only after a later message of the receiver). A smaller one, and
//    the message itself, are copied before `send` returns.
//  - `progress` calls the sink from within. The sink's `place` tells where a payload goes (the system view of its
//    frame), and the transport writes it there, straight from its own buffers, or by the hardware; then it calls
//    `deliver`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.hpp"
#include "base/status.hpp"
#include "model/message.hpp"

namespace quire::transport {

/// What a sink says of a payload that has come: where it goes, or that it is too late. There is no third answer: a
/// payload that is legal has a place, and for one that is not the sink ends the process.
class landing {
 public:
  /// `address` has room for all of it.
  [[nodiscard]] static landing at(void* address) noexcept {
    CHECK(address != nullptr);
    return landing(address);
  }
  /// Nobody waits for the message any more. The sink has counted it as received; the transport drops it.
  [[nodiscard]] static landing too_late() noexcept { return landing(nullptr); }
  [[nodiscard]] bool is_too_late() const noexcept { return address_ == nullptr; }
  [[nodiscard]] void* address() const noexcept { return address_; }

 private:
  explicit landing(void* address) noexcept : address_(address) {}
  void* address_;
};

/// Who takes what arrives. Called from within `progress`, on the driver's thread; must not block. May call `send`.
class sink {
 public:
  /// Where the payload of `m` (m.payload_bytes > 0) goes; the place is valid until `deliver`. With more than
  /// `copied_bytes` it may be asked for before earlier messages have been delivered.
  [[nodiscard]] virtual landing place(const model::message& m) noexcept = 0;
  /// The message, its payload (if any) being complete at the place given.
  virtual void deliver(const model::message& m) noexcept = 0;
  /// A peer cannot be reached any more. At most once a peer. A peer that has closed its transport looks the same: after
  /// the last barrier this means nothing. Not every body notices (shared memory does not).
  virtual void peer_lost(model::node_id peer) noexcept = 0;

 protected:
  ~sink() = default;
};

struct traffic {
  std::uint64_t messages_sent = 0, bytes_sent = 0, messages_received = 0, bytes_received = 0;
  std::uint64_t dropped = 0;  ///< of this job, and too late
  std::uint64_t refused = 0;  ///< of strangers, spoilt, or here before
  std::uint64_t connections_refused = 0;
};

/// What a message means to a receiver that sleeps.
enum class urgency : std::uint8_t {
  later,  ///< somebody there will come for it by itself, or nobody waits for it: it may lie until the receiver wakes
          ///< for something else
  now,    ///< it wakes the receiver
};

/// How long a payload stays as it is.
enum class lasting : std::uint8_t {
  until_sent,  ///< or whatever is in it while it is read is right
  now,         ///< threads may be writing it: send() copies it, each word of 8 bytes as a whole
};

/// A word in shared memory on which a thread sleeps (futex) while it has this value. Null: there is none.
struct futex_word {
  const std::atomic<std::uint32_t>* at = nullptr;
  std::uint32_t value = 0;
};

class transport {
 public:
  /// Payloads of up to this many bytes are copied by send().
  static constexpr std::size_t copied_bytes = 512;

  virtual ~transport() = default;

  /// Opaque address of this node, to be given to all others. Valid as long as the transport. Before connect().
  [[nodiscard]] virtual std::span<const std::byte> address() const noexcept = 0;
  /// Learns all peers: `addresses[i]` belongs to node i; without bytes: nothing is sent to it by this transport, nor
  /// comes from it. Afterwards messages may be sent and will arrive. Once.
  [[nodiscard]] virtual base::status connect(model::node_id self, std::span<const std::span<const std::byte>> addresses,
                                             sink& receiver) noexcept = 0;

  /// Sends `m` with `payload` (m.payload_bytes must equal payload.size()). Never fails from the caller's view: what
  /// cannot be delivered ends in `peer_lost`. Not every body can tell receivers `how` urgent it is: then it is.
  virtual void send(model::node_id to, const model::message& m, std::span<const std::byte> payload,
                    urgency how = urgency::now, lasting lasts = lasting::until_sent) noexcept = 0;

  /// `peer` is dead, and the others go on: nothing is sent to it any more, and peer_lost does not tell of it. May be
  /// called from a sink. What had been sent may have arrived or not.
  virtual void abandon(model::node_id peer) noexcept = 0;
  /// Sends to abandoned peers lie here for good, and arm() may fail for no other reason: whoever wants to sleep must
  /// look again after a moment.
  [[nodiscard]] virtual bool stuck() const noexcept { return false; }

  /// Handles what has arrived and completes what was sent. Returns true if anything happened.
  virtual bool progress() noexcept = 0;
  /// True while a send has not been handed to the system yet: somebody must call progress() soon.
  [[nodiscard]] virtual bool sends_pending() const noexcept = 0;
  /// For those who give memory away that was sent: begins a new period, if all that was sent in the one before the
  /// current has been handed to the system. True if so; then nothing reads payloads that were sent before the period
  /// that has just ended.
  [[nodiscard]] virtual bool turn_period() noexcept = 0;

  /// Descriptor that becomes readable when there may be something to do after a successful arm().
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// Prepares the descriptor to signal: when a message of urgency `least` or more arrives, and perhaps for others, too.
  /// False: something arrived meanwhile, and may have been delivered; call progress() and try again.
  [[nodiscard]] virtual bool arm(urgency least = urgency::later) noexcept = 0;
  /// What a thread that waits may sleep on in the place of the descriptor: then a message wakes that thread alone. Not
  /// every body has one.
  [[nodiscard]] virtual futex_word word() const noexcept { return {}; }
  /// As arm() for all messages, of the word: it has its value now, until something arrives, or it is armed otherwise.
  [[nodiscard]] virtual bool arm_word() noexcept { return false; }
  /// The descriptor need not signal any more: somebody polls.
  virtual void disarm() noexcept = 0;
  /// Makes the descriptor readable until the next arm(). Any thread, any time.
  virtual void signal() noexcept = 0;

  /// Waits until everything sent has left, at most `timeout_ms`. Before the destructor, after the last barrier.
  virtual base::status flush(int timeout_ms) noexcept = 0;
  [[nodiscard]] virtual const traffic& counters() const noexcept = 0;
  /// A short name for people, such as "ucx posix".
  [[nodiscard]] virtual const char* name() const noexcept = 0;
};

}  // namespace quire::transport
