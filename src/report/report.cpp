// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <link.h>
#include <quire/report.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "runtime/range.hpp"
#include "runtime/forward.hpp"
#include "services/node/names.hpp"
#include "report/sharing.hpp"
#include "report/sites.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/counter_table.hpp"
#include "core/region_slot.hpp"
#include "detect/fault_place.hpp"
#include "detect/python_place.hpp"
#include "races/recorder.hpp"
#include "record/events.hpp"
#include "record/file.hpp"
#include "record/recorder.hpp"
#include "record/tell.hpp"

namespace quire::api {
namespace {

std::string path_of(const runtime& r) {
  return r.options.text(base::option::report) + '/' + record::file_name(static_cast<std::uint64_t>(r.job->node()));
}

/// Beside it, until it is written: what is recorded, where nobody looks after this node.
std::string memory_path_of(const runtime& r) {
  return r.options.text(base::option::report) + '/' + record::memory_name(static_cast<std::uint64_t>(r.job->node()));
}

bool write_file(const std::string& path, std::span<const std::byte> content) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return false;
  const bool good = content.empty() || std::fwrite(content.data(), 1, content.size(), file) == content.size();
  return std::fclose(file) == 0 && good;
}

/// The program's file where `quire exec` has mapped it itself. It says so in the environment until the program begins,
/// so this is read as the library is loaded.
const std::string placed_program = [] {
  const char* const told = std::getenv("QUIRE_EXEC_FILE");
  return std::string(told != nullptr ? told : "");
}();

std::string program_file() {
  if (!placed_program.empty()) return placed_program;
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  return {path.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

int add_module(dl_phdr_info* about, std::size_t, void* to) {
  record::file_module m;
  m.path = about->dlpi_name;
  // Else the kernel's, which has no file.
  if (m.path.empty() && static_cast<std::vector<record::file_module>*>(to)->empty()) m.path = program_file();
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
    told.regions.push_back({slot.about.id,
                            slot.about.base,
                            slot.about.bytes,
                            slot.layout.most_bytes(),
                            slot.consistency() == QUIRE_RELEASE ? 1u : 0u,
                            {}});
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

/// Who the node is, and what is loaded.
record::node_record about(const runtime& r) {
  record::node_record told;
  told.node = static_cast<std::uint64_t>(r.job->node());
  told.nodes = static_cast<std::uint64_t>(r.job->nodes());
  told.untimed = r.core->config.detector == detect::kind::userfault_thread ? 1 : 0;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) told.host = host.data();
  (void)::dl_iterate_phdr(add_module, &told.modules);
  if (!told.modules.empty()) told.program = told.modules.front().path;
  return told;
}

record::node_record tell(runtime& r) {
  record::node_record told = about(r);
  // The driver writes maps and peers.
  r.core->as_driver([&] {
    record::tell(r.core->recorder->all(), base::now_ns(), record::state_of_node::runs, told);
    tell_regions(r, told);
  });
  for (record::file_region& one : told.regions) one.data = sites::static_place(one.address);
  told.uses = uses_of_units(r);
  for (std::size_t i = 0; i < detect::python_lines(); ++i)
    if (const auto line = detect::python_line_at(i); line.number != 0)
      told.interpreted.push_back(
          {detect::first_line + i, static_cast<std::uint64_t>(line.number), line.file, line.function});
  return told;
}

}  // namespace

base::status begin_events(runtime& r) {
  const std::string& directory = r.options.text(base::option::events);
  if (directory.empty()) return {};
  (void)::mkdir(directory.c_str(), 0777);
  int error = 0;
  r.core->events = record::events::make(directory, static_cast<unsigned>(r.job->node()), r.core->config.nodes, error);
  if (r.core->events != nullptr) return {};
  base::log(base::log_level::error, "cannot write what happens on this node to %s (QUIRE_EVENTS): %s",
            directory.c_str(), std::strerror(error));
  return QUIRE_BAD_OPTION;
}

void end_events(runtime& r) {
  if (r.core->events != nullptr)
    (void)r.core->events->add_of_thread(record::event_type::ends, 0, core::this_thread().event_thread);
}

base::status begin_record(runtime& r) {
  const std::string& directory = r.options.text(base::option::report);
  if (directory.empty()) return {};
  (void)::mkdir(directory.c_str(), 0777);
  const std::string path = path_of(r);
  if (!write_file(path, {})) {
    base::log(base::log_level::error, "cannot write the record of this node to %s (QUIRE_REPORT): %s", path.c_str(),
              std::strerror(errno));
    return QUIRE_BAD_OPTION;
  }
  if (r.core->config.races != protocol::traced::nothing) {
    const auto node = static_cast<std::uint64_t>(r.job->node());
    const std::string intervals = directory + '/' + races::file_name(node);
    r.core->races = races::recorder::make(intervals, {node, r.core->config.nodes});
    if (r.core->races == nullptr) {
      base::log(base::log_level::error, "cannot write the record of this node's intervals to %s (QUIRE_CHECK): %s",
                intervals.c_str(), std::strerror(errno));
      return QUIRE_BAD_OPTION;
    }
  }
  const std::string kept = r.job->keeps_records() ? std::string() : memory_path_of(r);
  r.core->recorder = record::recorder::make(base::now_ns(), r.core->config.nodes, kept);
  if (r.core->recorder == nullptr) return QUIRE_NO_ADDRESSES;
  r.core->recorder->set_about(record::encode(about(r)));
  // A path that is not absolute is the node's, not that of who looks after it.
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  if (r.core->recorder->descriptor() >= 0 && !error) r.job->keep_record(r.core->recorder->descriptor(), whole.string());
  detect::keep_places();
  return {};
}

void write_record(runtime& r) {
  if (r.core->recorder == nullptr || !r.core->recorder->close()) return;
  if (r.core->races != nullptr) r.core->as_driver([&] { r.core->races->close(); });
  const std::string path = path_of(r);
  if (!write_file(path, record::encode(tell(r)))) {
    base::log(base::log_level::warning, "cannot write the record of this node to %s: %s", path.c_str(),
              std::strerror(errno));
  } else if (!r.job->keeps_records()) {
    (void)::unlink(memory_path_of(r).c_str());
  }
}

namespace {

quire_status add_label(std::uint64_t address, std::uint64_t bytes, const char* name) {
  QUIRE_FORWARD(add_label, address, bytes, name);
  QUIRE_ENTER(r);
  if (!is_name("quire_label", name)) return QUIRE_INVALID;
  const core::region_ref region = r->core->regions.find(address);
  if (region == nullptr || region->bytes_from(address) < bytes)
    return base::explain(QUIRE_BAD_ADDRESS,
                         "quire_label(): the %lu bytes from 0x%lx on do not lie in one shared region",
                         static_cast<unsigned long>(bytes), static_cast<unsigned long>(address));
  if (r->core->recorder == nullptr || r->core->recorder->add_label(address, bytes, name)) return QUIRE_OK;
  return base::explain(QUIRE_LIMIT, "quire_label(): a node has at most %zu labels", record::most_labels);
}

quire_status begin_phase(const char* name) {
  QUIRE_FORWARD(begin_phase, name);
  QUIRE_ENTER(r);
  if (name != nullptr && !is_name("quire_phase", name)) return QUIRE_INVALID;
  if (r->core->recorder == nullptr) return QUIRE_OK;
  (void)quire_thread();  // it has a number from now on
  core::thread_state& here = core::this_thread();
  if (r->core->recorder->on_phase(here.recorded, here.wants.thread, name != nullptr ? name : "", base::now_ns()))
    return QUIRE_OK;
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
