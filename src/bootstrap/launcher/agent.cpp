// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/agent.hpp"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "base/clock.hpp"
#include "base/options.hpp"
#include "bootstrap/launcher/kept_record.hpp"
#include "bootstrap/launcher/launcher.hpp"
#include "bootstrap/launcher/misspelt.hpp"
#include "bootstrap/launcher/process_state.hpp"
#include "bootstrap/launcher/spawn.hpp"
#include "bootstrap/local/channel.hpp"
#include "os/interfaces.hpp"
#include "os/mounts.hpp"
#include "watch/watch.hpp"

namespace quire::bootstrap::launcher {
namespace {

using local::frame_kind;
using outcome = os::transfer::outcome;

using base::second;
/// In time limits of the nodes with each other: those that were cut off end by themselves, and a launcher that somebody
/// has stopped may go on.
constexpr std::uint64_t patience_with_launcher = 3;
constexpr std::uint64_t silent_start_ns = 30 * second;  // of silence, until the launcher says what to start

std::string bytes_of(int number) { return {reinterpret_cast<const char*>(&number), sizeof number}; }

/// The interface by which ssh came, unless something else was asked for: the job's traffic goes there, too.
void choose_interface(start_description& what) {
  const char* const devices = base::row_of(base::option::net_devices).variable;
  for (const auto& [name, value] : what.environment)
    if (name == devices || name == "UCX_NET_DEVICES") return;
  if (std::getenv(devices) != nullptr || std::getenv("UCX_NET_DEVICES") != nullptr) return;
  const char* const connection = std::getenv("SSH_CONNECTION");  // "client port server port"
  if (connection == nullptr || what.here == what.nodes) return;
  for (const auto& one : os::network_interfaces())
    if (!one.loopback && std::string_view(connection).find(" " + one.address + " ") != std::string_view::npos)
      what.environment.emplace_back(devices, one.name);
}

/// A node of this host.
struct process {
  pid_t pid = -1;
  pid_t member_pid = -1;  ///< who has said hello, if that comes of `pid`
  bool alive = false;
  bool stopped = false;  ///< as the launcher was told
  local::channel control;
  os::descriptor out, err;
  kept_record record;
};

class agent {
 public:
  int run();

 private:
  [[nodiscard]] bool wait_for_start();
  [[nodiscard]] bool take_start(const local::frame& frame);
  void read_peer_limit();
  [[nodiscard]] bool check_mount();
  [[nodiscard]] bool start_all(const start_of_job& how);
  [[nodiscard]] bool start_one(const start_of_job& how, int node, int null_device);
  [[nodiscard]] bool became_programs(int report);
  bool cannot(const std::string& what, int error, int exit_status = launcher_failed);
  void loop();
  void on_launcher();
  void on_frame(const local::frame& frame);
  void on_control(int index);
  void pump(int index, os::descriptor& stream, frame_kind kind);
  void drain(int index, os::descriptor& stream, frame_kind kind);
  void feed_input();
  void on_launcher_gone(const std::string& why = "`quire run` is gone");
  void reap();
  void signal_nodes(int number, int node = -1);
  void watch_launcher();
  void look_for_stopped();
  void tell(frame_kind kind, int node, std::string_view payload) {
    to_launcher_.queue(std::make_shared<const std::string>(local::encode(kind, node, payload)));
  }
  void finish_telling();
  [[nodiscard]] bool may_send_output() const { return !to_launcher_.sending() && untaken_bytes_ < output_window_bytes; }
  [[nodiscard]] int node_of(int index) const { return what_.first + index; }

