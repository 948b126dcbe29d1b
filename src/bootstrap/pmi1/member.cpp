// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/pmi1/member.hpp"

#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/options.hpp"

namespace quire::bootstrap::pmi1 {
namespace {

using base::log;
using base::log_level;
using outcome = os::transfer::outcome;

constexpr int exchange_limit_ms = 60'000;
constexpr std::size_t most_address_bytes = 60 << 10;
constexpr std::size_t most_line_bytes = 1 << 20;

int number_of(std::string_view text) {
  int value = -1;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && at == text.data() + text.size() ? value : -1;
}

/// VALUE of " KEY=VALUE " in an answer; empty without it.
std::string value_of(const std::string& line, const std::string& key) {
  const std::size_t at = (" " + line).find(" " + key + "=");
  if (at == line.npos) return {};
  const std::size_t from = at + key.size() + 1;
  return line.substr(from, line.find_first_of(" \n", from) - from);
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text += digits[static_cast<unsigned>(b) >> 4];
    text += digits[static_cast<unsigned>(b) & 15];
  }
  return text;
}

bool append_bytes(std::string_view text, std::vector<std::byte>& bytes) {
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned value = 0;
    if (std::from_chars(text.data() + i, text.data() + i + 2, value, 16).ptr != text.data() + i + 2) return false;
    bytes.push_back(static_cast<std::byte>(value));
  }
  return text.size() % 2 == 0;
}

}  // namespace

member::member(os::descriptor socket, int node, int nodes, int local_nodes, int limit_ms)
    : socket_(std::move(socket)), node_(node), nodes_(nodes), local_nodes_(local_nodes), limit_ms_(limit_ms) {}

