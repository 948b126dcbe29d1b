// SPDX-License-Identifier: BSD-3-Clause
// Counts the words of a text that all nodes read: each thread counts its part by itself, and puts its counts into a map that all share.
// Run it: quire run -n 2 word_count [FILE]
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>

#include <quire/containers.hpp>
#include <quire/quire.hpp>

namespace {

/// A word of at most 23 letters, as plain data: keys of the shared map lie in shared memory.
struct word {
  std::array<char, 24> letters{};
  word() = default;
  explicit word(std::string_view text) { std::memcpy(letters.data(), text.data(), std::min(text.size(), letters.size() - 1)); }
  bool operator==(const word&) const = default;
};
struct hash_of_word {
  std::size_t operator()(const word& w) const { return std::hash<std::string_view>{}({w.letters.data(), w.letters.size()}); }
};
using counts = std::unordered_map<word, std::int64_t, hash_of_word>;

constexpr const char* some_words[] = {"the", "house", "has", "many", "rooms", "and", "one", "roof"};

std::string make_text(std::size_t words) {
  std::string text;
  for (std::size_t i = 0; i < words; ++i) text += some_words[i * i % 8], text += i % 10 == 9 ? ".\n" : " ";
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
    ++found[word(text.substr(at, end - at))];
    at = end;
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  quire::session job;
  std::string text = make_text(100'000);
  if (argc > 1) {
    std::ifstream in(argv[1]);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto all = quire::from_node(0, [] { return quire::sharded_map<word, std::int64_t, hash_of_word>::create(); });
  bool right = true;
  quire::team team(2);
  team.run([&](quire::member& me) {
    const auto mine = me.my_part(text.size());
    all.merge(count_words(text, mine.first, mine.last));
    me.wait();
    if (me.is_first()) {  // the same by one thread
      const counts expected = count_words(text, 0, text.size());
      right = all.size() == expected.size();
      for (const auto& [w, n] : expected) right = right && all.find(w) == n;
      std::printf("%zu different words; \"the\" occurs %lld times: %s\n", all.size(), static_cast<long long>(all.find(word("the")).value_or(0)),
                  right ? "right" : "wrong");
    }
  });
  return quire::broadcast(right) ? 0 : 1;
}
