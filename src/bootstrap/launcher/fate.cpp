// SPDX-License-Identifier: BSD-3-Clause
// What becomes of the job when a node ends, a person sends a signal, or time is over.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "bootstrap/launcher/job.hpp"
#include "os/limits.hpp"
#include "os/mounts.hpp"

namespace quire::bootstrap::launcher {
namespace {

using base::second;
constexpr std::uint64_t grace_ns = 2 * second;  // for others to hear of a death and to end by themselves
constexpr std::uint64_t terminate_ns = second;  // from SIGTERM to SIGKILL

/// Which limit of getrlimit(2) the kernel ends a process for by that signal.
std::string limit_of(int signal) {
  if (signal == SIGXCPU) return ": the limit of its processor time is reached (ulimit -t, RLIMIT_CPU)";
  if (signal == SIGXFSZ) return ": a file became larger than it may (ulimit -f, RLIMIT_FSIZE)";
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_max != RLIM_INFINITY;
  if (signal != SIGKILL || !limited) return {};
  return ", perhaps at the limit of its processor time, " + std::to_string(limit.rlim_max) +
         " seconds (ulimit -t, RLIMIT_CPU)";
}

}  // namespace

void job::on_exit(int node, int wait_status) {
  auto& record = at(node);
  record.alive = false;
  --alive_;
  // What it wrote and said before comes before its end.
  record.out.drain(out_);
  record.err.drain(err_);
  record.remote_out.finish(out_);
  record.remote_err.finish(err_);
  on_control(node);
  if (!record.record.put_down())
    say("cannot write what " + name_of(node) + " has recorded for the report: " + os::error_text(errno));
  if (!record.why.empty()) {
    fail(node, record.why, 128 + SIGKILL, manner::killed);
  } else if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    if (signal == ended_by_)
      end(128 + signal, local::frame_kind::job_ends, node, "the job ends by signal " + os::signal_text(signal));
    else
      fail(node,
           "was killed by signal " + os::signal_text(signal) + (WCOREDUMP(wait_status) ? ", core dumped" : "") +
               (signal == SIGKILL && record.host < 0 ? memory_kills_.explain() : "") + limit_of(signal),
           128 + signal, manner_of(wait_status));
  } else if (const int code = WEXITSTATUS(wait_status); code != 0) {
    fail(node, "exited with status " + std::to_string(code), code, manner_of(wait_status));
  } else if (record.joined && !record.left) {
    const bool by_another = record.host < 0 && record.greeter_pid > 0 && record.greeter_pid != record.pid;
    fail(node,
         by_another ? "exited before the program that it has started, pid " + std::to_string(record.greeter_pid) +
                          ": what starts a node has to wait for it (setsid does with --wait)"
                    : "exited without quire_end()",
         1);
  }
  check_waiting();
  refuse_wish(node, why_stays(node));
}

void job::on_signal(const signalfd_siginfo& signal) {
  const int number = static_cast<int>(signal.ssi_signo);
  if (number == SIGCHLD) return;
  if (number == SIGTSTP) return pause();
  // The job goes on. Of programs that are none of Quire's, it ends them, as without `quire run`.
  if (number == SIGQUIT && std::any_of(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.joined; })) {
    if (!ask_waits(false)) {
      for (int node = 0; node < plan_.nodes; ++node) say(name_of(node) + " " + state_of(node));
    }
    return;
  }
  if ((number == SIGINT || number == SIGTERM) && ++interrupts_ >= 2) {
    end(128 + number, local::frame_kind::job_ends, -1, "the job ends by a second signal");
    phase_ = phase::terminating;
    next_phase_ns_ = base::now_ns();
    return;
  }
  if (number == SIGINT || number == SIGTERM || number == SIGHUP) ended_by_ = number;
  if (ended_by_ != 0 && answered_hosts_ < hosts_.size())  // no node runs that could end by it
    return end(128 + number, local::frame_kind::job_ends, -1, "the job ends by signal " + os::signal_text(number));
  signal_all(number, signal.ssi_code == SI_KERNEL);
}

void job::on_time() {
  check_silence();
  decide();
  judge();
  watch_stops();
  watch_links();
  check_start();
  reach_hosts();
  lose_silent_hosts();
  acknowledge_output();
  check_readers();
  look();
  take_wishes();
  const std::uint64_t now = base::now_ns();
  // First they say what they wait for.
  const bool late = phase_ == phase::running && timeout_ns_ != 0 && now >= timeout_ns_;
  if (late && !waits_.then_end) {
    if (plan_.is_trial || !ask_waits(true)) waits_.then_end = true;
  }
  check_waits();
  if (late && waits_.until_ns == 0)
    end(job_timed_out, local::frame_kind::job_ends, -1, "the job ends because its time limit is over", plan_.is_trial);
  if (phase_ == phase::running || now < next_phase_ns_) return;
  const bool terminate = phase_ == phase::grace;
  signal_all(terminate ? SIGTERM : SIGKILL, false);
  phase_ = terminate ? phase::terminating : phase::killing;
  next_phase_ns_ = now + terminate_ns;
}

