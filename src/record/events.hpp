// SPDX-License-Identifier: BSD-3-Clause
// What happened on a node, in order, for `quire predict` (QUIRE_EVENTS): when threads ask and go on, with the processor
// time that they used in between; operations and messages that the driver takes; messages that leave, and by which of
// them. The n-th message that leaves for a node is the n-th that comes there from this one, so that records of all
// nodes fit together without a word on the wire. The record is a file that is mapped: what has been written outlives
// the node. Where nobody wants it there is none. Any thread, fault context: no heap, no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace quire::record {

enum class event_type : std::uint8_t {
  none = 0,  ///< a place that was taken, and not written
  asks,      ///< a thread asks for something; value: its processor time in ns; key: what it is about
  goes_on,   ///< and has it; value: its processor time; key: the context that has ended it, 0 if none has
  executes,  ///< the driver takes an operation: a context; value: its processor time, in ns; bytes: the place of `asks`
  comes,     ///< a message of `peer` is taken: a context; value: its processor time
  comes_here,  ///< one of this node to itself, likewise
  leaves,      ///< a message to `peer`; value: its context, 0 if it has none
  leaves_here,
  met,   ///< all nodes are there: the program begins; value: the thread's processor time; key: the process's
  ends,  ///< the last of a thread, likewise
};

/// What a thread asks for.
enum class asked : std::uint8_t { other, fault, barrier, lock, unlock };
inline constexpr std::size_t asked_kinds = 5;

/// What the record knows of an operation.
struct of_operation {
  std::uint64_t asked = 0;     ///< the place of `asks`; 0: it has none
  std::uint64_t about = 0;     ///< as the key of the messages that it leads to
  std::uint64_t ended_by = 0;  ///< the context that has ended it
};

/// Contexts are numbered by their places in the record, from 1 on.
struct event {
  event_type type = event_type::none;
  std::uint8_t kind = 0;    ///< of messages: model::message_kind; `asks`: asked
  std::uint16_t peer = 0;   ///< of messages: a node; of threads: which one, from 1 on
  std::uint32_t bytes = 0;  ///< of threads: us for which they have waited for a core
  std::uint64_t key = 0;    ///< of messages: what they are about
  std::uint64_t ns = 0;     ///< when, by the clock of the machine
  std::uint64_t value = 0;
};
static_assert(sizeof(event) == 32 && std::is_trivially_copyable_v<event>);

/// The file "quire.NODE.events" begins with this.
struct events_head {
  static constexpr std::uint64_t right_mark = 0x3173746e65766551;  // "Qevents1"
  std::uint64_t mark = right_mark;
  std::uint64_t node = 0, nodes = 1, places = 0;
  std::atomic<std::uint64_t> taken = 0;  ///< more than `places`: the rest is lost
  std::uint64_t rest[11] = {};
};
static_assert(sizeof(events_head) == 128);

[[nodiscard]] std::string events_file_name(std::uint64_t node);

class events {
 public:
  static constexpr std::uint64_t most_places = std::uint64_t{1} << 26;

  /// Begins the record of a node in a directory. Null, and the reason in `error` (errno).
  [[nodiscard]] static std::unique_ptr<events> make(const std::string& directory, unsigned node, unsigned nodes,
                                                    int& error);
  ~events();
  events(const events&) = delete;
  events& operator=(const events&) = delete;

  /// The place of what has been written, from 1 on; 0: the record is full.
  std::uint64_t add(event_type type, std::uint64_t key, std::uint64_t value, std::uint16_t peer = 0,
                    std::uint8_t kind = 0, std::uint32_t bytes = 0) noexcept;
  /// Of a thread, which gets a number in `own`.
  std::uint64_t add_of_thread(event_type type, std::uint64_t key, std::uint16_t& own,
                              asked what = asked::other) noexcept;
  /// How long a context took, since it was added.
  void set_duration(std::uint64_t place) noexcept;

 private:
  events() = default;
  events_head* head_ = nullptr;
  event* places_ = nullptr;
  std::atomic<std::uint16_t> threads_{0};
};

/// What the driver of this process is doing: the place of the context, 0 if there is none. Whoever ends an operation
/// leaves it there. The driver writes; one node a process has a record.
inline constinit std::atomic<std::uint64_t> happening{0};

/// From its construction to its destruction a context happens. Driver's thread.
class context {
 public:
  context(events* to, event_type type, std::uint64_t key, std::uint16_t peer = 0, std::uint8_t kind = 0,
          std::uint32_t bytes = 0) noexcept
      : to_(to) {
    if (to_ == nullptr) return;
    before_ = happening.load(std::memory_order_relaxed);
    place_ = to_->add(type, key, 0, peer, kind, bytes);
    happening.store(place_, std::memory_order_relaxed);
  }
  ~context() { end(); }
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  void end() noexcept {
    if (to_ == nullptr) return;
    to_->set_duration(place_);
    happening.store(before_, std::memory_order_relaxed);
    to_ = nullptr;
  }

 private:
  events* to_;
  std::uint64_t before_ = 0, place_ = 0;
};

}  // namespace quire::record
