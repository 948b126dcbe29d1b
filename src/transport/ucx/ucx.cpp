// SPDX-License-Identifier: BSD-3-Clause
// The UCX body of the transport. Driven by one thread at a time (service thread, or a faulting thread in its signal
// handler), under the engine's lock; only signal() comes from any thread. Opened and closed in the application's
// thread.
//
// A message travels as the header of an active message, its payload as the data. Small payloads are eager: UCX hands us
// its own buffer, and we copy to the place once. Large ones are announced, and received straight into the place.
#include "transport/ucx/ucx.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.hpp"
#include "base/clock.hpp"
#include "base/copy_words.hpp"
#include "base/fault_heap.hpp"
#include "base/log.hpp"
#include "os/foreign_library.hpp"
#include "os/limits.hpp"
#include "os/process.hpp"
#include "transport/ucx/gate.hpp"
#include "transport/common/slots.hpp"
#include "transport/ucx/worker.hpp"
#include "wire/seal.hpp"
#include "wire/wire.hpp"

namespace quire::transport::ucx {
namespace {

using model::message;
using model::node_id;

constexpr unsigned message_id = 0;

/// What stands before UCX's own address, so that nodes with different transports or versions refuse each other.
struct address_prefix {
  std::uint64_t mark = wire::mark;
  char name[16] = {};
};
constexpr std::size_t before_ucx_bytes = sizeof(address_prefix);

class ucx_transport final : public transport {
 public:
  [[nodiscard]] base::status open(const settings& how, const std::string& devices, const base::secret& job);

  [[nodiscard]] std::span<const std::byte> address() const noexcept override { return address_; }
  [[nodiscard]] base::status connect(node_id self, std::span<const std::span<const std::byte>> addresses,
                                     sink& receiver) noexcept override;
  void send(node_id to, const message& m, std::span<const std::byte> payload, urgency how,
            lasting lasts) noexcept override;
  bool progress() noexcept override;
  void abandon(node_id to) noexcept override;
  [[nodiscard]] bool stuck() const noexcept override { return stuck_ != 0; }
  [[nodiscard]] bool sends_pending() const noexcept override { return sends_.used() != stuck_; }
  [[nodiscard]] bool turn_period() noexcept override {
    if (unsent_[1 - period_] != 0) return false;
    period_ = static_cast<std::uint8_t>(1 - period_);
    return true;
  }
  [[nodiscard]] int descriptor() const noexcept override { return descriptor_.number(); }
  [[nodiscard]] bool arm(urgency least) noexcept override;
  void disarm() noexcept override;
  void signal() noexcept override { (void)worker_.ucp->worker_signal(worker_.handle); }
  base::status flush(int timeout_ms) noexcept override;
  [[nodiscard]] const traffic& counters() const noexcept override {
    traffic_.connections_refused = gate::refused();
    return traffic_;
  }
  [[nodiscard]] const char* name() const noexcept override { return prefix_.name; }

 private:
  struct peer;
  /// A message on its way out: UCX 1.13 reads the header until the send has completed.
  struct send_slot {
    wire::header header;
    std::byte value[copied_bytes];          ///< a small payload
    base::fault_vector<std::byte> content;  ///< one that threads are writing; as large as any so far
    ucx_transport* owner;
    peer* to;
    std::uint8_t period;
    send_slot* next;
  };
  /// A message that cannot be delivered yet: its payload is on its way in by rendezvous, or that of one before it is.
  struct receive_slot {
    message m;
    ucx_transport* owner;
    receive_slot* next;       ///< in the pool
    receive_slot* following;  ///< from the same node
    enum { on_its_way, complete, failed } state;
    bool kept;  ///< the payload is small, and waits here until it is the message's turn
    std::byte value[copied_bytes];
  };
  struct peer {
    ucp_ep_h endpoint = nullptr;
    ucx_transport* owner = nullptr;
    receive_slot *first = nullptr, *last = nullptr;  ///< not delivered yet, in their order
    wire::seal_sequence out, in;
    bool dead = false;       ///< abandoned
    std::size_t unsent = 0;  ///< sends that are pending
    enum { fine, lost, abandoned, reported } state = fine;
  };

  static void on_sent(void* request, ucs_status_t status, void* slot) noexcept;
  static void on_payload(void* request, ucs_status_t status, std::size_t bytes, void* slot) noexcept;
  static void on_peer_error(void* peer, ucp_ep_h endpoint, ucs_status_t status) noexcept;
  static ucs_status_t on_message(void* self, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* how) noexcept;

