// SPDX-License-Identifier: BSD-3-Clause
#include "predict/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/options.hpp"

namespace quire::tools::predict {
namespace {

// Of Ethernet's 1538 bytes a frame 1448 are a program's.
constexpr double ethernet = 0.94;
constexpr double gigabit = 1e9 / 8;
constexpr std::uint64_t frame = 90;
constexpr double wake = 7'000;  // as in the model's network `tcp`

struct row {
  const char* word;
  double network::*value;
  double unit;
  double least, most;
  bool needed = true;
};
constexpr row rows[] = {
    {"latency_us", &network::latency_ns, 1e3, 0, 1e6},
    {"send_us", &network::send_ns, 1e3, 0, 1e5},
    {"receive_us", &network::receive_ns, 1e3, 0, 1e5},
    {"wake_us", &network::wake_ns, 1e3, 0, 1e5, false},
    {"beside_us", &network::beside_ns, 1e3, 0, 1e5, false},
    {"megabytes_a_second", &network::bytes_a_second, 1e6, 0.01, 1e6},
};

}  // namespace

const std::vector<network>& known_networks() {
  static const std::vector<network> all = {
      {"loopback", 0, 0, 0, 0, wake, 0, 0},
      {"1g", 20'000, 3'000, 3'000, gigabit * ethernet, wake, 0, frame},
      {"10g", 8'000, 2'000, 2'000, 10 * gigabit * ethernet, wake, 0, frame},
      {"25g", 5'000, 1'500, 1'500, 25 * gigabit * ethernet, wake, 0, frame},
      {"100g", 4'000, 1'500, 1'500, 100 * gigabit * ethernet, wake, 0, frame},
      {"ib-hdr", 1'000, 300, 300, 200 * gigabit * 0.97, wake, 0, 30},
  };
  return all;
}

std::string write_network(const network& n) {
  std::string text = "# a network, for `quire predict --network`\n";
  for (const row& r : rows) text += fmt::format("{} {:.6g}\n", r.word, n.*r.value / r.unit);
  return text;
}

std::optional<network> read_network(std::string_view text, std::string& why) {
  network n;
  std::size_t line = 0;
  bool found[std::size(rows)] = {};
  for (std::size_t from = 0; from < text.size(); ++line) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    std::string_view words = text.substr(from, to - from);
    from = to + 1;
    if (words.ends_with('\r')) words.remove_suffix(1);
    if (words.empty() || words.front() == '#') continue;
    const std::size_t space = std::min(words.find(' '), words.size());
    const auto is_meant = [&](const row& r) { return words.substr(0, space) == r.word; };
    const auto* const r = std::ranges::find_if(rows, is_meant);
    if (r == std::end(rows)) {
      why = fmt::format(
          "line {}: latency_us, send_us, receive_us, wake_us, beside_us or megabytes_a_second, and a number", line + 1);
      return std::nullopt;
    }
    const std::string_view digits = words.substr(std::min(space + 1, words.size()));
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value) || value < r->least ||
        value > r->most) {
      why = fmt::format("line {}: {} is a number from {} to {}", line + 1, r->word, r->least, r->most);
      return std::nullopt;
    }
    n.*r->value = value * r->unit;
    found[r - rows] = true;
  }
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    if (found[i] || !rows[i].needed) continue;
    why = fmt::format("it has no {}", rows[i].word);
    return std::nullopt;
  }
  n.frame_bytes = frame;
  return n;
}

}  // namespace quire::tools::predict
