// SPDX-License-Identifier: BSD-3-Clause
#include "report/job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <tuple>

#include "elf_file.hpp"
#include "object_names.hpp"
#include "os/file_content.hpp"
#include "os/limits.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "record/tell.hpp"
#include "source_lines.hpp"

namespace quire::tools::report {
namespace {

namespace fs = std::filesystem;
using record::node_record;

void add(record::file_sums& to, const record::file_sums& more) {
  for (int write = 0; write < 2; ++write) {
    to.faults[write] += more.faults[write];
    to.ns[write] += more.ns[write];
    to.lines[write] |= more.lines[write];
  }
}
bool is_dead(const job& all, std::uint64_t node) { return std::ranges::find(all.dead, node) != all.dead.end(); }

std::uint64_t ns_of(const record::file_sums& s) { return s.ns[0] + s.ns[1]; }

/// What is not the program's: its caller counts.
bool is_of_quire(const std::string& path) { return fs::path(path).filename().string().starts_with("libquire"); }

bool is_rebuilt(const job& all, const std::string& path) {
  return std::ranges::find(all.rebuilt, path) != all.rebuilt.end();
}

/// Compares what has run with what lies there now, where both have a build-id.
void find_rebuilt(job& all) {
  std::set<std::string> known;
  for (const node_record& r : all.nodes) {
    for (const auto& m : r.modules) {
      if (m.path.empty() || m.build_id.empty() || !known.insert(m.path).second) continue;
      const auto now = read_elf(m.path);
      if (now.file && !now.file->build_id.empty() && now.file->build_id != m.build_id) all.rebuilt.push_back(m.path);
    }
  }
}

/// "file+0x1234" for the instruction and its callers; what lies in no module, or in Quire, is left out.
std::vector<std::string> places_of(const job& all, const node_record& r, const std::vector<std::uint64_t>& from) {
  std::vector<std::string> places;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 0) continue;
    const std::uint64_t at = from[i] - (i == 0 ? 0 : 1);  // of a caller the call, not what follows it
    for (const auto& m : r.modules) {
      const bool inside = std::ranges::any_of(m.parts, [at](const auto& p) { return at - p.begin < p.end - p.begin; });
      if (inside && !m.path.empty() && !is_of_quire(m.path) && !is_rebuilt(all, m.path))
        places.push_back(fmt::format("{}+0x{:x}", m.path, at - m.bias));
    }
  }
  return places;
}

/// "kmeans.py:57 in assign()" of an interpreted program; empty: it is none.
std::string interpreted_line(const node_record& r, const std::vector<std::uint64_t>& from) {
  if (from.empty()) return {};
  const auto line = std::ranges::find(r.interpreted, from.back(), &record::file_line::number);
  return line != r.interpreted.end()
             ? fmt::format("{}:{} in {}()", fs::path(line->file).filename().string(), line->line, line->function)
             : std::string();
}

/// Source lines for the places of all nodes.
class line_finder {
 public:
  explicit line_finder(const job& all) : line_finder(all, stacks_of(all)) {}
  line_finder(const job& all, const std::vector<std::vector<std::string>>& stacks) : all_(all), lines_(stacks) {}
  /// "heat.cpp:57 in sweep()".
  [[nodiscard]] std::string line(const node_record& r, const std::vector<std::uint64_t>& from) const {
    const auto places = places_of(all_, r, from);
    std::string found = lines_.line_of(places);
    if (found.empty()) found = interpreted_line(r, from);
    if (found.empty() && !places.empty()) found = lines_.own_line(places);
    return found.empty() ? "an unknown place (a system call, or a call of Quire)" : found;
  }
  [[nodiscard]] std::string line(const std::vector<std::string>& calls) const { return lines_.own_line(calls); }

 private:
  static std::vector<std::vector<std::string>> stacks_of(const job& all) {
    std::vector<std::vector<std::string>> stacks;
    for (const node_record& r : all.nodes) {
      std::set<std::vector<std::uint64_t>> places;  // threads and units have most of them in common
      for (const auto& t : r.threads) {
        for (const auto& s : t.sites) places.insert(s.from);
        for (const auto& u : t.units) places.insert(u.from);
      }
      for (const auto& from : places) stacks.push_back(places_of(all, r, from));
      for (const auto& u : r.uses) stacks.push_back(u.calls);
    }
    return stacks;
  }
  const job& all_;
  source_lines lines_;
};

