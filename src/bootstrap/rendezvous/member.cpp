// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/rendezvous/member.hpp"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/options.hpp"
#include "bootstrap/local/member.hpp"
#include "bootstrap/rendezvous/reach.hpp"
#include "bootstrap/rendezvous/server.hpp"
#include "os/process_mark.hpp"

namespace quire::bootstrap::rendezvous {
namespace {

using local::frame_kind;

constexpr std::uint64_t exchange_limit_ns = 60 * base::second;
constexpr std::uint64_t leave_limit_ns = 5 * base::second;
constexpr std::uint64_t last_words_ns = base::second;
constexpr std::uint64_t progress_ns = 10 * base::second;
constexpr std::uint64_t verdict_ns = 5 * base::second;  ///< of rank 0, when the limit is over
constexpr int longest_wait_ms = 1000;

introduction introduction_of_process(const place& where) {
  introduction me;
  me.self.rank = where.rank;
  me.self.size = where.size;
  me.self.pid = ::getpid();
  me.self.machine = os::machine_of_process();
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = 0;
  me.host = host;
  me.build = QUIRE_VERSION_STRING;
  me.mark = os::own_mark();
  return me;
}

}  // namespace

member::~member() = default;

void member::say(frame_kind kind, int node, std::string_view payload) {
  link_->queue(local::make_frame(kind, node, payload));
}

void member::step() {
  link_->step();
  while (const auto frame = link_->next()) take(*frame);
  if (!link_->ended() || std::exchange(cut_off_, true) || hub_left_ || left_ || epoll_.open()) return;
  // The hub's node, and not this one, has died.
  const std::string who = members_.empty() ? "rank 0 at " + place_.address() : name_of(members_[0]);
  news_.push_back({news::kind::node_died, 0, who + " has ended without quire_end(), or is cut off"});
}

void member::take(const local::frame& frame) {
  switch (frame.kind) {
    case frame_kind::members:
      met_ = frame.payload;
      return;
    case frame_kind::addresses:
      gathered_ = frame.payload;
      return;
    case frame_kind::notice:
      return base::log(base::log_level::warning, "%s", frame.payload.c_str());
    case frame_kind::leave:
      (frame.node == place_.rank ? left_ : hub_left_) = true;
      return;
    case frame_kind::node_died:
      if (epoll_.open()) return;  // it may only be cut off: this node sees for itself
      news_.push_back({news::kind::node_died, frame.node, frame.payload});
      return;
    case frame_kind::job_ends:
      if (frame.node != place_.rank) end_process_of(frame.node);
      news_.push_back({news::kind::job_ends, -1, frame.payload});
      return;
    default:
      return;
  }
}

void member::wait(std::uint64_t deadline_ns) const {
  const std::uint64_t now = base::now_ns();
  if (now >= deadline_ns) return;
  pollfd entry{link_->descriptor(), POLLIN, 0};
  os::wait_ready({&entry, 1}, std::min(static_cast<int>((deadline_ns - now) / base::ms) + 1, longest_wait_ms));
}

void member::flush(std::uint64_t limit_ns) {
  for (const std::uint64_t until = base::now_ns() + limit_ns; link_->sending() && base::now_ns() < until; step())
    wait(until);
}

base::status member::open() {
  std::string why;
  server* hub = nullptr;
  if (place_.rank == 0) {
    auto made = std::make_unique<server>(place_);
    hub = made.get();
    link_ = std::move(made);
    if (const auto s = hub->open(why); !s.ok()) {
      base::log(base::log_level::error, "%s", why.c_str());
      return s;
    }
  } else {
    const std::uint64_t limit_ns = static_cast<std::uint64_t>(place_.limit_s) * base::second;
    auto reached = reach(place_, base::now_ns() + limit_ns, why);
    auto made = std::make_unique<remote_link>();
    const auto opened = reached.ok() ? made->open(std::move(reached.value())) : reached.why();
    link_ = std::move(made);
    if (!opened.ok()) {
      base::log(base::log_level::error, "%s", why.empty() ? "cannot wait for rank 0" : why.c_str());
      return opened;
    }
  }
  say(frame_kind::hello, place_.rank, pack(introduction_of_process(place_)));
  return meet(hub);
}

/// Rank 0 says when it is too late.
base::status member::meet(server* hub) {
  const std::uint64_t limit_ns = static_cast<std::uint64_t>(place_.limit_s) * base::second;
  const std::uint64_t begin = base::now_ns(), deadline = begin + limit_ns;
  bool told = false;
  for (step(); !met_ && news_.empty(); step()) {
    const std::uint64_t now = base::now_ns();
    if (hub != nullptr && now >= deadline) {
      hub->decides().on_limit(place_.limit_s);
      continue;
    }
    if (hub == nullptr && now >= deadline + verdict_ns) {
      base::log(base::log_level::error, "rank 0 at %s has said nothing within %d seconds (QUIRE_RENDEZVOUS_TIMEOUT)",
                place_.address().c_str(), place_.limit_s);
      return QUIRE_TIMED_OUT;
    }
    if (hub != nullptr && now >= begin + progress_ns && !std::exchange(told, true))
      base::log(base::log_level::warning, "rank 0 still waits on port %u; missing: %s", unsigned{place_.port},
                hub->decides().missing().c_str());
    wait(hub != nullptr ? deadline : deadline + verdict_ns);
  }
  if (!news_.empty()) {
    flush(last_words_ns);
    base::log(base::log_level::error, "%s", news_.front().text.c_str());
    return QUIRE_PEER_LOST;
  }
  return take_members(*met_);
}

base::status member::take_members(std::string_view packed) {
  const auto words = local::unpack_strings(packed);
  const auto here = os::machine_of_process();
  for (const auto& one : words.value_or(std::vector<std::string>{})) {
    introduction who;
    if (unpack(one, who)) members_.push_back(std::move(who));
  }
  if (members_.size() != static_cast<std::size_t>(place_.size)) {
    base::log(base::log_level::error, "rank 0 tells of %zu ranks, and not of %d", members_.size(), place_.size);
    return QUIRE_INVALID;
  }
  const auto with_us =
      std::count_if(members_.begin(), members_.end(), [&](const auto& who) { return who.self.machine.is_with(here); });
  local_nodes_ = std::max(static_cast<int>(with_us), 1);
  return {};
}

base::result<std::vector<std::vector<std::byte>>> member::exchange(std::span<const std::byte> mine) {
  if (mine.size() > local::most_address_bytes) return QUIRE_INVALID;
  const std::lock_guard lock(mutex_);
  const std::uint64_t deadline = base::now_ns() + exchange_limit_ns;
  gathered_.reset();
  say(frame_kind::address, place_.rank, {reinterpret_cast<const char*>(mine.data()), mine.size()});
  // On rank 0 also until the others have what was given.
  for (step(); news_.empty() && (!gathered_ || link_->sending()); step()) {
    if (base::now_ns() >= deadline) {
      base::log(base::log_level::error, "not all %d nodes have come to quire_start() within %d seconds", place_.size,
                static_cast<int>(exchange_limit_ns / base::second));
      return QUIRE_TIMED_OUT;
    }
    wait(deadline);
  }
  if (!news_.empty()) {
    flush(last_words_ns);
    base::log(base::log_level::error, "%s", news_.front().text.c_str());
    return QUIRE_PEER_LOST;
  }
  auto all = local::unpack_addresses(*gathered_, place_.size);
  if (!all) return QUIRE_SYSTEM;
  return std::move(*all);
}

/// Nobody judges: the accuser tells all. abort() follows where a node was silent.
bool member::accuse(int node, std::uint64_t silent_ms) noexcept {
  const std::lock_guard lock(mutex_);
  if (silent_ms != 0) accused_ = node;
  return false;
}

void member::withdraw(int node) noexcept {
  const std::lock_guard lock(mutex_);
  if (accused_ == node) accused_ = -1;
}

void member::bereaved() noexcept {
  const std::lock_guard lock(mutex_);
  say(frame_kind::bereaved, place_.rank, {});
  step();
}

void member::abort(int, const std::string& why) noexcept {
  const std::lock_guard lock(mutex_);
  say(frame_kind::abort, accused_, why);
  step();
  if (accused_ != place_.rank) end_process_of(accused_);
}

void member::end_process_of(int node) noexcept {
  if (node < 0 || static_cast<std::size_t>(node) >= members_.size()) return;
  const std::string& mark = members_[static_cast<std::size_t>(node)].mark;
  const auto found = os::find_marked(mark);
  if (found.is != os::marked_process::state::alive) return;
  const os::descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, found.pid, 0)));
  // It cannot have become another one in between.
  if (!process.open() || os::find_marked(mark).is != os::marked_process::state::alive) return;
  (void)::syscall(SYS_pidfd_send_signal, process.number(), SIGKILL, nullptr, 0);
}

