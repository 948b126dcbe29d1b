// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/places/place_list.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>

namespace quire::program {
namespace {

constexpr long most_length = processor_set::most;

/// Reads a text from left to right. After a failure nothing is there any more.
class reader {
 public:
  explicit reader(std::string_view text) noexcept : rest_(text) { skip(); }
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }
  [[nodiscard]] bool take(char c) noexcept {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    skip();
    return true;
  }
  [[nodiscard]] bool take_word(std::string_view word) noexcept {
    if (rest_.size() < word.size() || ::strncasecmp(rest_.data(), word.data(), word.size()) != 0) return false;
    rest_.remove_prefix(word.size());
    skip();
    return true;
  }
  [[nodiscard]] bool take_number(long least, long most, long& number) noexcept {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc{} || number < least || number > most) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    skip();
    return true;
  }
  /// "[:length[:stride]]".
  [[nodiscard]] bool take_interval(long& length, long& stride) noexcept {
    length = stride = 1;
    if (!take(':')) return true;
    if (!take_number(1, most_length, length)) return false;
    return !take(':') || take_number(-most_length, most_length, stride);
  }

 private:
  void skip() noexcept {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

/// Processors of a place, which may have numbers that are none until the place has been moved: -1 of length and so on.
using numbers = std::vector<long>;

bool read_one(reader& in, numbers& found) {
  long number = 0, length = 1, stride = 1;
  if (!in.take('{')) {
    if (!in.take_number(0, processor_set::most - 1, number)) return false;
    found = {number};
    return true;
  }
  do {
    if (in.take('!')) {
      if (!in.take_number(0, processor_set::most - 1, number)) return false;
      std::erase(found, number);
      continue;
    }
    if (!in.take_number(0, processor_set::most - 1, number) || !in.take_interval(length, stride)) return false;
    for (long i = 0; i < length; ++i) found.push_back(number + i * stride);
  } while (in.take(','));
  return in.take('}');
}

processor_set moved(const numbers& of, long by, std::span<const processor> available) noexcept {
  processor_set p;
  for (const processor& a : available) {
    if (std::find(of.begin(), of.end(), a.number - by) != of.end()) p.add(a.number);
  }
  return p;
}

/// Places by explicit numbers. An excluded one goes out of those before it.
bool read_explicit(reader& in, std::span<const processor> available, std::vector<processor_set>& places) {
  do {
    const bool excluded = in.take('!');
    numbers one;
    long length = 1, stride = 1;
    if (!read_one(in, one) || !in.take_interval(length, stride)) return false;
    if (excluded) {
      std::erase(places, moved(one, 0, available));
      continue;
    }
    for (long i = 0; i < length; ++i) places.push_back(moved(one, i * stride, available));
  } while (in.take(','));
  return in.at_end();
}

struct level {
  std::string_view name;
  int processor::*of;
};
constexpr level levels[] = {{"threads", &processor::number},
                            {"cores", &processor::core},
                            {"ll_caches", &processor::cache},
                            {"sockets", &processor::socket},
                            {"numa_domains", &processor::memory}};

std::vector<processor_set> places_at(int processor::*of, std::span<const processor> available) {
  std::vector<processor_set> places;
  std::vector<int> seen;
  for (const processor& a : available) {
    const auto at = static_cast<std::size_t>(std::find(seen.begin(), seen.end(), a.*of) - seen.begin());
    if (at == seen.size()) {
      seen.push_back(a.*of);
      places.emplace_back();
    }
    places[at].add(a.number);
  }
  return places;
}

}  // namespace

std::vector<processor_set> read_places(std::string_view text, std::span<const processor> available, std::string& why) {
  reader in(text);
  for (const level& l : levels) {
    if (!in.take_word(l.name)) continue;
    std::vector<processor_set> places = places_at(l.of, available);
    long most = most_length;
    if (in.take('(') && (!in.take_number(1, most_length, most) || !in.take(')'))) most = 0;
    if (most == 0 || !in.at_end()) {
      why = "no list of places";
      return {};
    }
    if (places.size() > static_cast<std::size_t>(most)) places.resize(static_cast<std::size_t>(most));
    return places;
  }
  std::vector<processor_set> places;
  if (!read_explicit(in, available, places)) {
    why = "no list of places";
    return {};
  }
  std::erase(places, processor_set{});
  if (places.empty()) why = "a list of places of which this node may use no processor";
  return places;
}

std::string text_of(const processor_set& p) {
  std::string text;
  int first = -1, last = -1;
  for (int i = 0; i < processor_set::most; ++i) {
    if (!p.has(i)) continue;
    text += (text.empty() ? "{" : ",") + std::to_string(i);
    if (first < 0) first = i;
    last = i;
  }
  if (first < 0) return "{}";
  if (last - first + 1 == p.count() && last > first)
    return "{" + std::to_string(first) + ":" + std::to_string(last - first + 1) + "}";
  return text + "}";
}

}  // namespace quire::program
