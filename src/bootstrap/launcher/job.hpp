// SPDX-License-Identifier: BSD-3-Clause
// A running job, seen from the launcher: one loop over control sockets, output, signals and deadlines. job.cpp has the
// start and the loop, start_hosts.cpp and remote.cpp nodes on other hosts, silence.cpp those of which nothing is heard,
// waits.cpp what the nodes wait for, view.cpp what people see of it while it runs, departures.cpp nodes that leave it,
// fate.cpp what becomes of the job when a node or a person ends something. One thread.
#pragma once

#include <sys/signalfd.h>

#include <functional>
#include <memory>
#include <optional>

#include "bootstrap/launcher/accusations.hpp"
#include "bootstrap/launcher/inquest.hpp"
#include "bootstrap/launcher/kept_record.hpp"
#include "bootstrap/launcher/launcher.hpp"
#include "bootstrap/launcher/memory_kills.hpp"
#include "bootstrap/launcher/output.hpp"
#include "bootstrap/launcher/spawn.hpp"
#include "bootstrap/launcher/stops.hpp"
#include "bootstrap/launcher/viewers.hpp"
#include "bootstrap/local/channel.hpp"
#include "os/process.hpp"
#include "watch/watch.hpp"

namespace quire::bootstrap::launcher {

/// How long a node may live after closing its control socket without leave: as long as an exit may take to be reported.
inline constexpr std::uint64_t silence_limit_ns = 1'000'000'000;

/// What the launcher knows of one node.
struct node_record {
  pid_t pid = -1;
  pid_t greeter_pid = -1;  ///< who has said hello
  pid_t member_pid = -1;   ///< the same, if that is a process that comes of `pid`
  bool alive = false;
  bool own_group = true;        ///< signals go to its whole process group
  bool joined = false;          ///< has said hello: it is a Quire program
  bool ready = false;           ///< has started, and can go on when others die
  bool left = false;            ///< has said leave: its end is no accident
  bool departed = false;        ///< and has done so while the others go on: it is none of the job's any more
  bool waiting = false;         ///< has given its address and has no answer yet
  std::uint64_t silent_ns = 0;  ///< when it closed its control socket without leave; 0: it has not
  std::string address, statistics;
  std::string counters;  ///< as told last, while somebody looks
  bool wanted = false;   ///< somebody wants it to leave
  bool asked = false;    ///< for those, and has not answered
  kept_record record;
  std::string why;  ///< what it did wrong, if we have killed it for that
  local::channel control;
  tagged_stream out, err;
  int host = -1;       ///< index of the host whose agent looks after it; -1: it is our own child
  int remote_pid = 0;  ///< its number there
  line_tagger remote_out, remote_err;
};

/// What the launcher knows of another host: the process that reaches it (ssh), and the link to the agent there.
struct host_record {
  pid_t pid = -1;
  bool alive = false;
  bool answered = false;  ///< its agent has spoken
  std::string why;        ///< why we have given it up
  local::channel link;
  std::uint64_t owed_bytes = 0;       ///< output that it has sent and was not told to be taken
  watch::watch life{0, 2, 0};         ///< the agent is peer 1
  std::uint64_t silent_since_ns = 0;  ///< nothing was heard of it for a time that is a loss; 0: it was
};

class job {
 public:
  explicit job(const job_plan& plan)
      : plan_(plan),
        nodes_(static_cast<std::size_t>(plan.nodes)),
        hosts_(plan.hosts.size()),
        stops_(plan.nodes, static_cast<std::uint64_t>(plan.peer_timeout_s) * 1'000'000'000) {}
  [[nodiscard]] job_outcome run();

 private:
  /// The way down: each phase ends what the one before has left.
  enum class phase { running, grace, terminating, killing };

  // job.cpp
  [[nodiscard]] bool prepare(const start_of_job& start);
  [[nodiscard]] bool start_all(start_of_job& start);
  [[nodiscard]] bool start_one(const start_of_job& start, int node, int null_device);
  [[nodiscard]] bool all_became_programs(int report);
  [[nodiscard]] bool cannot(const std::string& what, int error);
  void loop();
  void on_control(int node);
  void on_frame(int node, const local::frame& frame);
  void on_address(int node, const std::string& address);
  void reap();
  void flush_streams();
  [[nodiscard]] int poll_timeout_ms() const;

  // start_hosts.cpp
  [[nodiscard]] bool start_hosts(start_of_job& start);
  void reach_hosts();
  [[nodiscard]] bool reach_host(std::size_t host);
  void on_answer(std::size_t host);
  [[nodiscard]] std::string start_frame(std::size_t host) const;
  void check_start();
  [[nodiscard]] std::string how_to_try(std::size_t host) const;

  // remote.cpp
  void watch_hosts(const std::function<void(int, short, std::function<void()>)>& watch);
  void on_link(std::size_t host);
  void on_link_frame(std::size_t host, const local::frame& frame);
  void on_host_exit(std::size_t host, int wait_status);
  void on_cannot(std::size_t host, const local::frame& frame);
  void on_input();
  void give(int node, const std::shared_ptr<const std::string>& bytes);
  void signal_hosts(int signal);
  void acknowledge_output();
  void lose_silent_hosts();
  void finish_hosts();

  // silence.cpp
  [[nodiscard]] std::uint64_t peer_limit_ns() const;
  void on_accusation(int by, const local::frame& frame);
  void on_withdrawal(int by, const local::frame& frame);
  [[nodiscard]] bool puts_off(std::uint64_t now);
  void judge();
  void watch_stops();
  [[nodiscard]] bool is_stopped(int node) const;
  [[nodiscard]] bool is_ending(int node) const;
  [[nodiscard]] os::thread_times service_times(int node) const;
  [[nodiscard]] bool lacks_core(int node);
  void kill_node(int node);
  void kill_for(int node, const std::string& why);
  void watch_links();
  void pause();

  // waits.cpp
  [[nodiscard]] bool can_tell_waits(int node) const;
  bool ask_waits(bool then_end);
  void on_waits(int node, const std::string& payload);
  void check_waits();
  [[nodiscard]] std::string state_of(int node) const;

  // view.cpp
  void look();
  void on_counters(int node, const std::string& payload);
  void show_view();

  // departures.cpp
  void take_wishes();
  [[nodiscard]] std::string why_stays(int node) const;
  void on_leaving(int node, const std::string& payload);
  void refuse_wish(int node, const std::string& text);
  void announce_departure(int node);

  // fate.cpp
  void on_exit(int node, int wait_status);
  void on_signal(const signalfd_siginfo& signal);
  void on_time();
  void check_silence();
  void check_waiting();
  void fail(int node, const std::string& what, int exit_status, manner how = manner::failed);
  void decide();
  void check_readers();
  void end_with_master();
  void end(int exit_status, local::frame_kind kind, int node, const std::string& text, bool quietly = false);
  [[nodiscard]] bool can_go_on() const;
  void announce(int node, const std::string& text, int exit_status);
  [[nodiscard]] bool tell_all_of(int node, const std::string& text);
  void signal_all(int signal, bool from_terminal);
  void say(const std::string& text) { err_.put("quire: " + text + "\n"); }
  [[nodiscard]] std::string name_of(int node) const;

  [[nodiscard]] node_record& at(int node) { return nodes_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] const node_record& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }

  const job_plan& plan_;
  std::vector<node_record> nodes_;
  std::vector<host_record> hosts_;
  bool input_open_ = false;              ///< node 0 is on another host, and may take more of our standard input
  const start_of_job* start_ = nullptr;  ///< for hosts that are reached later
  std::size_t begun_hosts_ = 0;          ///< so many, from the first on, are being reached
  std::size_t answered_hosts_ = 0;       ///< so many have spoken
  std::uint64_t start_ns_ = 0;     ///< when the next host must have answered, then all nodes have started; 0: they have
  std::uint64_t progress_ns_ = 0;  ///< when to tell next how many hosts have answered
  memory_kills memory_kills_;
  accusations accusations_;
  inquest inquest_;
  stops stops_;
  std::uint64_t judge_ns_ = 0;       ///< when they are judged; 0: there are none
  std::uint64_t put_off_ns_ = 0;     ///< until when judgment is put off; 0: it is not
  int put_offs_ = 0;                 ///< how often, for want of a core
  int put_off_node_ = -1;            ///< whose
  os::thread_times put_off_from_{};  ///< of its service thread, when it was
  std::uint64_t next_beat_ns_ = 0;   ///< when the agents hear next that we are there
  std::uint64_t lost_ns_ = 0;        ///< when agents that do not answer are given up
  output out_{1}, err_{2};
  os::descriptor signals_;
  int alive_ = 0;
  int exit_status_ = 0;
  int first_death_ = 0;  ///< exit status of the first node that died while the others went on; 0: none
  phase phase_ = phase::running;
  std::shared_ptr<const std::string> verdict_;  ///< why the job ends, as told to the nodes
  std::uint64_t next_phase_ns_ = 0;             ///< when this phase ends, if it is not `running`
  std::string
      mount_{};  ///< canonical directory where the nodes mount; empty: nowhere. It is not looked at once they have
  std::uint64_t timeout_ns_ = 0;  ///< when the job must end; 0: never
  os::descriptor master_;         ///< of the process with which the job ends; closed: there is none, or it has ended
  /// Somebody has asked what the nodes wait for.
  struct {
    std::uint64_t until_ns = 0;  ///< when those who have not answered are given up; 0: nobody has asked
    bool then_end = false;       ///< the job's time is over
    std::vector<std::optional<std::string>> answers;  ///< by node
  } waits_;
  viewers viewers_;
  /// When nodes are asked next for their counters, and until when their answers are waited for; 0: nobody looks, and
  /// all has come.
  struct {
    std::uint64_t next_ns = 0, until_ns = 0;
  } look_;
  std::uint64_t begin_ns_ = 0;
  int ended_by_ = 0;    ///< the last signal that asked the nodes to end
  int interrupts_ = 0;  ///< SIGINT and SIGTERM so far; the second kills
};

}  // namespace quire::bootstrap::launcher
