// SPDX-License-Identifier: BSD-3-Clause
#include "source_lines.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string_view>

#include "command_lines.hpp"
#include "elf_file.hpp"
#include "short_name.hpp"

namespace quire::tools {
namespace {

bool is_users(const std::string& file) {
  return file != "??" && !file.starts_with("/usr/include/") && !file.starts_with("/usr/lib/") &&
         file.find("/include/quire/") == std::string::npos;
}

/// memcpy() and the like, and Python's interpreter: whatever debug information they come with, their callers count.
bool is_of_system(const std::string& call) {
  const std::size_t slash = call.rfind('/') + 1;
  if (call.compare(slash, 6, "python") == 0 || call.compare(slash, 9, "libpython") == 0) return true;
  return call.starts_with("/lib/") || call.starts_with("/lib64/") || call.starts_with("/usr/lib/") ||
         call.starts_with("/usr/lib64/");
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : name;
}

/// Memory that a front-end of Quire has allocated for the program.
constexpr struct {
  std::string_view function, what;
} of_quire[] = {{"quire::program::make_stack", "the stack of a thread"},
                {"quire::program::open_shared_state", "what OpenMP's threads share"},
                {"quire::program::start_thread_at", "thread-local variables"}};

}  // namespace

source_lines::source_lines(std::span<const std::vector<std::string>> stacks) {
  std::map<std::string, std::set<std::string>> offsets;
  for (const auto& calls : stacks) {
    for (const auto& call : calls) {
      const std::size_t plus = call.rfind("+0x");
      if (plus != std::string::npos) offsets[call.substr(0, plus)].insert(call.substr(plus + 1));
    }
  }
  for (const auto& [file, of_file] : offsets) {
    std::string command = "addr2line -afCi -e " + quoted(file);
    for (const auto& offset : of_file) command += " " + quoted(offset);
    std::vector<line>* to = nullptr;
    const auto text = lines_of(command + " 2>/dev/null");
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i].starts_with("0x")) {
        to = &lines_[fmt::format("{}+0x{:x}", file, std::strtoull(text[i].c_str(), nullptr, 16))];
        continue;
      }
      if (to == nullptr || i + 1 == text.size()) continue;
      line one{text[i], text[i + 1], 0};
      if (const std::size_t colon = one.file.rfind(':'); colon != std::string::npos) {
        one.number = std::atoi(one.file.c_str() + colon + 1);
        one.file.resize(colon);
      }
      to->push_back(std::move(one));
      ++i;
    }
    find_stubs(file, of_file);
  }
}

void source_lines::find_stubs(const std::string& file, const std::set<std::string>& offsets) {
  const auto has_line = [&](const std::string& offset) {
    const auto found = lines_.find(file + "+" + offset);
    return found != lines_.end() && std::ranges::any_of(found->second, [](const line& l) { return l.number != 0; });
  };
  if (std::ranges::all_of(offsets, has_line)) return;
  const elf_answer answer = read_elf(file);
  if (!answer.file) return;
  for (const auto& offset : offsets) {
    const std::uint64_t at = std::strtoull(offset.c_str(), nullptr, 16);
    for (const elf_stub& stub : answer.file->stubs)
      if (at >= stub.address && at - stub.address < stub.bytes) jumps_to_[file + "+" + offset] = demangled(stub.name);
  }
}

std::string source_lines::line_at(const std::string& call) const {
  const auto found = lines_.find(call);
  if (found == lines_.end()) return {};
  for (const line& one : found->second) {
    const auto* const own = std::find_if(std::begin(of_quire), std::end(of_quire),
                                         [&](const auto& o) { return one.function.starts_with(o.function); });
    if (own != std::end(of_quire)) return std::string(own->what);
    if (one.number == 0 || !is_users(one.file) || one.function.starts_with("quire::")) continue;
    const std::size_t slash = one.file.rfind('/');
    return fmt::format("{}:{} in {}()", one.file.substr(slash == std::string::npos ? 0 : slash + 1), one.number,
                       short_name(one.function));
  }
  return {};
}

std::string source_lines::line_of(const std::vector<std::string>& calls) const {
  for (const auto& call : calls)
    if (!is_of_system(call))
      if (std::string found = line_at(call); !found.empty()) return found;
  return {};
}

std::string source_lines::function_at(const std::string& call) const {
  if (const auto stub = jumps_to_.find(call); stub != jumps_to_.end())
    return "a call of " + short_name(stub->second) + "()";
  const auto found = lines_.find(call);
  if (found == lines_.end() || found->second.empty()) return {};
  const std::string name = short_name(found->second.back().function);
  return name != "??" && !name.starts_with("std::") && !name.starts_with("quire::") ? name + "()" : std::string();
}

std::string source_lines::own_line(const std::vector<std::string>& calls) const {
  if (std::string found = line_of(calls); !found.empty()) return found;
  // No debug information: the first function with a name that is not the C++ library's.
  for (const bool of_system : {false, true})
    for (const auto& call : calls)
      if (is_of_system(call) == of_system)
        if (std::string found = function_at(call); !found.empty()) return found;
  return calls.empty() ? std::string{} : calls.front();
}

}  // namespace quire::tools
