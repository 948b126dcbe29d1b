// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/member.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/options.hpp"

namespace quire::bootstrap::local {
namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A number from the environment; -1 if it is none.
int number_of(const char* text) {
  int value = -1;
  const char* end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, value);
  return error == std::errc{} && at == end ? value : -1;
}

}  // namespace

member::member(os::descriptor socket, int node, int nodes, int local_nodes, int limit_ms)
    : socket_(std::move(socket)), node_(node), nodes_(nodes), local_nodes_(local_nodes), limit_ms_(limit_ms) {
  const greeting me{protocol_version, ::getpid()};
  socket_.queue(make_frame(frame_kind::hello, node_, {reinterpret_cast<const char*>(&me), sizeof me}));
  socket_.send();
}

base::result<std::vector<std::vector<std::byte>>> member::exchange(std::span<const std::byte> mine) {
  if (mine.size() > most_address_bytes) return QUIRE_INVALID;
  const std::uint64_t deadline = base::now_ns() + static_cast<std::uint64_t>(limit_ms_) * 1'000'000;
  gathered_.reset();
  socket_.queue(make_frame(frame_kind::address, node_, text_of(mine)));
  for (;;) {
    socket_.send();
    take_in();
    // Before the answer: news that were taken in here would not make the descriptor readable any more.
    if (!news_.empty() || ended_) return QUIRE_PEER_LOST;
    if (gathered_) {
      auto addresses = unpack_addresses(*gathered_, nodes_);
      if (!addresses) return QUIRE_SYSTEM;
      return std::move(*addresses);
    }
    const std::uint64_t now = base::now_ns();
    if (now >= deadline) return QUIRE_TIMED_OUT;
    pollfd entry{socket_.descriptor(), static_cast<short>(socket_.sending() ? POLLIN | POLLOUT : POLLIN), 0};
    os::wait_ready({&entry, 1}, static_cast<int>((deadline - now) / 1'000'000) + 1);
  }
}

// What does not go out at once goes with what poll_news does; this node ends by itself if it never goes.
bool member::accuse(int node, std::uint64_t silent_ms) noexcept {
  const loss what{static_cast<std::uint64_t>(node), silent_ms};
  socket_.queue(make_frame(frame_kind::accuse, node_, {reinterpret_cast<const char*>(&what), sizeof what}));
  socket_.send();
  return true;
}

void member::withdraw(int node) noexcept {
  const loss what{static_cast<std::uint64_t>(node), 0};
  socket_.queue(make_frame(frame_kind::withdraw, node_, {reinterpret_cast<const char*>(&what), sizeof what}));
  socket_.send();
}

void member::bereaved() noexcept {
  socket_.queue(make_frame(frame_kind::bereaved, node_, {}));
  socket_.send();
}

void member::tell_waits(std::string_view packed) noexcept {
  socket_.queue(make_frame(frame_kind::waits, node_, packed));
  socket_.send();
}

void member::tell_counters(std::string_view json) noexcept {
  socket_.queue(make_frame(frame_kind::counters, node_, json));
  socket_.send();
}

void member::tell_leaving(std::string_view packed) noexcept {
  socket_.queue(make_frame(frame_kind::leaving, node_, packed));
  socket_.send();
}

void member::keep_record(int descriptor, std::string_view path) noexcept {
  const std::string words[] = {std::to_string(::getpid()), std::to_string(descriptor), std::string(path)};
  socket_.queue(make_frame(frame_kind::record, node_, pack_addresses(words)));
  socket_.send();
}

void member::ready() noexcept {
  socket_.queue(make_frame(frame_kind::ready, node_, {}));
  socket_.send();
}

// Writes past the channel's queue, which is empty after the last exchange, so as not to meet poll_news there.
void member::say_last(frame_kind what, std::string_view statistics_json) noexcept {
  const std::string bytes = encode(what, node_, statistics_json);
  for (std::span<const char> rest = bytes; !rest.empty();) {
    const auto moved = os::write_some(socket_.descriptor(), rest);
    if (moved.what == os::transfer::outcome::moved) {
      rest = rest.subspan(moved.bytes);
      continue;
    }
    pollfd entry{socket_.descriptor(), POLLOUT, 0};
    if (moved.what != os::transfer::outcome::would_block || os::wait_ready({&entry, 1}, limit_ms_) == 0) return;
  }
}

