// SPDX-License-Identifier: BSD-3-Clause
// The body of the transport that rings carry; see rings.hpp. Driven by one thread at a time under the engine's lock;
// only signal() comes from any thread. A message in a ring: how long its payload is, its header, its payload.
#include "transport/rings/rings.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/clock.hpp"
#include "base/fault_heap.hpp"
#include "base/log.hpp"
#include "os/file_size.hpp"
#include "os/foreign_library.hpp"
#include "os/limits.hpp"
#include "os/memory.hpp"
#include "os/process_file.hpp"
#include "os/process.hpp"
#include "transport/common/bells.hpp"
#include "transport/common/slots.hpp"
#include "transport/rings/ring.hpp"
#include "wire/wire.hpp"

namespace quire::transport::rings {
namespace {

using model::message;
using model::node_id;

constexpr std::size_t largest_ring = 256u << 10, stride = ring_page_bytes + largest_ring;
constexpr std::size_t first_ring = os::page_bytes, file_bytes = first_ring + most_nodes * stride;
constexpr std::size_t prefix_bytes = sizeof(std::uint64_t) + wire::header_bytes;
static_assert(prefix_bytes % 8 == 0);

/// Rings fill the processor's cache when there are many.
constexpr std::size_t ring_bytes(std::size_t nodes) noexcept { return nodes <= 8 ? largest_ring : largest_ring / 4; }

struct node_address {
  std::uint64_t mark = wire::mark;
  char name[16] = "rings";
  bells::address bell{};
  std::int32_t process = 0, file = -1;
};

/// Mapped until it ends.
class mapping {
 public:
  mapping() noexcept = default;
  mapping(const mapping&) = delete;
  mapping(mapping&& other) noexcept : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  mapping& operator=(mapping&&) = delete;
  ~mapping() {
    if (at_ != nullptr) os::unmap(at_, bytes_);
  }
  [[nodiscard]] bool map(int file, std::size_t offset, std::size_t bytes) noexcept {
    void* const got = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
    if (got == MAP_FAILED) return false;
    at_ = got;
    bytes_ = bytes;
    return true;
  }
  [[nodiscard]] void* at() const noexcept { return at_; }

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

class ring_transport final : public transport {
 public:
  [[nodiscard]] base::status open();

  [[nodiscard]] std::span<const std::byte> address() const noexcept override {
    return std::as_bytes(std::span(&own_, 1));
  }
  [[nodiscard]] base::status connect(node_id self, std::span<const std::span<const std::byte>> addresses,
                                     sink& receiver) noexcept override;
  void send(node_id to, const message& m, std::span<const std::byte> payload, urgency how,
            lasting lasts) noexcept override;
  void abandon(node_id peer) noexcept override;
  bool progress() noexcept override;
  [[nodiscard]] bool sends_pending() const noexcept override { return sends_.used() != 0; }
  [[nodiscard]] bool turn_period() noexcept override {
    if (unsent_[1 - period_] != 0) return false;
    period_ = static_cast<std::uint8_t>(1 - period_);
    return true;
  }
  [[nodiscard]] int descriptor() const noexcept override { return bells_.descriptor(); }
  [[nodiscard]] bool arm(urgency least) noexcept override;
  void disarm() noexcept override { bells_.disarm(); }
  void signal() noexcept override { bells_.signal(); }
  base::status flush(int timeout_ms) noexcept override;
  [[nodiscard]] const traffic& counters() const noexcept override { return traffic_; }
  [[nodiscard]] const char* name() const noexcept override { return own_.name; }

 private:
  /// A message that waits for room, or is in its ring in part.
  struct send_slot {
    wire::header header;
    std::byte value[copied_bytes];          ///< a small payload
    base::fault_vector<std::byte> content;  ///< one that threads are writing; as large as any so far
    std::span<const std::byte> payload;
    std::size_t done;  ///< bytes of the payload that are in the ring
    bool begun;
    std::uint8_t period;
    send_slot* next;
  };
  /// Bytes without which it cannot go on.
  [[nodiscard]] static std::size_t least_room(const send_slot& slot) noexcept { return slot.begun ? 8 : prefix_bytes; }
  struct peer {
    mapping theirs{};  ///< the ring in which this node writes
    ring_writer out{};
    ring_reader in{};
    send_slot *first = nullptr, *last = nullptr;
    base::fault_vector<std::byte> parts{};  ///< of a message that is larger than the ring
    std::size_t parts_come = 0;             ///< bytes; 0: there is none
    bool there = false;                     ///< another node, whom nobody has called dead
    bool lost = false;                      ///< it says what no node says
  };

