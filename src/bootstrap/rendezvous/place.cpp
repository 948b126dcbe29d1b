// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/rendezvous/place.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <span>

#include "base/options.hpp"
#include "os/process.hpp"

namespace quire::bootstrap::rendezvous {
namespace {

using base::option;

/// Of a variable that is no option of Quire's; nothing if it is not set, or empty.
std::string_view value_of(const char* const* environment, std::string_view name) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  }
  return {};
}

bool read_number(std::string_view text, int least, int most, int& value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most;
}

/// A number from the first of these variables that is set: an option of Quire's, or another launcher's.
struct named_number {
  std::string name;
  int value = -1;
};

base::result<named_number> number_from(const base::option_values& options, option ours,
                                       std::initializer_list<const char*> others, const char* const* environment,
                                       std::string& why) {
  const auto& row = base::row_of(ours);
  if (const auto own = options.number(ours); own >= 0) return named_number{row.variable, static_cast<int>(own)};
  const auto least = static_cast<int>(row.bounds.least);
  for (const char* const name : others) {
    const std::string_view text = value_of(environment, name);
    if (text.empty()) continue;
    named_number found{name};
    if (read_number(text, least, static_cast<int>(row.bounds.most), found.value)) return found;
    why = std::string(name) + "=" + std::string(text) + " makes no sense here: it may be " + std::to_string(least) +
          " to " + std::to_string(row.bounds.most);
    return QUIRE_BAD_OPTION;
  }
  why = std::string("QUIRE_RENDEZVOUS is set, but not ") + row.variable;
  for (const char* const name : others) why += std::string(" or ") + name;
  why += ours == option::rank ? ": which node of the job is this?" : ": how many nodes does the job have?";
  return QUIRE_BAD_OPTION;
}

/// "host:port", "[host]:port", ":port".
base::status read_address(const std::string& text, const char* const* environment, place& found, std::string& why) {
  const auto wrong = [&](const std::string& what) {
    why = "QUIRE_RENDEZVOUS=" + text + ": " + what;
    return QUIRE_BAD_OPTION;
  };
  const std::size_t colon = text.rfind(':');
  int port = 0;
  if (colon == text.npos || !read_number(std::string_view(text).substr(colon + 1), 1, 65'535, port))
    return wrong("it may be HOST:PORT, with a port from 1 to 65535");
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != host.npos)
    return wrong("an address of IPv6 stands in brackets, as in [::1]:29600");
  if (text.starts_with(':')) {
    host = value_of(environment, "MASTER_ADDR");
    if (host.empty()) return wrong("it names no host, and MASTER_ADDR is not set");
  }
  if (host.empty() || host.find_first_of(" \t\n/") != host.npos) return wrong("it may be HOST:PORT");
  found.host = host;
  found.port = static_cast<std::uint16_t>(port);
  return {};
}

/// Without white space at its end.
base::result<std::string> file_text(const std::string& path, std::string& why) {
  constexpr std::size_t most = 4096;
  const os::descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, most + 1> buffer;
  std::size_t bytes = 0;
  ssize_t got = file.open() ? 1 : -1;
  while (got > 0 && bytes < buffer.size()) {
    got = ::read(file.number(), buffer.data() + bytes, buffer.size() - bytes);
    if (got > 0) bytes += static_cast<std::size_t>(got);
  }
  why = "QUIRE_SECRET_FILE=" + path + ": ";
  if (got < 0) why += os::error_text(errno);
  if (bytes > most) why += "it has more than 4096 bytes";
  if (got < 0 || bytes > most) return QUIRE_BAD_OPTION;
  while (bytes > 0 && std::string_view(" \t\r\n").find(buffer[bytes - 1]) != std::string_view::npos) --bytes;
  return std::string(buffer.data(), bytes);
}

base::status read_secret(const base::option_values& options, place& found, std::string& why) {
  std::string text = options.text(option::secret);
  const std::string& path = options.text(option::secret_file);
  if (!text.empty() && !path.empty()) {
    why = "QUIRE_SECRET and QUIRE_SECRET_FILE are both set: one of them is enough";
    return QUIRE_BAD_OPTION;
  }
  if (text.empty() && path.empty()) {
    why = "QUIRE_RENDEZVOUS is set, but not QUIRE_SECRET or QUIRE_SECRET_FILE: without a secret anybody could join";
    return QUIRE_BAD_OPTION;
  }
  const char* name = "QUIRE_SECRET";
  if (!path.empty()) {
    auto told = file_text(path, why);
    if (!told.ok()) return told.why();
    text = told.value();
    name = "QUIRE_SECRET_FILE";
  }
  if (text.size() < least_secret_bytes) {
    why = std::string(name) + ": the secret has " + std::to_string(text.size()) + " characters, and needs " +
          std::to_string(least_secret_bytes) + " or more, at random (openssl rand -hex 16 makes one)";
    return QUIRE_BAD_OPTION;
  }
  found.secret = secret_of(text);
  return {};
}

}  // namespace

std::string place::address() const {
  const bool brackets = host.find(':') != host.npos;
  return (brackets ? "[" : "") + host + (brackets ? "]:" : ":") + std::to_string(port);
}

base::secret secret_of(std::string_view text) noexcept {
  constexpr base::secret halves[] = {{0x7265'6e64'657a'766f, 1}, {0x7265'6e64'657a'766f, 2}};
  const auto bytes = std::as_bytes(std::span(text));
  return {base::siphash(halves[0], bytes), base::siphash(halves[1], bytes)};
}

base::result<place> read_place(const char* const* environment, std::string& why) {
  const auto read = base::read_options(environment, why);
  if (!read.ok()) return read.why();
  const auto& options = read.value();
  const std::string& where = options.text(option::rendezvous);
  if (where.empty()) {
    for (const option one : {option::rank, option::size}) {
      if (options.number(one) < 0) continue;
      why = std::string(base::row_of(one).variable) + " is set, but not QUIRE_RENDEZVOUS: where is rank 0?";
      return QUIRE_BAD_OPTION;
    }
    return QUIRE_NOT_FOUND;
  }
  place found;
  if (const auto s = read_address(where, environment, found, why); !s.ok()) return s;
  const auto rank = number_from(options, option::rank, {"RANK", "JOB_COMPLETION_INDEX"}, environment, why);
  if (!rank.ok()) return rank.why();
  const auto size = number_from(options, option::size, {"WORLD_SIZE"}, environment, why);
  if (!size.ok()) return size.why();
  found.rank = rank.value().value;
  found.size = size.value().value;
  if (found.rank >= found.size) {
    why = rank.value().name + "=" + std::to_string(found.rank) + " and " + size.value().name + "=" +
          std::to_string(found.size) + ": the ranks of this job are 0 to " + std::to_string(found.size - 1);
    return QUIRE_BAD_OPTION;
  }
  found.limit_s = static_cast<int>(options.number(option::rendezvous_timeout));
  if (const auto s = read_secret(options, found, why); !s.ok()) return s;
  return found;
}

}  // namespace quire::bootstrap::rendezvous
