// SPDX-License-Identifier: BSD-3-Clause
// The body of the transport that rings carry; see rings.hpp. Driven by one thread at a time under the engine's lock;
// only signal() comes from any thread. A message is a line in a ring, its header, with the beginning of its payload;
// the rest follows in parts, each with a line of its own.
#include "transport/rings/rings.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/clock.hpp"
#include "base/fault_heap.hpp"
#include "base/log.hpp"
#include "os/foreign_library.hpp"
#include "os/limits.hpp"
#include "os/memory.hpp"
#include "os/process_file.hpp"
#include "os/process.hpp"
#include "transport/common/slots.hpp"
#include "transport/rings/bells.hpp"
#include "transport/rings/ring.hpp"
#include "wire/wire.hpp"

namespace quire::transport::rings {
namespace {

using model::message;
using model::node_id;

// The line of a message is the message. In the place of the sender, whom the receiver knows, is the ring's own.
static_assert(sizeof(message) == sizeof(record_line));
static_assert(offsetof(message, from) * 8 == lap_shift && sizeof(node_id) == 2);

/// Up to 64 nodes have 5 MiB each. A sweep's window fits into a large ring, and its owner is done with it: with 2 nodes
/// that moves 6 GB/s, where 256 KiB have 5.5, and 64 KiB 4.2.
constexpr ring_size size_of_ring(std::size_t nodes) noexcept {
  if (nodes <= 4) return {256, 1024u << 10};
  if (nodes <= 8) return {256, 512u << 10};
  if (nodes <= 16) return {256, 256u << 10};
  if (nodes <= 64) return {128, 64u << 10};
  return {64, 16u << 10};
}
/// Of a payload that goes in parts: long enough that its line costs nothing, so short that both sides copy at a time.
constexpr std::size_t part_bytes(ring_size ring) noexcept {
  return std::clamp<std::size_t>(ring.bytes / 32, 4u << 10, 32u << 10);
}
constexpr std::size_t to_pages(std::size_t bytes) noexcept {
  return (bytes + os::page_bytes - 1) / os::page_bytes * os::page_bytes;
}

/// The file of a node: its bell, then a ring from each node.
struct layout {
  ring_size ring{};
  std::size_t stride = 0, bytes = 0;
  layout() noexcept = default;
  explicit layout(std::size_t nodes) noexcept
      : ring(size_of_ring(nodes)), stride(to_pages(ring.all())), bytes(os::page_bytes + nodes * stride) {}
  [[nodiscard]] std::size_t ring_from(std::size_t node) const noexcept { return os::page_bytes + node * stride; }
};

struct node_address {
  std::uint64_t mark = wire::mark;
  char name[16] = "shm";
  bells::address bell{};
  std::int32_t file = -1;
  std::int32_t unused = 0;
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
  /// `whole`: no payload begins to land before all of it is there.
  ring_transport(std::size_t nodes, bool whole) noexcept : layout_(nodes), whole_(whole) {}
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
  [[nodiscard]] bool arm(urgency least) noexcept override { return bells_.arm(least) && !has_come(); }
  [[nodiscard]] futex_word word() const noexcept override { return bells_.word(); }
  [[nodiscard]] bool arm_word() noexcept override { return bells_.arm_thread() && !has_come(); }
  void disarm() noexcept override { bells_.disarm(); }
  void signal() noexcept override { bells_.signal(); }
  base::status flush(int timeout_ms) noexcept override;
  [[nodiscard]] const traffic& counters() const noexcept override { return traffic_; }
  [[nodiscard]] const char* name() const noexcept override { return own_.name; }

