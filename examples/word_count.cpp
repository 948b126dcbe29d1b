// SPDX-License-Identifier: BSD-3-Clause
// Counts the words of a text that all nodes have: each thread counts its part by itself, and puts its counts into a map
// that all share. Run it: quire run -n 2 word_count [WORDS [THREADS of a node [FILE]]]
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>

#include <quire/containers.hpp>
#include <quire/quire.hpp>

namespace {

using counts = std::unordered_map<std::string_view, std::int64_t>;

/// A word of at most 23 letters, as plain data: keys of the shared map lie in shared memory.
struct word {
  std::array<char, 24> letters{};
  word() = default;
  word(std::string_view text) { std::memcpy(letters.data(), text.data(), std::min(text.size(), letters.size() - 1)); }
  bool operator==(const word&) const = default;
};
struct hash_of_word {
  std::size_t operator()(const word& w) const {
    return std::hash<std::string_view>{}({w.letters.data(), w.letters.size()});
  }
};
using shared_counts = quire::sharded_map<word, std::int64_t, hash_of_word>;

/// Some words are frequent, most are rare.
std::string make_text(std::size_t words) {
  std::string text = "the";
  for (std::size_t i = 1; i < words; ++i) {
    std::uint64_t z = i * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    text += i % 10 == 0 ? ".\n" : " ";
    if ((z >> 60) == 0)
      text += "the";
    else
      for (std::size_t rank = (z >> 40) % ((z >> 20) % 20'000 + 1) + 26; rank != 0; rank /= 26)
        text += static_cast<char>('a' + rank % 26);
  }
  return text;
}

/// The words that begin in [first, last).
counts count_words(std::string_view text, std::size_t first, std::size_t last) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  counts found;
  for (std::size_t at = first; at < last;) {
    if (!is_letter(text[at]) || (at != 0 && is_letter(text[at - 1]))) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    ++found[text.substr(at, end - at)];
    at = end;
  }
  return found;
}

/// Compares with the counts of one thread, and tells.
bool check(const shared_counts& all, std::string_view text, std::chrono::duration<double> took) {
  const counts expected = count_words(text, 0, text.size());
  bool right = all.size() == expected.size();
  for (const auto& [w, n] : expected) right = right && all.find(w) == n;
  const auto the = expected.find("the");
  const long long times = the == expected.end() ? 0 : the->second;
  std::printf("%zu different words; \"the\" occurs %lld times: %s\n", all.size(), times, right ? "right" : "wrong");
  std::printf("%.4f s\n", took.count());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  quire::session job;
  const std::size_t words = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  std::string text;
  if (argc > 3) {
    std::ifstream in(argv[3]);
    text.assign(std::istreambuf_iterator<char>(in), {});
  } else {
    text = make_text(words);
  }
  const auto all = quire::from_node(0, [] { return shared_counts::create(); });
  quire::team team(threads);
  const auto start = std::chrono::steady_clock::now();
  team.run([&](quire::member& me) {
    const auto mine = me.my_part(text.size());
    all.merge(count_words(text, mine.first, mine.last));
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const bool right = job.node() != 0 || check(all, text, took);
  return quire::broadcast(right) ? 0 : 1;
}
