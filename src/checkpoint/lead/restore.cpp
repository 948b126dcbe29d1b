// SPDX-License-Identifier: BSD-3-Clause
// quire_restore(): a new job goes on from a checkpoint. Everything is read and checked before anything is changed, so
// that what is damaged is found while the one before can still be taken. Each node reads the units that it manages now,
// from the files of whichever nodes wrote them.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/lead/lead.hpp"
#include "container/service/service.hpp"
#include "gc/service/heaps.hpp"
#include "services/node/names.hpp"
#include "base/clock.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "checkpoint/content.hpp"
#include "checkpoint/store.hpp"
#include "core/configuration.hpp"
#include "core/hold.hpp"
#include "core/region_slot.hpp"
#include "core/sync_calls.hpp"
#include "services/checkpoint_call.hpp"

namespace quire::api {
namespace {

using checkpoint::outcome;

constexpr const char* restoring = "restore";
constexpr const char* restore_call = "quire_restore()";
constexpr const char* half_done = "; this job has taken a part of it, and must end";
constexpr std::uint64_t take_bytes = 4u << 20;

const checkpoint::region_row& row_of(const checkpoint::manifest& m, std::uint64_t region) {
  return *std::find_if(m.regions.begin(), m.regions.end(), [&](const auto& row) { return row.id == region; });
}

/// Content of the checkpoint whose units this node will manage.
struct piece {
  const checkpoint::region_row* region = nullptr;
  std::uint64_t first = 0, bytes = 0;  ///< in the region
  [[nodiscard]] std::uint64_t end() const noexcept { return first + bytes; }
};

/// All units of a grain have one manager. Where nodes kept neighbours of one page, their parts are one piece.
std::vector<piece> pieces_of(const checkpoint::opened& whole, const checkpoint::manifest& m, unsigned nodes,
                             model::node_id self) {
  std::vector<piece> mine;
  for (const checkpoint::node_reader& file : whole.files()) {
    for (const checkpoint::extent& e : file.extents()) {
      const checkpoint::region_row& row = row_of(m, e.region);
      const bool first_touch = row.placement == QUIRE_PLACE_FIRST_TOUCH;
      const auto managers = directory::manager_map::make(
          first_touch ? model::placement::block : static_cast<model::placement>(row.placement), nodes,
          row.bytes / row.grain(), model::node_id{static_cast<std::uint16_t>(row.home % nodes)});
      const auto is_mine = [&](std::uint64_t at) { return managers.of(at / row.grain()) == self; };
      const auto grain_end = [&](std::uint64_t at) { return std::min((at / row.grain() + 1) * row.grain(), e.end()); };
      for (std::uint64_t at = e.first, end = 0; at < e.end(); at = end) {
        end = grain_end(at);
        while (end < e.end() && is_mine(end) == is_mine(at)) end = grain_end(end);
        if (is_mine(at)) mine.push_back({&row, at, end - at});
      }
    }
  }
  std::sort(mine.begin(), mine.end(), [](const piece& a, const piece& b) {
    return a.region != b.region ? a.region < b.region : a.first < b.first;
  });
  std::vector<piece> joined;
  for (const piece& p : mine) {
    if (!joined.empty() && joined.back().region == p.region && joined.back().end() == p.first) {
      joined.back().bytes += p.bytes;
    } else {
      joined.push_back(p);
    }
  }
  return joined;
}

/// Whether this job, which has no regions but those that it began with, can hold what a checkpoint has.
outcome check_settings(const runtime& r, const checkpoint::manifest& m, const std::string& directory) {
  const auto& c = r.core->config;
  const core::region_description& heap = r.core->regions.slot(model::region_id{0})->about;
  const std::uint64_t views = r.options.number(base::option::heap_views);
  bool same = m.base == c.base && m.range_bytes == c.bytes && m.heap_views == views;
  r.core->regions.for_each([&](const core::region_slot& slot) {
    const core::region_description& d = slot.about;
    same = same && std::any_of(m.regions.begin(), m.regions.end(), [&](const checkpoint::region_row& row) {
             return row.id == d.id && row.base == d.base && row.bytes == d.bytes && row.unit_bytes == d.unit_bytes &&
                    row.views == d.views;
           });
  });
  if (same) return {};
  char text[600];
  std::snprintf(text, sizeof text,
                "%s was written by a job with QUIRE_BASE=0x%lx, QUIRE_RANGE=%luM, QUIRE_UNIT=%luK and "
                "QUIRE_HEAP_VIEWS=%lu; this one has 0x%lx, %luM, %luK "
                "and %lu. Start it with the same",
                directory.c_str(), static_cast<unsigned long>(m.base), static_cast<unsigned long>(m.range_bytes >> 20),
                static_cast<unsigned long>(m.regions.front().unit_bytes >> 10),
                static_cast<unsigned long>(m.heap_views), static_cast<unsigned long>(c.base),
                static_cast<unsigned long>(c.bytes >> 20), static_cast<unsigned long>(heap.unit_bytes >> 10),
                static_cast<unsigned long>(views));
  return {QUIRE_BAD_OPTION, text};
}

std::uint64_t bytes_of(const std::vector<piece>& all) {
  std::uint64_t bytes = 0;
  for (const piece& p : all) bytes += p.bytes;
  return bytes;
}

outcome check_content(checkpoint::content& from, std::uint64_t base, const std::vector<piece>& mine) {
  const std::uint64_t all = bytes_of(mine);
  std::uint64_t done = 0;
  progress_lines shown("restore: checking", all);
  std::vector<std::byte> buffer(take_bytes);
  for (const piece& p : mine) {
    for (std::uint64_t at = p.first, next = at; at < p.end(); at = next) {
      next = std::min((at / take_bytes + 1) * take_bytes, p.end());
      if (from.fill(p.region->base - base + at, std::span(buffer).first(next - at)) != 0) return from.why();
      shown.at(done += next - at);
    }
  }
  return {};
}

bool objects_of(std::span<const std::uint64_t> words, sync::saved_objects& all) {
  if (words.size() < 2 || words.size() % 2 != 0) return false;
  all.made = words[0];
  all.makers = words[1];
  for (std::size_t i = 2; i < words.size(); i += 2) all.objects.push_back({words[i], words[i + 1]});
  return true;
}

/// Changes nothing.
outcome check(runtime& r, const std::string& directory, checkpoint::opened& whole, std::vector<piece>& mine) {
  if (outcome why = whole.open(directory); !why.ok()) return why;
  if (outcome why = check_settings(r, whole.about(), directory); !why.ok()) return why;
  for (const checkpoint::region_row& row : whole.about().regions) {
    const protocol::row* const of =
        protocol::find(r.core->config.protocols, row.consistency & (checkpoint::region_row::has_copies - 1));
    if (of == nullptr || !of->can.checkpoint) {
      return {QUIRE_UNSUPPORTED,
              directory + " has a region with " + (of != nullptr ? of->name : "unknown") +
                  " consistency, which goes with no checkpoint: start the job with QUIRE_COMMIT=owners"};
    }
  }
  if (outcome why = r.containers->check_saved(directory, whole.about()); !why.ok()) return why;
  mine = pieces_of(whole, whole.about(), r.core->config.nodes, r.core->config.self);
  checkpoint::content content(whole);
  return check_content(content, whole.about().base, mine);
}

outcome failed(const std::string& directory, const std::string& what) {
  return {QUIRE_DAMAGED, directory + ": " + what};
}

/// The number of the container whose linker keeps the region; 0: none does.
std::uint16_t backing_of(const checkpoint::manifest& m, const checkpoint::region_row& row) {
  for (const checkpoint::container_row& c : m.containers) {
    if (c.region == row.handle() && c.where != checkpoint::container_row::content::region)
      return static_cast<std::uint16_t>(c.number);
  }
  return 0;
}

/// What is needed before content can come: the same on all nodes, but for what is each node's own.
outcome take_tables(runtime& r, const checkpoint::opened& whole, const checkpoint::manifest& m) {
  std::vector<std::span<const std::uint64_t>> heaps;
  std::vector<sync::saved_objects> objects(whole.files().size());
  for (std::size_t node = 0; node < whole.files().size(); ++node) {
    heaps.push_back(whole.files()[node].heap());
    if (!objects_of(whole.files()[node].objects(), objects[node]))
      return failed(whole.directory(), "its synchronisation objects make no sense");
  }
  std::string why;
  if (!r.core->objects.load(objects)) return failed(whole.directory(), "its synchronisation objects make no sense");
  std::vector<core::region_description> made;
  for (const checkpoint::region_row& row : m.regions) {
    if (r.core->regions.slot(model::region_id{static_cast<std::uint16_t>(row.id)}) != nullptr)
      continue;  // the job began with it
    core::region_description& about = made.emplace_back();
    about.base = row.base;
    about.bytes = row.bytes;
    about.unit_bytes = static_cast<std::uint32_t>(row.unit_bytes);
    about.id = static_cast<std::uint16_t>(row.id);
    about.home = static_cast<std::uint16_t>(row.home);
    about.placement = static_cast<std::uint8_t>(row.placement);
    about.consistency = static_cast<std::uint8_t>(row.consistency & (checkpoint::region_row::has_copies - 1));
    about.copies = (row.consistency & checkpoint::region_row::has_copies) != 0 ? 1 : 0;
    about.pool = static_cast<std::uint8_t>(row.pool);
    about.detector = static_cast<std::uint8_t>(row.detector);
    about.life = static_cast<std::uint32_t>(row.life);
    about.heap = static_cast<std::uint8_t>(row.heap);
    about.orders = static_cast<std::uint8_t>(row.orders);
    about.layout = static_cast<std::uint8_t>(row.layout);
    about.views = static_cast<std::uint16_t>(row.views);
    about.chunk = static_cast<std::uint16_t>(row.chunk);
    about.grouping = static_cast<std::uint8_t>(row.grouping);
    about.backing = backing_of(m, row);
    r.gc->on_restored(about);
    if (const auto why = r.regions->load_region(about); !why.ok()) {
      return {why.code(), whole.directory() + ": region " + std::to_string(row.id) + " cannot be made here"};
    }
  }
  if (!r.regions->load_heap(heaps, why)) return failed(whole.directory(), why);
  if (quire_node() == 0) {
    r.regions->others().load({m.next_base, m.next_id, m.gone}, made);
    r.names->load(m.names);
  }
  return {};
}

outcome take_content(runtime& r, const checkpoint::opened& whole, const std::vector<piece>& mine) {
  checkpoint::content from(whole);
  std::uint64_t done = 0;
  progress_lines shown("restore", bytes_of(mine));
  for (const piece& p : mine) {
    core::region_slot& slot = *r.core->regions.slot(model::region_id{static_cast<std::uint16_t>(p.region->id)});
    const core::unit_range units = slot.layout.under(p.first, p.bytes);
    if (slot.layout.offset_of(units.first) != p.first || slot.layout.offset_of(units.end) != p.end()) {
      return failed(whole.directory(), "its content does not fit the units of region " + std::to_string(p.region->id));
    }
    if (const auto why = r.core->holding.adopt(slot, units.first, units.count(), from); !why.ok())
      return from.why().ok() ? outcome{why.code(), "the content cannot be kept"} : from.why();
    shown.at(done += p.bytes);
  }
  return {};
}

/// Nothing has been made yet that would be in the way?
outcome check_unused(runtime& r) {
  if (!r.regions->is_used() && !r.core->objects.any() && r.names->save().empty()) return {};
  return {QUIRE_INVALID,
          "quire_restore() comes first: before memory, regions, names or synchronisation objects of this job are made"};
}

/// Containers have said on standard error what was wrong.
quire_status of_containers(quire_status why, const std::string& directory) noexcept {
  if (why == QUIRE_OK) return why;
  return base::explain_if_unsaid(
      why, "%s: a container of %s cannot be had again: the messages of the nodes say which, and why", restore_call,
      directory.c_str());
}

/// What this node does to go on from a checkpoint, as services/checkpoint_call.hpp says.
class restore_work {
 public:
  using work = services::checkpoint_restore::work;
  restore_work(runtime& r, const checkpoint_path& path, quire_status (*go_on)())
      : runtime_(r), path_(path), go_on_(go_on) {}