  [[nodiscard]] base::status meet(std::size_t node, std::span<const std::byte> address) noexcept;
  void enqueue(peer& to, const wire::header& header, std::span<const std::byte> payload, lasting lasts) noexcept;
  void push(std::size_t node) noexcept;
  [[nodiscard]] bool push_some(peer& to, send_slot& slot) noexcept;
  void pop(peer& to) noexcept;
  [[nodiscard]] bool hear(std::size_t node) noexcept;
  [[nodiscard]] bool hear_one(std::size_t node, std::uint64_t& there) noexcept;
  [[nodiscard]] bool put_together(peer& from, std::size_t bytes, std::uint64_t& there) noexcept;
  template <class Copy>
  void take_in(const message& m, Copy copy) noexcept;
  void lose(peer& who) noexcept;

  node_address own_{};
  bells bells_{};
  os::descriptor file_{};
  mapping rings_{};
  std::vector<peer> peers_{};
  slots<send_slot> sends_{};
  std::uint8_t period_ = 0;       ///< the current one, modulo 2
  std::uint64_t unsent_[2] = {};  ///< sends of each that wait
  bool any_lost_ = false;
  sink* sink_ = nullptr;
  traffic traffic_{};
};

base::status ring_transport::open() {
  if (!os::others_may_look()) {
    base::log(base::log_level::error,
              "shared memory for messages cannot be had: the user may not read the executable of this program, so that "
              "the system keeps other nodes from its memory; make it readable (chmod +r), or set QUIRE_TRANSPORT=tcp");
    return QUIRE_UNSUPPORTED;
  }
  file_ = os::descriptor(os::make_memfd("quire-rings", 0));
  const os::file_size_scope scope(os::file_size_scope::limit::raised);
  if (!bells_.open() || !file_.open() || ::ftruncate(file_.number(), file_bytes) != 0) {
    base::log(base::log_level::error, "shared memory for messages cannot be had: a node needs %zu MiB of memory%s",
              (file_bytes >> 20) + 1, os::explain(os::shortage::file_size).text);
    return QUIRE_SYSTEM;
  }
  own_.bell = bells_.own();
  own_.process = ::getpid();
  own_.file = file_.number();
  return {};
}

base::status ring_transport::connect(node_id self, std::span<const std::span<const std::byte>> addresses,
                                     sink& receiver) noexcept {
  CHECK(sink_ == nullptr && self.value() < addresses.size());
  if (addresses.size() > most_nodes) return QUIRE_INVALID;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i].size() == sizeof own_ &&
        std::memcmp(addresses[i].data(), &own_, offsetof(node_address, bell)) == 0)
      continue;
    base::log(base::log_level::error, "node %zu has another transport than %s, or another version of Quire", i, name());
    return QUIRE_INVALID;
  }
  sink_ = &receiver;
  peers_.resize(addresses.size());
  const std::size_t own_bytes = first_ring + addresses.size() * stride;
  if (!rings_.map(file_.number(), 0, own_bytes)) return QUIRE_NO_MEMORY;
  std::vector<bells::address> rung(addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i)
    std::memcpy(&rung[i], addresses[i].data() + offsetof(node_address, bell), sizeof rung[i]);
  bells_.meet(self.value(), rung);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (i == self.value()) continue;
    peers_[i].in.open(static_cast<std::byte*>(rings_.at()) + first_ring + i * stride, ring_bytes(addresses.size()));
    node_address theirs;
    std::memcpy(&theirs, addresses[i].data(), sizeof theirs);
    const os::descriptor file(os::open_of_process(theirs.process, theirs.file, S_IFREG, file_bytes));
    peers_[i].there = bells_.has_met(i) && file.open() &&
                      peers_[i].theirs.map(file.number(), first_ring + self.value() * stride, stride);
    if (!peers_[i].there) {
      base::log(base::log_level::error,
                "node %zu cannot be reached by shared memory: it is dead, or this node may not look at it (/proc/%d); "
                "QUIRE_TRANSPORT=tcp needs no shared memory",
                i, theirs.process);
      return QUIRE_PEER_LOST;
    }
    peers_[i].out.open(peers_[i].theirs.at(), ring_bytes(addresses.size()));
  }
  return {};
}

