// SPDX-License-Identifier: BSD-3-Clause
// `quire leave JOB NODE`: has the launcher of a running job ask a node to leave it, and tells what becomes of that. The
// node goes when its program does (quire_leave_wanted(), quire_leave()); what it keeps goes to the others first.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "bootstrap/launcher/launcher.hpp"
#include "bootstrap/launcher/viewers.hpp"
#include "bootstrap/leave_word.hpp"
#include "commands.hpp"
#include "running_job.hpp"

namespace quire::tools {
namespace leaving {
namespace {

using bootstrap::leave_word;
using bootstrap::launcher::found_job;
using bootstrap::launcher::launcher_failed;
using bootstrap::local::frame_kind;

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t patience_ns = 10 * second_ns;  // with a job that says nothing, such as one that is stopped
constexpr std::uint64_t notice_ns = 2 * second_ns;     // until a program should have looked
constexpr std::uint64_t progress_ns = second_ns;       // between two lines of how far it is

struct arguments {
  int pid = 0, node = -1;
  int timeout_s = 0;  ///< 0: none
};

void say(const std::string& text) { fmt::print(stderr, "quire leave: {}\n", text); }

int refuse_leave(const std::string& why) {
  say(why);
  return launcher_failed;
}

/// Waits until the node has left, or stays.
class departure {
 public:
  departure(const arguments& asked, bootstrap::local::channel link) : asked_(asked), link_(std::move(link)) {
    const bootstrap::local::greeting me;
    link_.queue(bootstrap::local::make_frame(frame_kind::leave_wanted, asked.node,
                                             {reinterpret_cast<const char*>(&me), sizeof me}));
  }

  int run() {
    while (!status_) {
      link_.send();
      pollfd entry{link_.descriptor(), POLLIN, 0};
      os::wait_ready({&entry, 1}, 200);
      take_frames();
      if (!status_) look_at_clock(base::now_ns());
    }
    return *status_;
  }

 private:
  void take_frames() {
    link_.receive();
    for (auto frame = link_.next(); frame && !status_; frame = link_.next()) {
      switch (frame->kind) {
        case frame_kind::leaving:
          on_word(frame->payload);
          break;
        case frame_kind::departs:
          fmt::print("node {} has left job {}\n", asked_.node, asked_.pid);
          status_ = 0;
          break;
        case frame_kind::cannot:
        case frame_kind::job_ends:
          status_ = refuse_leave(frame->payload);
          break;
        default:
          break;  // what others look at
      }
    }
    if (!status_ && (link_.ended() || link_.broken())) status_ = refuse_leave(why_silent());
  }

  /// A launcher that does not know the wish closes the connection.
  [[nodiscard]] std::string why_silent() const {
    std::string why;
    const bool runs = !last_ && find_running_job(asked_.pid, "leave", why).has_value();
    return runs ? fmt::format("job {} was started by a `quire` of another version: use that one", asked_.pid)
                : fmt::format("job {} has ended", asked_.pid);
  }

  void on_word(const std::string& payload) {
    const auto word = bootstrap::unpack_leave_word(payload);
    if (!word) return;
    const bool is_new = !last_ || last_->state != word->state || last_->text != word->text;
    last_ = *word;
    if (word->state == leave_word::what::not_now && is_new)
      say(fmt::format("node {} stays for now, and its program may try again: {}", asked_.node, word->text));
    if (word->state == leave_word::what::noticed && is_new)
      say(fmt::format("the program of node {} knows, and leaves when it is ready", asked_.node));
  }

  void look_at_clock(std::uint64_t now) {
    if (!last_ && now - begin_ns_ >= patience_ns) {
      status_ = refuse_leave(fmt::format("job {} does not answer: is it stopped?", asked_.pid));
    } else if (asked_.timeout_s != 0 && now - begin_ns_ >= static_cast<std::uint64_t>(asked_.timeout_s) * second_ns) {
      say(fmt::format("node {} has not left within {} s; it still knows that it is to", asked_.node, asked_.timeout_s));
      status_ = bootstrap::launcher::job_timed_out;
    } else if (last_ && last_->state == leave_word::what::asked && !told_ && now - begin_ns_ >= notice_ns) {
      told_ = true;
      say(
          fmt::format("node {} was asked, and its program has not looked yet: it does by quire_leave_wanted(), and "
                      "nobody makes it leave",
                      asked_.node));
    } else if (last_ && last_->state == leave_word::what::goes && now >= next_ns_) {
      next_ns_ = now + progress_ns;
      say(fmt::format("node {} goes: {} units of memory are there still", asked_.node, last_->units));
    }
  }

  const arguments& asked_;
  bootstrap::local::channel link_;
  std::optional<leave_word> last_;
  std::optional<int> status_;
  const std::uint64_t begin_ns_ = base::now_ns();
  std::uint64_t next_ns_ = begin_ns_ + progress_ns;
  bool told_ = false;
};

}  // namespace
}  // namespace leaving

void add_leave(CLI::App& quire, session& about) {
  auto* command = quire.add_subcommand("leave", "Have a node of a running job leave it, without a loss");
  const auto asked = std::make_shared<leaving::arguments>();
  command->add_option("JOB", asked->pid, "The pid of its `quire run`, as `quire top` has it")
      ->required()
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  command->add_option("NODE", asked->node, "Which node, from 1 on")
      ->required()
      ->check(CLI::Range(0, std::numeric_limits<int>::max()));
  command
      ->add_option("--timeout", asked->timeout_s, "Wait at most so many seconds; default: until it has left, or stays")
      ->check(CLI::Range(1, 1'000'000));
  command->footer(
      "The program of the node hears of it when it asks (quire_leave_wanted()), and goes by quire_leave(): what it "
      "keeps\n"
      "goes to the other nodes first. It needs --on-failure notify. Nobody makes it leave. Whoever asks may end "
      "before:\n"
      "the wish stays.\n\n"
      "Exit status: 0 if the node has left, 124 if it has not in time, 125 if it stays, with a line that says why.");
  command->callback([&about, asked] {
    about.command = [asked]() -> int {
      std::string why;
      const auto job = find_running_job(asked->pid, "leave", why);
      if (!job) return leaving::refuse_leave(why);
      auto link = bootstrap::launcher::look_at(*job, why);
      if (!link) return leaving::refuse_leave(why);
      return leaving::departure(*asked, std::move(*link)).run();
    };
  });
}

}  // namespace quire::tools
