// SPDX-License-Identifier: BSD-3-Clause
#include "bench_network.hpp"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "bootstrap/launcher/launcher.hpp"
#include "os/process.hpp"
#include "predict/network.hpp"

namespace quire::tools {
namespace {

namespace fs = std::filesystem;
using bootstrap::launcher::launcher_failed;

struct network_arguments {
  std::string hosts, host_file, agent, launcher, output = "quire.network";
  double seconds = 8;
};

int refuse_network(const std::string& why) {
  fmt::print(stderr, "quire bench network: {}\n", why);
  return launcher_failed;
}

/// Installed below the folder of this program, or where it was built.
fs::path measuring_program(const fs::path& self) {
  const fs::path prefix = self.parent_path().parent_path();
  const fs::path installed = prefix / "libexec/quire/quire_network";
  return fs::exists(installed) ? installed : prefix / "bench/quire_network";
}

[[noreturn]] void become(std::vector<std::string> words) {
  std::vector<char*> raw;
  for (auto& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  (void)::execv(raw[0], raw.data());
  fmt::print(stderr, "quire bench network: {} cannot be started: {}\n", words[0], std::strerror(errno));
  std::_Exit(launcher_failed);
}

/// What a child writes, and its exit status.
int output_of(const std::vector<std::string>& words, std::string& text) {
  auto pipe = os::make_pipe();
  if (!pipe.ok()) return refuse_network("no pipe: " + os::error_text(errno));
  const pid_t child = ::fork();
  if (child == 0) {
    (void)::dup2(pipe.value().second.number(), STDOUT_FILENO);
    become(words);
  }
  if (child < 0) return refuse_network("cannot start another process: " + os::error_text(errno));
  pipe.value().second.reset();
  std::array<char, 4096> some{};
  for (ssize_t n; (n = ::read(pipe.value().first.number(), some.data(), some.size())) != 0;) {
    if (n > 0) text.append(some.data(), static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) break;
  }
  int ended = 0;
  while (::waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
}

/// Of two hosts, or more: those after the second would only wait.
std::vector<std::string> run_words(const network_arguments& asked, const fs::path& self) {
  std::vector<std::string> words{self, "run", "--end-with", std::to_string(::getpid())};
  const std::pair<const char*, const std::string&> options[] = {{"--hosts", asked.hosts},
                                                                {"--hostfile", asked.host_file},
                                                                {"--agent", asked.agent},
                                                                {"--launcher", asked.launcher}};
  for (const auto& [name, value] : options)
    if (!value.empty()) words.insert(words.end(), {name, value});
  if (!asked.launcher.empty() && asked.launcher != "ssh") words.erase(words.begin() + 2, words.begin() + 4);
  return words;
}

int measure_network(const network_arguments& asked) {
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored), program = measuring_program(self);
  if (!fs::exists(program))
    return refuse_network(program.string() + " is missing; build or install it (CMake: QUIRE_BUILD_APPS=ON)");
  std::vector<std::string> measures{program, "--seconds", fmt::format("{}", asked.seconds)};
  if (asked.hosts.empty() && asked.host_file.empty() && asked.launcher.empty()) {
    measures.insert(measures.end(), {"--output", asked.output});  // this process is a node of a job, or there is none
    become(measures);
  }
  auto words = run_words(asked, self);
  words.emplace_back("--");
  words.insert(words.end(), measures.begin(), measures.end());
  std::string text, why;
  if (const int status = output_of(words, text); status != 0) return status;
  const auto measured = predict::read_network(text, why);
  if (!measured) return refuse_network("what has been measured cannot be read: " + why);
  std::ofstream to(asked.output, std::ios::trunc);
  to << text;
  to.close();
  if (to.fail()) return refuse_network(fmt::format("cannot write {}: {}", asked.output, os::error_text(errno)));
  fmt::print("{}for predictions: quire predict --network {} ...\n", text, asked.output);
  return 0;
}

}  // namespace

void add_bench_network(CLI::App& bench, session& about) {
  auto* command = bench.add_subcommand("network", "What the network between two hosts costs, for `quire predict`");
  command->prefix_command(false);
  const auto asked = std::make_shared<network_arguments>();
  command->add_option("--hosts", asked->hosts, "The two hosts, as of `quire run`")->type_name("A,B");
  command->add_option("--hostfile", asked->host_file, "The same from a file")->type_name("FILE");
  command->add_option("--launcher", asked->launcher, "Who starts nodes there, as of `quire run`")
      ->type_name("ssh|mpirun|srun|auto");
  command->add_option("--agent", asked->agent, "Run instead of ssh: COMMAND HOST WORDS...")->type_name("COMMAND");
  command->add_option("-o,--output", asked->output, "The file with the figures")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--seconds", asked->seconds, "How long to measure")
      ->check(CLI::Range(0.5, 600.0))
      ->capture_default_str();
  command->footer(
      "Without hosts it is a node itself: srun -N 2 -n 2 quire bench network, as by mpirun and others.\n"
      "Both hosts should do nothing else meanwhile.");
  command->callback([&about, asked] { about.command = [asked] { return measure_network(*asked); }; });
}

}  // namespace quire::tools