  local::channel from_launcher_, to_launcher_;
  start_description what_;
  std::vector<process> processes_;
  os::descriptor signals_;
  os::descriptor input_;             ///< to node 0
  std::string input_waiting_;        ///< what it has not taken yet
  bool input_owed_ = false;          ///< the launcher waits for input_taken
  bool input_over_ = false;          ///< nothing comes after input_waiting_
  std::uint64_t untaken_bytes_ = 0;  ///< output that was sent, and not taken yet as far as we know
  int alive_ = 0;
  watch::watch life_{0, 2, 0};  ///< the launcher is peer 1
  std::uint64_t beat_ns_ = 0,
                next_beat_ns_ = 0;  ///< how often the launcher hears that we are there (0: never); when next
  bool stopped_ = false;            ///< the launcher and all nodes are stopped on purpose (Ctrl-Z)
  bool ends_nodes_ = false;
  std::string mount_;          ///< canonical directory where the nodes mount; empty: nowhere
  std::uint64_t kill_ns_ = 0;  ///< when to kill what is left; 0: the launcher is there
};

int agent::run() {
  open_standard_streams();
  ::signal(SIGPIPE, SIG_IGN);
  const borrowed_process_state state;
  // The streams move out of the way of the nodes'; standard error stays for what others may say.
  from_launcher_ = local::channel(os::descriptor(::fcntl(0, F_DUPFD_CLOEXEC, 3)));
  to_launcher_ = local::channel(os::descriptor(::fcntl(1, F_DUPFD_CLOEXEC, 3)));
  const int null_device = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const sigset_t handled = handled_signals();
  signals_ = os::descriptor(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (from_launcher_.descriptor() < 0 || to_launcher_.descriptor() < 0 || null_device < 0 || !signals_.open() ||
      ::dup2(null_device, 0) < 0 || ::dup2(2, 1) < 0 || !os::set_blocking(from_launcher_.descriptor(), false).ok() ||
      !os::set_blocking(to_launcher_.descriptor(), false).ok())
    return launcher_failed;
  if (!wait_for_start()) return launcher_failed;
  start_of_job how{what_.command, environment_with(what_.environment), state.mask(), state.descriptors()};
  if (start_all(how))
    loop();
  else
    signal_nodes(SIGKILL);
  if (!ends_nodes_ && !processes_.empty()) {
    if (const std::string left = left_behind(); !left.empty())
      tell(frame_kind::error_output, node_of(0), "quire: ends " + left + "\n");
  }
  const bool swept = sweep_orphans();
  (void)os::detach_if_dead(mount_);
  finish_telling();
  return swept ? 0 : launcher_failed;
}

bool agent::wait_for_start() {
  std::uint64_t deadline = base::now_ns() + silent_start_ns;
  tell(frame_kind::alive, -1, {});
  to_launcher_.send();
  while (base::now_ns() < deadline && !from_launcher_.ended() && !from_launcher_.broken()) {
    pollfd entry{from_launcher_.descriptor(), POLLIN, 0};
    os::wait_ready({&entry, 1}, 1000);
    from_launcher_.receive();
    while (const auto frame = from_launcher_.next()) {
      deadline = base::now_ns() + silent_start_ns;
      if (frame->kind == frame_kind::alive) continue;
      if (frame->kind != frame_kind::signal) return take_start(*frame);
      if (const int number = local::int_of(frame->payload); number == SIGTERM || number == SIGKILL) return false;
    }
  }
  return false;
}

bool agent::take_start(const local::frame& frame) {
  if (auto what = unpack_start(frame.payload); frame.kind == frame_kind::start && what) {
    what_ = std::move(*what);
    choose_interface(what_);
    read_peer_limit();
    return true;
  }
  tell(frame_kind::cannot, launcher_failed, "its `quire` is of another version");
  finish_telling();
  return false;
}

void agent::read_peer_limit() {
  const char* const name = base::row_of(base::option::peer_timeout).variable;
  for (const auto& [variable, value] : what_.environment) {
    if (variable != name) continue;
    const std::uint64_t limit_ns = std::strtoull(value.c_str(), nullptr, 10) * second;
    beat_ns_ = limit_ns / watch::parts;
    life_ = watch::watch(0, 2, patience_with_launcher * limit_ns);
    life_.begin(base::now_ns());
    return;
  }
}

bool agent::cannot(const std::string& what, int error, int exit_status) {
  tell(frame_kind::cannot, exit_status, "cannot " + what + ": " + os::error_text(error));
  return false;
}

bool agent::start_all(const start_of_job& about) {
  if (::chdir(what_.directory.c_str()) != 0) return cannot("go to the working directory " + what_.directory, errno);
  if (!check_mount()) return false;
  const os::descriptor null_device(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto report = os::make_pipe();
  if (!null_device.open() || !report.ok()) return cannot("open /dev/null and a pipe", errno);
  start_of_job how = about;
  how.report = report.value().second.number();
  processes_.resize(static_cast<std::size_t>(what_.here));
  for (int i = 0; i < what_.here; ++i)
    if (!start_one(how, i, null_device.number())) return false;
  report.value().second.reset();
  return became_programs(report.value().first.number());
}

/// As `quire run` does where it starts the nodes itself: once for all nodes of the host.
bool agent::check_mount() {
  const char* const name = base::row_of(base::option::mount).variable;
  for (const auto& [variable, value] : what_.environment) {
    if (variable != name || value.empty()) continue;
    if (const std::string why = os::why_no_mount_at(value); !why.empty()) {
      tell(frame_kind::cannot, launcher_failed, "nothing can be mounted at " + value + ": " + why);
      return false;
    }
    mount_ = os::canonical_directory(value);
  }
  return true;
}

bool agent::start_one(const start_of_job& how, int index, int null_device) {
  auto& one = processes_[static_cast<std::size_t>(index)];
  auto control = os::make_socket_pair();
  auto out = os::make_pipe(), err = os::make_pipe(), in = os::make_pipe();
  if (!control.ok() || !out.ok() || !err.ok() || !in.ok()) return cannot("make a socket and pipes", errno);
  const int node = node_of(index);
  for (const int ours : {control.value().first.number(), out.value().first.number(), err.value().first.number(),
                         in.value().second.number()})
    if (!os::set_blocking(ours, false).ok()) return cannot("make a socket and pipes", errno);
  const start_of_node place{.node = node,
                            .nodes = what_.nodes,
                            .local_nodes = what_.here,
                            .control = control.value().second.number(),
                            .input = node == 0 ? in.value().first.number() : null_device,
                            .out = out.value().second.number(),
                            .err = err.value().second.number(),
                            .own_group = true};
  const auto pid = start_node(how, place);
  if (!pid.ok()) return cannot("start node " + std::to_string(node), errno);
  one.pid = pid.value();
  one.alive = true;
  one.control = local::channel(std::move(control.value().first));
  one.out = std::move(out.value().first);
  one.err = std::move(err.value().first);
  if (node == 0) input_ = std::move(in.value().second);
  ++alive_;
  tell(frame_kind::started, node, bytes_of(static_cast<int>(one.pid)));
  return true;
}

bool agent::became_programs(int report) {
  start_failure failure;
  ssize_t bytes;
  do bytes = ::read(report, &failure, sizeof failure);
  while (bytes < 0 && errno == EINTR);
  if (bytes != sizeof failure) return true;
  tell(frame_kind::cannot, failure.error == ENOENT ? command_not_found : cannot_execute,
       cannot_run_text(what_.command[0], failure.error));
  return false;
}

void agent::loop() {
  std::vector<pollfd> entries;
  std::vector<std::function<void()>> handlers;
  const auto watch = [&](int descriptor, short events, std::function<void()> handler) {
    entries.push_back({descriptor, events, 0});
    handlers.push_back(std::move(handler));
  };
  on_launcher();  // what came with the start
  while (alive_ > 0) {
    entries.clear();
    handlers.clear();
    for (int i = 0; i < what_.here; ++i) {
      auto& one = processes_[static_cast<std::size_t>(i)];
      // Output is taken in only while the launcher takes it: its reader slows the nodes down.
      if (one.out.open() && may_send_output())
        watch(one.out.number(), POLLIN, [this, i, &one] { pump(i, one.out, frame_kind::output); });
      if (one.err.open() && may_send_output())
        watch(one.err.number(), POLLIN, [this, i, &one] { pump(i, one.err, frame_kind::error_output); });
      const short events = one.control.sending() ? POLLIN | POLLOUT : POLLIN;
      if (!one.control.ended()) watch(one.control.descriptor(), events, [this, i] { on_control(i); });
    }
    if (kill_ns_ == 0) watch(from_launcher_.descriptor(), POLLIN, [this] { on_launcher(); });
    if (to_launcher_.sending()) watch(to_launcher_.descriptor(), POLLOUT, [] {});
    if (input_.open() && !input_waiting_.empty()) watch(input_.number(), POLLOUT, [this] { feed_input(); });
    watch(signals_.number(), POLLIN, [this] { reap(); });
    int limit_ms = kill_ns_ == 0 ? -1 : 100;
    if (beat_ns_ != 0 && kill_ns_ == 0) limit_ms = static_cast<int>(beat_ns_ / 1'000'000);
    os::wait_ready(entries, limit_ms);
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (entries[i].revents != 0) handlers[i]();
    if (beat_ns_ != 0 && kill_ns_ == 0) watch_launcher();
    to_launcher_.send();
    if (kill_ns_ != 0 && base::now_ns() >= kill_ns_) signal_nodes(SIGKILL);
  }
}

void agent::on_launcher() {
  from_launcher_.receive();
  while (const auto frame = from_launcher_.next()) {
    life_.heard(1);
    on_frame(*frame);
  }
  if (from_launcher_.ended() || from_launcher_.broken()) on_launcher_gone();
}

void agent::on_frame(const local::frame& frame) {
  switch (frame.kind) {
    case frame_kind::to_node: {
      const auto bytes = std::make_shared<const std::string>(frame.payload);
      for (int i = 0; i < what_.here; ++i) {
        if (frame.node >= 0 && frame.node != node_of(i)) continue;
        auto& control = processes_[static_cast<std::size_t>(i)].control;
        control.queue(bytes);
        control.send();
      }
      return;
    }
    case frame_kind::signal:
      if (frame.node < 0) stopped_ = local::int_of(frame.payload) == SIGSTOP;
      return signal_nodes(local::int_of(frame.payload), frame.node);
    case frame_kind::input:
      input_owed_ = true;
      input_over_ = frame.payload.empty();
      input_waiting_ += frame.payload;
      return feed_input();
    case frame_kind::output_taken: {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, frame.payload.data(), std::min(sizeof bytes, frame.payload.size()));
      untaken_bytes_ -= std::min(bytes, untaken_bytes_);
      return;
    }
    default:
      return;
  }
}

/// What node 0 takes no more is dropped; the launcher is asked for no further input then.
void agent::feed_input() {
  while (input_.open() && !input_waiting_.empty()) {
    const auto moved = os::write_some(input_.number(), std::span<const char>(input_waiting_));
    if (moved.what == outcome::would_block) return;
    if (moved.what != outcome::moved) input_.reset();
    if (moved.what == outcome::moved) input_waiting_.erase(0, moved.bytes);
  }
  if (input_over_) input_.reset();
  if (input_.open() && std::exchange(input_owed_, false)) tell(frame_kind::input_taken, 0, {});
}

void agent::on_control(int index) {
  auto& one = processes_[static_cast<std::size_t>(index)];
  one.control.send();
  one.control.receive();
  while (const auto frame = one.control.next()) {
    local::greeting them{0, -1};
    if (frame->kind == frame_kind::hello && frame->payload.size() == sizeof them) {
      std::memcpy(&them, frame->payload.data(), sizeof them);
      if (os::descends_from(them.pid, one.pid)) one.member_pid = them.pid;
    }
    if (frame->kind == frame_kind::record) {  // it is of this host
      one.record.take(frame->payload);
      continue;
    }
    tell(frame->kind, node_of(index), frame->payload);
  }
  if (!one.control.ended() && !one.control.broken()) return;
  tell(frame_kind::closed, node_of(index), {});
  one.control = {};
}

void agent::pump(int index, os::descriptor& stream, frame_kind kind) {
  std::array<char, 65536> buffer;
  const auto moved = os::read_some(stream.number(), buffer);
  if (moved.what == outcome::moved) {
    tell(kind, node_of(index), {buffer.data(), moved.bytes});
    untaken_bytes_ += moved.bytes;
  }
  if (moved.what == outcome::ended || moved.what == outcome::failed) stream.reset();
}

/// Takes in what has been written so far; at most what a pipe holds, as others may go on writing.
void agent::drain(int index, os::descriptor& stream, frame_kind kind) {
  for (int pieces = 0; pieces < 16 && stream.open(); ++pieces) {
    pollfd entry{stream.number(), POLLIN, 0};
    if (os::wait_ready({&entry, 1}, 0) == 0) break;
    pump(index, stream, kind);
  }
  stream.reset();
}

void agent::on_launcher_gone(const std::string& why) {
  kill_ns_ = base::now_ns() + second;
  const auto verdict = std::make_shared<const std::string>(local::encode(frame_kind::job_ends, -1, why));
  for (auto& one : processes_) {
    one.control.queue(verdict);
    one.control.send();
  }
  signal_nodes(SIGTERM);
}

void agent::reap() {
  signalfd_siginfo signal;
  while (::read(signals_.number(), &signal, sizeof signal) == sizeof signal)
    if (signal.ssi_signo == SIGTERM || signal.ssi_signo == SIGHUP) on_launcher_gone();
  int status = 0;
  while (const pid_t pid = ::waitpid(-1, &status, WNOHANG)) {
    if (pid < 0) return;
    const auto it = std::find_if(processes_.begin(), processes_.end(), [&](const auto& p) { return p.pid == pid; });
    if (it == processes_.end() || !it->alive) continue;  // an orphan of a node
    const int index = static_cast<int>(it - processes_.begin());
    it->alive = false;
    --alive_;
    drain(index, it->out, frame_kind::output);
    drain(index, it->err, frame_kind::error_output);
    on_control(index);
    if (!it->record.put_down())
      tell(frame_kind::error_output, node_of(index),
           "quire: cannot write what node " + std::to_string(node_of(index)) +
               " has recorded for the report: " + os::error_text(errno) + "\n");
    tell(frame_kind::ended, node_of(index), bytes_of(status));
  }
}

void agent::watch_launcher() {
  const std::uint64_t now = base::now_ns();
  if (now >= next_beat_ns_) {
    next_beat_ns_ = now + beat_ns_;
    if (!to_launcher_.sending()) tell(frame_kind::alive, -1, {});
    if (!stopped_) look_for_stopped();
  }
  if (stopped_) return life_.pause(now);
  if (life_.look(now).lost) on_launcher_gone("`quire run` does not answer any more");
}

/// Nodes that somebody has stopped: the launcher judges.
void agent::look_for_stopped() {
  for (int i = 0; i < static_cast<int>(processes_.size()); ++i) {
    auto& one = processes_[static_cast<std::size_t>(i)];
    const bool stopped =
        one.alive && (os::is_stopped(one.pid) || (one.member_pid > 0 && os::is_stopped(one.member_pid)));
    if (std::exchange(one.stopped, stopped) != stopped)
      tell(frame_kind::stopped, node_of(i), bytes_of(stopped ? 1 : 0));
  }
}

/// All, or the one of that number.
void agent::signal_nodes(int number, int node) {
  ends_nodes_ = ends_nodes_ || number == SIGTERM || number == SIGKILL;
  for (int i = 0; i < static_cast<int>(processes_.size()); ++i) {
    const auto& one = processes_[static_cast<std::size_t>(i)];
    if (!one.alive || (node >= 0 && node != node_of(i))) continue;
    if (::kill(-one.pid, number) != 0) ::kill(one.pid, number);
  }
  if (number == SIGKILL) os::abort_mount(mount_);
}

/// What is left to say, for as long as the launcher listens.
void agent::finish_telling() {
  const std::uint64_t deadline = base::now_ns() + 10 * second;
  while (to_launcher_.send(), to_launcher_.sending() && base::now_ns() < deadline) {
    pollfd entry{to_launcher_.descriptor(), POLLOUT, 0};
    os::wait_ready({&entry, 1}, 1000);
  }
}

}  // namespace

std::string pack(const start_description& what) {
  std::vector<std::string> words{std::to_string(local::protocol_version),
                                 what.directory,
                                 std::to_string(what.first),
                                 std::to_string(what.here),
                                 std::to_string(what.nodes),
                                 std::to_string(what.command.size())};
  words.insert(words.end(), what.command.begin(), what.command.end());
  for (const auto& [name, value] : what.environment) words.insert(words.end(), {name, value});
  return local::pack_addresses(words);
}

std::optional<start_description> unpack_start(std::string_view packed) {
  const auto words = local::unpack_strings(packed);
  if (!words || words->size() < 7 || (*words)[0] != std::to_string(local::protocol_version)) return std::nullopt;
  const auto number = [&](std::size_t i) {
    int value = -1;
    std::from_chars((*words)[i].data(), (*words)[i].data() + (*words)[i].size(), value);
    return value;
  };
  start_description what{(*words)[1], number(2), number(3), number(4), {}, {}};
  const int command = number(5);
  if (what.nodes < 1 || what.nodes > base::most_nodes || what.first < 0 || what.here < 1 ||
      what.here > what.nodes - what.first || command < 1 || words->size() < 6 + static_cast<std::size_t>(command))
    return std::nullopt;
  const auto environment = words->begin() + 6 + command;
  what.command.assign(words->begin() + 6, environment);
  for (auto it = environment; it != words->end() && it + 1 != words->end(); it += 2)
    what.environment.emplace_back(*it, *(it + 1));
  return what;
}

int run_agent() { return agent().run(); }

}  // namespace quire::bootstrap::launcher
