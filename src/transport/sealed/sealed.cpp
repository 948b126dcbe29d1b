// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sealed/sealed.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/copy_words.hpp"
#include "base/fault_heap.hpp"
#include "base/log.hpp"
#include "transport/sealed/cipher.hpp"
#include "wire/wire.hpp"

namespace quire::transport::sealed {
namespace {

using model::message;
using model::message_kind;
using model::node_id;

/// What stands before the address of the transport within.
struct address_prefix {
  std::array<char, 8> mark{'s', 'e', 'a', 'l', 'e', 'd', ' ', '1'};
  std::uint64_t has_aes = 0;
  key public_key{};
};

class sealed_transport final : public transport, private sink {
 public:
  sealed_transport(std::unique_ptr<transport> inner, const base::secret& job, const sodium& with)
      : job_(job), with_(with), name_(std::string(inner->name()) + ", encrypted"), inner_(std::move(inner)) {}
  ~sealed_transport() override { with_.zero(own_.data(), own_.size()); }
  sealed_transport(const sealed_transport&) = delete;
  sealed_transport& operator=(const sealed_transport&) = delete;

  [[nodiscard]] base::status open();

  [[nodiscard]] std::span<const std::byte> address() const noexcept override { return address_; }
  [[nodiscard]] base::status connect(node_id self, std::span<const std::span<const std::byte>> addresses,
                                     sink& receiver) noexcept override;
  void send(node_id to, const message& m, std::span<const std::byte> payload, urgency how,
            lasting lasts) noexcept override;
  void abandon(node_id who) noexcept override;
  [[nodiscard]] bool stuck() const noexcept override { return inner_->stuck(); }
  bool progress() noexcept override { return inner_->progress(); }
  [[nodiscard]] bool sends_pending() const noexcept override { return inner_->sends_pending(); }
  [[nodiscard]] bool turn_period() noexcept override { return inner_->turn_period(); }
  [[nodiscard]] int descriptor() const noexcept override { return inner_->descriptor(); }
  [[nodiscard]] bool arm(urgency least) noexcept override { return inner_->arm(least); }
  [[nodiscard]] futex_word word() const noexcept override { return inner_->word(); }
  [[nodiscard]] bool arm_word() noexcept override { return inner_->arm_word(); }
  void disarm() noexcept override { inner_->disarm(); }
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
  struct arrival {
    std::uint64_t number = 0;  ///< the carrier's
    buffer text{};
  };
  struct peer {
    cipher out, in;
    std::uint64_t sent = 0;
    /// What has a place: a small text gets it when it is delivered, a large one before those in front of it are. Of a
    /// peer that is gone they stay, as the transport may still write there.
    base::fault_deque<arrival> arriving{};
    bool gone = false;
  };

  [[nodiscard]] landing place(const message& carrier) noexcept override;
  void deliver(const message& carrier) noexcept override;
  void peer_lost(node_id who) noexcept override;
  void take(const message& m, std::span<const std::byte> payload) noexcept;
  void lose(node_id who) noexcept;
  /// False: what the other node calls a public key is none.
  [[nodiscard]] bool make_key(const address_prefix& theirs, node_id from, node_id to, key& made) noexcept;
  [[nodiscard]] buffer buffer_of(std::size_t bytes) noexcept;

  base::secret job_;
  const sodium& with_;
  std::string name_;
  key own_{};
  address_prefix prefix_;
  std::vector<std::byte> address_;
  node_id self_{};
  std::vector<std::unique_ptr<peer>> peers_;
  buffer outgoing_;
  base::fault_vector<buffer> unused_;  ///< of messages that have come
  sink* sink_ = nullptr;
  std::uint64_t dropped_ = 0, refused_ = 0;
  mutable traffic traffic_;
  std::unique_ptr<transport> inner_;  ///< goes first: until then it may write where messages land
};

base::status sealed_transport::open() {
  if (::getrandom(own_.data(), own_.size(), 0) != static_cast<ssize_t>(own_.size())) return QUIRE_SYSTEM;
  if (with_.public_key(prefix_.public_key.data(), own_.data()) != 0) return QUIRE_SYSTEM;
  prefix_.has_aes = cipher::has_aes(with_) ? 1 : 0;
  const auto inner = inner_->address();
  address_.resize(sizeof prefix_ + inner.size());
  std::memcpy(address_.data(), &prefix_, sizeof prefix_);
  std::copy(inner.begin(), inner.end(), address_.begin() + sizeof prefix_);
  return {};
}

bool sealed_transport::make_key(const address_prefix& theirs, node_id from, node_id to, key& made) noexcept {
  struct {
    key both, first, second;
    std::uint32_t from, to;
  } text{{}, prefix_.public_key, theirs.public_key, from.value(), to.value()};
  if (to == self_) std::swap(text.first, text.second);
  const bool works = with_.shared_key(text.both.data(), own_.data(), theirs.public_key.data()) == 0 &&
                     with_.hash(made.data(), made.size(), reinterpret_cast<const unsigned char*>(&text), sizeof text,
                                reinterpret_cast<const unsigned char*>(&job_), sizeof job_) == 0;
  with_.zero(&text, sizeof text);
  return works;
}

base::status sealed_transport::connect(node_id self, std::span<const std::span<const std::byte>> addresses,
                                       sink& receiver) noexcept {
  self_ = self;
  sink_ = &receiver;
  std::vector<address_prefix> prefixes(addresses.size());
  std::vector<std::span<const std::byte>> within(addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i].empty()) continue;
    if (addresses[i].size() > sizeof prefix_) std::memcpy(&prefixes[i], addresses[i].data(), sizeof prefix_);
    if (addresses[i].size() <= sizeof prefix_ || prefixes[i].mark != prefix_.mark) {
      base::log(base::log_level::error,
                "node %zu does not encrypt its messages, or is another version of Quire: QUIRE_ENCRYPT must be the "
                "same on all",
                i);
      return QUIRE_INVALID;
    }
    within[i] = addresses[i].subspan(sizeof prefix_);
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const node_id other{static_cast<std::uint16_t>(i)};
    peers_.push_back(std::make_unique<peer>());
    if (other == self || addresses[i].empty()) continue;
    key out{}, in{};
    if (!make_key(prefixes[i], self, other, out) || !make_key(prefixes[i], other, self, in)) {
      base::log(base::log_level::error, "the public key of node %zu is none", i);
      return QUIRE_INVALID;
    }
    const bool aes = prefix_.has_aes != 0 && prefixes[i].has_aes != 0;  // both of a pair come to the same
    base::log(base::log_level::debug, "messages to node %zu are encrypted with %s", i,
              aes ? "AES-256-GCM" : "ChaCha20-Poly1305");
    peers_[i]->out.begin(with_, out, aes);
    peers_[i]->in.begin(with_, in, aes);
    with_.zero(out.data(), out.size());
    with_.zero(in.data(), in.size());
  }
  with_.zero(own_.data(), own_.size());
  return inner_->connect(self, within, *this);
}