 private:
  /// A message that waits for room, or is in its ring in part.
  struct send_slot {
    message m;
    std::byte value[copied_bytes];          ///< a small payload
    base::fault_vector<std::byte> content;  ///< one that threads are writing; as large as any so far
    std::span<const std::byte> payload;
    std::size_t done;  ///< bytes of the payload that are in the ring
    bool begun;
    std::uint8_t period;
    send_slot* next;
  };
  /// Of which all bytes so far have been taken from the ring, and some are to come.
  struct arrival {
    message m{};
    std::size_t come = 0;                   ///< 0: there is none
    std::byte* to = nullptr;                ///< nullptr: it is too late
    base::fault_vector<std::byte> parts{};  ///< where `whole_`
  };
  struct peer {
    mapping their_bell{}, their_ring{};  ///< the ring in which this node writes
    ring_writer out{};
    ring_reader in{};
    send_slot *first = nullptr, *last = nullptr;
    arrival under_way{};
    bool there = false;  ///< another node, whom nobody has called dead
    bool lost = false;   ///< it says what no node says
  };

  [[nodiscard]] base::status meet(std::size_t node, std::size_t self, std::span<const std::byte> address) noexcept;
  /// Of a payload, from `done` on, in one record.
  [[nodiscard]] std::size_t part_of(const peer& p, std::size_t bytes, std::size_t done) const noexcept {
    return std::min(bytes - done, whole_ ? p.in.most_bytes() : part_bytes(layout_.ring));
  }
  void enqueue(peer& to, const message& m, std::span<const std::byte> payload, std::size_t done, bool begun,
               lasting lasts) noexcept;
  [[nodiscard]] bool push(std::size_t node) noexcept;
  [[nodiscard]] bool push_some(peer& to, send_slot& slot) noexcept;
  void pop(peer& to) noexcept;
  void hear(std::size_t node) noexcept;
  void hear_one(std::size_t node) noexcept;
  void hear_part(std::size_t node) noexcept;
  void take(std::size_t node, std::size_t bytes) noexcept {
    if (peers_[node].in.take(bytes)) bells_.wake(node, urgency::now);
  }
  void deliver(const message& m) noexcept;
  void lose(peer& who) noexcept;
  [[nodiscard]] bool has_come() noexcept;

  const layout layout_;
  const bool whole_;
  node_address own_{};
  mapping rings_{};
  bells bells_{};
  os::descriptor file_{};
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
  const int made = os::make_memfd("quire-rings", layout_.bytes);
  file_ = os::descriptor(made);
  // Who may write to it could cut it off.
  if (made >= 0) (void)::fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  if (made < 0 || !rings_.map(made, 0, layout_.bytes) || !bells_.open(rings_.at())) {
    base::log(base::log_level::error, "shared memory for messages cannot be had: a node needs %zu MiB of memory%s",
              (layout_.bytes >> 20) + 1, os::explain(os::shortage::file_size).text);
    return QUIRE_SYSTEM;
  }
  own_.bell = bells_.own();
  own_.file = made;
  return {};
}

base::status ring_transport::connect(node_id self, std::span<const std::span<const std::byte>> addresses,
                                     sink& receiver) noexcept {
  CHECK(sink_ == nullptr && self.value() < addresses.size());
  if (layout(addresses.size()).bytes != layout_.bytes) return QUIRE_INVALID;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i].empty() || (addresses[i].size() == sizeof own_ &&
                                 std::memcmp(addresses[i].data(), &own_, offsetof(node_address, bell)) == 0))
      continue;
    base::log(base::log_level::error, "node %zu has another transport than %s, or another version of Quire", i, name());
    return QUIRE_INVALID;
  }
  sink_ = &receiver;
  peers_.resize(addresses.size());
  bells_.expect(addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (i == self.value() || addresses[i].empty()) continue;
    if (const auto s = meet(i, self.value(), addresses[i]); !s.ok()) return s;
  }
  return {};
}

