// SPDX-License-Identifier: BSD-3-Clause
// Fields are named once, for both ways: `fields(archive, of)` has the archive write them, or read them.
#include "record/file.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace quire::record {
namespace {

constexpr std::array<char, 8> mark = {'Q', 'U', 'I', 'R', 'E', 'r', 'e', 'c'};

class writer {
 public:
  void number(const std::uint64_t& value) {
    std::uint64_t rest = value;
    for (; rest >= 0x80; rest >>= 7) bytes.push_back(static_cast<std::byte>(rest | 0x80));
    bytes.push_back(static_cast<std::byte>(rest));
  }
  void text(const std::string& value) {
    number(value.size());
    for (const char c : value) bytes.push_back(static_cast<std::byte>(c));
  }
  template <class T, class F>
  void list(const std::vector<T>& all, F&& each) {
    number(all.size());
    for (const T& one : all) each(*this, one);
  }
  std::vector<std::byte> bytes;
};

class reader {
 public:
  explicit reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  void number(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<std::uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return;
    }
    fail();
  }
  void text(std::string& value) {
    const std::uint64_t length = count();
    value.assign(reinterpret_cast<const char*>(rest_.data()), length);
    rest_ = rest_.subspan(length);
  }
  template <class T, class F>
  void list(std::vector<T>& all, F&& each) {
    all.clear();
    for (std::uint64_t left = count(); left != 0 && good_; --left) each(*this, all.emplace_back());
  }
  [[nodiscard]] bool ended_well() const { return good_ && rest_.empty(); }

 private:
  void fail() {
    good_ = false;
    rest_ = {};
  }
  /// Each of so many things has a byte at least.
  std::uint64_t count() {
    std::uint64_t n = 0;
    number(n);
    if (n <= rest_.size()) return n;
    fail();
    return 0;
  }
  std::span<const std::byte> rest_;
  bool good_ = true;
};

template <class A, class... N>
void numbers(A& a, N&... all) {
  (a.number(all), ...);
}
constexpr auto each_number = [](auto& a, auto& one) { a.number(one); };
constexpr auto each_text = [](auto& a, auto& one) { a.text(one); };
constexpr auto each_part = [](auto& a, auto& one) { numbers(a, one.begin, one.end); };
constexpr auto each_wait = [](auto& a, auto& times) {
  for (auto& ns : times) a.number(ns);
};
constexpr auto each_sum = [](auto& a, auto& s) {
  for (int write = 0; write < 2; ++write) numbers(a, s.faults[write], s.ns[write], s.lines[write]);
};

constexpr auto each_segment = [](auto& a, auto& s) {
  numbers(a, s.end_ns, s.phase);
  each_wait(a, s.waited_ns);
};
constexpr auto each_unit = [](auto& a, auto& u) {
  numbers(a, u.region, u.unit, u.address, u.bytes);
  a.list(u.from, each_number);
  each_sum(a, u.sums);
};
constexpr auto each_thread = [](auto& a, auto& t) {
  numbers(a, t.number, t.begin_ns, t.resolution_ns);
  a.list(t.segments, each_segment);
  a.list(t.phases, [](auto& b, auto& p) {
    numbers(b, p.phase, p.ns);
    each_wait(b, p.waited_ns);
  });
  a.list(t.units, each_unit);
  a.list(t.sites, [](auto& b, auto& s) {
    b.list(s.from, each_number);
    each_sum(b, s.sums);
  });
};
constexpr auto each_heat = [](auto& a, auto& h) {
  numbers(a, h.region, h.piece_bytes, h.column_ns);
  a.list(h.rows, [](auto& b, auto& row) {
    b.number(row.address);
    b.list(row.columns, each_number);
  });
};
constexpr auto each_use = [](auto& a, auto& u) {
  numbers(a, u.region, u.address, u.bytes, u.release, u.moves, u.ns);
  a.list(u.reads, each_number);
  a.list(u.writes, each_number);
  a.list(u.objects, each_part);
  a.list(u.calls, each_text);
  a.text(u.data);
};