void add_line(std::vector<line_use>& to, const std::string& line, const record::file_sums& sums) {
  auto at = std::ranges::find(to, line, &line_use::line);
  if (at == to.end()) at = to.insert(at, {line, {}});
  add(at->sums, sums);
}
void sort_by_cost(std::vector<line_use>& lines) {
  std::ranges::stable_sort(lines, [](const line_use& a, const line_use& b) { return ns_of(a.sums) > ns_of(b.sums); });
}

/// What all nodes did with each unit.
std::vector<sharing::unit_use> uses_of(const job& all) {
  std::vector<sharing::unit_use> uses;
  for (const node_record& r : all.nodes) {
    for (const auto& told : r.uses) {
      auto at =
          std::ranges::find_if(uses, [&](const auto& u) { return u.address == told.address && u.bytes == told.bytes; });
      if (at == uses.end())
        at = uses.insert(at,
                         sharing::unit_use{static_cast<int>(told.region), told.address, told.bytes, told.release != 0});
      auto& n = at->nodes.emplace_back(sharing::node_use{static_cast<int>(r.node), told.moves, told.ns});
      std::ranges::copy(told.reads, n.reads.begin());
      std::ranges::copy(told.writes, n.writes.begin());
      for (const auto& o : told.objects)
        if (std::ranges::find(at->objects, o.begin, &sharing::object::address) == at->objects.end())
          at->objects.push_back({o.begin, o.end - o.begin});
      if (at->calls.empty()) at->calls = told.calls;
      if (at->data.empty()) at->data = told.data;
    }
  }
  return uses;
}

void find_names(job& all) {
  std::vector<object_names::range> ranges;
  std::vector<std::uint64_t> addresses;
  for (const node_record& r : all.nodes) {
    for (const auto& l : r.labels) all.names.push_back({l.address, l.bytes, l.name});
    for (const auto& region : r.regions) {
      if (region.data.empty() || std::ranges::find(addresses, region.address) != addresses.end()) continue;
      addresses.push_back(region.address);
      ranges.push_back({region.data, region.bytes});
    }
  }
  const object_names objects(ranges);
  for (std::size_t i = 0; i < ranges.size(); ++i)
    for (const auto& o : objects.all_in(ranges[i], addresses[i])) all.names.push_back({o.address, o.bytes, o.name});
  const auto key = [](const named_memory& n) { return std::tie(n.address, n.bytes, n.name); };
  std::ranges::sort(all.names, {}, key);
  const auto same = std::ranges::unique(all.names, {}, key);
  all.names.erase(same.begin(), same.end());
}

/// Of a node that died it is known where in their units its faults began; that stands for its uses of them.
void add_uses_of_dead(const job& all, std::vector<sharing::unit_use>& uses) {
  for (const node_record& r : all.nodes) {
    if (!is_dead(all, r.node)) continue;
    for (const auto& t : r.threads) {
      for (const auto& u : t.units) {
        if (u.bytes == 0) continue;
        auto at = std::ranges::find_if(
            uses, [&](const auto& one) { return one.address == u.address && one.bytes == u.bytes; });
        const auto region = std::ranges::find(r.regions, u.region, &record::file_region::id);
        const bool release = region != r.regions.end() && region->release != 0;
        if (at == uses.end())
          at = uses.insert(at, sharing::unit_use{static_cast<int>(u.region), u.address, u.bytes, release});
        auto n = std::ranges::find(at->nodes, static_cast<int>(r.node), &sharing::node_use::node);
        if (n == at->nodes.end()) n = at->nodes.insert(n, sharing::node_use{static_cast<int>(r.node)});
        n->moves += u.sums.faults[0] + u.sums.faults[1];
        n->ns += ns_of(u.sums);
        for (std::size_t line = 0; line < sharing::lines; ++line) {
          if ((u.sums.lines[0] >> line & 1) != 0) n->reads[line] += u.sums.faults[0];
          if ((u.sums.lines[1] >> line & 1) != 0)
            n->writes[line * (sharing::words / sharing::lines)] += u.sums.faults[1];
        }
      }
    }
  }
}

/// By node, which lines of the program have used a unit.
std::vector<std::vector<line_use>> lines_of(const job& all, const sharing::unit_use& unit, const line_finder& finder) {
  std::vector<std::vector<line_use>> lines;
  for (const auto& n : unit.nodes) {
    auto& of_node = lines.emplace_back();
    const auto r = std::ranges::find(all.nodes, static_cast<std::uint64_t>(n.node), &node_record::node);
    for (const auto& t : r->threads)
      for (const auto& u : t.units)
        if (u.address == unit.address && u.bytes != 0) add_line(of_node, finder.line(*r, u.from), u.sums);
    sort_by_cost(of_node);
  }
  return lines;
}