void sealed_transport::send(node_id to, const message& m, std::span<const std::byte> payload, urgency how,
                            lasting) noexcept {
  peer& receiver = *peers_[to.value()];
  if (receiver.gone) return;
  const std::size_t bytes = sizeof m + payload.size() + cipher::tag_bytes;
  CHECK(bytes <= wire::max_payload_bytes && m.payload_bytes == payload.size());
  if (outgoing_.size() < bytes) outgoing_.resize(bytes);
  std::memcpy(outgoing_.data(), &m, sizeof m);
  if (!payload.empty()) base::copy_words(outgoing_.data() + sizeof m, payload.data(), payload.size());
  const auto text = std::span<std::byte>(outgoing_).first(bytes);
  receiver.out.seal(text);
  message carrier;
  carrier.kind = message_kind::sealed;
  carrier.from = carrier.requester = self_;
  carrier.token = receiver.sent++;
  carrier.payload_bytes = static_cast<std::uint32_t>(bytes);
  inner_->send(to, carrier, text, how, lasting::now);
}

sealed_transport::buffer sealed_transport::buffer_of(std::size_t bytes) noexcept {
  buffer made;
  if (!unused_.empty()) {
    made = std::move(unused_.back());
    unused_.pop_back();
  }
  made.resize(bytes);
  return made;
}

landing sealed_transport::place(const message& carrier) noexcept {
  peer& sender = *peers_[carrier.from.value()];
  if (sender.gone || carrier.kind != message_kind::sealed) return landing::too_late();
  sender.arriving.push_back({carrier.token, buffer_of(carrier.payload_bytes)});
  return landing::at(sender.arriving.back().text.data());
}

void sealed_transport::deliver(const message& carrier) noexcept {
  peer& sender = *peers_[carrier.from.value()];
  if (sender.gone) return;
  const auto arrived = std::find_if(sender.arriving.begin(), sender.arriving.end(),
                                    [&](const arrival& a) { return a.number == carrier.token; });
  if (arrived == sender.arriving.end()) return lose(carrier.from);
  buffer text = std::move(arrived->text);
  sender.arriving.erase(arrived);
  message m;
  const bool opened = sender.in.open(text) && text.size() >= sizeof m + cipher::tag_bytes;
  if (opened) std::memcpy(&m, text.data(), sizeof m);
  const std::size_t bytes = opened ? text.size() - sizeof m - cipher::tag_bytes : 0;
  if (!opened || m.payload_bytes != bytes || m.from != carrier.from ||
      !wire::is_legal(m, static_cast<unsigned>(peers_.size())))
    return lose(carrier.from);
  take(m, std::span<const std::byte>(text).subspan(sizeof m, bytes));
  unused_.push_back(std::move(text));
}

void sealed_transport::take(const message& m, std::span<const std::byte> payload) noexcept {
  if (!payload.empty()) {
    const landing spot = sink_->place(m);
    if (spot.is_too_late()) {
      ++dropped_;
      return;
    }
    base::copy_words(spot.address(), payload.data(), payload.size());
  }
  sink_->deliver(m);
}

/// Who can change messages on their way could have left some out, too: nothing that follows can be trusted.
void sealed_transport::lose(node_id who) noexcept {
  ++refused_;
  base::log(base::log_level::error,
            "a message of node %u was changed on its way, or does not come next: nothing more of that node is taken",
            unsigned{who.value()});
  inner_->abandon(who);
  peer_lost(who);
}

void sealed_transport::peer_lost(node_id who) noexcept {
  peer& lost = *peers_[who.value()];
  if (std::exchange(lost.gone, true)) return;
  sink_->peer_lost(who);
}

void sealed_transport::abandon(node_id who) noexcept {
  peers_[who.value()]->gone = true;
  inner_->abandon(who);
}

}  // namespace

base::result<std::unique_ptr<transport>> wrap(std::unique_ptr<transport> inner, const base::secret& job) {
  const auto with = load_sodium();
  if (!with.ok()) return with.why();
  auto made = std::make_unique<sealed_transport>(std::move(inner), job, *with.value());
  if (const auto why = made->open(); !why.ok()) return why;
  return std::unique_ptr<transport>(std::move(made));
}

}  // namespace quire::transport::sealed