news member::poll_news() noexcept {
  socket_.send();
  take_in();
  if (news_.empty()) return {};
  news first = std::move(news_.front());
  news_.pop_front();
  return first;
}

void member::take_in() {
  socket_.receive();
  while (auto arrived = socket_.next()) {
    switch (arrived->kind) {
      case frame_kind::addresses:
        gathered_ = std::move(arrived->payload);
        break;
      case frame_kind::show_waits:
        news_.push_back({news::kind::show_waits, -1, {}});
        break;
      case frame_kind::show_counters:
        news_.push_back({news::kind::show_counters, -1, {}});
        break;
      case frame_kind::leave_wanted:
        news_.push_back({news::kind::leave_wanted, -1, {}});
        break;
      case frame_kind::node_died:
      case frame_kind::job_ends: {
        // `quire run` has said it on its standard error; once is enough.
        base::log(base::log_level::info, "`quire run` says: %s", arrived->payload.c_str());
        const bool died = arrived->kind == frame_kind::node_died;
        news_.push_back({died ? news::kind::node_died : news::kind::job_ends, died ? arrived->node : -1, {}});
        break;
      }
      default:
        break;  // frames of a node; a launcher sends none
    }
  }
  if ((socket_.ended() || socket_.broken()) && !std::exchange(ended_, true))
    news_.push_back({news::kind::job_ends, -1, "`quire run` is gone"});
}

namespace {

/// Without a launcher: nobody to talk to, and no news.
class alone final : public bootstrap {
 public:
  [[nodiscard]] int node() const noexcept override { return 0; }
  [[nodiscard]] int nodes() const noexcept override { return 1; }
  [[nodiscard]] int local_nodes() const noexcept override { return 1; }
  [[nodiscard]] base::result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte> mine) override {
    return std::vector<std::vector<std::byte>>{{mine.begin(), mine.end()}};
  }
  [[nodiscard]] bool accuse(int, std::uint64_t) noexcept override { return false; }
  [[nodiscard]] bool announces_deaths() const noexcept override { return true; }  // there are no others
  void abort(int, const std::string&) noexcept override {}
  void leave(std::string_view) noexcept override {}
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] news poll_news() noexcept override { return {}; }
};

}  // namespace

std::unique_ptr<bootstrap> join_alone() { return std::make_unique<alone>(); }

namespace {
/// Programs that this one starts are not nodes of its job.
void unset_place() noexcept {
  for (const char* name : base::job_variables) ::unsetenv(name);
}
}  // namespace

base::result<std::unique_ptr<bootstrap>> join_launched() {
  const char* texts[base::job_variables.size()];
  std::transform(base::job_variables.begin(), base::job_variables.end(), texts,
                 [](const char* name) { return std::getenv(name); });
  if (std::all_of(std::begin(texts), std::end(texts), [](const char* text) { return text == nullptr; }))
    return QUIRE_NOT_FOUND;
  int numbers[base::job_variables.size()];
  std::transform(std::begin(texts), std::end(texts), numbers,
                 [](const char* t) { return t != nullptr ? number_of(t) : -1; });
  const auto [descriptor, node, nodes, local_nodes] = numbers;
  unset_place();

  if (descriptor < 0 || node < 0 || node >= nodes || nodes > base::most_nodes || local_nodes < 1) {
    base::log(base::log_level::error,
              "QUIRE_JOB_FD, _NODE, _NODES and _LOCAL are set by `quire run` only, and here make no sense");
    return QUIRE_BAD_OPTION;
  }
  if (!os::is_socket(descriptor)) {
    base::log(
        base::log_level::error,
        "descriptor %d, by which `quire run` wanted to talk to node %d, has been closed by something between the two "
        "(sudo and su do that); start `quire run` inside of it",
        descriptor, node);
    return QUIRE_SYSTEM;
  }
  if (!os::set_close_on_exec(descriptor, true).ok() || !os::set_blocking(descriptor, false).ok()) return QUIRE_SYSTEM;
  return std::unique_ptr<bootstrap>(std::make_unique<member>(os::descriptor(descriptor), node, nodes, local_nodes));
}

void forget_launched() noexcept {
  if (const char* text = std::getenv(base::job_descriptor_variable); text != nullptr) {
    if (const int number = number_of(text); os::is_socket(number)) os::descriptor(number).reset();
  }
  unset_place();
}

}  // namespace quire::bootstrap::local