/// A process that lives on although it closed its control socket has become another program, or closed what is not its
/// own.
void job::check_silence() {
  if (inquest_.due() != 0) return;
  for (int node = 0; node < plan_.nodes; ++node) {
    const auto& record = at(node);
    if (record.alive && record.silent_ns != 0 && base::now_ns() >= record.silent_ns + silence_limit_ns)
      fail(node, "goes on without Quire, but has not called quire_end()", 1);
  }
}

/// Nodes that wait for the addresses of all would wait in vain for one that has ended.
void job::check_waiting() {
  if (std::none_of(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.waiting && n.alive; })) return;
  const auto ended = std::find_if(nodes_.begin(), nodes_.end(), [](const auto& n) { return !n.alive; });
  if (ended != nodes_.end())
    fail(static_cast<int>(ended - nodes_.begin()), "ended while others wait for it in quire_start()", 1,
         manner::bereaved);  // unless there is more to say
}

/// A node has failed. Only the first failure counts, unless the others go on.
void job::fail(int node, const std::string& what, int exit_status, manner how) {
  if (phase_ != phase::running) return;
  if (at(node).departed && can_go_on()) return say(name_of(node) + " " + what + ", after it had left the job");
  if (!at(node).left && can_go_on())
    return at(node).alive ? kill_for(node, what) : announce(node, name_of(node) + " " + what, exit_status);
  inquest_.on_end({node, how, what, exit_status}, base::now_ns());
}

/// What failed first ends the job. Once all nodes have ended nothing more can explain it.
void job::decide() {
  const auto cause = inquest_.decide(alive_ > 0 ? base::now_ns() : inquest_.due());
  if (cause)
    end(cause->exit_status, local::frame_kind::node_died, cause->node, name_of(cause->node) + " " + cause->text);
}

/// Who reads what the job writes has gone (`| head`), or the disk is full: the nodes need not write any more.
/// As a shell's job ends when its terminal goes.
void job::end_with_master() {
  master_.reset();
  end(128 + SIGHUP, local::frame_kind::job_ends, -1,
      "the job ends as process " + std::to_string(plan_.end_with) + " has ended, to which it belongs");
}

void job::check_readers() {
  for (const output* to : {&out_, &err_}) {
    if (!to->closed()) continue;
    if (to->error() == EPIPE)  // as any program: without a word
      return end(128 + SIGPIPE, local::frame_kind::job_ends, -1, "nobody reads what the job writes any more", true);
    end(launcher_failed, local::frame_kind::job_ends, -1,
        std::string("cannot write standard ") + (to == &out_ ? "output: " : "error: ") + os::error_text(to->error()) +
            os::explain_error(to->error()).text);
  }
}

/// Before all nodes have started nobody could do without one.
bool job::can_go_on() const {
  return plan_.survivors_go_on && std::all_of(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.ready; });
}

/// A node is dead for certain. All that live hear of deaths in the same order.
void job::announce(int node, const std::string& text, int exit_status) {
  if (first_death_ == 0) first_death_ = exit_status;
  accusations_.drop(node);
  refuse_wish(node, text);
  say(tell_all_of(node, text) ? text + "; the others go on" : text);
}

/// That a node runs no more. Whether somebody listens.
bool job::tell_all_of(int node, const std::string& text) {
  const auto frame = std::make_shared<const std::string>(encode(local::frame_kind::node_died, node, text));
  bool somebody_listens = false;
  for (int other = 0; other < plan_.nodes; ++other) {
    if (!at(other).alive || at(other).left) continue;
    somebody_listens = true;
    give(other, frame);
  }
  return somebody_listens;
}

void job::end(int exit_status, local::frame_kind kind, int node, const std::string& text, bool quietly) {
  if (phase_ != phase::running) return;
  phase_ = phase::grace;
  if (exit_status_ == 0) exit_status_ = exit_status;
  if (!quietly) say(kind == local::frame_kind::node_died && alive_ > 0 ? text + "; ending the job" : text);
  verdict_ = std::make_shared<const std::string>(encode(kind, node, text));
  bool some_may_end = false;  // who hears of it, and who has left and is about to end anyway
  for (int other = 0; other < plan_.nodes; ++other) {
    const auto& record = at(other);
    if (!record.alive || !record.joined) continue;
    some_may_end = true;
    if (!record.left) give(other, verdict_);
  }
  next_phase_ns_ = base::now_ns() + (some_may_end ? grace_ns : 0);
}

/// `from_terminal`: the terminal has sent it to our own process group already.
void job::signal_all(int signal, bool from_terminal) {
  signal_hosts(signal);
  for (const auto& node : nodes_) {
    if (!node.alive || node.host >= 0 || (from_terminal && !node.own_group)) continue;
    // A child that has just been forked may not have its group yet.
    if (!node.own_group || ::kill(-node.pid, signal) != 0) ::kill(node.pid, signal);
  }
  if (signal == SIGKILL && hosts_.empty()) os::abort_mount(mount_);
}

std::string job::name_of(int node) const {
  const auto& record = at(node);
  const std::string name = "node " + std::to_string(node);
  if (record.host < 0) return name + " (pid " + std::to_string(record.pid) + ")";
  return name + " (pid " + std::to_string(record.remote_pid) + " on " +
         plan_.hosts[static_cast<std::size_t>(record.host)].name + ")";
}

}  // namespace quire::bootstrap::launcher