  [[nodiscard]] ucs_status_t listen() noexcept;
  [[nodiscard]] ucs_status_t connect_peer(peer& to, std::span<const std::byte> address) noexcept;
  [[nodiscard]] ucs_status_t receive_rendezvous(const message& m, void* announced, void* place) noexcept;
  [[nodiscard]] receive_slot& enqueue(const message& m) noexcept;
  void deliver_what_is_complete(peer& sender) noexcept;
  [[nodiscard]] bool take_payload(const message& m, const void* data) noexcept;
  void deliver(const message& m) noexcept;
  [[nodiscard]] bool let_in(std::span<const std::byte> header, std::size_t bytes, message& m) noexcept;
  void refuse(std::span<const std::byte> header) noexcept;
  [[nodiscard]] base::status open_descriptor() noexcept;
  void listen_to_ucx(bool listens) noexcept;
  void lose(peer& who, ucs_status_t why) noexcept;
  void report_losses() noexcept;

  // These outlive the worker: closing it completes what is still in flight.
  slots<send_slot> sends_;
  std::uint8_t period_ = 0;       ///< the current one, modulo 2
  std::size_t stuck_ = 0;         ///< sends to abandoned peers that have not completed
  std::uint64_t unsent_[2] = {};  ///< sends of each that are pending
  slots<receive_slot> receives_;
  std::vector<peer> peers_;
  worker worker_;
  os::descriptor descriptor_;  ///< readable if UCX's is, and is listened to
  bool listens_to_ucx_ = true;
  address_prefix prefix_;
  std::vector<std::byte> address_;
  base::secret secret_;
  sink* sink_ = nullptr;
  bool reports_losses_ = false;
  bool unreported_losses_ = false;
  mutable traffic traffic_;
};

base::status ucx_transport::open(const settings& how, const std::string& devices, const base::secret& job) {
  secret_ = job;
  if (const auto status = worker_.open(how, devices, job); !status.ok()) return status;
  // With transports chosen by the user we cannot know; connect_peer finds out.
  reports_losses_ = how.reports_losses || worker_.chosen_by_user;
  const char* const name = worker_.chosen_by_user ? "ucx by UCX_TLS" : how.name;
  std::strncpy(prefix_.name, name, sizeof prefix_.name - 1);
  address_.resize(before_ucx_bytes + worker_.address.size());
  std::memcpy(address_.data(), &prefix_, sizeof prefix_);
  std::memcpy(address_.data() + before_ucx_bytes, worker_.address.data(), worker_.address.size());
  return open_descriptor();
}

base::status ucx_transport::open_descriptor() noexcept {
  descriptor_ = os::descriptor(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event e{};
  e.events = EPOLLIN;
  if (::epoll_ctl(descriptor_.number(), EPOLL_CTL_ADD, worker_.descriptor, &e) != 0) return QUIRE_SYSTEM;
  return {};
}

void ucx_transport::listen_to_ucx(bool listens) noexcept {
  if (listens == listens_to_ucx_) return;
  listens_to_ucx_ = listens;
  epoll_event e{};
  if (listens) e.events = EPOLLIN;
  CHECK(::epoll_ctl(descriptor_.number(), EPOLL_CTL_MOD, worker_.descriptor, &e) == 0);
}

/// UCX wakes for all messages.
bool ucx_transport::arm(urgency) noexcept {
  if (worker_.ucp->worker_arm(worker_.handle) != UCS_OK) return false;
  listen_to_ucx(true);
  return true;
}

void ucx_transport::disarm() noexcept { listen_to_ucx(false); }

ucs_status_t ucx_transport::listen() noexcept {
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = message_id;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = &on_message;
  handler.arg = this;
  return worker_.ucp->worker_set_am_recv_handler(worker_.handle, &handler);
}

ucs_status_t ucx_transport::connect_peer(peer& to, std::span<const std::byte> address) noexcept {
  ucp_ep_params_t parameters{};
  parameters.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  parameters.address = reinterpret_cast<const ucp_address_t*>(address.data());
  parameters.err_mode = reports_losses_ ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  parameters.err_handler = {&on_peer_error, &to};
  to.owner = this;
  return worker_.ucp->ep_create(worker_.handle, &parameters, &to.endpoint);
}

base::status ucx_transport::connect(node_id self, std::span<const std::span<const std::byte>> addresses,
                                    sink& receiver) noexcept {
  CHECK(sink_ == nullptr && self.value() < addresses.size());
  const os::close_on_exec_scope closed_on_exec;
  sink_ = &receiver;
  peers_.resize(addresses.size());  // before anything can arrive; UCX keeps the address of each
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const node_id other{static_cast<std::uint16_t>(i)};
    peers_[i].out = wire::seal_sequence(secret_, self, other);
    peers_[i].in = wire::seal_sequence(secret_, other, self);
  }
  // All are looked at before any is connected: then either all nodes refuse, or none.
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto address = addresses[i];
    if (address.empty()) continue;
    if (address.size() > before_ucx_bytes && std::memcmp(address.data(), &prefix_, sizeof prefix_) == 0) continue;
    base::log(base::log_level::error, "node %zu has another transport than %s, or another version of Quire", i, name());
    return QUIRE_INVALID;
  }
  auto status = listen();
  for (std::size_t i = 0; i < addresses.size() && status == UCS_OK; ++i) {
    if (i == self.value() || addresses[i].empty()) continue;
    const auto theirs = addresses[i].subspan(before_ucx_bytes);
    status = connect_peer(peers_[i], theirs);
    if (status == UCS_ERR_UNREACHABLE && worker_.chosen_by_user && reports_losses_) {
      reports_losses_ = false;  // the user's choice cannot report losses
      status = connect_peer(peers_[i], theirs);
    }
    if (status != UCS_OK) {
      base::log(base::log_level::error, "node %zu cannot be reached: %s%s", i, worker_.ucp->status_string(status),
                status == UCS_ERR_NO_MEMORY ? os::explain(os::shortage::addresses).text
                : reports_losses_           ? ""
                                            : "; QUIRE_TRANSPORT=tcp needs no shared memory");
    }
  }
  return status == UCS_OK ? QUIRE_OK : QUIRE_PEER_LOST;
}

/// A payload that threads are writing is copied from where it lies to where words lie as they do there. UCX and the
/// kernel copy to where they do not (TCP's headers have 5 bytes), and tear them.
void ucx_transport::send(node_id to, const message& m, std::span<const std::byte> payload, urgency,
                         lasting lasts) noexcept {
  CHECK(to.value() < peers_.size() && m.payload_bytes == payload.size());
  peer& receiver = peers_[to.value()];
  CHECK(receiver.owner != nullptr);  // a message to this node itself
  if (receiver.state != peer::fine) return;
  ++traffic_.messages_sent;
  traffic_.bytes_sent += wire::header_bytes + payload.size();

  send_slot* const slot = sends_.take();
  slot->owner = this;
  wire::encode(m, slot->header, receiver.out.peek());
  receiver.out.advance();
  if (!payload.empty() && payload.size() <= copied_bytes) {
    base::copy_words(slot->value, payload.data(), payload.size());
    payload = {slot->value, payload.size()};
  } else if (lasts == lasting::now) {
    if (slot->content.size() < payload.size()) slot->content.resize(payload.size());
    base::copy_words(slot->content.data(), payload.data(), payload.size());
    payload = std::span<const std::byte>(slot->content).first(payload.size());
  }
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  how.cb.send = &on_sent;
  how.user_data = slot;
  how.memory_type = UCS_MEMORY_TYPE_HOST;
  const auto request = worker_.ucp->am_send_nbx(receiver.endpoint, message_id, slot->header.bytes, wire::header_bytes,
                                                payload.data(), payload.size(), &how);
  if (UCS_PTR_IS_PTR(request)) {  // on_sent gives the slot back
    slot->period = period_;
    slot->to = &receiver;
    ++receiver.unsent;
    ++unsent_[period_];
    return;
  }
  sends_.give(slot);
  if (UCS_PTR_IS_ERR(request)) lose(receiver, UCS_PTR_STATUS(request));
}

void ucx_transport::on_sent(void* request, ucs_status_t, void* slot) noexcept {
  // A failed send needs nothing more: on_peer_error tells the node.
  auto* const sent = static_cast<send_slot*>(slot);
  ucx_transport& self = *sent->owner;
  --self.unsent_[sent->period];
  --sent->to->unsent;
  if (sent->to->dead) --self.stuck_;
  self.sends_.give(sent);
  self.worker_.ucp->request_free(request);
}

ucs_status_t ucx_transport::on_message(void* arg, const void* header, std::size_t header_bytes, void* data,
                                       std::size_t bytes, const ucp_am_recv_param_t* how) noexcept {
  auto& self = *static_cast<ucx_transport*>(arg);
  message m;
  if (!self.let_in({static_cast<const std::byte*>(header), header_bytes}, bytes, m)) return UCS_OK;
  const bool small = bytes <= copied_bytes;
  if (bytes != 0 && (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
    if (small) return self.receive_rendezvous(m, data, nullptr);
    const landing spot = self.sink_->place(m);
    if (!spot.is_too_late()) return self.receive_rendezvous(m, data, spot.address());
    ++self.traffic_.dropped;
    return UCS_OK;
  }
  const bool waits = self.peers_[m.from.value()].first != nullptr;
  if (!(waits && small) && !self.take_payload(m, data)) return UCS_OK;
  if (waits) {
    receive_slot& slot = self.enqueue(m);
    slot.state = receive_slot::complete;
    slot.kept = small;
    if (small && bytes != 0) std::memcpy(slot.value, data, bytes);
  } else {
    self.deliver(m);
  }
  return UCS_OK;  // also with RECV_ATTR_FLAG_DATA: we keep nothing of UCX's buffer, and it may be used again
}

/// Whether it is the next message of a node of this job.
bool ucx_transport::let_in(std::span<const std::byte> header, std::size_t bytes, message& m) noexcept {
  const auto nodes = static_cast<unsigned>(peers_.size());
  const unsigned from = wire::sender_of(header);
  const bool known = from < nodes && peers_[from].owner != nullptr;
  const std::uint64_t seal = known ? peers_[from].in.peek() : 0;
  if (!known || !wire::sealed_with(header, seal)) {
    refuse(header);
    return false;
  }
  peers_[from].in.advance();
  if (wire::decode(header, bytes, nodes, m, seal).ok()) return true;
  ++traffic_.refused;
  base::log(base::log_level::error, "a message of node %u cannot be read: it is lost, and so is the job", from);
  lose(peers_[from], UCS_ERR_REJECTED);
  return false;
}

/// A stranger's, or one that was here before: both are left out. Or one of ours, and some before it are missing: then
/// nothing that follows can be right.
void ucx_transport::refuse(std::span<const std::byte> header) noexcept {
  constexpr unsigned looked_ahead = 64;
  const unsigned from = wire::sender_of(header);
  if (traffic_.refused++ == 0)
    base::log(base::log_level::warning,
              "refused a message that is not of this job, or comes twice; more are only counted (messages_refused)");
  if (from >= peers_.size() || peers_[from].owner == nullptr) return;
  peer& sender = peers_[from];
  for (unsigned ahead = 1; ahead <= looked_ahead; ++ahead) {
    if (!wire::sealed_with(header, sender.in.peek(ahead)) || sender.state != peer::fine) continue;
    base::log(
        base::log_level::error,
        "messages of node %u are missing: the network, as the UCX_ variables have set it, does not keep their order",
        from);
    return lose(sender, UCS_ERR_REJECTED);
  }
}

/// Puts an eager payload in its place. False if it is too late.
bool ucx_transport::take_payload(const message& m, const void* data) noexcept {
  if (m.payload_bytes == 0) return true;
  const landing spot = sink_->place(m);
  if (spot.is_too_late()) {
    ++traffic_.dropped;
    return false;
  }
  base::copy_words(spot.address(), data, m.payload_bytes);
  return true;
}

/// The last of the messages of its sender that wait for their turn.
ucx_transport::receive_slot& ucx_transport::enqueue(const message& m) noexcept {
  receive_slot* const slot = receives_.take();
  slot->m = m;
  slot->owner = this;
  slot->following = nullptr;
  slot->state = receive_slot::on_its_way;
  peer& sender = peers_[m.from.value()];
  (sender.first == nullptr ? sender.first : sender.last->following) = slot;
  sender.last = slot;
  return *slot;
}

void ucx_transport::deliver_what_is_complete(peer& sender) noexcept {
  while (sender.first != nullptr && sender.first->state != receive_slot::on_its_way) {
    receive_slot* const slot = sender.first;
    const message& m = slot->m;
    if (slot->state == receive_slot::complete && (!slot->kept || take_payload(m, slot->value))) deliver(m);
    sender.first = slot->following;
    receives_.give(slot);
  }
}

/// Without a place the payload goes into the slot: a small one is announced only if the user has set UCX_RNDV_THRESH.
ucs_status_t ucx_transport::receive_rendezvous(const message& m, void* announced, void* place) noexcept {
  receive_slot& slot = enqueue(m);
  slot.kept = place == nullptr;
  if (slot.kept) place = slot.value;
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  how.cb.recv_am = &on_payload;
  how.user_data = &slot;
  how.memory_type = UCS_MEMORY_TYPE_HOST;
  const auto request = worker_.ucp->am_recv_data_nbx(worker_.handle, announced, place, m.payload_bytes, &how);
  if (UCS_PTR_IS_PTR(request)) return UCS_INPROGRESS;
  slot.state = UCS_PTR_IS_ERR(request) ? receive_slot::failed : receive_slot::complete;
  if (slot.state == receive_slot::failed) lose(peers_[m.from.value()], UCS_PTR_STATUS(request));
  deliver_what_is_complete(peers_[m.from.value()]);
  return UCS_OK;
}

void ucx_transport::on_payload(void* request, ucs_status_t status, std::size_t, void* slot) noexcept {
  auto* const received = static_cast<receive_slot*>(slot);
  ucx_transport& self = *received->owner;
  received->state = status == UCS_OK ? receive_slot::complete : receive_slot::failed;
  if (status != UCS_OK)
    self.lose(self.peers_[received->m.from.value()], status);  // a message without its payload is not delivered
  self.worker_.ucp->request_free(request);
  self.deliver_what_is_complete(self.peers_[received->m.from.value()]);
}

void ucx_transport::deliver(const message& m) noexcept {
  ++traffic_.messages_received;
  traffic_.bytes_received += wire::header_bytes + m.payload_bytes;
  sink_->deliver(m);
}

bool ucx_transport::progress() noexcept {
  // Until something was delivered, as the caller may have waited for just that; bounded, so that the lock is not kept.
  constexpr int rounds = 16;
  const auto received = traffic_.messages_received;
  bool happened = false;
  for (int i = 0; i < rounds && traffic_.messages_received == received; ++i) {
    if (worker_.ucp->worker_progress(worker_.handle) == 0) break;
    happened = true;
  }
  if (unreported_losses_) report_losses();
  return happened;
}

void ucx_transport::on_peer_error(void* arg, ucp_ep_h, ucs_status_t status) noexcept {
  auto& who = *static_cast<peer*>(arg);
  who.owner->lose(who, status);
}

void ucx_transport::abandon(node_id to) noexcept {
  peer& who = peers_[to.value()];
  if (who.owner == nullptr || who.dead) return;
  who.dead = true;
  stuck_ += who.unsent;
  if (who.state == peer::reported) return;
  who.state = peer::abandoned;
  unreported_losses_ = true;
}

/// Only notes it: UCX allows no closing of endpoints in its callbacks, and the engine expects no peer_lost within
/// send().
void ucx_transport::lose(peer& who, ucs_status_t why) noexcept {
  if (who.state != peer::fine) return;
  who.state = peer::lost;
  unreported_losses_ = true;
  base::log(base::log_level::debug, "node %ld: %s", static_cast<long>(&who - peers_.data()),
            worker_.ucp->status_string(why));
  signal();  // whoever sleeps on the descriptor comes and reports
}

void ucx_transport::report_losses() noexcept {
  unreported_losses_ = false;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    peer& who = peers_[i];
    if (who.state != peer::lost && who.state != peer::abandoned) continue;
    const bool told = who.state == peer::lost;
    who.state = peer::reported;
    if (reports_losses_) {
      ucp_request_param_t how{};
      how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
      how.flags = UCP_EP_CLOSE_FLAG_FORCE;
      const auto request = worker_.ucp->ep_close_nbx(who.endpoint, &how);
      if (UCS_PTR_IS_PTR(request)) worker_.ucp->request_free(request);  // completes by itself
    }
    if (told) sink_->peer_lost(node_id{static_cast<std::uint16_t>(i)});
  }
}

base::status ucx_transport::flush(int timeout_ms) noexcept {
  const auto deadline = base::now_ns() + static_cast<std::uint64_t>(base::limit_ns(timeout_ms));
  const ucp_request_param_t how{};
  // What is stuck would keep the worker's flush for good. Over shared memory, where that happens, what was handed over
  // is there.
  const auto request = stuck() ? nullptr : worker_.ucp->worker_flush_nbx(worker_.handle, &how);
  const bool waits = UCS_PTR_IS_PTR(request);
  const auto flushed = [&] {
    return !sends_pending() && (!waits || worker_.ucp->request_check_status(request) != UCS_INPROGRESS);
  };
  while (progress(), !flushed() && base::now_ns() < deadline) {
    pollfd waiting{descriptor(), POLLIN, 0};
    if (arm(urgency::later)) {
      (void)::poll(&waiting, 1, 1);
    } else {
      ::sched_yield();
    }
  }
  const bool done = flushed();
  if (waits) worker_.ucp->request_free(request);
  return done ? QUIRE_OK : QUIRE_TIMED_OUT;
}

}  // namespace

base::result<std::unique_ptr<transport>> open(const settings& how, const std::string& devices,
                                              const base::secret& job) {
  auto opened = std::make_unique<ucx_transport>();
  if (const auto status = opened->open(how, devices, job); !status.ok()) return status;
  return std::unique_ptr<transport>(std::move(opened));
}

}  // namespace quire::transport::ucx