void find_sharing(job& all, const line_finder& finder) {
  std::vector<sharing::unit_use> uses = uses_of(all);
  add_uses_of_dead(all, uses);
  for (sharing::unit_use& unit : uses) {
    std::vector<object_names::range> range;
    if (!unit.data.empty()) range.push_back({unit.data, unit.bytes});
    const object_names names(range);
    for (const auto& r : range) std::ranges::move(names.all_in(r, unit.address), std::back_inserter(unit.objects));
    for (const auto& n : all.names)
      if (n.address < unit.address + unit.bytes && unit.address < n.address + n.bytes && unit.data.empty()) {
        std::erase_if(unit.objects, [&](const sharing::object& o) { return o.address == n.address; });
        unit.objects.push_back({n.address, n.bytes, n.name});
      }
    finding f{unit, sharing::judge(unit)};
    if (f.verdict.kind != sharing::sharing_kind::falsely && f.verdict.kind != sharing::sharing_kind::both) continue;
    f.stock = all.stock;
    f.name = place_name(all, unit.address, unit.bytes);
    f.allocated = finder.line(unit.calls);
    if (f.allocated.starts_with("the stack of"))
      for (sharing::object& o : f.unit.objects)
        if (o.name.empty()) o.name = f.allocated;
    f.likely = !unit.release || std::ranges::any_of(unit.nodes, [&](const auto& n) {
      return is_dead(all, static_cast<std::uint64_t>(n.node));
    });
    f.lines = lines_of(all, unit, finder);
    all.shared.push_back(std::move(f));
  }
  std::ranges::stable_sort(all.shared, [](const finding& a, const finding& b) { return a.verdict.ns > b.verdict.ns; });
}

bool read_file(const fs::path& path, node_record& r, std::string& why) {
  const auto [content, error] = os::content_of(path);
  if (error != 0) {
    why = fmt::format("cannot read {}: {}", path.string(), os::error_text(error));
    return false;
  }
  if (content.empty()) {
    why = fmt::format("{} is empty: its node has not come to quire_end(), nor to another orderly end", path.string());
    return false;
  }
  if (record::decode(std::as_bytes(std::span(content)), r, why)) return true;
  why = fmt::format("{}: {}", path.string(), why);
  return false;
}

/// What a node had recorded when it died.
bool read_memory(const fs::path& path, node_record& r, std::string& why) {
  const os::descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!file.open() || ::fstat(file.number(), &about) != 0) {
    why = fmt::format("cannot read {}", path.string());
    return false;
  }
  int error = 0;
  void* const at = about.st_size == sizeof(record::memory)
                       ? os::map_private(file.number(), sizeof(record::memory), nullptr, true, error)
                       : nullptr;
  if (at == nullptr) {
    why = fmt::format("{}: it is no memory of a node, or of another build of Quire, or cut off", path.string());
    return false;
  }
  std::string wrong;
  const bool good = record::tell_dead(*static_cast<const record::memory*>(at), r, wrong);
  os::unmap(at, sizeof(record::memory));
  if (!good) why = fmt::format("{}: {}", path.string(), wrong);
  return good;
}

/// What keeps a record from being of the job of those that have been read; empty: nothing.
std::string why_not_of(const job& all, const node_record& r) {
  if (std::ranges::find(all.nodes, r.node, &node_record::node) != all.nodes.end())
    return fmt::format("there is another record of node {}", r.node);
  if (!all.nodes.empty() && all.nodes.front().nodes != r.nodes)
    return fmt::format("its job had {} nodes, that of the others {}", r.nodes, all.nodes.front().nodes);
  return {};
}

}  // namespace

