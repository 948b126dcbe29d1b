// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/manifest.hpp"

#include <charconv>
#include <cstdio>
#include <span>
#include <sstream>

#include "checkpoint/crc32c.hpp"
#include "os/durable_file.hpp"

namespace quire::checkpoint {
namespace {

constexpr std::uint64_t longest_manifest = 64 << 20;

std::uint32_t checksum_of(std::string_view text) noexcept {
  return crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

std::string hex(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016lx", static_cast<unsigned long>(value));
  return text;
}

/// Names may hold anything.
std::string hex(const std::string& name) {
  std::string text;
  for (const unsigned char c : name) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", c);
    text += two;
  }
  return text;
}
bool from_hex(const std::string& text, std::string& name) {
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (error != std::errc{} || end != text.data() + i + 2) return false;
    name += static_cast<char>(value);
  }
  return text.size() % 2 == 0 && !text.empty();
}

/// One line, word by word; numbers are written in decimal unless said otherwise.
class words {
 public:
  explicit words(const std::string& line) : in_(line) {}
  bool next(std::string& word) { return static_cast<bool>(in_ >> word); }
  bool number(std::uint64_t& value, int radix = 10) {
    std::string word;
    if (!next(word)) return false;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, radix);
    return error == std::errc{} && end == word.data() + word.size();
  }
  template <class... Numbers>
  bool numbers(Numbers&... all) {
    return (number(all) && ...);
  }
  /// What files of earlier versions of Quire lack.
  bool number_or_end(std::uint64_t& value) {
    std::string word;
    if (!next(word)) return true;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc{} && end == word.data() + word.size();
  }
  bool at_end() {
    std::string rest;
    return !next(rest);
  }

 private:
  std::istringstream in_;
};

bool has_units(const region_row& r) {
  constexpr std::uint64_t page = 4096, most = 2u << 20, step = 16, most_views = 256, groupings = 3;
  if (r.views == 0) return r.unit_bytes >= page && r.unit_bytes <= most && (r.unit_bytes & (r.unit_bytes - 1)) == 0;
  return r.unit_bytes >= step && r.unit_bytes <= page && r.unit_bytes % step == 0 && r.views <= most_views &&
         r.grouping < groupings;
}

/// In a line; nothing is "-".
std::string text_of(const std::string& text) { return text.empty() ? "-" : hex(text); }

bool take_text(words& w, std::string& into) {
  std::string word;
  return w.next(word) && (word == "-" || from_hex(word, into));
}

bool take_container(words& w, manifest& m) {
  container_row c;
  std::uint64_t where = 0;
  const bool good = w.number(c.number) && w.number(c.region, 16) &&
                    w.numbers(where, c.all, c.home, c.bytes, c.changed_ns, c.has_checksum) &&
                    w.number(c.checksum, 16) && take_text(w, c.name) && take_text(w, c.linker) && take_text(w, c.what);
  c.where = static_cast<container_row::content>(where);
  m.containers.push_back(std::move(c));
  return good && where <= static_cast<std::uint64_t>(container_row::content::pages);
}

bool take_line(words& w, const std::string& key, manifest& m) {
  if (key == "generation") return w.number(m.what.generation);
  if (key == "id") return w.number(m.what.id, 16);
  if (key == "written") return w.number(m.written_s);
  if (key == "range") return w.number(m.base, 16) && w.number(m.range_bytes);
  if (key == "next") return w.number(m.next_base, 16) && w.numbers(m.next_id, m.gone);
  if (key == "heap-views") return w.number(m.heap_views);
  if (key == "region") {
    region_row r;
    const bool good =
        w.number(r.id) && w.number(r.base, 16) &&
        w.numbers(r.bytes, r.unit_bytes, r.placement, r.home, r.consistency, r.pool, r.detector, r.life, r.heap) &&
        w.number_or_end(r.orders) && w.number_or_end(r.layout) && w.number_or_end(r.views) &&
        w.number_or_end(r.chunk) && w.number_or_end(r.grouping);
    m.regions.push_back(r);
    return good;
  }
  if (key == "name") {
    std::pair<std::string, std::uint64_t> n;
    std::string text;
    const bool good = w.number(n.second, 16) && w.next(text) && from_hex(text, n.first);
    m.names.push_back(std::move(n));
    return good;
  }
  if (key == "heads") return w.number(m.heads, 16);
  if (key == "container") return take_container(w, m);
  if (key == "file") {
    file_row f;
    std::uint64_t node = 0, checksum = 0;
    const bool good = w.numbers(node, f.bytes, f.content_bytes) && w.number(checksum, 16) && checksum <= UINT32_MAX &&
                      node == m.files.size();
    f.tail_checksum = static_cast<std::uint32_t>(checksum);
    m.files.push_back(f);
    return good;
  }
  return false;
}

}  // namespace