void ring_transport::send(node_id to, const message& m, std::span<const std::byte> payload, urgency how,
                          lasting lasts) noexcept {
  CHECK(to.value() < peers_.size() && m.payload_bytes == payload.size());
  peer& receiver = peers_[to.value()];
  CHECK(receiver.out.is_open());  // a message to this node itself
  if (!receiver.there) return;
  ++traffic_.messages_sent;
  traffic_.bytes_sent += wire::header_bytes + payload.size();
  wire::header header;
  wire::encode(m, header);
  if (receiver.first != nullptr || receiver.out.room() < prefix_bytes + to_words(payload.size())) {
    enqueue(receiver, header, payload, lasts);
    return push(to.value());
  }
  const std::uint64_t bytes = payload.size();
  receiver.out.put(&bytes, sizeof bytes);
  receiver.out.put(header.bytes, sizeof header.bytes);
  if (bytes != 0) receiver.out.put(payload.data(), payload.size());
  receiver.out.publish();
  bells_.wake(to.value(), how);
}

void ring_transport::enqueue(peer& to, const wire::header& header, std::span<const std::byte> payload,
                             lasting lasts) noexcept {
  send_slot* const slot = sends_.take();
  slot->header = header;
  if (!payload.empty() && payload.size() <= copied_bytes) {
    base::copy_words(slot->value, payload.data(), payload.size());
    payload = {slot->value, payload.size()};
  } else if (lasts == lasting::now) {
    if (slot->content.size() < payload.size()) slot->content.resize(payload.size());
    base::copy_words(slot->content.data(), payload.data(), payload.size());
    payload = std::span<const std::byte>(slot->content).first(payload.size());
  }
  slot->payload = payload;
  slot->done = 0;
  slot->begun = false;
  slot->period = period_;
  slot->next = nullptr;
  ++unsent_[period_];
  (to.first == nullptr ? to.first : to.last->next) = slot;
  to.last = slot;
}

/// What has room. The receiver is woken for it, whatever it is: it has to make more.
void ring_transport::push(std::size_t node) noexcept {
  peer& to = peers_[node];
  bool published = false;
  do {
    while (to.first != nullptr && push_some(to, *to.first)) {
      published = true;
      if (to.first->begun && to.first->done == to.first->payload.size()) pop(to);
    }
  } while (to.first != nullptr && to.out.wait_for_room(least_room(*to.first)));
  if (published) bells_.wake(node, urgency::now);
}

/// True if it has put something in the ring.
bool ring_transport::push_some(peer& to, send_slot& slot) noexcept {
  if (to.out.room() < least_room(slot)) return false;
  if (!slot.begun) {
    const std::uint64_t bytes = slot.payload.size();
    to.out.put(&bytes, sizeof bytes);
    to.out.put(slot.header.bytes, sizeof slot.header.bytes);
    slot.begun = true;
  }
  const std::size_t part = std::min(to.out.room(), slot.payload.size() - slot.done);
  if (part != 0) to.out.put(slot.payload.data() + slot.done, part);
  slot.done += part;
  to.out.publish();
  return true;
}

void ring_transport::pop(peer& to) noexcept {
  send_slot* const slot = to.first;
  to.first = slot->next;
  --unsent_[slot->period];
  sends_.give(slot);
}

bool ring_transport::progress() noexcept {
  bool happened = false;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i].first != nullptr) push(i);
    if (peers_[i].there && !peers_[i].lost && peers_[i].in.has_news()) happened |= hear(i);
  }
  for (std::size_t i = 0; any_lost_ && i < peers_.size(); ++i) {
    if (!peers_[i].there || !peers_[i].lost) continue;
    abandon(node_id{static_cast<std::uint16_t>(i)});
    sink_->peer_lost(node_id{static_cast<std::uint16_t>(i)});
    happened = true;
  }
  any_lost_ = false;
  return happened;
}

/// Messages of a node, but not so many that others wait long.
bool ring_transport::hear(std::size_t node) noexcept {
  constexpr int at_most = 16;
  peer& from = peers_[node];
  bool happened = false;
  std::uint64_t there = from.in.look();
  for (int i = 0; from.there && !from.lost && hear_one(node, there); ++i) {
    happened = true;
    if (i + 1 < at_most) continue;
    from.in.look_again();
    break;
  }
  if (from.there && from.in.writer_waits()) bells_.wake(node, urgency::now);
  return happened;
}

