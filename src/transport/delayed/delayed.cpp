// SPDX-License-Identifier: BSD-3-Clause
#include "transport/delayed/delayed.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/clock.hpp"
#include "base/copy_words.hpp"
#include "base/fault_heap.hpp"
#include "base/log.hpp"
#include "os/process.hpp"
#include "wire/wire.hpp"

namespace quire::transport::delayed {
namespace {

using model::message;
using model::message_kind;
using model::node_id;
using bytes_view = std::span<const std::byte>;

/// What stands before the address of the transport within.
struct address_prefix {
  std::array<char, 8> mark{'d', 'e', 'l', 'a', 'y', ' ', '1', 0};
};

/// The beginning of the payload of what carries a message; the message's own payload follows.
struct slip {
  std::uint64_t due_ns = 0;
  message m{};
};

class delayed_transport final : public transport, private sink {
 public:
  delayed_transport(std::unique_ptr<transport> inner, const link& how)
      : latency_ns_(static_cast<std::uint64_t>(how.latency_us * 1e3)),
        ns_a_byte_(how.megabytes_a_second > 0 ? 1e3 / how.megabytes_a_second : 0),
        nodes_a_host_(std::max(1u, how.nodes_a_host)),
        name_(std::string(inner->name()) + ", delayed"),
        inner_(std::move(inner)) {}
  delayed_transport(const delayed_transport&) = delete;
  delayed_transport& operator=(const delayed_transport&) = delete;

  [[nodiscard]] base::status open();

  [[nodiscard]] bytes_view address() const noexcept override { return address_; }
  [[nodiscard]] base::status connect(node_id self, std::span<const bytes_view> addresses,
                                     sink& receiver) noexcept override;
  void send(node_id to, const message& m, bytes_view payload, urgency how, lasting lasts) noexcept override;
  void abandon(node_id who) noexcept override;
  [[nodiscard]] bool stuck() const noexcept override { return inner_->stuck(); }
  bool progress() noexcept override {
    const bool happened = inner_->progress();
    return deliver_due() || happened;
  }
  [[nodiscard]] bool sends_pending() const noexcept override { return inner_->sends_pending(); }
  [[nodiscard]] bool turn_period() noexcept override { return inner_->turn_period(); }
  [[nodiscard]] int descriptor() const noexcept override { return both_.number(); }
  [[nodiscard]] bool arm(urgency least) noexcept override;
  void disarm() noexcept override {
    armed_ = false;
    inner_->disarm();
  }
  void signal() noexcept override { inner_->signal(); }
  base::status flush(int timeout_ms) noexcept override { return inner_->flush(timeout_ms); }
  [[nodiscard]] const traffic& counters() const noexcept override {
    traffic_ = inner_->counters();
    traffic_.dropped += dropped_;
    traffic_.refused += refused_;
    return traffic_;
  }
  [[nodiscard]] const char* name() const noexcept override { return name_.c_str(); }

 private:
  using buffer = base::fault_vector<std::byte>;
  /// What carries a message, from when it has a place.
  struct arrival {
    node_id from{};
    std::uint64_t number = 0;  ///< the carrier's
    buffer text{};
  };
  struct held {
    std::uint64_t due_ns = 0, turn = 0;  ///< what is due at the same time goes in the order in which it came
    node_id from{};
    buffer text{};
    bool operator<(const held& other) const noexcept {  // of a heap whose first one is due first
      return due_ns != other.due_ns ? due_ns > other.due_ns : turn > other.turn;
    }
  };

  [[nodiscard]] landing place(const message& carrier) noexcept override;
  void deliver(const message& carrier) noexcept override;
  void peer_lost(node_id who) noexcept override;
  [[nodiscard]] bool is_on_host(node_id who) const noexcept {
    return who.value() / nodes_a_host_ == self_.value() / nodes_a_host_;
  }
  void hold(node_id from, buffer text) noexcept;
  bool deliver_due() noexcept;
  void take(const held& one) noexcept;
  void lose(node_id who) noexcept;
  void tell_losses() noexcept;
  void set_clock(std::uint64_t due_ns) noexcept;
  [[nodiscard]] buffer buffer_of(std::size_t bytes) noexcept;

