// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/job.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "bootstrap/launcher/misspelt.hpp"
#include "bootstrap/launcher/process_state.hpp"
#include "os/limits.hpp"
#include "os/mounts.hpp"

namespace quire::bootstrap::launcher {
namespace {

using base::ms;

}  // namespace

job_outcome run_job(const job_plan& plan) { return job(plan).run(); }

job_outcome job::run() {
  const std::uint64_t begin = begin_ns_ = base::now_ns();
  stops_.begin(begin);
  open_standard_streams();
  const auto on_pipe = ::signal(SIGPIPE, SIG_IGN);
  {
    const borrowed_process_state state;
    start_of_job start{plan_.command, environment_with(plan_.environment), state.mask(), state.descriptors()};
    if (plan_.timeout_ms > 0) timeout_ns_ = begin + static_cast<std::uint64_t>(base::limit_ns(plan_.timeout_ms));
    mount_ = plan_.mount.empty() ? "" : os::canonical_directory(plan_.mount);
    if (prepare(start) && (hosts_.empty() ? start_all(start) : start_hosts(start))) {
      viewers_.listen();
      loop();
      decide();
    } else {
      signal_all(SIGKILL, false);
    }
    finish_hosts();
    if (phase_ == phase::running && ended_by_ == 0 && hosts_.empty()) {
      if (const std::string left = left_behind(); !left.empty()) say("ends " + left);
    }
    if (!sweep_orphans()) say("some processes that the nodes started cannot be killed");
    if (hosts_.empty() && !os::detach_if_dead(mount_)) say("cannot unmount " + mount_ + "; try: umount -l " + mount_);
    flush_streams();
    viewers_.end("job " + std::to_string(::getpid()) + " has ended with exit status " + std::to_string(exit_status_));
  }
  const bool some_ended_well =
      std::any_of(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.left && !n.departed; });
  if (exit_status_ == 0 && !some_ended_well) exit_status_ = first_death_;
  // With nothing left to look after, signals do again what they do to any program that waits for its reader.
  out_.write_all();
  err_.write_all();
  if (exit_status_ == 0 && (out_.closed() || err_.closed())) {
    phase_ = phase::running;
    check_readers();
    err_.write_all();
  }
  ::signal(SIGPIPE, on_pipe);
  job_outcome outcome{exit_status_, {}, static_cast<double>(base::now_ns() - begin) / 1e9};
  const bool ran =
      exit_status_ != launcher_failed && exit_status_ != cannot_execute && exit_status_ != command_not_found;
  outcome.nobody_joined = ran && std::all_of(nodes_.begin(), nodes_.end(), [](const auto& n) {
                            return !n.joined && (n.host < 0 ? n.pid : n.remote_pid) > 0;
                          });
  for (auto& node : nodes_) outcome.statistics.push_back(std::move(node.statistics));
  return outcome;
}

bool job::cannot(const std::string& what, int error) {
  say("cannot " + what + ": " + os::error_text(error) + os::explain_error(error).text);
  exit_status_ = launcher_failed;
  return false;
}

bool job::prepare(const start_of_job& start) {
  const sigset_t handled = handled_signals();
  signals_ = os::descriptor(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.open()) return cannot("receive signals", errno);
  if (plan_.end_with != 0) {
    master_ = os::descriptor(static_cast<int>(::syscall(SYS_pidfd_open, plan_.end_with, 0)));
    if (!master_.open()) return cannot("watch process " + std::to_string(plan_.end_with) + " (--end-with)", errno);
  }
  // A control socket, two pipes and the record of each node, some for ourselves.
  const rlim_t needed = 4 * static_cast<rlim_t>(plan_.nodes) + 64;
  if (start.descriptors.rlim_cur >= needed) return true;
  const rlimit raised{std::min(needed, start.descriptors.rlim_max), start.descriptors.rlim_max};
  if (raised.rlim_cur < needed || ::setrlimit(RLIMIT_NOFILE, &raised) != 0)
    return cannot("have " + std::to_string(needed) + " descriptors open, as so many nodes need (`ulimit -n`)", EMFILE);
  return true;
}

bool job::start_all(start_of_job& start) {
  const os::descriptor null_device(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null_device.open()) return cannot("open /dev/null", errno);
  auto report = os::make_pipe();
  if (!report.ok()) return cannot("make a pipe", errno);
  start.report = report.value().second.number();
  for (int node = 0; node < plan_.nodes; ++node)
    if (!start_one(start, node, null_device.number())) return false;
  report.value().second.reset();
  return all_became_programs(report.value().first.number());
}