/// Takes one message, or what there is of one that is larger than the ring. False: there is no more.
bool ring_transport::hear_one(std::size_t node, std::uint64_t& there) noexcept {
  peer& from = peers_[node];
  if (there > from.in.capacity()) return lose(from), false;
  if (from.parts_come == 0 && there < prefix_bytes) return false;
  std::byte prefix[prefix_bytes];
  std::uint64_t bytes = 0;
  from.parts_come == 0 ? from.in.copy(prefix, prefix_bytes, 0)
                       : static_cast<void>(std::memcpy(prefix, from.parts.data(), prefix_bytes));
  std::memcpy(&bytes, prefix, sizeof bytes);
  message m;
  if (bytes > wire::max_payload_bytes ||
      !wire::decode({prefix + sizeof bytes, wire::header_bytes}, bytes, static_cast<unsigned>(peers_.size()), m).ok() ||
      m.from.value() != node)
    return lose(from), false;
  const std::size_t whole = prefix_bytes + to_words(bytes);
  if (whole > from.in.capacity()) {
    if (!put_together(from, whole, there)) return false;
    from.parts_come = 0;
    take_in(m, [&](void* to) {
      if (to != nullptr) base::copy_words(to, from.parts.data() + prefix_bytes, bytes);
    });
    return true;
  }
  if (there < whole) return false;
  if (bytes == 0) from.in.take(whole);
  take_in(m, [&](void* to) {
    if (to != nullptr) from.in.copy(to, bytes, prefix_bytes);
    from.in.take(whole);
  });
  there -= whole;
  return true;
}

/// True when all of it is there.
bool ring_transport::put_together(peer& from, std::size_t bytes, std::uint64_t& there) noexcept {
  if (from.parts.size() < bytes) from.parts.resize(bytes);
  const std::size_t part = std::min<std::size_t>(there, bytes - from.parts_come);
  if (part == 0) return false;
  from.in.copy(from.parts.data() + from.parts_come, part, 0);
  from.in.take(part);
  from.parts_come += part;
  there -= part;
  return from.parts_come == bytes;
}

/// `copy(place)` is called if there is a payload; without a place, if it is too late.
template <class Copy>
void ring_transport::take_in(const message& m, Copy copy) noexcept {
  if (m.payload_bytes != 0) {
    const landing spot = sink_->place(m);
    copy(spot.is_too_late() ? nullptr : spot.address());
    if (spot.is_too_late()) {
      ++traffic_.dropped;
      return;
    }
  }
  ++traffic_.messages_received;
  traffic_.bytes_received += wire::header_bytes + m.payload_bytes;
  sink_->deliver(m);
}

void ring_transport::lose(peer& who) noexcept {
  ++traffic_.refused;
  base::log(base::log_level::error, "a message of node %ld cannot be read: it is lost, and so is the job",
            static_cast<long>(&who - peers_.data()));
  who.lost = any_lost_ = true;
  signal();
}

void ring_transport::abandon(node_id to) noexcept {
  peer& who = peers_[to.value()];
  who.there = false;
  while (who.first != nullptr) pop(who);
}

bool ring_transport::arm(urgency least) noexcept {
  if (!bells_.arm(least)) return false;
  for (peer& p : peers_) {
    const bool news = p.there && !p.lost && p.in.has_news();
    if (!news && !any_lost_ && (p.first == nullptr || !p.out.wait_for_room(least_room(*p.first)))) continue;
    bells_.disarm();
    return false;
  }
  return true;
}

base::status ring_transport::flush(int timeout_ms) noexcept {
  const auto deadline = base::now_ns() + static_cast<std::uint64_t>(base::limit_ns(timeout_ms));
  while (progress(), sends_pending() && base::now_ns() < deadline) {
    pollfd waiting{descriptor(), POLLIN, 0};
    if (arm(urgency::later)) {
      (void)::poll(&waiting, 1, 1);
    } else {
      ::sched_yield();
    }
  }
  return sends_pending() ? QUIRE_TIMED_OUT : QUIRE_OK;
}

}  // namespace

base::result<std::unique_ptr<transport>> open() {
  auto opened = std::make_unique<ring_transport>();
  if (const auto status = opened->open(); !status.ok()) return status;
  return std::unique_ptr<transport>(std::move(opened));
}

}  // namespace quire::transport::rings