  const std::uint64_t latency_ns_;
  const double ns_a_byte_;
  const unsigned nodes_a_host_;
  std::string name_;
  std::vector<std::byte> address_{};
  node_id self_{};
  unsigned nodes_ = 0;
  std::uint64_t link_free_ns_ = 0, sent_ = 0, come_ = 0;
  buffer outgoing_{};
  base::fault_vector<buffer> unused_{};
  base::fault_vector<arrival> arriving_{};
  base::fault_vector<held> held_{};     ///< a heap
  base::fault_vector<node_id> lost_{};  ///< of which something is held
  os::descriptor clock_{}, both_{};     ///< readable when that, or the one within, is
  std::uint64_t clock_ns_ = 0;          ///< for when it is set; 0: it is not
  bool armed_ = false;
  sink* sink_ = nullptr;
  std::uint64_t dropped_ = 0, refused_ = 0;
  mutable traffic traffic_{};
  std::unique_ptr<transport> inner_;  ///< goes first: until then it may write where messages land
};

base::status delayed_transport::open() {
  const address_prefix prefix;
  const auto inner = inner_->address();
  address_.resize(sizeof prefix + inner.size());
  std::memcpy(address_.data(), &prefix, sizeof prefix);
  std::copy(inner.begin(), inner.end(), address_.begin() + sizeof prefix);
  clock_ = os::descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  both_ = os::descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!clock_.open() || !both_.open()) return QUIRE_SYSTEM;
  for (const int one : {clock_.number(), inner_->descriptor()}) {
    epoll_event readable{};
    readable.events = EPOLLIN;
    if (::epoll_ctl(both_.number(), EPOLL_CTL_ADD, one, &readable) != 0) return QUIRE_SYSTEM;
  }
  return {};
}

base::status delayed_transport::connect(node_id self, std::span<const bytes_view> addresses, sink& receiver) noexcept {
  self_ = self;
  nodes_ = static_cast<unsigned>(addresses.size());
  sink_ = &receiver;
  std::vector<bytes_view> within(addresses.size());
  const address_prefix prefix;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i].empty()) continue;
    if (addresses[i].size() <= sizeof prefix || std::memcmp(addresses[i].data(), &prefix, sizeof prefix) != 0) {
      base::log(base::log_level::error,
                "node %zu does not delay its messages, or is another version of Quire: QUIRE_DELAY must be the same on "
                "all",
                i);
      return QUIRE_INVALID;
    }
    within[i] = addresses[i].subspan(sizeof prefix);
  }
  return inner_->connect(self, within, *this);
}

/// Over a network each message wakes its receiver: TCP cannot tell how urgent it is.
void delayed_transport::send(node_id to, const message& m, bytes_view payload, urgency how, lasting lasts) noexcept {
  if (is_on_host(to)) return inner_->send(to, m, payload, how, lasts);
  const std::size_t bytes = sizeof(slip) + payload.size();
  CHECK(bytes <= wire::max_payload_bytes && m.payload_bytes == payload.size());
  const auto on_link =
      static_cast<std::uint64_t>(ns_a_byte_ * static_cast<double>(wire::header_bytes + payload.size()));
  link_free_ns_ = std::max(base::now_ns(), link_free_ns_) + on_link;
  slip about;
  about.due_ns = link_free_ns_ + latency_ns_;
  about.m = m;
  if (outgoing_.size() < bytes) outgoing_.resize(bytes);
  std::memcpy(outgoing_.data(), &about, sizeof about);
  if (!payload.empty()) base::copy_words(outgoing_.data() + sizeof about, payload.data(), payload.size());
  message carrier;
  carrier.kind = message_kind::sealed;
  carrier.from = carrier.requester = self_;
  carrier.token = sent_++;
  carrier.payload_bytes = static_cast<std::uint32_t>(bytes);
  inner_->send(to, carrier, bytes_view(outgoing_).first(bytes), urgency::now, lasting::now);
}

delayed_transport::buffer delayed_transport::buffer_of(std::size_t bytes) noexcept {
  buffer made;
  if (!unused_.empty()) {
    made = std::move(unused_.back());
    unused_.pop_back();
  }
  made.resize(bytes);
  return made;
}

landing delayed_transport::place(const message& carrier) noexcept {
  if (is_on_host(carrier.from)) return sink_->place(carrier);
  arriving_.push_back({carrier.from, carrier.token, buffer_of(carrier.payload_bytes)});
  return landing::at(arriving_.back().text.data());
}