  quire_status does(work what, bool taken) {
    switch (what) {
      case work::meet: {
        const quire_status why =
            agree_and_explain(restore_call, restoring, std::exchange(mine_, {}), taken ? half_done : "");
        if (why != QUIRE_OK && first_words_.empty()) first_words_ = base::detail();
        return why;
      }
      case work::path:
        return agree_on_path(path_);
      case work::choose:
        return choose();
      case work::link:
        all_ = whole_->about();
        return of_containers(runtime_.containers->link_saved(directory_, all_), directory_);
      case work::load:
        return of_containers(runtime_.containers->load(*whole_, all_), directory_);
      default:
        mine_ = do_own(what);
        return mine_.code;
    }
  }
  /// Of the newest that was tried.
  [[nodiscard]] const std::string& first_words() const noexcept { return first_words_; }
  void tell(unsigned passed_over) const {
    if (passed_over != 0)
      base::log(base::log_level::warning, "%s: took %s instead, which is older", restoring, directory_.c_str());
    base::log(quire_node() == 0 ? base::log_level::info : base::log_level::debug,
              "goes on from %s, written by %zu nodes", directory_.c_str(), whole_->files().size());
  }

 private:
  outcome do_own(work what) {
    switch (what) {
      case work::look:
        return check_unused(runtime_);
      case work::list:
        return checkpoint::list_generations(path_.text, numbers_);
      case work::check:
        mine_pieces_.clear();
        return check(runtime_, directory_, whole_.emplace(), mine_pieces_);
      case work::tables:
        return take_tables(runtime_, *whole_, all_);
      case work::content:
        mine_pieces_ = pieces_of(*whole_, all_, runtime_.core->config.nodes, runtime_.core->config.self);
        std::erase_if(mine_pieces_,
                      [&](const piece& p) { return backing_of(all_, *p.region) != 0; });  // their linkers get it
        return take_content(runtime_, *whole_, mine_pieces_);
      default: {
        const quire_status tasks = go_on_();
        return tasks == QUIRE_OK ? outcome{} : outcome{tasks, directory_ + ": its tasks cannot go on"};
      }
    }
  }
  quire_status choose() {
    std::uint64_t number = tried_ < numbers_.size() ? numbers_[tried_] : 0;  // of node 0
    ++tried_;
    if (const quire_status why = quire_broadcast(&number, sizeof number, 0); why != QUIRE_OK) return why;
    directory_ = checkpoint::generation_path(path_.text, number);
    return number != 0 ? QUIRE_OK : QUIRE_NOT_FOUND;
  }

