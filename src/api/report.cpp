// SPDX-License-Identifier: BSD-3-Clause
#include "api/report.hpp"

#include <link.h>
#include <quire/report.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "api/calls/range.hpp"
#include "api/forward.hpp"
#include "api/sharing.hpp"
#include "api/sites.hpp"
#include "base/log.hpp"
#include "core/counter_table.hpp"
#include "detect/fault_place.hpp"
#include "record/file.hpp"

namespace quire::api {
namespace {

std::string path_of(const runtime& r) {
  return r.options.text(base::option::report) + '/' + record::file_name(static_cast<std::uint64_t>(r.job->node()));
}

bool write_file(const std::string& path, std::span<const std::byte> content) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return false;
  const bool good = content.empty() || std::fwrite(content.data(), 1, content.size(), file) == content.size();
  return std::fclose(file) == 0 && good;
}

void tell_sums(record::file_sums& to, const record::fault_sums& from) {
  for (int write = 0; write < 2; ++write) {
    to.faults[write] = from.faults[write];
    to.ns[write] = from.ns[write];
    to.lines[write] = from.lines[write];
  }
}

record::file_thread tell_thread(const record::thread_record& t, std::uint64_t begin_ns, std::uint64_t end_ns) {
  record::file_thread told;
  told.number = t.number;
  told.begin_ns = t.when.begin_ns() - std::min(begin_ns, t.when.begin_ns());
  told.resolution_ns = t.when.resolution_ns();
  std::uint64_t before = told.begin_ns;
  for (const record::segment& s : t.when.all()) {
    record::segment& one = told.segments.emplace_back(s);
    one.end_ns = before = std::max(before, s.end_ns - std::min(begin_ns, s.end_ns));
  }
  for (std::size_t phase = 0; phase < t.phases.size(); ++phase) {
    record::phase_sums sums = t.phases[phase];
    if (t.phase == phase) sums.ns += end_ns - std::min(end_ns, t.phase_begin_ns);
    if (sums.ns != 0) told.phases.push_back({phase, sums.ns, sums.waited_ns});
  }
  t.units.for_each([&](const auto& p) {
    record::file_unit& u = told.units.emplace_back();
    u.region = p.key.unit >> 46;
    u.unit = p.key.unit & ((std::uint64_t{1} << 46) - 1);
    u.from.assign(p.key.from.begin(), p.key.from.end());
    tell_sums(u.sums, p.value);
  });
  t.sites.for_each([&](const auto& p) {
    record::file_site& s = told.sites.emplace_back();
    s.from.assign(p.key.from.begin(), p.key.from.end());
    tell_sums(s.sums, p.value);
  });
  return told;
}

record::file_heat tell_heat(const record::recorder::heat_of& h) {
  record::file_heat told{h.region, std::uint64_t{1} << h.map.piece_shift(), std::uint64_t{1} << h.map.column_shift(), {}};
  for (std::size_t row = 0; row < h.map.rows(); ++row) {
    record::file_row& to = told.rows.emplace_back();
    to.address = h.map.address(row);
    const auto& cells = h.map.row(row);
    for (std::size_t column = 0; column < cells.size(); ++column)
      if (cells[column] != 0) to.columns.insert(to.columns.end(), {column, cells[column]});
  }
  return told;
}

int add_module(dl_phdr_info* about, std::size_t, void* to) {
  record::file_module m;
  m.path = about->dlpi_name;
  if (m.path.empty()) {  // the program, or the kernel's, which has no file
    std::array<char, 4096> path{};
    const ssize_t length = static_cast<std::vector<record::file_module>*>(to)->empty() ? ::readlink("/proc/self/exe", path.data(), path.size() - 1) : 0;
    m.path.assign(path.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  }
  m.bias = about->dlpi_addr;
  for (int i = 0; i < about->dlpi_phnum; ++i) {
    const auto& part = about->dlpi_phdr[i];
    const std::uint64_t begin = about->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) m.parts.push_back({begin, begin + part.p_memsz});
    if (part.p_type != PT_NOTE) continue;
    constexpr std::uint64_t head = 12, name = 4;  // lengths and type; "GNU"
    for (std::uint64_t at = begin; at + head + name <= begin + part.p_memsz;) {
      std::uint32_t words[3];
      std::memcpy(words, reinterpret_cast<const void*>(at), sizeof words);
      const std::uint64_t name_bytes = (words[0] + 3u) / 4 * 4, bytes = words[1];
      const auto* const content = reinterpret_cast<const unsigned char*>(at + head + name_bytes);
      if (words[2] == NT_GNU_BUILD_ID && words[0] == name && m.build_id.empty()) {
        for (std::uint64_t b = 0; b < bytes; ++b) {
          char digits[3];
          std::snprintf(digits, sizeof digits, "%02x", content[b]);
          m.build_id += digits;
        }
      }
      at += head + name_bytes + (bytes + 3) / 4 * 4;
    }
  }
  static_cast<std::vector<record::file_module>*>(to)->push_back(std::move(m));
  return 0;
}

/// What only the driver may look at.
void tell_regions(runtime& r, record::node_record& told) {
  r.core->regions.for_each([&](const core::region_slot& slot) {
    told.regions.push_back({slot.about.id, slot.about.base, slot.about.bytes, slot.layout.most_bytes(), slot.consistency() == QUIRE_RELEASE ? 1u : 0u, {}});
  });
  for (record::file_thread& t : told.threads) {
    for (record::file_unit& u : t.units) {
      const auto* const slot = r.core->regions.slot(model::region_id{static_cast<std::uint16_t>(u.region)});
      if (slot == nullptr || u.unit >= slot->layout.units()) continue;
      u.address = slot->address_of(u.unit);
      u.bytes = slot->bytes_of(u.unit);
    }
  }
  const core::counter_sources numbers = core::sources_of(*r.core);
  for (const core::counter_row& row : core::counter_table) told.counters.push_back({row.name, row.value(numbers)});
}

record::node_record tell(runtime& r) {
  record::recorder& from = *r.core->recorder;
  const std::uint64_t now = base::now_ns();
  record::node_record told;
  told.node = static_cast<std::uint64_t>(r.job->node());
  told.nodes = static_cast<std::uint64_t>(r.job->nodes());
  told.ns = now - from.begin_ns();
  told.met_ns = from.met_ns() - from.begin_ns();
  told.untimed = r.core->config.detector == detect::kind::userfault_thread ? 1 : 0;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) told.host = host.data();
  for (const record::thread_record& t : from.threads())
    if (!record::recorder::in_use(t)) told.threads.push_back(tell_thread(t, from.begin_ns(), now));
  told.rest_ns = from.rest();
  for (const record::label& l : from.labels()) told.labels.push_back({l.address, l.bytes, l.name.data()});
  for (std::size_t phase = 1; phase <= from.phases(); ++phase) told.phases.emplace_back(from.phase_name(phase));
  r.core->as_driver([&] {
    for (const auto& h : from.heats())
      if (h.used) told.heats.push_back(tell_heat(h));
    for (const auto& p : from.peers()) told.peers.push_back({p.messages, p.bytes});
    tell_regions(r, told);
  });
  for (record::file_region& one : told.regions) one.data = sites::static_place(one.address);
  told.uses = uses_of_units(r);
  (void)::dl_iterate_phdr(add_module, &told.modules);
  if (!told.modules.empty()) told.program = told.modules.front().path;
  return told;
}

}  // namespace

