// SPDX-License-Identifier: BSD-3-Clause
// `quire top`: what a running job does, twice a second, in a terminal or for scripts. It only listens: the job is as it
// was when it ends, however that is.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "bootstrap/launcher/launcher.hpp"
#include "bootstrap/launcher/viewers.hpp"
#include "commands.hpp"
#include "running_job.hpp"
#include "top/terminal.hpp"
#include "top/view.hpp"

namespace quire::tools {
namespace {

using bootstrap::launcher::found_job;
using bootstrap::launcher::job_view;
using bootstrap::launcher::launcher_failed;
using bootstrap::local::frame_kind;

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t patience_ns = 10 * second_ns;  // with a job that says nothing, such as one that is stopped

struct arguments {
  int pid = 0;  ///< 0: the only one
  bool once = false, json = false;
};

int refuse_top(const std::string& why) {
  fmt::print(stderr, "quire top: {}\n", why);
  return launcher_failed;
}

/// Takes in what the job says, until it has ended or the viewer has had enough.
class look {
 public:
  look(const arguments& asked, const found_job& job, bootstrap::local::channel link)
      : asked_(asked), job_(job), link_(std::move(link)) {
    if (::isatty(0) != 0 && ::isatty(1) != 0 && !asked.json && !asked.once) screen_.emplace();
  }

  int run() {
    while (!over_) {
      draw();
      pollfd entries[3] = {{link_.descriptor(), POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}};
      if (screen_) entries[1].fd = screen_->keys(), entries[2].fd = screen_->signals();
      os::wait_ready(entries, 1000);
      if ((entries[1].revents & (POLLHUP | POLLERR)) != 0) break;  // the terminal is gone
      on_events();
      take_frames();
      if (!screen_ && base::now_ns() - heard_ns_ >= patience_ns)
        return refuse_top(fmt::format("job {} does not answer: is it stopped?", job_.pid));
    }
    screen_.reset();
    if (!failure_.empty()) return refuse_top(failure_);
    if (!ended_.empty()) fmt::print(stderr, "quire top: {}\n", ended_);
    return 0;
  }

 private:
  void on_events() {
    if (!screen_) return;
    for (auto event = screen_->next(); event != top::terminal::event::nothing; event = screen_->next()) {
      over_ = over_ || event == top::terminal::event::quit;
      const std::size_t last = now_ && !now_->nodes.empty() ? now_->nodes.size() - 1 : 0;
      if (event == top::terminal::event::down) first_ = std::min(first_ + 1, last);
      if (event == top::terminal::event::up && first_ > 0) --first_;
    }
  }

  void take_frames() {
    link_.receive();
    while (const auto frame = link_.next()) {
      heard_ns_ = base::now_ns();
      if (frame->kind == frame_kind::counters) on_view(frame->payload);
      if (frame->kind == frame_kind::cannot) failure_ = frame->payload;
      if (frame->kind == frame_kind::job_ends) ended_ = frame->payload;
      if (over_) return;
    }
    if (!link_.ended() && !link_.broken()) return;
    over_ = true;
    if (ended_.empty() && failure_.empty()) ended_ = fmt::format("job {} has ended", job_.pid);
  }

  void on_view(const std::string& payload) {
    auto view = bootstrap::launcher::unpack_view(payload);
    if (!view) {
      failure_ = fmt::format("job {} was started by a `quire` of another version: use that one", job_.pid);
      over_ = true;
      return;
    }
    const bool first = !now_;
    before_ = first ? job_view{} : std::move(*now_);
    now_ = std::move(view);
    if (screen_ || first) return;  // rates need two
    const auto picture = top::compare(before_, *now_);
    if (asked_.json) {
      fmt::print("{}\n", top::json(picture, job_.pid));
    } else {
      constexpr std::size_t all = 1 << 20;
      for (const auto& line : top::lines(picture, title(), {all, all, 0})) fmt::print("{}\n", line);
    }
    const bool told = std::fflush(stdout) == 0;
    over_ = asked_.once || !told || !asked_.json;
  }

  [[nodiscard]] std::string title() const { return fmt::format("job {}", job_.pid); }

  void draw() {
    if (!screen_) return;
    const auto [rows, columns] = screen_->dimensions();
    if (!now_)
      return screen_->show(
          {fmt::format("job {}: waiting for its nodes to start (q ends)", job_.pid).substr(0, columns)});
    std::string silent;
    if (const std::uint64_t ns = base::now_ns() - heard_ns_; ns >= 2 * second_ns)
      silent = fmt::format(", nothing heard for {} s", ns / second_ns);
    auto lines = top::lines(top::compare(before_, *now_), title() + silent, {rows, columns, first_});
    if (lines.size() < rows)
      lines.push_back(std::string("waits: seconds of threads, a second; q ends").substr(0, columns));
    screen_->show(lines);
  }

  const arguments& asked_;
  const found_job job_;
  bootstrap::local::channel link_;
  std::optional<top::terminal> screen_;
  std::optional<job_view> now_;
  job_view before_;
  std::uint64_t heard_ns_ = base::now_ns();
  std::size_t first_ = 0;
  bool over_ = false;
  std::string ended_, failure_;
};

}  // namespace

void add_top(CLI::App& quire, session& about) {
  auto* command = quire.add_subcommand("top", "Look at what a running job does, twice a second");
  const auto asked = std::make_shared<arguments>();
  command->add_option("JOB", asked->pid, "The pid of its `quire run`; without it the only job of yours on this machine")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  command->add_flag("--once", asked->once, "One table, of half a second, and end");
  command->add_flag("--json", asked->json, "An object a line, twice a second until the job ends; with --once only one");
  command->footer(
      "Keys: arrows (or j and k) scroll, q or Ctrl-C ends. The job is not touched; only its user and root may look. A "
      "wait counts when it ends.\n"
      "Jobs of other launchers (srun, mpirun) cannot be looked at.");
  command->callback([&about, asked] {
    about.command = [asked]() -> int {
      std::string why;
      const auto job = find_running_job(asked->pid, "top", why);
      if (!job) return refuse_top(why);
      auto link = bootstrap::launcher::look_at(*job, why);
      if (!link) return refuse_top(why);
      return look(*asked, *job, std::move(*link)).run();
    };
  });
}

}  // namespace quire::tools