std::string print(const manifest& m) {
  std::ostringstream out;
  out << "quire-checkpoint " << format_version << "\ngeneration " << m.what.generation << "\nid " << hex(m.what.id)
      << "\nwritten " << m.written_s << "\nrange " << hex(m.base) << ' ' << m.range_bytes << "\nnext "
      << hex(m.next_base) << ' ' << m.next_id << ' ' << m.gone << '\n';
  if (m.heap_views != 0) out << "heap-views " << m.heap_views << '\n';
  for (const region_row& r : m.regions) {
    out << "region " << r.id << ' ' << hex(r.base) << ' ' << r.bytes << ' ' << r.unit_bytes << ' ' << r.placement << ' '
        << r.home << ' ' << r.consistency << ' ' << r.pool << ' ' << r.detector << ' ' << r.life << ' ' << r.heap;
    const bool minipages = (r.layout | r.views | r.chunk | r.grouping) != 0;
    if (r.orders != 0 || minipages) out << ' ' << r.orders;
    if (minipages) out << ' ' << r.layout << ' ' << r.views << ' ' << r.chunk << ' ' << r.grouping;
    out << '\n';
  }
  for (const auto& [name, value] : m.names) out << "name " << hex(value) << ' ' << hex(name) << '\n';
  if (m.heads != 0) out << "heads " << hex(m.heads) << '\n';
  for (const container_row& c : m.containers) {
    out << "container " << c.number << ' ' << hex(c.region) << ' ' << static_cast<std::uint64_t>(c.where) << ' '
        << c.all << ' ' << c.home << ' ' << c.bytes << ' ' << c.changed_ns << ' ' << c.has_checksum << ' '
        << hex(c.checksum);
    for (const std::string* const text : {&c.name, &c.linker, &c.what}) out << ' ' << text_of(*text);
    out << '\n';
  }
  for (std::size_t node = 0; node < m.files.size(); ++node) {
    const file_row& f = m.files[node];
    out << "file " << node << ' ' << f.bytes << ' ' << f.content_bytes << ' ' << hex(f.tail_checksum) << '\n';
  }
  std::string text = out.str();
  return text + "end " + hex(checksum_of(text)) + '\n';
}

outcome parse(const std::string& text, const std::string& path, manifest& m) {
  m = {};
  words first(text.substr(0, text.find('\n')));
  std::string key;
  if (!first.next(key) || key != "quire-checkpoint" || !first.number(m.version))
    return damaged(path, "it is no manifest of a checkpoint");
  if (m.version < oldest_version || m.version > format_version) {
    return {QUIRE_UNSUPPORTED, path + ": it is of version " + std::to_string(m.version) +
                                   " of the format; this Quire reads versions " + std::to_string(oldest_version) +
                                   " to " + std::to_string(format_version)};
  }
  // The checksum first: what follows from a damaged line would only mislead.
  const std::size_t last = text.size() < 2 ? text.npos : text.rfind('\n', text.size() - 2);
  if (last == text.npos || text.back() != '\n') return damaged(path, "it ends too early");
  words end(text.substr(last + 1));
  std::uint64_t checksum = 0;
  if (!end.next(key) || key != "end" || !end.number(checksum, 16) || !end.at_end())
    return damaged(path, "it ends too early");
  const std::string body = text.substr(0, last + 1);
  if (checksum != checksum_of(body)) return damaged(path, "its checksum is wrong");
  std::istringstream lines(body);
  std::string line;
  std::getline(lines, line);
  for (unsigned number = 2; std::getline(lines, line); ++number) {
    words w(line);
    if (!w.next(key) || !take_line(w, key, m) || !w.at_end())
      return damaged(path, "line " + std::to_string(number) + " makes no sense");
  }
  if (m.regions.empty() || m.files.empty()) return damaged(path, "it names no regions or no files");
  for (const region_row& r : m.regions) {
    const bool good = has_units(r) && r.bytes != 0 && r.bytes % r.grain() == 0 && r.base >= m.base &&
                      r.bytes <= m.range_bytes && r.base - m.base <= m.range_bytes - r.bytes;
    if (!good) return damaged(path, "region " + std::to_string(r.id) + " cannot be");
  }
  for (const container_row& c : m.containers) {
    const bool good =
        m.heads != 0 && c.number != 0 && c.number <= most_containers && !c.name.empty() &&
        std::any_of(m.regions.begin(), m.regions.end(), [&](const region_row& r) { return r.handle() == c.region; });
    if (!good) return damaged(path, "container " + std::to_string(c.number) + " cannot be");
  }
  return {};
}

outcome write_manifest(const std::string& directory, const manifest& m) {
  const std::string path = directory + "/" + manifest_name, text = print(m);
  os::output_file file;
  if (const int error = file.make(path); error != 0) return refused("make", path, error);
  if (const int error = file.write(0, std::as_bytes(std::span(text.data(), text.size()))); error != 0)
    return refused("write", path, error);
  if (const int error = file.sync(); error != 0) return refused("write", path, error);
  return {};
}

outcome read_manifest(const std::string& directory, manifest& m) {
  const std::string path = directory + "/" + manifest_name;
  os::input_file file;
  if (const int error = file.open(path); error != 0) {
    return error == ENOENT ? damaged(path, "it is missing") : refused("open", path, error);
  }
  std::uint64_t bytes = 0;
  if (const int error = file.size(bytes); error != 0) return refused("read", path, error);
  if (bytes > longest_manifest) return damaged(path, "it is too long for a manifest");
  std::string text(bytes, '\0');
  if (const int error = file.read(0, std::as_writable_bytes(std::span(text.data(), text.size()))); error != 0) {
    return refused("read", path, error);
  }
  return parse(text, path, m);
}

}  // namespace quire::checkpoint