base::status begin_record(runtime& r) {
  const std::string& directory = r.options.text(base::option::report);
  if (directory.empty()) return {};
  (void)::mkdir(directory.c_str(), 0777);
  const std::string path = path_of(r);
  if (!write_file(path, {})) {
    base::log(base::log_level::error, "cannot write the record of this node to %s (QUIRE_REPORT): %s", path.c_str(), std::strerror(errno));
    return QUIRE_BAD_OPTION;
  }
  r.core->recorder = record::recorder::make(base::now_ns(), r.core->config.nodes);
  if (r.core->recorder == nullptr) return QUIRE_NO_ADDRESSES;
  detect::keep_places();
  return {};
}

void write_record(runtime& r) {
  if (r.core->recorder == nullptr || !r.core->recorder->close()) return;
  const std::string path = path_of(r);
  if (!write_file(path, record::encode(tell(r))))
    base::log(base::log_level::warning, "cannot write the record of this node to %s: %s", path.c_str(), std::strerror(errno));
}

namespace {

bool usable(const char* call, const char* name) noexcept {
  const std::size_t length = name == nullptr ? 0 : ::strnlen(name, record::longest_name + 1);
  if (length != 0 && length <= record::longest_name) return true;
  (void)base::explain(QUIRE_INVALID, "%s(): the name %s", call, name == nullptr ? "is NULL" : length == 0 ? "is empty" : "has more than 63 characters");
  return false;
}

quire_status add_label(std::uint64_t address, std::uint64_t bytes, const char* name) {
  QUIRE_FORWARD(add_label, address, bytes, name);
  QUIRE_ENTER(r);
  if (!usable("quire_label", name)) return QUIRE_INVALID;
  const core::region_ref region = r->core->regions.find(address);
  if (region == nullptr || region->bytes_from(address) < bytes)
    return base::explain(QUIRE_BAD_ADDRESS, "quire_label(): the %lu bytes from 0x%lx on do not lie in one shared region", static_cast<unsigned long>(bytes),
                         static_cast<unsigned long>(address));
  if (r->core->recorder == nullptr || r->core->recorder->add_label(address, bytes, name)) return QUIRE_OK;
  return base::explain(QUIRE_LIMIT, "quire_label(): a node has at most %zu labels", record::most_labels);
}

quire_status begin_phase(const char* name) {
  QUIRE_FORWARD(begin_phase, name);
  QUIRE_ENTER(r);
  if (name != nullptr && !usable("quire_phase", name)) return QUIRE_INVALID;
  if (r->core->recorder == nullptr) return QUIRE_OK;
  (void)quire_thread();  // it has a number from now on
  core::thread_state& here = core::this_thread();
  if (r->core->recorder->on_phase(here.recorded, here.wants.thread, name != nullptr ? name : "", base::now_ns())) return QUIRE_OK;
  return base::explain(QUIRE_LIMIT, "quire_phase(): a node has at most %zu names of phases", record::most_phases);
}

}  // namespace
}  // namespace quire::api

quire_status quire_label(const void* address, uint64_t bytes, const char* name) {
  QUIRE_STARTED();
  if (bytes == 0) return quire::base::explain(QUIRE_INVALID, "quire_label(): no bytes");
  return quire::api::add_label(reinterpret_cast<std::uint64_t>(address), bytes, name);
}

quire_status quire_phase(const char* name) {
  QUIRE_STARTED();
  return quire::api::begin_phase(name);
}