  runtime& runtime_;
  const checkpoint_path& path_;
  quire_status (*const go_on_)();
  std::vector<std::uint64_t> numbers_{};  ///< of node 0
  std::size_t tried_ = 0;
  std::string directory_{}, first_words_{};
  std::optional<checkpoint::opened> whole_{};
  checkpoint::manifest all_{};  ///< as this job has it
  std::vector<piece> mine_pieces_{};
  outcome mine_{};
};

}  // namespace

quire_status restore(runtime& r, const checkpoint_path& path, quire_status (*go_on)()) {
  restore_work here(r, path, go_on);
  services::checkpoint_restore steps(quire_node() == 0);
  auto next = steps.begin();
  auto last = next.what;
  quire_status done = QUIRE_OK;
  while (next.what != restore_work::work::over) {
    last = next.what;
    done = here.does(last, steps.taken());
    next = steps.on_done(done);
  }
  if (next.why == QUIRE_OK) return here.tell(steps.passed_over()), QUIRE_OK;
  if (last != restore_work::work::choose || done != QUIRE_NOT_FOUND) return next.why;  // it has said what was wrong
  if (steps.passed_over() == 0)
    return base::explain(next.why, "%s: there is no checkpoint in %s", restore_call, path.text);
  return base::explain(next.why, "%s%s", here.first_words().c_str(),
                       steps.passed_over() > 1 ? "; nor can an older one be taken" : "");
}

}  // namespace quire::api