bool job::start_one(const start_of_job& start, int node, int null_device) {
  auto& record = at(node);
  auto control = os::make_socket_pair();
  if (!control.ok() || !os::set_blocking(control.value().first.number(), false).ok())
    return cannot("make a socket", errno);
  start_of_node how{
      .node = node, .nodes = plan_.nodes, .local_nodes = plan_.nodes, .control = control.value().second.number()};
  if (node > 0) how.input = null_device;
  // Only a process of the terminal's foreground group may read it.
  how.own_group = record.own_group = node > 0 || ::isatty(0) == 0;
  os::descriptor writing_ends[2];
  if (plan_.tag) {
    tagged_stream* streams[] = {&record.out, &record.err};
    for (int i = 0; i < 2; ++i) {
      auto pipe = os::make_pipe();
      if (!pipe.ok() || !os::set_blocking(pipe.value().first.number(), false).ok()) return cannot("make a pipe", errno);
      *streams[i] = tagged_stream(std::move(pipe.value().first), node);
      writing_ends[i] = std::move(pipe.value().second);
    }
    how.out = writing_ends[0].number();
    how.err = writing_ends[1].number();
  }
  const auto pid = start_node(start, how);
  if (!pid.ok()) return cannot("start node " + std::to_string(node), errno);
  record.pid = pid.value();
  record.alive = true;
  record.control = local::channel(std::move(control.value().first));
  ++alive_;
  return true;
}

bool job::all_became_programs(int report) {
  start_failure failure;
  ssize_t bytes;
  do bytes = ::read(report, &failure, sizeof failure);
  while (bytes < 0 && errno == EINTR);
  if (bytes != sizeof failure) return true;
  say(cannot_run_text(plan_.command[0], failure.error));
  exit_status_ = failure.error == ENOENT ? command_not_found : cannot_execute;
  return false;
}

void job::loop() {
  std::vector<pollfd> entries;
  std::vector<std::function<void()>> handlers;
  const auto watch = [&](int descriptor, short events, std::function<void()> handler) {
    entries.push_back({descriptor, events, 0});
    handlers.push_back(std::move(handler));
  };
  while (alive_ > 0) {
    entries.clear();
    handlers.clear();
    for (int node = 0; node < plan_.nodes; ++node) {
      auto& record = at(node);
      if (record.out.open() && !out_.full())
        watch(record.out.descriptor(), POLLIN, [this, &record] { record.out.pump(out_); });
      if (record.err.open() && !err_.full())
        watch(record.err.descriptor(), POLLIN, [this, &record] { record.err.pump(err_); });
      const short events = record.control.sending() ? POLLIN | POLLOUT : POLLIN;
      if (record.host < 0 && !record.control.ended())
        watch(record.control.descriptor(), events, [this, node] { on_control(node); });
    }
    watch_hosts(watch);
    viewers_.watch(watch);
    for (output* o : {&out_, &err_})
      if (o->pending()) watch(o->number(), POLLOUT, [o] { o->write_piece(); });
    watch(signals_.number(), POLLIN, [this] {
      signalfd_siginfo signal;
      while (::read(signals_.number(), &signal, sizeof signal) == sizeof signal) on_signal(signal);
      reap();
    });
    if (master_.open()) watch(master_.number(), POLLIN, [this] { end_with_master(); });
    os::wait_ready(entries, poll_timeout_ms());
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (entries[i].revents != 0) handlers[i]();
    on_time();
  }
}

void job::on_control(int node) {
  auto& record = at(node);
  record.control.send();
  record.control.receive();
  while (const auto frame = record.control.next()) on_frame(node, *frame);
  if (record.control.broken() && record.control.descriptor() >= 0) {
    record.control.close();
    fail(node, "sent nonsense to `quire run`", 1);
  }
  if (record.control.ended() && record.joined && !record.left && record.silent_ns == 0)
    record.silent_ns = base::now_ns();
}