base::status ring_transport::meet(std::size_t node, std::size_t self, std::span<const std::byte> address) noexcept {
  peer& p = peers_[node];
  p.in.open(static_cast<std::byte*>(rings_.at()) + layout_.ring_from(node), layout_.ring);
  node_address theirs;
  std::memcpy(&theirs, address.data(), sizeof theirs);
  const auto bytes = static_cast<off_t>(layout_.bytes);
  const os::descriptor file(os::open_of_process(theirs.bell.process, theirs.file, S_IFREG, bytes));
  const bool mapped = file.open() && p.their_bell.map(file.number(), 0, os::page_bytes) &&
                      p.their_ring.map(file.number(), layout_.ring_from(self), layout_.stride);
  p.there = mapped && bells_.meet(node, theirs.bell, p.their_bell.at());
  if (p.there) {
    p.out.open(p.their_ring.at(), layout_.ring);
    return {};
  }
  const os::limit_text none_left =
      file.open() && !mapped ? os::explain(os::shortage::addresses) : os::explain_if_no_descriptor();
  if (none_left.text[0] != 0) {
    base::log(base::log_level::error, "node %zu cannot be reached by shared memory%s", node, none_left.text);
    return QUIRE_SYSTEM;
  }
  base::log(base::log_level::error,
            "node %zu cannot be reached by shared memory: it is dead, or this node may not look at it (/proc/%d); "
            "QUIRE_TRANSPORT=tcp needs no shared memory",
            node, theirs.bell.process);
  return QUIRE_PEER_LOST;
}

void ring_transport::send(node_id to, const message& m, std::span<const std::byte> payload, urgency how,
                          lasting lasts) noexcept {
  CHECK(to.value() < peers_.size() && m.payload_bytes == payload.size());
  peer& receiver = peers_[to.value()];
  CHECK(receiver.out.is_open());  // a message to this node itself
  if (!receiver.there) return;
  ++traffic_.messages_sent;
  traffic_.bytes_sent += wire::header_bytes + payload.size();
  const std::size_t first = part_of(receiver, payload.size(), 0);
  if (receiver.first != nullptr || !receiver.out.has_room(first)) {
    enqueue(receiver, m, payload, 0, false, lasts);
    (void)push(to.value());
    return;
  }
  receiver.out.put(std::bit_cast<record_line>(m), payload.data(), first);
  bells_.wake(to.value(), how);
  if (first == payload.size()) return;
  enqueue(receiver, m, payload, first, true, lasts);
  (void)push(to.value());
}

void ring_transport::enqueue(peer& to, const message& m, std::span<const std::byte> payload, std::size_t done,
                             bool begun, lasting lasts) noexcept {
  send_slot* const slot = sends_.take();
  slot->m = m;
  if (!payload.empty() && payload.size() <= copied_bytes) {
    base::copy_words(slot->value, payload.data(), payload.size());
    payload = {slot->value, payload.size()};
  } else if (lasts == lasting::now) {
    if (slot->content.size() < payload.size()) slot->content.resize(payload.size());
    base::copy_words(slot->content.data(), payload.data(), payload.size());
    payload = std::span<const std::byte>(slot->content).first(payload.size());
  }
  slot->payload = payload;
  slot->done = done;
  slot->begun = begun;
  slot->period = period_;
  slot->next = nullptr;
  ++unsent_[period_];
  (to.first == nullptr ? to.first : to.last->next) = slot;
  to.last = slot;
}

/// What has room. The receiver is woken, whatever it was that filled the ring: it has to make room for what may be
/// urgent. True if there was something.
bool ring_transport::push(std::size_t node) noexcept {
  peer& to = peers_[node];
  bool published = false;
  do {
    while (to.first != nullptr && push_some(to, *to.first)) {
      published = true;
      if (to.first->done == to.first->payload.size()) pop(to);
    }
  } while (to.first != nullptr && to.out.wait_for_room(part_of(to, to.first->payload.size(), to.first->done)));
  if (published || to.first != nullptr) bells_.wake(node, urgency::now);
  return published;
}

