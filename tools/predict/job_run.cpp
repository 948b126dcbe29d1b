// SPDX-License-Identifier: BSD-3-Clause
#include "predict/job_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/options.hpp"
#include "os/file_content.hpp"
#include "predict/reasons.hpp"
#include "predict/records.hpp"

namespace quire::tools::predict {
namespace {

constexpr int time_is_over = 124;  // `quire run --timeout`

/// Goes with all that is in it.
class scratch_folder {
 public:
  explicit scratch_folder(std::string& why) {
    const char* const where = std::getenv("TMPDIR");
    std::string name = std::string(where != nullptr && *where != '\0' ? where : "/tmp") + "/quire-predict-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr)
      path_ = name;
    else
      why = fmt::format("cannot make a folder for the record in {}: {}", name, std::strerror(errno));
  }
  ~scratch_folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// As QUIRE_DELAY has it; empty: nothing is delayed. Where threads share cores that they would have for themselves, all
/// that they do takes longer, and so the network does as well: else what meets on its way would be something else. (As
/// Gupta et al., To infinity and beyond: time-warped network emulation, NSDI 2006, have it for whole machines.)
std::string delay_of(const run_wishes& asked) {
  const network& net = asked.net;
  const double one_way_ns = net.latency_ns + net.send_ns + net.receive_ns;
  if (asked.nodes <= asked.nodes_a_host || (one_way_ns <= 0 && net.bytes_a_second <= 0)) return {};
  const double threads = asked.nodes * asked.threads_a_node;
  const double slower = std::max(1.0, threads / std::max(1u, std::thread::hardware_concurrency()));
  // All digits: a slow link is not one without a limit.
  return fmt::format("{}:{}:{}", slower * one_way_ns / 1e3, net.bytes_a_second / slower / 1e6, asked.nodes_a_host);
}

std::vector<std::string> words_of(const run_wishes& asked) {
  std::vector<std::string> words{"/proc/self/exe",          "run", "-n", std::to_string(asked.nodes), "--end-with",
                                 std::to_string(::getpid())};
  if (asked.seconds > 0) words.insert(words.end(), {"--timeout", fmt::format("{}", asked.seconds), "--trial"});
  words.insert(words.end(), asked.run_options.begin(), asked.run_options.end());
  words.emplace_back("--");
  for (const auto& word : asked.command) words.push_back(with_numbers(word, asked.nodes, asked.threads_a_node));
  return words;
}

/// In the child.
[[noreturn]] void become(const run_wishes& asked, const std::string& records, const std::string& output) {
  const auto which = asked.explains ? base::option::report : base::option::events;
  (void)::setenv(base::row_of(which).variable, records.c_str(), 1);
  // Each node stands for a host: what costs messages there is to cost them here.
  (void)::setenv(base::row_of(base::option::host_frames).variable, "0", 1);
  (void)::setenv(base::row_of(base::option::delay).variable, delay_of(asked).c_str(), 1);
  (void)::setenv("OMP_NUM_THREADS", std::to_string(asked.nodes * asked.threads_a_node).c_str(), 0);
  if (!asked.shows) {
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file >= 0) (void)::dup2(file, STDOUT_FILENO);
  }
  const std::vector<std::string> words = words_of(asked);
  std::vector<char*> pointers;
  for (const auto& w : words) pointers.push_back(const_cast<char*>(w.c_str()));
  pointers.push_back(nullptr);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  (void)::execv(self.c_str(), pointers.data());
  std::_Exit(127);
}

std::string end_of(const std::string& file) {
  constexpr std::size_t most = 2000;
  const std::string text = os::content_of(file).text;
  return text.size() <= most ? text : "...\n" + text.substr(text.size() - most);
}

}  // namespace

/// A program may want to be told on its command line.
std::string with_numbers(std::string word, unsigned nodes, unsigned threads_a_node) {
  const std::pair<std::string_view, unsigned> names[] = {{"{nodes}", nodes}, {"{threads}", nodes * threads_a_node}};
  for (const auto& [name, number] : names)
    for (std::size_t at = 0; (at = word.find(name, at)) != std::string::npos;)
      word.replace(at, name.size(), std::to_string(number));
  return word;
}

std::optional<run_result> run_recorded(const run_wishes& asked, std::string& why, int& status) {
  status = 1;
  const scratch_folder folder(why);
  if (folder.path().empty()) return std::nullopt;
  const std::string records = folder.path() + "/records", output = folder.path() + "/output";
  const std::uint64_t begin = base::now_ns();
  const pid_t child = ::fork();
  if (child == 0) become(asked, records, output);
  int ended = 0;
  while (child > 0 && ::waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  if (child < 0) {
    why = fmt::format("cannot start the program: {}", std::strerror(errno));
    return std::nullopt;
  }
  run_result result;
  result.seconds = static_cast<double>(base::now_ns() - begin) / 1e9;
  status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  result.was_cut = asked.seconds > 0 && status == time_is_over;
  result.cut_ns = begin + static_cast<std::uint64_t>(asked.seconds * 1e9);
  if (status != 0 && !result.was_cut) {
    why = fmt::format("on {} nodes the program ended with status {}: there is nothing to predict", asked.nodes, status);
    if (const std::string said = end_of(output); !said.empty()) why += ". It wrote:\n" + said;
    return std::nullopt;
  }
  std::error_code error;
  if (!std::filesystem::exists(records, error)) {
    why = fmt::format(
        "on {} nodes the program did not use Quire: it has neither threads nor OpenMP that could be on several "
        "machines",
        asked.nodes);
    status = 1;
    return std::nullopt;
  }
  if (asked.explains) {
    result.reasons = where_it_stops(records, asked.places_threads, asked.closed, result.worth_a_try, why);
    return result;
  }
  auto events = read_events(records, why);
  if (!events) {
    status = 1;
    return std::nullopt;
  }
  result.events = std::move(*events);
  status = 0;
  return result;
}

}  // namespace quire::tools::predict
