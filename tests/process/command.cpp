// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/clock.hpp"
#include "os/process_environment.hpp"

namespace quire::test {
namespace {

double now_seconds() { return static_cast<double>(base::now_ns()) / 1e9; }

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (auto& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// A descriptor to read `input` from.
int input_descriptor(const std::string& input) {
  const int descriptor = ::memfd_create("input", MFD_CLOEXEC);
  EXPECT_EQ(::write(descriptor, input.data(), input.size()), static_cast<ssize_t>(input.size()));
  ::lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

}  // namespace

command::command(const std::vector<std::string>& arguments, const settings& environment, const std::string& input)
    : begin_(now_seconds()) {
  static std::atomic<int> count{0};
  mark_ = "COMMAND_UNDER_TEST=" + std::to_string(::getpid()) + "." + std::to_string(count++);
  std::vector<std::string> variables{mark_};
  const auto is_set = [&](std::string_view entry) {
    return std::any_of(environment.begin(), environment.end(),
                       [&](const auto& set) { return entry.substr(0, entry.find('=')) == set.first; });
  };
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("QUIRE_") && !is_set(*entry)) variables.emplace_back(*entry);
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  auto words = arguments;
  const auto argv = pointers_to(words), envp = pointers_to(variables);

  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) std::abort();
  const int in = input_descriptor(input);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in, 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    ::signal(SIGINT, SIG_DFL);  // a shell has its background jobs ignore it, and all that they start
    ::execvpe(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(in);
  ::close(out[1]);
  ::close(err[1]);
  out_pipe_ = out[0];
  err_pipe_ = err[0];
}

command::~command() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const int pipe : {out_pipe_, err_pipe_})
    if (pipe >= 0) ::close(pipe);
}

void command::signal(int number) const { ::kill(pid_, number); }

/// Takes in one piece of output; false once both streams have ended.
bool command::read_output(int timeout_ms) {
  pollfd entries[] = {{out_pipe_, POLLIN, 0}, {err_pipe_, POLLIN, 0}};
  if (out_pipe_ < 0 && err_pipe_ < 0) return false;
  ::poll(entries, 2, timeout_ms);
  int* pipes[] = {&out_pipe_, &err_pipe_};
  std::string* texts[] = {&out_, &err_};
  for (int i = 0; i < 2; ++i) {
    if (entries[i].revents == 0) continue;
    char buffer[65536];
    const ssize_t bytes = ::read(*pipes[i], buffer, sizeof buffer);
    if (bytes > 0) {
      texts[i]->append(buffer, static_cast<std::size_t>(bytes));
    } else {
      ::close(*pipes[i]);
      *pipes[i] = -1;
    }
  }
  return true;
}

bool command::wait_for(const std::string& text, double limit_seconds) {
  return wait_until([&](const std::string& out) { return out.find(text) != out.npos; }, limit_seconds);
}

bool command::wait_until(const std::function<bool(const std::string& out)>& there, double limit_seconds) {
  const double limit = now_seconds() + limit_seconds;
  while (!there(out_))
    if (now_seconds() > limit || !read_output(20)) return there(out_);
  return true;
}

command_result command::finish(double limit_seconds) {
  const double limit = now_seconds() + limit_seconds;
  command_result result;
  int status = 0;
  pid_t ended = 0;
  // Its output may be held open by something that it left behind: its own end is what counts.
  while ((ended = ::waitpid(pid_, &status, WNOHANG)) == 0 && now_seconds() < limit)
    if (!read_output(10)) ::poll(nullptr, 0, 5);
  if (ended == 0) {
    result.timed_out = true;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
  }
  result.seconds = now_seconds() - begin_;
  const double drained = now_seconds() + 2;
  while (now_seconds() < drained && read_output(10)) continue;
  pid_ = -1;
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.out = out_;
  result.err = err_;
  return result;
}

std::vector<pid_t> command::left_behind(double limit_seconds) const {
  const double limit = now_seconds() + limit_seconds;
  for (;;) {
    std::vector<pid_t> found;
    DIR* directory = ::opendir("/proc");
    while (const dirent* entry = ::readdir(directory)) {
      const pid_t pid = std::atoi(entry->d_name);
      // The environment of a zombie is empty.
      if (pid > 0 && os::environment_of(pid).find(mark_ + '\0') != std::string::npos) found.push_back(pid);
    }
    ::closedir(directory);
    if (found.empty() || now_seconds() > limit) return found;
    ::poll(nullptr, 0, 20);
  }
}

std::vector<std::vector<std::string>> matches_of(const std::string& text, const std::string& pattern) {
  const std::regex wanted(pattern);
  std::vector<std::vector<std::string>> found;
  for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at)
    found.emplace_back(at->begin(), at->end());
  return found;
}

command_result run(const std::vector<std::string>& arguments, const command::settings& environment,
                   const std::string& input, double limit_seconds) {
  command started(arguments, environment, input);
  auto result = started.finish(limit_seconds);
  EXPECT_FALSE(result.timed_out) << "still running after " << limit_seconds << " s; out: " << result.out
                                 << " err: " << result.err;
  EXPECT_TRUE(started.left_behind(0).empty()) << "processes were left behind";
  return result;
}

}  // namespace quire::test