void job::on_frame(int node, const local::frame& frame) {
  auto& record = at(node);
  switch (frame.kind) {
    case local::frame_kind::hello: {
      local::greeting them{0, -1};
      std::memcpy(&them, frame.payload.data(), std::min(sizeof them, frame.payload.size()));
      if (them.version != local::protocol_version)
        return fail(node, "uses a version of Quire that this `quire` does not fit", 1);
      if (record.joined && !record.left) return fail(node, "has joined the job twice", 1);
      record.joined = true;
      record.greeter_pid = them.pid;
      if (record.host < 0 && os::descends_from(them.pid, record.pid)) record.member_pid = them.pid;
      record.left = record.ready = false;
      if (verdict_) give(node, verdict_);  // it comes late
      return;
    }
    case local::frame_kind::address:
      return on_address(node, frame.payload);
    case local::frame_kind::ready:
      record.ready = true;
      return;
    case local::frame_kind::leave:
      record.left = true;
      record.statistics = frame.payload;
      return;
    case local::frame_kind::leaving:
      return on_leaving(node, frame.payload);
    case local::frame_kind::departs:
      record.left = record.departed = true;
      record.statistics = frame.payload;
      return announce_departure(node);
    case local::frame_kind::waits:
      return on_waits(node, frame.payload);
    case local::frame_kind::counters:
      return on_counters(node, frame.payload);
    case local::frame_kind::record:
      return record.record.take(frame.payload);
    case local::frame_kind::accuse:
      return on_accusation(node, frame);
    case local::frame_kind::withdraw:
      return on_withdrawal(node, frame);
    case local::frame_kind::bereaved:
      return inquest_.on_word_of_loss(node);
    default:
      return fail(node, "sent nonsense to `quire run`", 1);
  }
}

void job::on_address(int node, const std::string& address) {
  auto& record = at(node);
  if (record.waiting || address.size() > local::most_address_bytes)
    return fail(node, "sent nonsense to `quire run`", 1);
  record.waiting = true;
  record.address = address;
  check_waiting();
  if (!std::all_of(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.waiting; })) return;
  std::vector<std::string> addresses;
  for (auto& n : nodes_) {
    addresses.push_back(std::move(n.address));
    n.waiting = false;
  }
  const auto bytes =
      std::make_shared<const std::string>(encode(local::frame_kind::addresses, -1, local::pack_addresses(addresses)));
  for (int n = 0; n < plan_.nodes; ++n) give(n, bytes);
}

void job::reap() {
  int status = 0;
  while (const pid_t pid = ::waitpid(-1, &status, WNOHANG)) {
    if (pid < 0) return;
    const auto it = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& n) { return n.pid == pid && n.alive; });
    if (it != nodes_.end()) on_exit(static_cast<int>(it - nodes_.begin()), status);  // else an orphan of a node
    const auto host =
        std::find_if(hosts_.begin(), hosts_.end(), [&](const auto& h) { return h.pid == pid && h.alive; });
    if (host != hosts_.end()) on_host_exit(static_cast<std::size_t>(host - hosts_.begin()), status);
  }
}

void job::flush_streams() {
  for (auto& node : nodes_) {
    node.out.drain(out_);
    node.out.finish(out_);
    node.err.drain(err_);
    node.err.finish(err_);
  }
}

int job::poll_timeout_ms() const {
  constexpr std::uint64_t never = UINT64_MAX;
  const auto or_never = [](std::uint64_t ns) { return ns == 0 ? never : ns; };
  const bool asking = waits_.then_end && waits_.until_ns != 0;  // the time is over already
  std::uint64_t deadline = or_never(phase_ == phase::running ? (asking ? 0 : timeout_ns_) : next_phase_ns_);
  deadline = std::min({deadline, or_never(waits_.until_ns), or_never(look_.next_ns), or_never(look_.until_ns)});
  if (phase_ == phase::running) {
    deadline =
        std::min({deadline, or_never(start_ns_), or_never(judge_ns_), or_never(inquest_.due()), stops_.next_look()});
    for (const auto& node : nodes_)
      if (node.silent_ns != 0 && node.alive && inquest_.due() == 0)
        deadline = std::min(deadline, node.silent_ns + silence_limit_ns);
  }
  if (!hosts_.empty() && (plan_.peer_timeout_s != 0 || start_ns_ != 0)) deadline = std::min(deadline, next_beat_ns_);
  if (deadline == never) return -1;
  const std::uint64_t now = base::now_ns();
  return deadline <= now ? 0 : static_cast<int>(std::min<std::uint64_t>((deadline - now) / ms + 1, 3'600'000));
}

}  // namespace quire::bootstrap::launcher
