// SPDX-License-Identifier: BSD-3-Clause
#include "races/checker.hpp"

#include <algorithm>
#include <bit>

namespace quire::races {
namespace {
constexpr std::uint64_t not_ended = ~std::uint64_t{0};
}

checker::checker(std::uint64_t nodes) : streams_(nodes) {
  for (stream& s : streams_) {
    s.known.resize(nodes);
    s.current = std::make_shared<std::uint64_t>(not_ended);
  }
}

bool checker::feed(std::uint64_t node, std::span<const std::byte> bytes) {
  stream& s = streams_[node];
  s.in.feed(bytes);
  if (!s.begun) {
    file_head h;
    const auto f = s.in.head(h);
    if (f == reader::found::more) return true;
    if (f == reader::found::wrong || h.node != node || h.nodes != streams_.size()) return false;
    s.begun = true;
  }
  return !s.wrong;
}

void checker::end_of(std::uint64_t node) { streams_[node].fed_all = true; }

std::uint64_t checker::wants() {
  for (bool went_on = true; went_on;) {
    went_on = false;
    for (std::uint64_t node = 0; node < streams_.size(); ++node) {
      stream& s = streams_[node];
      while (!s.over) {
        if (!s.has_next) {
          const auto f = s.begun ? s.in.next(s.next) : reader::found::more;
          if (f == reader::found::more && !s.fed_all) return node;
          if (f != reader::found::event) {
            found_.cut.push_back(node);
            s.over = true;
            s.wrong = f == reader::found::wrong;
            went_on = true;
            break;
          }
          s.has_next = true;
        }
        if (!may_pass(s)) break;
        s.has_next = false;
        pass(node, s);
        went_on = true;
      }
    }
  }
  if (!settled_) {
    settled_ = true;
    for (auto& [first, p] : pages_)
      for (const doubt& d : p.doubts)
        if (!p.raced) confirm(d.what);
  }
  return streams_.size();
}

/// Not before others have come to the intervals that it has heard of.
bool checker::may_pass(const stream& s) const {
  return s.next.kind != event_kind::acquired || std::ranges::all_of(s.next.known, [this](const auto& k) {
           return k.first >= streams_.size() || streams_[k.first].over || streams_[k.first].passed >= k.second;
         });
}

void checker::pass(std::uint64_t node, stream& s) {
  const event& e = s.next;
  switch (e.kind) {
    case event_kind::written:
    case event_kind::alike:
      return on_written(node, s, e);
    case event_kind::unseen:
      return on_unseen(node, s, e);
    case event_kind::acquired:
      for (const auto& [other, interval] : e.known)
        if (other < s.known.size()) s.known[other] = std::max(s.known[other], interval);
      return;
    case event_kind::interval:
      s.passed = std::max(s.passed, e.number);
      s.known[node] = s.passed;
      if (e.releases != 0) ++found_.intervals;
      for (; s.settled < e.releases && !s.released.empty(); ++s.settled) {
        *s.released.front() = e.number;
        s.released.pop_front();
      }
      return;
    case event_kind::released:
      s.released.push_back(s.current);
      s.current = std::make_shared<std::uint64_t>(not_ended);
      return;
    case event_kind::site:
      s.sites.push_back(e.at);
      return;
    case event_kind::other:
      if (e.written.lines <= pages_.size() * most_lines) {
        for (std::uint64_t line = e.written.first_line - std::min(e.written.first_line, most_lines);
             line < e.written.first_line + e.written.lines; ++line)
          if (const auto p = pages_.find(line); p != pages_.end()) p->second.chained = false;
      } else {
        for (auto& [first, p] : pages_)
          if (first + most_lines > e.written.first_line && first < e.written.first_line + e.written.lines)
            p.chained = false;
      }
      return;
    case event_kind::end:
      s.over = true;
      return;
  }
}

bool checker::is_known_to_all(std::uint64_t node, std::uint64_t interval) const {
  return interval != not_ended &&
         std::ranges::all_of(streams_, [&](const stream& s) { return s.over || s.known[node] >= interval; });
}

side checker::side_of(std::uint64_t node, std::uint64_t site_number) const {
  const auto& sites = streams_[node].sites;
  return {node, site_number == 0 || site_number > sites.size() ? site{} : sites[site_number - 1]};
}

void checker::on_written(std::uint64_t node, stream& s, const event& e) {
  ++found_.writes;
  page& p = pages_[e.written.first_line];
  settle(p, node, s);
  check_content(p, node, s, e);
  compare_with_all(p, node, s, e);
  write& mine = add(p, node, s, e);
  for (std::uint64_t i = 0; i < e.written.lines; ++i)
    if (e.written.bytes[i] != 0) mine.bytes.emplace_back(e.written.first_line + i, e.written.bytes[i]);
}

void checker::on_unseen(std::uint64_t node, stream& s, const event& e) {
  page& p = pages_[e.written.first_line];
  settle(p, node, s);
  compare_with_all(p, node, s, e);
  add(p, node, s, e).unseen = true;
  p.chained = false;
}

void checker::compare_with_all(page& p, std::uint64_t node, const stream& s, const event& e) {
  std::erase_if(p.writes, [this](const write& w) { return is_known_to_all(w.node, *w.interval); });
  for (const write& w : p.writes) {
    if (w.node == node || s.known[w.node] >= *w.interval) continue;
    if (w.unseen || e.kind == event_kind::unseen) {
      found_.unseen += p.unseen ? 0 : 1;
      p.unseen = true;
    } else if (compare_with(w, node, e)) {
      p.raced = true;
    }
  }
}

checker::write& checker::add(page& p, std::uint64_t node, const stream& s, const event& e) {
  if (p.writes.size() >= most_writes_of_a_page) {
    p.writes.erase(p.writes.begin());
    p.chained = false;
    ++found_.forgotten;
  }
  write& mine = p.writes.emplace_back();
  mine.node = node;
  mine.site_number = e.number;
  mine.interval = s.current;
  return mine;
}

/// A write of `node` comes: what it has no order with may have had its content already.
void checker::settle(page& p, std::uint64_t node, const stream& s) {
  std::erase_if(p.doubts, [&](const doubt& d) {
    return d.what.reader.node != node && s.known[d.what.reader.node] < *d.interval;
  });
  std::erase_if(p.doubts, [&](const doubt& d) {
    const bool settled = is_known_to_all(d.what.reader.node, *d.interval);
    if (settled && !p.raced) confirm(d.what);
    return settled;
  });
}

void checker::confirm(const broken_promise& b) {
  const auto known =
      std::ranges::find_if(found_.broken, [&](const auto& k) { return k.writer == b.writer && k.reader == b.reader; });
  if (known != found_.broken.end())
    ++known->times;
  else if (found_.broken.size() < most_kinds)
    found_.broken.push_back(b);
}

/// What a node begins with is what the last write has left, if it has heard of that and of all others.
void checker::check_content(page& p, std::uint64_t node, const stream& s, const event& e) {
  const bool follows =
      std::ranges::all_of(p.writes, [&](const write& w) { return w.node == node || s.known[w.node] >= *w.interval; });
  if (p.chained && follows && p.last_interval != nullptr && p.lines == e.written.lines) {
    if (p.content == e.written.before) {
      if (p.last_node != node) ++found_.continued;
    } else {
      p.doubts.push_back({{side_of(p.last_node, p.last_site), side_of(node, e.number),
                           e.written.first_line * line_bytes, *p.last_interval, 1},
                          s.current});
    }
  }
  p.chained = follows;
  p.lines = e.written.lines;
  p.content = e.written.after;
  p.last_node = node;
  p.last_site = e.number;
  p.last_interval = s.current;
}

bool checker::compare_with(const write& before, std::uint64_t node, const event& e) {
  std::uint64_t lowest = 0, next = 0, highest = 0, run = 0;
  bool any = false;
  for (const auto& [line, bytes] : before.bytes) {
    if (line - e.written.first_line >= e.written.lines) continue;
    for (std::uint64_t both = bytes & e.written.bytes[line - e.written.first_line]; both != 0; both &= both - 1) {
      const std::uint64_t at = line * line_bytes + static_cast<std::uint64_t>(std::countr_zero(both));
      if (!any) lowest = next = at;
      if (at == next) ++run, ++next;
      any = true;
      highest = at;
    }
  }
  if (!any) return false;
  race r{side_of(before.node, before.site_number), side_of(node, e.number), lowest, run, highest, 1};
  if (r.second.node < r.first.node) std::swap(r.first, r.second);
  const auto known =
      std::ranges::find_if(found_.races, [&](const race& k) { return k.first == r.first && k.second == r.second; });
  if (known == found_.races.end()) {
    if (found_.races.size() < most_kinds)
      found_.races.push_back(r);
    else
      ++found_.races_left_out;
    return true;
  }
  ++known->times;
  known->last = std::max(known->last, r.last);
  if (r.address < known->address) {
    known->address = r.address;
    known->bytes = r.bytes;
  }
  return true;
}

}  // namespace quire::races