/// True if it has put something in the ring.
bool ring_transport::push_some(peer& to, send_slot& slot) noexcept {
  const std::size_t part = part_of(to, slot.payload.size(), slot.done);
  if (!to.out.has_room(part)) return false;
  const record_line part_line{};  // of no kind
  to.out.put(slot.begun ? part_line : std::bit_cast<record_line>(slot.m), slot.payload.data() + slot.done, part);
  slot.begun = true;
  slot.done += part;
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
    if (peers_[i].first != nullptr) happened |= push(i);
    if (!peers_[i].there || peers_[i].lost || !peers_[i].in.has_news()) continue;
    hear(i);
    happened = true;
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
void ring_transport::hear(std::size_t node) noexcept {
  constexpr int at_most = 16;
  const peer& from = peers_[node];
  for (int i = 0; i < at_most && from.there && !from.lost && from.in.has_news(); ++i) {
    from.under_way.come == 0 ? hear_one(node) : hear_part(node);
  }
}

/// Takes the message that is there, or its beginning.
void ring_transport::hear_one(std::size_t node) noexcept {
  peer& from = peers_[node];
  auto m = std::bit_cast<message>(from.in.read_line());
  m.from = node_id{static_cast<std::uint16_t>(node)};
  if (!wire::is_legal(m, static_cast<unsigned>(peers_.size()))) return lose(from);
  const std::size_t first = part_of(from, m.payload_bytes, 0);
  if (first == 0) {
    take(node, 0);
    return deliver(m);
  }
  const bool all = first == m.payload_bytes;
  std::byte* to = nullptr;
  if (all || !whole_) {
    const landing spot = sink_->place(m);
    to = spot.is_too_late() ? nullptr : static_cast<std::byte*>(spot.address());
  } else {
    if (from.under_way.parts.size() < m.payload_bytes) from.under_way.parts.resize(m.payload_bytes);
    to = from.under_way.parts.data();
  }
  if (to != nullptr) from.in.copy(to, first);
  take(node, first);
  if (all) return to != nullptr ? deliver(m) : static_cast<void>(++traffic_.dropped);
  from.under_way.m = m;
  from.under_way.to = to;
  from.under_way.come = first;
}

/// Takes one more part of the message under way.
void ring_transport::hear_part(std::size_t node) noexcept {
  peer& from = peers_[node];
  arrival& a = from.under_way;
  if ((from.in.read_line().word & ~lap_mask) != 0) return lose(from);
  const std::size_t bytes = part_of(from, a.m.payload_bytes, a.come);
  if (a.to != nullptr) from.in.copy(a.to + a.come, bytes);
  take(node, bytes);
  a.come += bytes;
  if (a.come != a.m.payload_bytes) return;
  a.come = 0;
  if (whole_) {
    const landing spot = sink_->place(a.m);
    if (!spot.is_too_late()) base::copy_words(spot.address(), a.to, a.m.payload_bytes);
    if (spot.is_too_late()) a.to = nullptr;
  }
  a.to != nullptr ? deliver(message(a.m)) : static_cast<void>(++traffic_.dropped);
}

void ring_transport::deliver(const message& m) noexcept {
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

/// Before others could see that this node sleeps. Then it does not.
bool ring_transport::has_come() noexcept {
  for (peer& p : peers_) {
    const bool news = p.there && !p.lost && p.in.has_news();
    const bool room = p.first != nullptr && p.out.wait_for_room(part_of(p, p.first->payload.size(), p.first->done));
    if (!news && !any_lost_ && !room) continue;
    bells_.disarm();
    return true;
  }
  return false;
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

base::result<std::unique_ptr<transport>> open(unsigned nodes, bool whole) {
  CHECK(nodes != 0);
  auto opened = std::make_unique<ring_transport>(nodes, whole);
  if (const auto status = opened->open(); !status.ok()) return status;
  return std::unique_ptr<transport>(std::move(opened));
}

}  // namespace quire::transport::rings
