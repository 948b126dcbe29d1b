// SPDX-License-Identifier: BSD-3-Clause
#include "os/process_mark.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <span>
#include <sstream>

#include "base/siphash.hpp"

namespace quire::os {
namespace {

/// The same for processes whose pids are counted by one kernel for one container, and whose clocks agree; no others.
std::uint64_t place() {
  std::string words;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> words;
  for (const char* const name : {"/proc/self/ns/pid", "/proc/self/ns/time"}) {
    struct stat facts {};
    if (::stat(name, &facts) == 0) words += ' ' + std::to_string(facts.st_ino);
  }
  return base::siphash({0x7175697265, 0x70726f63}, std::as_bytes(std::span(words)));
}

/// When a process began, in ticks of its kernel; 0: there is none, or it has ended and nobody has waited for it.
std::uint64_t beginning_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const auto bracket = text.rfind(')');  // the name before it may hold anything
  if (bracket == text.npos) return 0;
  std::istringstream fields(text.substr(bracket + 1));
  std::string field, state;
  fields >> state;
  constexpr int between = 18;  // the state is the third field, the beginning the 22nd
  for (int i = 0; i < between && fields >> field; ++i) continue;
  std::uint64_t ticks = 0;
  return fields >> ticks && state != "Z" && state != "X" ? ticks : 0;
}

}  // namespace

std::string own_mark() {
  const pid_t pid = ::getpid();
  return std::to_string(place()) + ':' + std::to_string(pid) + ':' + std::to_string(beginning_of(pid));
}

marked_process find_marked(std::string_view mark) {
  std::array<std::uint64_t, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [end, error] = std::from_chars(mark.data(), mark.data() + mark.size(), numbers[i]);
    if (error != std::errc{}) return {};
    mark.remove_prefix(static_cast<std::size_t>(end - mark.data()));
    if (i + 1 < numbers.size() && !mark.starts_with(':')) return {};
    if (i + 1 < numbers.size()) mark.remove_prefix(1);
  }
  const auto [where, pid, began] = numbers;
  if (!mark.empty() || where != place() || pid == 0 || pid > INT32_MAX || began == 0) return {};
  const bool alive = beginning_of(static_cast<pid_t>(pid)) == began;
  return {alive ? marked_process::state::alive : marked_process::state::gone, static_cast<pid_t>(pid)};
}

}  // namespace quire::os
