// SPDX-License-Identifier: BSD-3-Clause
#include "source_lines.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string_view>

namespace quire::tools {
namespace {

struct pipe_closer {
  void operator()(std::FILE* pipe) const noexcept { ::pclose(pipe); }
};

/// For a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  const std::unique_ptr<std::FILE, pipe_closer> pipe(::popen(command.c_str(), "re"));
  if (pipe == nullptr) return lines;
  char* text = nullptr;
  std::size_t room = 0;
  for (ssize_t length; (length = ::getline(&text, &room, pipe.get())) > 0;) {
    if (text[length - 1] == '\n') --length;
    lines.emplace_back(text, static_cast<std::size_t>(length));
  }
  std::free(text);
  return lines;
}

bool is_users(const std::string& file) {
  return file != "??" && !file.starts_with("/usr/include/") && !file.starts_with("/usr/lib/") && file.find("/include/quire/") == std::string::npos;
}

/// Without the arguments of templates and functions, which fill lines.
std::string short_name(std::string function) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (std::size_t at; (at = function.find(unnamed)) != std::string::npos;) function.erase(at, unnamed.size());
  std::string out;
  int inside = 0;
  for (const char c : function) {
    if (c == '(' && inside == 0) break;
    if (c == '<') ++inside;
    if (inside == 0) out += c;
    if (c == '>' && inside != 0) --inside;
  }
  return out.empty() ? function : out;
}

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
  }
}

std::string source_lines::own_line(const std::vector<std::string>& calls) const {
  for (const auto& call : calls) {
    const auto found = lines_.find(call);
    if (found == lines_.end()) continue;
    for (const line& one : found->second) {
      if (one.number == 0 || !is_users(one.file)) continue;
      const std::size_t slash = one.file.rfind('/');
      return fmt::format("{}:{} in {}()", one.file.substr(slash == std::string::npos ? 0 : slash + 1), one.number, short_name(one.function));
    }
  }
  // No debug information: the first function with a name that is not the C++ library's.
  for (const auto& call : calls) {
    const auto found = lines_.find(call);
    if (found == lines_.end() || found->second.empty()) continue;
    const std::string name = short_name(found->second.back().function);
    if (name != "??" && !name.starts_with("std::") && !name.starts_with("quire::")) return name + "()";
  }
  return calls.empty() ? std::string{} : calls.front();
}

}  // namespace quire::tools
