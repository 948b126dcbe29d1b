// SPDX-License-Identifier: BSD-3-Clause
// Containers in checkpoints. Memory has the heads (container_service.hpp), so a checkpoint has them, and the content of
// containers without a linker. The rest is here: which names there are, and what linkers have.
//
// A file that is written: while content is held still, the node that does its I/O copies the file into the checkpoint,
// and each node saves those units that memory has newer. Another linker's content is saved page by page as that of
// regions is: what memory has from there, the rest from the linker. At a restart the file gets the content of its copy,
// and what was saved of memory is flushed. A container that is read-only is not saved; at a restart it must be what it
// was.
#include <cerrno>
#include <cstring>

#include "checkpoint/meeting/agreement.hpp"
#include "services/node/answering.hpp"
#include "container/service/service.hpp"
#include "base/detail.hpp"
#include "checkpoint/container_copy.hpp"
#include "checkpoint/content.hpp"
#include "core/configuration.hpp"
#include "core/hold.hpp"
#include "core/host.hpp"
#include "core/region_slot.hpp"
#include "core/stored_units.hpp"
#include "os/durable_file.hpp"

namespace quire::api {

using checkpoint::container_row;
using checkpoint::outcome;
using model::message;
using where = container_row::content;

namespace {

constexpr const char* restoring_containers = "restore";
constexpr std::uint64_t read_bytes = 4u << 20;
constexpr std::uint64_t while_they_change_ns = 100'000;
constexpr const char* file_linker = "file";

std::string subject(const container_row& row) { return "container '" + row.name + "'"; }

/// Of a manifest, const or not.
template <class Manifest>
auto& region_of(Manifest& m, const container_row& row) {
  return *std::find_if(m.regions.begin(), m.regions.end(),
                       [&](const auto& r) { return r.handle() == row.region; });  // parse() has looked
}
std::string reason_of(std::uint64_t error) {
  return error != 0 && error < 4096 ? std::strerror(static_cast<int>(error)) : "it gave no reason";
}

constexpr const char* lost_name =
    "/";  ///< in a row, before the name that a container had when it was unlinked; none begins so
constexpr std::uint64_t unknown_bytes =
    UINT64_MAX;  ///< the linker does not say how long its content is (quire_linker::open)

}  // namespace

// ---- Writing

void container_service::hold_names() {
  for (bool changes = true;;) {
    core_.as_driver([&] { changes = !names_.hold(); });
    if (!changes) return;
    core_.host.pause(while_they_change_ns);
  }
}

void container_service::let_names_go() {
  core_.as_driver([&] {
    services::answers out;
    names_.let_go(out);
    send(core_, out);
  });
}

container_service::answer container_service::examine_here(const container_head& head) {
  if (std::string_view(head.linker) != file_linker) return {{}, head.linked_bytes, 0};
  os::input_file file;
  std::uint64_t bytes = 0, changed_ns = 0;
  int error = file.open(head.what);
  if (error == 0) error = file.size(bytes);
  if (error == 0) error = file.changed(changed_ns);
  return {error == 0 ? QUIRE_OK : status_of_errno(error), error == 0 ? bytes : static_cast<std::uint64_t>(error),
          changed_ns};
}

outcome container_service::describe(checkpoint::manifest& m) {
  outcome worst;
  const auto why = for_each_head([&](std::uint16_t number, const container_head& head) {
    container_row row;
    row.number = number;
    row.region = head.region;
    row.name = (head.there == named ? "" : lost_name) + std::string(head.name);
    row.linker = head.linked != 0 ? head.linker : "";
    row.what = head.what;
    row.all = head.all;
    row.home = head.home;
    row.where = head.linked == 0            ? where::region
                : head.read_only != 0       ? where::linker
                : row.linker == file_linker ? where::copy
                                            : where::pages;
    if (row.where == where::linker && core_.config.self.value() == 0) {
      const answer got = ask(head.home, io_order::examine, number, 0);
      if (!got.why.ok() && worst.ok())
        worst = {QUIRE_SYSTEM, subject(row) + ": cannot look at " + row.what + ": " + reason_of(got.a)};
      row.bytes = got.a;
      row.changed_ns = got.b;
    }
    m.containers.push_back(std::move(row));
    return false;
  });
  m.heads = heads_.load(std::memory_order_acquire);
  return why.ok() ? worst : outcome{why.code(), "node 0 does not tell which containers there are"};
}

std::vector<core::kept_run> container_service::kept_by_linkers(const checkpoint::manifest& m) {
  std::vector<core::kept_run> all;
  for (const container_row& row : m.containers) {
    const auto l = row.where == where::pages ? link_of(static_cast<std::uint16_t>(row.number)) : nullptr;
    if (l == nullptr) continue;
    const auto runs = core_.holding.kept_in_backing(*core_.regions.of_handle(row.region), l->end());
    all.insert(all.end(), runs.begin(), runs.end());
  }
  return all;
}

outcome container_service::sync_files(const checkpoint::manifest& m) {
  for (const container_row& row : m.containers) {
    if (row.where != where::copy || row.all == 0) continue;
    if (const int error = os::sync_file(row.what); error != 0)
      return {QUIRE_SYSTEM, subject(row) + ": cannot write " + row.what + ": " + std::strerror(error)};
  }
  return {};
}

outcome container_service::copy_files(const std::string& directory, checkpoint::manifest& m) {
  for (container_row& row : m.containers) {
    if (row.where != where::copy || row.home != core_.config.self.value()) continue;
    if (outcome why = checkpoint::copy_container(directory, row); !why.ok())
      return {why.code, subject(row) + ": " + why.text};
  }
  return {};
}

// ---- Restart

bool container_service::is_home_of(const container_row& row) const noexcept {
  return row.where != where::region && row.home % core_.config.nodes == core_.config.self.value();
}

outcome container_service::check_saved(const std::string& directory, const checkpoint::manifest& m) {
  for (const container_row& row : m.containers) {
    if (!is_home_of(row)) continue;
    if (outcome why = check_one(directory, row); !why.ok()) return why;
  }
  return {};
}

/// At its home.
outcome container_service::check_one(const std::string& directory, const container_row& row) {
  if (linkers_.find(row.linker) == nullptr) {
    return {QUIRE_NOT_FOUND, subject(row) + " needs linker '" + row.linker +
                                 "': register it before quire_restore() (quire_linker_register())"};
  }
  if (row.where == where::copy) return checkpoint::check_copy(directory, row);
  if (row.where != where::linker || row.linker != file_linker) return {};
  os::input_file file;
  std::uint64_t bytes = 0, changed_ns = 0;
  int error = file.open(row.what);
  if (error == 0) error = file.size(bytes);
  if (error == 0) error = file.changed(changed_ns);
  if (error != 0)
    return {QUIRE_INVALID, subject(row) + ": " + row.what + " cannot be read any more: " + std::strerror(error)};
  if (bytes == row.bytes && changed_ns == row.changed_ns) return {};
  const std::string how = bytes != row.bytes
                              ? "it has " + std::to_string(bytes) + " bytes instead of " + std::to_string(row.bytes)
                              : "it was written since";
  return {QUIRE_INVALID, subject(row) + " is read-only, and " + row.what + " is not what it was at the checkpoint in " +
                             directory + ": " + how};
}

/// Nodes that reach the same content share the I/O, if all of them did; else the home does it.
quire_status container_service::share_out_saved(checkpoint::manifest& m) {
  for (container_row& row : m.containers) {
    row.home %= core_.config.nodes;
    if (row.all == 0) continue;
    const quire_linker* const l = linkers_.find(row.linker);
    std::uint64_t identity = 1;
    const bool reaches =
        l != nullptr &&
        (l->identify == nullptr || container::link::identify(*l, {row.name.c_str(), row.what.c_str()}, identity) == 0);
    const auto number = static_cast<std::int64_t>(identity >> 2);
    std::int64_t values[] = {reaches ? 0 : 1, number, -number};
    if (const quire_status why = quire_reduce_i64(values, 3, QUIRE_MAX); why != QUIRE_OK) return why;
    row.all = values[0] == 0 && values[1] == -values[2] ? 1 : 0;
  }
  for (const container_row& row : m.containers) {
    if (row.where == where::region) continue;
    checkpoint::region_row& region = region_of(m, row);
    region.placement = row.all != 0 ? QUIRE_PLACE_MODULO : QUIRE_PLACE_NODE;
    region.home = row.all != 0 ? 0 : row.home;
  }
  return QUIRE_OK;
}

outcome container_service::link_one(const container_row& row, const checkpoint::manifest& m, bool creates) {
  const quire_linker* const l = linkers_.find(row.linker);
  if (l == nullptr)
    return {QUIRE_NOT_FOUND,
            subject(row) + " needs linker '" + row.linker + "': register it before quire_restore() on all nodes"};
  const unsigned flags = row.where == where::linker ? unsigned{QUIRE_CONTAINER_READ_ONLY}
                         : creates                  ? unsigned{QUIRE_CONTAINER_CREATE}
                                                    : 0;
  std::uint64_t bytes = 0;
  int error = 0;
  auto made = container::link::open(*l, {row.name.c_str(), row.what.c_str()}, flags, bytes, error);
  if (made == nullptr) {
    return {status_of_errno(error),
            subject(row) + ": linker '" + row.linker + "' cannot open '" + row.what + "': " + std::strerror(error)};
  }
  if (row.where == where::linker && bytes != row.bytes && bytes != unknown_bytes) {
    return {QUIRE_INVALID, subject(row) + " is read-only, and '" + row.what + "' of linker '" + row.linker +
                               "' is not what it was: it has " + std::to_string(bytes) + " bytes instead of " +
                               std::to_string(row.bytes)};
  }
  if (bytes == unknown_bytes) bytes = row.bytes;
  made->begin({region_of(m, row).unit_bytes, row.all != 0 ? core_.config.nodes : 1, core_.config.self.value()}, bytes);
  core_.stored.offer(static_cast<std::uint16_t>(row.number), std::make_unique<container::linked_store>(made));
  const std::lock_guard guard(mutex_);
  links_[row.number] = std::move(made);
  return {};
}

quire_status container_service::link_saved(const std::string& directory, checkpoint::manifest& m) {
  if (m.containers.empty()) return QUIRE_OK;
  outcome mine;
  for (const container_row& row : m.containers) {
    if (mine.ok() && row.where == where::copy && is_home_of(row)) mine = checkpoint::put_container_back(directory, row);
  }
  if (const quire_status why = agree(restoring_containers, mine); why != QUIRE_OK) return why;
  if (const quire_status why = share_out_saved(m); why != QUIRE_OK) return why;
  for (const bool first : {true, false}) {  // who comes later finds what the first has made
    for (const container_row& row : m.containers) {
      const bool now = first ? is_home_of(row) : row.where != where::region && row.all != 0 && !is_home_of(row);
      if (mine.ok() && now) mine = link_one(row, m, first);
    }
    if (const quire_status why = agree(restoring_containers, mine); why != QUIRE_OK) return why;
  }
  return QUIRE_OK;
}

/// What this node does the I/O of. Everything, where the linker was saved page by page; else what memory had newer than
/// the file.
outcome container_service::refill(const checkpoint::opened& from, const container_row& row,
                                  const checkpoint::region_row& region) {
  const auto l = link_of(static_cast<std::uint16_t>(row.number));
  if (l == nullptr || row.where == where::linker) return {};
  const std::uint64_t end = head_of(static_cast<std::uint16_t>(row.number))->bytes, unit = region.unit_bytes;
  l->set_end(end);
  checkpoint::content content(from);
  const auto is_mine = [&](std::uint64_t at) {
    return row.all == 0 || at / unit % core_.config.nodes == core_.config.self.value();
  };
  std::vector<std::byte> buffer(std::max(unit, row.all != 0 ? unit : read_bytes / unit * unit));
  const auto flush = [&](std::uint64_t first, std::uint64_t bytes) -> outcome {
    const std::uint64_t last =
        l->linker().grain == 0 ? end : (end + l->linker().grain - 1) / l->linker().grain * l->linker().grain;
    for (std::uint64_t at = first, next = at; at < std::min(first + bytes, last); at = next) {
      next = std::min({first + bytes, last, (at / buffer.size() + 1) * buffer.size()});
      if (!is_mine(at)) continue;
      const std::span<std::byte> piece = std::span(buffer).first(next - at);
      if (content.fill(region.base - from.about().base + at, piece) != 0) return content.why();
      if (at + piece.size() > end) std::memset(piece.data() + (end - at), 0, piece.size() - (end - at));
      if (const int error = l->flush(at, piece); error != 0) return checkpoint::refused("write", row.what, error);
    }
    return {};
  };
  outcome why;
  if (row.where == where::pages) why = flush(0, end);
  for (const checkpoint::node_reader& file : from.files()) {
    for (const checkpoint::extent& e : file.extents()) {
      if (row.where == where::copy && e.region == region.id && why.ok()) why = flush(e.first, e.bytes);
    }
  }
  if (!why.ok()) return why;
  const int error = l->sync();
  return error == 0 ? outcome{} : checkpoint::refused("write", row.what, error);
}

quire_status container_service::load(const checkpoint::opened& from, const checkpoint::manifest& m) {
  if (m.heads == 0) return QUIRE_OK;
  heads_.store(m.heads, std::memory_order_release);
  if (core_.config.self.value() == 0) {
    core_.as_driver([&] {
      names_.load_heads(m.heads);
      for (const container_row& row : m.containers)
        names_.load(row.name.starts_with(lost_name) ? "" : row.name, static_cast<std::uint16_t>(row.number));
    });
  }
  outcome mine;
  for (const container_row& row : m.containers) {
    container_head& head = *head_of(static_cast<std::uint16_t>(row.number));
    if (!is_home_of(row)) continue;
    head.all = static_cast<std::uint32_t>(row.all);
    head.home = static_cast<std::uint32_t>(row.home);
    if (!mine.ok() || row.where != where::pages || (head.can & QUIRE_LINK_TRUNCATE) == 0) continue;
    const auto l = link_of(static_cast<std::uint16_t>(row.number));
    if (const int error = l->tell_end(head.bytes); error != 0) mine = checkpoint::refused("truncate", row.what, error);
  }
  if (const quire_status why = agree(restoring_containers, mine); why != QUIRE_OK) return why;
  for (const container_row& row : m.containers) {
    if (mine.ok() && row.where != where::region) mine = refill(from, row, region_of(m, row));
  }
  if (const quire_status why = agree(restoring_containers, mine); why != QUIRE_OK) return why;
  for (const container_row& row : m.containers) {
    if (!is_home_of(row)) continue;
    container_head& head = *head_of(static_cast<std::uint16_t>(row.number));
    head.announced = head.bytes;
  }
  if (const quire_status why = agree(restoring_containers, {}); why != QUIRE_OK || core_.config.self.value() != 0)
    return why;
  for (const container_row& row : m.containers) {
    if (row.name.starts_with(lost_name))
      finish_opening(static_cast<std::uint16_t>(row.number));  // nobody has it open any more
  }
  return QUIRE_OK;
}

}  // namespace quire::api
