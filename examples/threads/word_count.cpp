// SPDX-License-Identifier: BSD-3-Clause
// Counts the words of a text: each thread counts its part by itself, and puts its counts into a map that all share.
// Threads of one process, without Quire. Run it: threads/word_count [WORDS [THREADS [FILE]]]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "parts.hpp"

namespace {

using counts = std::unordered_map<std::string_view, std::int64_t>;

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
bool check(const counts& all, std::string_view text, std::chrono::duration<double> took) {
  const counts expected = count_words(text, 0, text.size());
  const bool right = all == expected;
  const auto the = expected.find("the");
  const long long times = the == expected.end() ? 0 : the->second;
  std::printf("%zu different words; \"the\" occurs %lld times: %s\n", all.size(), times, right ? "right" : "wrong");
  std::printf("%.4f s\n", took.count());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t words = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 2;
  std::string text;
  if (argc > 3) {
    std::ifstream in(argv[3]);
    text.assign(std::istreambuf_iterator<char>(in), {});
  } else {
    text = make_text(words);
  }
  counts all;
  std::mutex guard;
  std::vector<std::jthread> team;
  const auto start = std::chrono::steady_clock::now();
  const auto work = [&](std::size_t me) {
    const auto mine = part_of(text.size(), me, threads);
    const counts found = count_words(text, mine.first, mine.last);
    const std::scoped_lock lock(guard);
    for (const auto& [w, n] : found) all[w] += n;
  };
  for (unsigned i = 0; i < threads; ++i) team.emplace_back(work, i);
  team.clear();  // waits for their ends
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return check(all, text, took) ? 0 : 1;
}