void delayed_transport::deliver(const message& carrier) noexcept {
  if (is_on_host(carrier.from)) return sink_->deliver(carrier);
  const auto arrived = std::find_if(arriving_.begin(), arriving_.end(), [&](const arrival& a) {
    return a.from == carrier.from && a.number == carrier.token;
  });
  if (carrier.kind != message_kind::sealed || arrived == arriving_.end()) return lose(carrier.from);
  buffer text = std::move(arrived->text);
  arriving_.erase(arrived);
  slip about;
  if (text.size() >= sizeof about) std::memcpy(&about, text.data(), sizeof about);
  if (text.size() < sizeof about || about.m.payload_bytes != text.size() - sizeof about ||
      about.m.from != carrier.from || !wire::is_legal(about.m, nodes_))
    return lose(carrier.from);
  hold(carrier.from, std::move(text));
}

void delayed_transport::hold(node_id from, buffer text) noexcept {
  slip about;
  std::memcpy(&about, text.data(), sizeof about);
  held_.push_back({about.due_ns, come_++, from, std::move(text)});
  std::push_heap(held_.begin(), held_.end());
  if (armed_ && (clock_ns_ == 0 || about.due_ns < clock_ns_)) set_clock(about.due_ns);
}

/// What comes while this goes on waits for the next time.
bool delayed_transport::deliver_due() noexcept {
  if (held_.empty()) return false;
  const std::uint64_t now = base::now_ns();
  bool any = false;
  while (!held_.empty() && held_.front().due_ns <= now) {
    std::pop_heap(held_.begin(), held_.end());
    held one = std::move(held_.back());
    held_.pop_back();
    take(one);
    unused_.push_back(std::move(one.text));
    any = true;
  }
  if (!lost_.empty()) tell_losses();
  return any;
}

void delayed_transport::take(const held& one) noexcept {
  slip about;
  std::memcpy(&about, one.text.data(), sizeof about);
  if (about.m.payload_bytes != 0) {
    const landing spot = sink_->place(about.m);
    if (spot.is_too_late()) {
      ++dropped_;
      return;
    }
    base::copy_words(spot.address(), one.text.data() + sizeof about, about.m.payload_bytes);
  }
  sink_->deliver(about.m);
}

void delayed_transport::lose(node_id who) noexcept {
  ++refused_;
  base::log(base::log_level::error, "a message of node %u cannot be read: nothing more of that node is taken",
            unsigned{who.value()});
  abandon(who);
  peer_lost(who);
}

/// After all that came of it.
void delayed_transport::peer_lost(node_id who) noexcept {
  lost_.push_back(who);
  tell_losses();
}

void delayed_transport::tell_losses() noexcept {
  for (std::size_t i = 0; i < lost_.size();) {
    const node_id who = lost_[i];
    if (std::any_of(held_.begin(), held_.end(), [who](const held& one) { return one.from == who; })) {
      ++i;
    } else {
      lost_.erase(lost_.begin() + static_cast<std::ptrdiff_t>(i));
      sink_->peer_lost(who);
    }
  }
}

/// What the transport within still writes keeps its place.
void delayed_transport::abandon(node_id who) noexcept {
  std::erase_if(held_, [&](const held& one) { return one.from == who; });
  std::make_heap(held_.begin(), held_.end());
  inner_->abandon(who);
}

bool delayed_transport::arm(urgency least) noexcept {
  const std::uint64_t first = held_.empty() ? 0 : held_.front().due_ns;
  if (first != 0 && first <= base::now_ns()) return false;
  if (!inner_->arm(least)) return false;
  armed_ = true;
  set_clock(first);
  return true;
}

/// To set it makes the descriptor unreadable that was readable. It costs a virtual machine microseconds.
void delayed_transport::set_clock(std::uint64_t due_ns) noexcept {
  if (due_ns == clock_ns_) return;
  constexpr std::uint64_t second = 1'000'000'000;
  itimerspec at{};
  at.it_value.tv_sec = static_cast<time_t>(due_ns / second);
  at.it_value.tv_nsec = static_cast<long>(due_ns % second);
  clock_ns_ = due_ns;
  (void)::timerfd_settime(clock_.number(), TFD_TIMER_ABSTIME, &at, nullptr);
}

}  // namespace

base::result<std::unique_ptr<transport>> wrap(std::unique_ptr<transport> inner, const link& how) {
  auto made = std::make_unique<delayed_transport>(std::move(inner), how);
  if (const auto why = made->open(); !why.ok()) {
    base::log(base::log_level::error, "no descriptor for messages that are delayed");
    return why;
  }
  return std::unique_ptr<transport>(std::move(made));
}

}  // namespace quire::transport::delayed
