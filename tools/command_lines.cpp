// SPDX-License-Identifier: BSD-3-Clause
#include "command_lines.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace quire::tools {
namespace {

struct pipe_closer {
  void operator()(std::FILE* pipe) const noexcept { ::pclose(pipe); }
};

}  // namespace

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string plain_or_quoted(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+@%";
  return !word.empty() && word.find_first_not_of(plain) == std::string::npos ? word : quoted(word);
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

}  // namespace quire::tools