template <class A, class R>
void fields(A& a, R& r) {
  numbers(a, r.node, r.nodes, r.ns, r.met_ns, r.untimed);
  a.text(r.program);
  a.text(r.host);
  a.list(r.threads, each_thread);
  each_wait(a, r.rest_ns);
  a.list(r.heats, each_heat);
  a.list(r.regions, [](auto& b, auto& one) {
    numbers(b, one.id, one.address, one.bytes, one.unit_bytes, one.release);
    b.text(one.data);
  });
  a.list(r.labels, [](auto& b, auto& one) {
    numbers(b, one.address, one.bytes);
    b.text(one.name);
  });
  a.list(r.phases, each_text);
  a.list(r.peers, [](auto& b, auto& one) { numbers(b, one.messages, one.bytes); });
  a.list(r.counters, [](auto& b, auto& one) {
    b.text(one.name);
    b.number(one.value);
  });
  a.list(r.modules, [](auto& b, auto& one) {
    b.text(one.path);
    b.text(one.build_id);
    b.number(one.bias);
    b.list(one.parts, each_part);
  });
  a.list(r.uses, each_use);
  a.list(r.interpreted, [](auto& b, auto& one) {
    numbers(b, one.number, one.line);
    b.text(one.file);
    b.text(one.function);
  });
}

/// FNV-1a, for damage that nobody means.
std::uint64_t sum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 1469598103934665603u;
  for (const std::byte b : bytes) sum = (sum ^ static_cast<std::uint64_t>(b)) * 1099511628211u;
  return sum;
}

/// What of it makes no sense; null: nothing.
const char* nonsense_in(const node_record& r) {
  constexpr std::uint64_t most_nodes = 1 << 16, most_lines = 64, most_words = 512, most_columns = 1 << 16;
  if (r.nodes == 0 || r.nodes > most_nodes || r.node >= r.nodes || r.peers.size() > r.nodes) return "numbers of nodes";
  for (const file_thread& t : r.threads) {
    std::uint64_t before = t.begin_ns;
    for (const segment& s : t.segments) {
      if (s.end_ns < before || s.phase > r.phases.size()) return "segments of a thread";
      before = s.end_ns;
    }
    if (std::ranges::any_of(t.phases, [&](const file_phase& p) { return p.phase > r.phases.size(); }))
      return "phases of a thread";
  }
  for (const file_heat& h : r.heats) {
    if (h.piece_bytes == 0 || h.column_ns == 0) return "a heat map";
    for (const file_row& row : h.rows) {
      if (row.columns.size() % 2 != 0) return "a heat map";
      for (std::size_t i = 0; i < row.columns.size(); i += 2)
        if (row.columns[i] >= most_columns) return "a heat map";
    }
  }
  for (const file_use& u : r.uses)
    if (u.bytes == 0 || u.reads.size() > most_lines || u.writes.size() > most_words) return "uses of a unit";
  return nullptr;
}

}  // namespace

std::string file_name(std::uint64_t node) { return "quire." + std::to_string(node) + ".record"; }

std::vector<std::byte> encode(const node_record& r) {
  writer head;
  head.number(file_version);
  writer body;
  fields(body, r);
  std::vector<std::byte> file;
  for (const char c : mark) file.push_back(static_cast<std::byte>(c));
  file.insert(file.end(), head.bytes.begin(), head.bytes.end());
  file.insert(file.end(), body.bytes.begin(), body.bytes.end());
  for (std::uint64_t sum = sum_of(body.bytes), i = 0; i < sizeof sum; ++i)
    file.push_back(static_cast<std::byte>(sum >> 8 * i));
  return file;
}

bool decode_body(std::span<const std::byte> body, node_record& r, std::string& why) {
  reader from(body);
  fields(from, r);
  if (!from.ended_well()) {
    why = "it is damaged: its lists do not fit into it";
    return false;
  }
  const char* const nonsense = nonsense_in(r);
  if (nonsense != nullptr) why = std::string("it is damaged: ") + nonsense + " make no sense";
  return nonsense == nullptr;
}

bool decode(std::span<const std::byte> file, node_record& r, std::string& why) {
  constexpr std::size_t version_bytes = 1, sum_bytes = 8;
  if (file.size() < mark.size() || std::memcmp(file.data(), mark.data(), mark.size()) != 0) {
    why = "it is no record of a node";
    return false;
  }
  if (file.size() < mark.size() + version_bytes + sum_bytes) {
    why = "it is cut off";
    return false;
  }
  if (static_cast<std::uint64_t>(file[mark.size()]) != file_version) {
    why = "its version is " + std::to_string(static_cast<unsigned>(file[mark.size()])) +
          ", and this `quire` reads version " + std::to_string(file_version) +
          ": use the command that belongs to the program's libquire";
    return false;
  }
  const auto body = file.subspan(mark.size() + version_bytes, file.size() - mark.size() - version_bytes - sum_bytes);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < sum_bytes; ++i)
    sum |= static_cast<std::uint64_t>(file[file.size() - sum_bytes + i]) << 8 * i;
  if (sum != sum_of(body)) {
    why = "it is damaged, or cut off";
    return false;
  }
  return decode_body(body, r, why);
}

}  // namespace quire::record