/// Waits until rank 0 knows; rank 0 until all others have left, too. Rank 0's end before that is no accident either.
void member::leave(std::string_view) noexcept {
  std::unique_lock lock(mutex_);
  if (std::exchange(leaves_, true)) return;
  say(frame_kind::leave, place_.rank, {});
  const std::uint64_t deadline = base::now_ns() + leave_limit_ns;
  const bool is_hub = place_.rank == 0;
  for (;;) {
    step();
    const bool known = is_hub ? link_->may_close() : left_ || hub_left_ || cut_off_;
    if (known || base::now_ns() >= deadline) break;
    lock.unlock();
    wait(deadline);
    lock.lock();
  }
}

/// Rank 0 may die, and what it says of the first death is all that it says: each node watches all others.
bool member::see_deaths() {
  os::descriptor both(::epoll_create1(EPOLL_CLOEXEC));
  if (!both.open() || !peers_.open(both.number()).ok() || !watch(both.number(), link_->descriptor(), 0, false, true))
    return false;
  for (const introduction& who : members_) {
    const auto& where = who.self.machine;
    peers_.add(who.self.rank, {where.machine, where.network, where.pid, who.self.pid});
  }
  if (!peers_.reach_others(*this)) return false;
  const std::lock_guard lock(mutex_);
  epoll_ = std::move(both);
  return true;
}