bool read_records(const std::string& directory, job& all, std::string& why) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("quire.") && (name.ends_with(".record") || name.ends_with(".memory")))
      files.push_back(entry.path());
  }
  if (error) {
    why = fmt::format("cannot read the directory {}: {}", directory, error.message());
    return false;
  }
  std::string last;
  for (const fs::path& path : files) {
    node_record r;
    if (fs::file_size(path, error) == 0 && !error) {
      (void)read_file(path, r, last);  // other nodes may have ended well
      continue;
    }
    const bool of_dead = path.extension() == ".memory";
    if (of_dead ? !read_memory(path, r, why) : !read_file(path, r, why)) return false;
    if (const std::string wrong = why_not_of(all, r); !wrong.empty()) {
      why = fmt::format("{}: {}: the directory has records of two jobs", path.string(), wrong);
      return false;
    }
    if (of_dead) all.dead.push_back(r.node);
    all.nodes.push_back(std::move(r));
  }
  if (all.nodes.empty()) {
    why = !last.empty() ? last
                        : fmt::format(
                              "there is no record in {}: nodes leave them as quire.NODE.record where QUIRE_REPORT "
                              "says, at their end",
                              directory);
    return false;
  }
  std::ranges::sort(all.nodes, {}, &node_record::node);
  std::ranges::sort(all.dead);
  all.size = all.nodes.front().nodes;
  return true;
}

std::vector<std::string> lines_at(const job& all, std::span<const place> places) {
  const auto record_of = [&](std::uint64_t node) { return std::ranges::find(all.nodes, node, &node_record::node); };
  std::vector<std::vector<std::string>> stacks;
  for (const place& p : places)
    if (const auto r = record_of(p.node); r != all.nodes.end()) stacks.push_back(places_of(all, *r, p.from));
  const line_finder finder(all, stacks);
  std::vector<std::string> lines;
  for (const place& p : places) {
    const auto r = record_of(p.node);
    lines.push_back(r != all.nodes.end() ? finder.line(*r, p.from) : "an unknown place (its node left no record)");
  }
  return lines;
}

void explain(job& all) {
  find_rebuilt(all);
  for (const node_record& r : all.nodes)
    for (const auto& m : r.modules)
      if (fs::path(m.path).filename().string().starts_with("libquire_omp.so")) all.stock = true;
  for (node_record& r : all.nodes) {
    const auto changed = [&](const std::string& place) { return is_rebuilt(all, place.substr(0, place.rfind("+0x"))); };
    for (auto& region : r.regions)
      if (changed(region.data)) region.data.clear();
    for (auto& u : r.uses) {
      std::erase_if(u.calls, changed);
      if (changed(u.data)) u.data.clear();
    }
  }
  const line_finder finder(all);
  for (const node_record& r : all.nodes)
    for (const auto& t : r.threads)
      for (const auto& s : t.sites) add_line(all.lines, finder.line(r, s.from), s.sums);
  sort_by_cost(all.lines);
  find_names(all);
  find_sharing(all, finder);
}

std::uint64_t shift_of(const job& all, const node_record& node) {
  std::uint64_t latest = 0;
  for (const node_record& r : all.nodes) latest = std::max(latest, r.met_ns);
  return latest - node.met_ns;
}

std::string place_name(const job& all, std::uint64_t address, std::uint64_t bytes) {
  const named_memory* best = nullptr;
  for (const named_memory& n : all.names)
    if (n.address < address + bytes && address < n.address + n.bytes && (best == nullptr || n.bytes > best->bytes))
      best = &n;
  if (best != nullptr) {
    const std::uint64_t first = std::max(best->address, address) - best->address,
                        end = std::min(best->address + best->bytes, address + bytes) - best->address;
    return first == 0 && end == best->bytes ? best->name : fmt::format("{}[bytes {}-{}]", best->name, first, end - 1);
  }
  for (const node_record& r : all.nodes)
    for (const auto& region : r.regions)
      if (address - region.address < region.bytes)
        return region.id == 0 ? fmt::format("heap+0x{:x}", address - region.address)
                              : fmt::format("region {}+0x{:x}", region.id, address - region.address);
  return fmt::format("0x{:x}", address);
}

bool make(const std::string& directory, const std::string& html, const std::string& events, std::string& why,
          std::string& note) {
  job all;
  if (!read_records(directory, all, why)) return false;
  explain(all);
  if (!all.rebuilt.empty())
    note =
        fmt::format("{} was built anew since the job began: lines and names of it are left out", all.rebuilt.front());
  const auto write = [&](const std::string& path, const std::string& content) {
    if (path.empty()) return true;
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    file << content;
    file.close();
    if (file.fail())
      why = fmt::format("cannot write {}: {}{}", path, os::error_text(errno), os::explain_error(errno).text);
    return !file.fail();
  };
  return write(html, page(all)) && write(events, events.empty() ? std::string() : perfetto(all));
}

}  // namespace quire::tools::report
