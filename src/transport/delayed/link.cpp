// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "transport/delayed/delayed.hpp"

namespace quire::transport::delayed {
namespace {

constexpr double most_us = 60e6, most_megabytes = 1e6, most_nodes = 1024;

}  // namespace

std::optional<link> link_of(std::string_view text) {
  std::array<double, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t to = i + 1 < numbers.size() ? text.find(':') : text.size();
    if (to == text.npos) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + to, numbers[i]);
    if (error != std::errc{} || end != text.data() + to || !(numbers[i] >= 0)) return std::nullopt;
    text.remove_prefix(i + 1 < numbers.size() ? to + 1 : to);
  }
  const auto [latency_us, megabytes, nodes] = numbers;
  if (latency_us > most_us || megabytes > most_megabytes || nodes < 1 || nodes > most_nodes ||
      nodes != std::floor(nodes))
    return std::nullopt;
  return link{latency_us, megabytes, static_cast<unsigned>(nodes)};
}

std::string text_of(const link& how) {
  const auto plain = [](double value) {
    std::array<char, 64> text{};
    return std::string(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
  };
  return plain(how.latency_us) + ':' + plain(how.megabytes_a_second) + ':' + std::to_string(how.nodes_a_host);
}

}  // namespace quire::transport::delayed
