// SPDX-License-Identifier: BSD-3-Clause
#include "sharing/verdict.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace quire::sharing {
namespace {

constexpr std::uint64_t page_bytes = 4096;

/// What a node has used more than by the way: at the start, say, when it filled all.
template <std::size_t N>
std::bitset<N> worth_telling(const std::array<std::uint64_t, N>& counts) noexcept {
  constexpr std::uint64_t by_the_way = 32;  // one in so many
  const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
  std::bitset<N> mask;
  for (std::size_t i = 0; i < N; ++i) mask[i] = counts[i] != 0 && counts[i] * by_the_way >= most;
  return mask;
}

/// Of so many uses, `most` of them by one side, how many have a partner: all, unless the other side has a small part in
/// them. Who has been here by the way makes little of them shared.
constexpr std::uint64_t paired(std::uint64_t sum, std::uint64_t most) noexcept {
  return std::min(sum, 4 * (sum - most));
}

/// How many of the uses of all nodes are of what others use, too.
struct weight {
  std::uint64_t all = 0, shared = 0;
};

std::uint64_t written_in(const node_use& n, unsigned line) noexcept {
  return std::accumulate(n.writes.begin() + line * words_a_line, n.writes.begin() + (line + 1) * words_a_line,
                         std::uint64_t{0});
}

weight weigh(const unit_use& unit, unsigned line) noexcept {
  std::uint64_t readers = 0, writers = 0, writes = 0,
                meets = 0;  // uses by nodes that hardly write the line, and by the others
  std::array<std::uint64_t, words_a_line> sum{}, most{};
  std::uint64_t busiest = 0;
  for (const node_use& n : unit.nodes) busiest = std::max(busiest, written_in(n, line));
  for (const node_use& n : unit.nodes) {
    const std::uint64_t written = written_in(n, line);
    for (unsigned i = 0; i < words_a_line; ++i) {
      const std::uint64_t count = n.writes[line * words_a_line + i];
      sum[i] += count;
      most[i] = std::max(most[i], count);
    }
    writes += written;
    (written != 0 && written * 16 >= busiest ? writers : readers) += n.reads[line] + written;
  }
  weight w{readers + writers, 0};
  if (writes == 0) return w;
  for (unsigned i = 0; i < words_a_line; ++i) meets += paired(sum[i], most[i]);
  // What writers have read of the line is taken to be what they write.
  w.shared = std::min(w.all, writers * meets / writes + paired(w.all, std::max(readers, writers)));
  return w;
}

/// The largest unit, smaller than this one, of which no two nodes would use the same; nothing if there is none.
std::optional<std::uint64_t> parting_unit(const unit_use& unit, const verdict& of) {
  for (std::uint64_t smaller = unit.bytes / 2; smaller >= page_bytes; smaller /= 2) {
    bool parts_them = true;
    for (std::uint64_t at = 0; at < unit.bytes && parts_them; at += smaller) {
      const word_mask here = words_under(at, smaller, unit.bytes);
      const auto users = std::ranges::count_if(of.of_nodes, [&](const spots& s) { return (s.used() & here).any(); });
      parts_them = users < 2;
    }
    if (parts_them) return smaller;
  }
  return {};
}

std::string size_of(std::uint64_t bytes) {
  return bytes % 1024 == 0 && bytes >= 65536 ? std::to_string(bytes / 1024) + "K" : std::to_string(bytes);
}

std::string name_of(const object& o) {
  return o.name.empty() ? "a block of " + std::to_string(o.bytes) + " bytes" : o.name;
}

std::string apart(const unit_use& unit, const std::vector<object>& objects) {
  const std::string bytes = size_of(unit.bytes);
  if (objects.empty()) {
    return "put what each node writes on units of its own: align it to " + bytes +
           " bytes (quire_aligned_alloc, alignas), and pad the elements of an array to a multiple of that";
  }
  if (objects.size() == 1) {
    return "it is one object, " + name_of(objects[0]) + ": make the elements that different nodes use " + bytes +
           " bytes apart (alignas(" + bytes +
           ") on their type) and align the whole (quire_aligned_alloc), or give each node a run of neighbouring "
           "elements of at least that size";
  }
  return "there are " + std::to_string(objects.size()) +
         " objects: allocate those of different nodes apart, what one node uses together in one block aligned to " +
         bytes + " bytes (quire_aligned_alloc, alignas)";
}

std::string about_false(const unit_use& unit, const verdict& of) {
  word_mask used;
  for (const spots& s : of.of_nodes) used |= s.used();
  std::string text = apart(unit, objects_in(unit, used & ~words_of(of.shared)));
  if (const auto smaller = parting_unit(unit, of)) {
    text += "; or take units of " + size_of(*smaller) + " bytes, which part them (QUIRE_UNIT, quire_region_options)";
  }
  if (unit.release)
    return text +
           ". Release consistency lets nodes write at the same time; what is left is that changes are sent, and copies "
           "fetched anew.";
  return text +
         "; or use release consistency, under which several nodes may write one unit at a time (QUIRE_CONSISTENCY, "
         "quire_region_options).";
}

constexpr const char* about_true =
    "the nodes use the same data: let one of them do more before the next has its turn, divide the data, or count in "
    "single words by quire::atomic_ref.";

}  // namespace

verdict judge(const unit_use& unit) {
  verdict v;
  bool written = false;
  std::uint64_t users = 0;
  for (const node_use& n : unit.nodes) {
    v.switches += n.moves - std::min<std::uint64_t>(n.moves, 1);  // the first time it comes, it comes to be used
    v.ns += n.ns;
    const spots& s = v.of_nodes.emplace_back(spots{worth_telling(n.reads), worth_telling(n.writes)});
    written = written || s.written.any();
    users += s.used().any() ? 1 : 0;
  }
  if (users < 2 || !written || v.switches < least_switches) return v;
  weight whole;
  for (unsigned line = 0; line < lines; ++line) {
    const weight w = weigh(unit, line);
    whole.all += w.all;
    whole.shared += w.shared;
    v.shared[line] = w.shared != 0 && w.shared * 16 >= w.all;
  }
  v.kind = whole.shared * 8 <= whole.all       ? sharing_kind::falsely
           : whole.shared * 8 >= whole.all * 7 ? sharing_kind::truly
                                               : sharing_kind::both;
  return v;
}

std::vector<object> objects_in(const unit_use& unit, const word_mask& parts) {
  std::vector<object> found;
  const std::uint64_t each = word_bytes(unit.bytes);
  for (const object& o : unit.objects) {
    bool there = false;
    for (unsigned word = 0; word < words && !there; ++word) {
      const std::uint64_t first = unit.address + word * each;
      there = parts[word] && o.address < first + each && first < o.address + o.bytes;
    }
    if (there) found.push_back(o);
  }
  std::sort(found.begin(), found.end(), [](const object& a, const object& b) { return a.address < b.address; });
  return found;
}

std::string advice(const unit_use& unit, const verdict& of) {
  switch (of.kind) {
    case sharing_kind::none:
      return {};
    case sharing_kind::falsely:
      return about_false(unit, of);
    case sharing_kind::truly:
      return about_true;
    case sharing_kind::both:
      return std::string("put what several nodes use (in line") + (of.shared.count() > 1 ? "s " : " ") +
             ranges_of(of.shared) + ") on a unit of its own. Of the rest: " + about_false(unit, of);
  }
  return {};
}

}  // namespace quire::sharing
