// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/viewers.hpp"

#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/clock.hpp"

namespace quire::bootstrap::launcher {
namespace {

constexpr std::size_t most_viewers = 16;
constexpr std::string_view name_begin = "quire-run/";  // then the user's number, a slash, and the pid
constexpr std::uint64_t send_limit_ns = 200'000'000;

struct address {
  sockaddr_un at{};
  socklen_t bytes = 0;
};
address address_of(const found_job& job) {
  address of;
  const std::string name = std::string(name_begin) + std::to_string(job.user) + '/' + std::to_string(job.pid);
  of.at.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), of.at.sun_path + 1);  // the zero before it: not in the file system
  of.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return of;
}

/// Who is at the other end; false if the system does not say.
bool user_of(int socket, uid_t& user) {
  ucred who{};
  socklen_t bytes = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0) return false;
  user = who.uid;
  return true;
}

std::string name_of(uid_t user) {
  const passwd* const row = ::getpwuid(user);
  return row != nullptr ? std::string(row->pw_name) : "number " + std::to_string(user);
}
std::string refusal(pid_t pid, uid_t owner) {
  return "job " + std::to_string(pid) + " is of the user " + name_of(owner) + ": only they and root may look at it";
}

std::shared_ptr<const std::string> frame_of(local::frame_kind kind, const std::string& payload) {
  return std::make_shared<const std::string>(local::encode(kind, -1, payload));
}

template <class Number>
bool read_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc{};
}

}  // namespace

void viewers::listen() {
  os::descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const address me = address_of({::getpid(), ::geteuid()});
  if (!socket.open() || ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&me.at), me.bytes) != 0 ||
      ::listen(socket.number(), 4) != 0)
    return;
  listener_ = std::move(socket);
}

void viewers::watch(const std::function<void(int, short, std::function<void()>)>& watch) {
  std::erase_if(all_, [](const viewer& one) { return one.link.ended() || one.link.broken(); });
  if (listener_.open()) watch(listener_.number(), POLLIN, [this] { accept(); });
  for (viewer& one : all_)
    watch(one.link.descriptor(), one.link.sending() ? POLLIN | POLLOUT : POLLIN, [this, &one] { on_viewer(one); });
}

void viewers::accept() {
  os::descriptor socket(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  uid_t user = 0;
  if (!socket.open() || !user_of(socket.number(), user)) return;
  local::channel link(std::move(socket));
  const auto refuse = [&](const std::string& why) {
    link.queue(frame_of(local::frame_kind::cannot, why));
    link.send();
  };
  if (user != 0 && user != ::geteuid()) return refuse(refusal(::getpid(), ::geteuid()));
  if (all_.size() >= most_viewers)
    return refuse("job " + std::to_string(::getpid()) + " has no room for more: " + std::to_string(most_viewers) +
                  " look at it, or wait for a node to leave");
  all_.push_back({std::move(link)});
  arrived_ = true;
}

void viewers::on_viewer(viewer& one) {
  one.link.send();
  one.link.receive();
  while (const auto frame = one.link.next())
    if (frame->kind == local::frame_kind::leave_wanted) on_wish(one, *frame);
}

void viewers::on_wish(viewer& one, const local::frame& frame) {
  local::greeting them{0, -1};
  std::memcpy(&them, frame.payload.data(), std::min(sizeof them, frame.payload.size()));
  if (one.link.sending()) return;  // it takes no answers
  one.wish = frame.node;
  one.is_new = them.version == local::protocol_version;
  if (one.is_new) return;
  one.link.queue(frame_of(local::frame_kind::cannot,
                          "job " + std::to_string(::getpid()) + " was started by a `quire` of another version"));
  one.link.send();
}

std::vector<int> viewers::take_wishes() {
  std::vector<int> nodes;
  for (viewer& one : all_)
    if (std::exchange(one.is_new, false)) nodes.push_back(*one.wish);
  return nodes;
}

void viewers::tell(int node, const std::shared_ptr<const std::string>& frame, bool more_follows) {
  for (viewer& one : all_) {
    if (one.wish != node || (more_follows && one.link.sending())) continue;
    one.link.queue(frame);
    one.link.send();
  }
}

void viewers::show(const std::string& payload) {
  const auto frame = frame_of(local::frame_kind::counters, payload);
  for (viewer& one : all_) {
    if (one.link.sending() || one.wish) continue;
    one.link.queue(frame);
    one.link.send();
  }
}

void viewers::end(const std::string& text) {
  listener_.reset();
  const auto frame = frame_of(local::frame_kind::job_ends, text);
  for (viewer& one : all_) one.link.queue(frame);
  const std::uint64_t deadline = base::now_ns() + send_limit_ns;
  for (auto& [link, wish, is_new] : all_) {
    while (link.send(), link.sending() && !link.ended() && base::now_ns() < deadline) {
      pollfd entry{link.descriptor(), POLLOUT, 0};
      os::wait_ready({&entry, 1}, 10);
    }
  }
  all_.clear();
}

std::string pack(const job_view& view) {
  std::vector<std::string> words{std::to_string(local::protocol_version), view.command, std::to_string(view.seconds)};
  for (const auto& n : view.nodes) words.insert(words.end(), {n.host, n.state, n.counters});
  return local::pack_addresses(words);
}

std::optional<job_view> unpack_view(std::string_view packed) {
  constexpr std::size_t first = 3, each = 3;
  const auto words = local::unpack_strings(packed);
  if (!words || words->size() < first || (words->size() - first) % each != 0 ||
      (*words)[0] != std::to_string(local::protocol_version))
    return std::nullopt;
  job_view view{(*words)[1], 0, {}};
  std::string_view seconds = (*words)[2];
  if (!read_number(seconds, view.seconds)) return std::nullopt;
  for (std::size_t i = first; i < words->size(); i += each)
    view.nodes.push_back({(*words)[i], (*words)[i + 1], (*words)[i + 2]});
  return view;
}

std::vector<found_job> find_jobs() {
  std::vector<found_job> all;
  std::ifstream sockets("/proc/net/unix");
  constexpr std::string_view listens = " 00010000 ";  // among its flags: connections have the same name
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t at = line.find(" @" + std::string(name_begin));
    if (at == line.npos || line.find(listens) == line.npos) continue;
    std::string_view rest = std::string_view(line).substr(at + 2 + name_begin.size());
    found_job one;
    if (!read_number(rest, one.user) || !rest.starts_with('/')) continue;
    rest.remove_prefix(1);
    if (read_number(rest, one.pid) && rest.empty()) all.push_back(one);
  }
  std::ranges::sort(all, {}, &found_job::pid);
  return all;
}

std::optional<local::channel> look_at(const found_job& job, std::string& why) {
  os::descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const address there = address_of(job);
  if (!socket.open() || ::connect(socket.number(), reinterpret_cast<const sockaddr*>(&there.at), there.bytes) != 0) {
    const std::string name = "job " + std::to_string(job.pid);
    why = errno == ECONNREFUSED ? name + " has ended" : "cannot look at " + name + ": " + os::error_text(errno);
    return std::nullopt;
  }
  uid_t user = 0;
  // Anybody can take a name: who answers must be whom the name says.
  if (!user_of(socket.number(), user) || user != job.user) {
    why = "what answers for job " + std::to_string(job.pid) + " is not of the user " + name_of(job.user);
    return std::nullopt;
  }
  if (::geteuid() != 0 && ::geteuid() != user) {
    why = refusal(job.pid, user);
    return std::nullopt;
  }
  return local::channel(std::move(socket));
}

}  // namespace quire::bootstrap::launcher