base::status member::open() {
  deadline_ns_ = base::now_ns() + static_cast<std::uint64_t>(limit_ms_) * 1'000'000;
  if (const auto hello = ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init"); !hello.ok())
    return hello.why();
  const auto most = ask("cmd=get_maxes", "maxes");
  if (!most.ok()) return most.why();
  value_bytes_ = static_cast<std::size_t>(std::max(number_of(value_of(most.value(), "vallen_max")), 0));
  const auto space = ask("cmd=get_my_kvsname", "my_kvsname");
  if (!space.ok()) return space.why();
  space_ = value_of(space.value(), "kvsname");
  // Some count the final zero of a value, and Slurm's plug-in for PMI-2 takes no line above 1,024 bytes.
  value_bytes_ = std::min<std::size_t>(value_bytes_, 640) / 2 * 2;
  if (value_bytes_ > 2) value_bytes_ -= 2;
  return !space_.empty() && value_bytes_ >= 16 ? open_news() : QUIRE_SYSTEM;
}

base::status member::open_news() {
  epoll_ = os::descriptor(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN;
  if (!epoll_.open() || !peers_.open(epoll_.number()).ok() ||
      ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, socket_.number(), &event) != 0)
    return QUIRE_SYSTEM;
  return QUIRE_OK;
}

base::status member::write_line(const std::string& line) {
  const std::string bytes = line + "\n";
  for (std::span<const char> rest = bytes; !rest.empty();) {
    const auto moved = os::write_some(socket_.number(), rest);
    if (moved.what == outcome::moved) {
      rest = rest.subspan(moved.bytes);
      continue;
    }
    if (moved.what != outcome::would_block) return QUIRE_PEER_LOST;
    pollfd entry{socket_.number(), POLLOUT, 0};
    if (os::wait_ready({&entry, 1}, limit_ms_) == 0) return QUIRE_TIMED_OUT;
  }
  return QUIRE_OK;
}

base::result<std::string> member::read_line() {
  for (;;) {
    if (const std::size_t end = received_.find('\n'); end != received_.npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    std::array<char, 4096> buffer;
    const auto moved = os::read_some(socket_.number(), buffer);
    if (moved.what == outcome::moved && received_.size() < most_line_bytes) {
      received_.append(buffer.data(), moved.bytes);
      continue;
    }
    if (moved.what != outcome::would_block) return QUIRE_PEER_LOST;
    const std::uint64_t now = base::now_ns();
    pollfd entry{socket_.number(), POLLIN, 0};
    if (now >= deadline_ns_ || os::wait_ready({&entry, 1}, static_cast<int>((deadline_ns_ - now) / 1'000'000) + 1) == 0)
      return QUIRE_TIMED_OUT;
  }
}

base::result<std::string> member::ask(const std::string& line, std::string_view answer) {
  if (const auto status = write_line(line); !status.ok()) return status;
  auto told = read_line();
  if (!told.ok()) return told.why();
  const std::string result = value_of(told.value(), "rc");
  if (value_of(told.value(), "cmd") == answer && (result.empty() || result == "0")) return told;
  log(log_level::error, "the launcher answers \"%s\" to \"%s\"", told.value().c_str(), line.c_str());
  return QUIRE_SYSTEM;
}

/// A value longer than the space takes goes in pieces; the first tells how many there are.
base::status member::put(std::span<const std::byte> mine) {
  const std::string text = hexadecimal(mine);
  const std::size_t pieces = (text.size() + value_bytes_ - 1) / value_bytes_;
  const std::string begin =
      "cmd=put kvsname=" + space_ + " key=quire-" + std::to_string(round_) + "-" + std::to_string(node_) + "-";
  auto told = ask(begin + "n value=" + std::to_string(pieces), "put_result");
  for (std::size_t i = 0; i < pieces && told.ok(); ++i)
    told = ask(begin + std::to_string(i) + " value=" + text.substr(i * value_bytes_, value_bytes_), "put_result");
  return told.why();
}

base::result<std::vector<std::byte>> member::get(int node) {
  const std::string begin =
      "cmd=get kvsname=" + space_ + " key=quire-" + std::to_string(round_) + "-" + std::to_string(node) + "-";
  const auto count = ask(begin + "n", "get_result");
  if (!count.ok()) return count.why();
  const int pieces = number_of(value_of(count.value(), "value"));
  if (pieces < 0) return QUIRE_SYSTEM;
  std::vector<std::byte> bytes;
  for (int i = 0; i < pieces; ++i) {
    const auto piece = ask(begin + std::to_string(i), "get_result");
    if (!piece.ok()) return piece.why();
    if (!append_bytes(value_of(piece.value(), "value"), bytes)) return QUIRE_SYSTEM;
  }
  return bytes;
}

/// Waits until all nodes have called it.
base::status member::meet() {
  const auto status = ask("cmd=barrier_in", "barrier_out").why();
  if (status.code() == QUIRE_TIMED_OUT)
    log(log_level::error, "not all %d nodes have come to quire_start() within %d seconds", nodes_, limit_ms_ / 1000);
  return status;
}

namespace {

bool is_started_by_hydra() {
  char path[32], name[16] = {};
  std::snprintf(path, sizeof path, "/proc/%d/comm", static_cast<int>(::getppid()));
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return false;
  const bool read = std::fgets(name, sizeof name, file) != nullptr;
  std::fclose(file);
  return read && std::strncmp(name, "hydra_pmi_proxy", 15) == 0;
}

}  // namespace

/// Launchers end all when a process dies that has not taken leave. So nodes do when they have met, and watch who has
/// started them.
bool member::see_deaths() {
  if (is_started_by_hydra()) {
    log(log_level::error,
        "MPICH's Hydra ends all processes when one that it has started is killed; let it start a shell for each: "
        "mpiexec.hydra -disable-auto-cleanup -n %d sh -c 'PROGRAM; exit $?'",
        nodes_);
    return false;
  }
  if (processes_.size() != static_cast<std::size_t>(nodes_)) return false;
  for (int node = 0; node < nodes_; ++node) peers_.add(node, processes_[static_cast<std::size_t>(node)]);
  if (!peers_.reach_others(*this) || !peers_.add_launcher()) return false;
  leave({});
  (void)::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, socket_.number(), nullptr);
  return true;
}

/// With the first that travels goes who this process is.
base::result<std::vector<std::vector<std::byte>>> member::exchange(std::span<const std::byte> given) {
  if (given.size() > most_address_bytes) return QUIRE_INVALID;
  std::vector<std::byte> mine(given.begin(), given.end());
  if (round_ == 0) {
    const auto who = identity_of_this_process();
    const auto* const bytes = reinterpret_cast<const std::byte*>(&who);
    mine.insert(mine.begin(), bytes, bytes + sizeof who);
  }
  deadline_ns_ = base::now_ns() + static_cast<std::uint64_t>(limit_ms_) * 1'000'000;
  if (const auto status = put(mine); !status.ok()) return status;
  if (const auto status = meet(); !status.ok()) return status;
  std::vector<std::vector<std::byte>> all;
  for (int node = 0; node < nodes_; ++node) {
    auto bytes = get(node);
    if (!bytes.ok()) return bytes.why();
    all.push_back(std::move(bytes.value()));
  }
  // A node that fails after this ends the job by the launcher; while others still ask, their answers would go to
  // processes that it has killed, and Hydra's own end drops what was said.
  if (const auto status = meet(); !status.ok()) return status;
  for (std::size_t node = 0; round_ == 0 && node < all.size(); ++node) {
    process_identity who;
    if (all[node].size() < sizeof who) return QUIRE_SYSTEM;
    std::memcpy(&who, all[node].data(), sizeof who);
    all[node].erase(all[node].begin(), all[node].begin() + sizeof who);
    processes_.push_back(who);
  }
  ++round_;
  return all;
}

/// The launcher kills all, also those that are stopped. Hydra does it at once, and drops what they have written and it
/// has not read.
void member::abort(int exit_status, const std::string&) noexcept {
  if (left_) return;
  for (int ms = 0; ms < 500 && os::unread_bytes(STDERR_FILENO) != 0; ++ms) os::wait_ready({}, 1);
  const std::string line = "cmd=abort exitcode=" + std::to_string(exit_status) + "\n";
  static_cast<void>(os::write_some(socket_.number(), std::span<const char>(line)));
}

/// Waits for the answer: Hydra takes an end before it for an accident.
void member::leave(std::string_view) noexcept {
  constexpr std::uint64_t limit_ns = 5'000'000'000;
  if (std::exchange(left_, true)) return;
  deadline_ns_ = base::now_ns() + limit_ns;
  static_cast<void>(ask("cmd=finalize", "finalize_ack"));
}

/// The launcher ends all when a node dies, unless it was told not to; of it can be heard only that it is gone.
news member::poll_news() noexcept {
  if (const int node = peers_.next_dead(); node >= 0)
    return {news::kind::node_died, node, "node " + std::to_string(node) + " has ended without quire_end()"};
  if (left_) {
    if (!peers_.launcher_has_ended() || std::exchange(ended_, true)) return {};
    return {news::kind::job_ends, -1, "the launcher is gone"};
  }
  std::array<char, 256> ignored;
  auto moved = os::read_some(socket_.number(), ignored);
  while (moved.what == outcome::moved) moved = os::read_some(socket_.number(), ignored);
  if (moved.what == outcome::would_block || std::exchange(ended_, true)) return {};
  return {news::kind::job_ends, -1, "the launcher is gone"};
}

namespace {

constexpr const char* variables[] = {"PMI_FD", "PMI_RANK", "PMI_SIZE"};

int variable(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? number_of(text) : -1;
}

/// How many nodes run on this host, as Slurm tells: SLURM_STEP_TASKS_PER_NODE="2(x3),1", SLURM_NODEID. 0: it does not.
int tasks_here() {
  const char* const text = std::getenv("SLURM_STEP_TASKS_PER_NODE");
  const int host = variable("SLURM_NODEID");
  if (text == nullptr || host < 0) return 0;
  int hosts = 0;
  for (const char* at = text; *at != 0;) {
    int tasks = 0, times = 1, length = 0;
    if (std::sscanf(at, "%d%n", &tasks, &length) != 1) return 0;
    at += length;
    if (std::sscanf(at, "(x%d)%n", &times, &length) == 1) at += length;
    hosts += times;
    if (host < hosts) return tasks;
    if (*at == ',')
      ++at;
    else
      break;
  }
  return 0;
}

/// Programs that this one starts are not nodes of its job.
void unset_place() noexcept {
  for (const char* name : variables) ::unsetenv(name);
}

}  // namespace

base::result<std::unique_ptr<bootstrap>> join_launched() {
  const int number = variable("PMI_FD"), node = variable("PMI_RANK"), nodes = variable("PMI_SIZE");
  if (number < 0 || node < 0 || nodes < 1) return QUIRE_NOT_FOUND;
  // 1 if it does not tell: TCP serves always.
  const int local_nodes = std::clamp(std::max(variable("MPI_LOCALNRANKS"), tasks_here()), 1, nodes);
  unset_place();
  if (node >= nodes || nodes > base::most_nodes || !os::is_socket(number)) {
    log(log_level::error, "PMI_FD=%d, PMI_RANK=%d and PMI_SIZE=%d are set by a launcher only, and here make no sense",
        number, node, nodes);
    return QUIRE_SYSTEM;
  }
  if (!os::set_close_on_exec(number, true).ok() || !os::set_blocking(number, false).ok()) return QUIRE_SYSTEM;
  auto joined = std::make_unique<member>(os::descriptor(number), node, nodes, local_nodes, exchange_limit_ms);
  if (const auto status = joined->open(); !status.ok()) {
    log(log_level::error, "the launcher does not answer as PMI-1 wants it");
    return status;
  }
  return std::unique_ptr<bootstrap>(std::move(joined));
}

void forget_launched() noexcept {
  if (const int number = variable("PMI_FD"); number >= 0 && os::is_socket(number)) os::descriptor(number).reset();
  unset_place();
}

}  // namespace quire::bootstrap::pmi1