void member::kill(int node) noexcept {
  const std::lock_guard lock(mutex_);
  peers_.kill(node);
}

news member::poll_news() noexcept {
  const std::lock_guard lock(mutex_);
  step();
  if (const int node = epoll_.open() ? peers_.next_dead() : -1; node >= 0)
    return {news::kind::node_died, node, name_of(members_[static_cast<std::size_t>(node)]) + " has ended"};
  if (news_.empty()) return {};
  news first = std::move(news_.front());
  news_.pop_front();
  return first;
}

namespace {

constexpr base::option variables[] = {base::option::rendezvous,  base::option::rank,
                                      base::option::size,        base::option::secret,
                                      base::option::secret_file, base::option::rendezvous_timeout};

}  // namespace

base::result<std::unique_ptr<bootstrap>> join_launched() {
  std::string why;
  auto where = read_place(environ, why);
  if (!where.ok()) {
    if (where.why().code() != QUIRE_NOT_FOUND) base::log(base::log_level::error, "%s", why.c_str());
    return where.why();
  }
  forget_launched();
  if (where.value().size == 1) return local::join_alone();
  base::log_set_node(where.value().rank);
  auto joined = std::make_unique<member>(std::move(where.value()));
  if (const auto status = joined->open(); !status.ok()) return status;
  return std::unique_ptr<bootstrap>(std::move(joined));
}

/// Programs that this one starts are not nodes of its job.
void forget_launched() noexcept {
  for (const auto one : variables) ::unsetenv(base::row_of(one).variable);
}

}  // namespace quire::bootstrap::rendezvous
