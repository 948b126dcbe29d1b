// SPDX-License-Identifier: BSD-3-Clause
// quire_checkpoint(): all nodes write what they keep, each to a file of its own, while the engine holds it still; node
// 0 makes the directory before and the checkpoint valid afterwards (src/checkpoint/store.hpp says how nothing is lost
// in between).
#include <algorithm>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

#include "checkpoint/lead/lead.hpp"
#include "container/service/service.hpp"
#include "services/node/names.hpp"
#include "base/clock.hpp"
#include "base/copy_words.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "checkpoint/store.hpp"
#include "core/configuration.hpp"
#include "core/hold.hpp"
#include "core/region_slot.hpp"
#include "core/sync_calls.hpp"
#include "services/checkpoint_call.hpp"

namespace quire::api {
namespace {

using checkpoint::outcome;
using kept_run = core::kept_run;

constexpr const char* saving = "checkpoint";
constexpr const char* save_call = "quire_checkpoint()";
constexpr const char* go_on = "; checkpoints before are as they were";
constexpr std::uint64_t write_bytes = 16u << 20;

/// Gives `value` of node `root` to all.
template <class T>
quire_status spread(T& value, int root) {
  static_assert(sizeof value <= 64 && std::is_trivially_copyable_v<T>);
  return quire_broadcast(&value, sizeof value, root);
}

checkpoint::region_row row_of(const core::region_slot& r) {
  const core::region_description& d = r.about;
  const auto consistency =
      static_cast<std::uint64_t>(r.consistency()) | (d.copies != 0 ? checkpoint::region_row::has_copies : 0);
  return {d.id,       d.base, d.bytes, d.unit_bytes, d.placement, d.home,  consistency, d.pool,
          d.detector, d.life, d.heap,  d.orders,     d.layout,    d.views, d.chunk,     d.grouping};
}

/// Writes the content of one run, in steps.
class content_writer {
 public:
  content_writer(core::core& core, checkpoint::node_writer& to, std::uint64_t all_bytes)
      : core_(core), to_(to), shown_(saving, all_bytes) {}
  outcome write(const kept_run& run) {
    const core::region_slot& r = *run.region;
    const std::uint64_t grain = row_of(r).grain();
    for (std::uint64_t unit = run.first, end = run.first + run.count, next = end; unit < end; unit = next) {
      next = std::min(unit + r.layout.fitting(unit, write_bytes), end);
      const std::size_t bytes = r.bytes_of(unit, next - unit);
      std::span<const std::byte> content(r.system(unit), bytes);
      // What is not in memory, and what threads may be changing at this moment, goes by way of a buffer.
      if (!run.in_memory || r.scans()) {
        buffer_.resize(write_bytes);
        if (!run.in_memory) {
          if (const int error = core_.holding.read_paged_out(r, unit, std::span(buffer_).first(bytes)); error != 0) {
            return checkpoint::refused(
                "read", std::string("the ") + (r.store != nullptr ? r.store->name() : r.backing->name()), error);
          }
        } else {
          base::copy_words(buffer_.data(), content.data(), bytes);
        }
        content = std::span(buffer_).first(bytes);
      }
      // What a linker keeps may be something else where memory has zeroes.
      if (outcome why = to_.add(r.about.id, r.layout.offset_of(unit), grain, content, r.about.backing != 0); !why.ok())
        return why;
      shown_.at(done_ += bytes);
    }
    return {};
  }

 private:
  core::core& core_;
  checkpoint::node_writer& to_;
  progress_lines shown_;
  std::vector<std::byte> buffer_{};
  std::uint64_t done_ = 0;
};

std::vector<std::uint64_t> words_of(const sync::saved_objects& all) {
  std::vector<std::uint64_t> words = {all.made, all.makers};
  for (const sync::saved_object& o : all.objects) words.insert(words.end(), {o.id, o.value});
  return words;
}

/// What this node keeps: of regions, and of containers whose linkers are saved page by page. Not of those that nobody
/// writes.
std::vector<kept_run> runs_of(runtime& r, const checkpoint::manifest& m) {
  std::vector<kept_run> runs = r.core->holding.kept();
  std::erase_if(runs, [&](const kept_run& run) {
    return std::any_of(m.containers.begin(), m.containers.end(), [&](const checkpoint::container_row& c) {
      return c.where == checkpoint::container_row::content::linker && c.region == handle_of(run.region->about);
    });
  });
  const std::vector<kept_run> more = r.containers->kept_by_linkers(m);
  runs.insert(runs.end(), more.begin(), more.end());
  return runs;
}

/// `m`: has the containers, and gets the copies of those whose I/O this node does.
outcome write_node(runtime& r, const std::string& directory, const checkpoint::identity& what, checkpoint::manifest& m,
                   checkpoint::file_row& row) {
  if (outcome why = r.containers->copy_files(directory, m); !why.ok()) return why;
  checkpoint::node_writer file;
  if (outcome why = file.make(directory, what, static_cast<std::size_t>(quire_node())); !why.ok()) return why;
  const std::vector<kept_run> runs = runs_of(r, m);
  std::uint64_t all_bytes = 0;
  for (const kept_run& run : runs) all_bytes += run.region->bytes_of(run.first, run.count);
  content_writer content(*r.core, file, all_bytes);
  for (const kept_run& run : runs) {
    if (outcome why = content.write(run); !why.ok()) return why;
  }
  std::vector<std::uint64_t> heap;
  r.regions->save(heap);
  return file.finish(heap, words_of(r.core->objects.save()), row);
}

/// Node 0: all that is not the nodes' own.
void describe(runtime& r, const checkpoint::identity& what, checkpoint::manifest& m) {
  m.what = what;
  m.written_s = static_cast<std::uint64_t>(std::time(nullptr));
  m.base = r.base;
  m.range_bytes = r.bytes;
  const region::keeper::saved next = r.regions->others().save();
  m.next_base = next.next_base;
  m.next_id = next.next_id;
  m.gone = next.gone;
  m.heap_views = r.options.number(base::option::heap_views);
  r.core->regions.for_each([&](const core::region_slot& slot) { m.regions.push_back(row_of(slot)); });
  m.names = r.names->save();
}

/// Node 0 learns of the copies of others.
quire_status gather_copies(checkpoint::manifest& m) {
  for (checkpoint::container_row& row : m.containers) {
    if (row.where != checkpoint::container_row::content::copy) continue;
    std::uint64_t copy[] = {row.bytes, row.has_checksum, row.checksum};
    if (const quire_status why = quire_broadcast(copy, sizeof copy, static_cast<int>(row.home)); why != QUIRE_OK)
      return why;
    row.bytes = copy[0];
    row.has_checksum = copy[1];
    row.checksum = copy[2];
  }
  return QUIRE_OK;
}

quire_status hold_content(runtime& r) {
  const quire_status why = r.core->holding.hold().code();
  if (why == QUIRE_OK) return why;
  base::log(base::log_level::error, "%s: %s", saving,
            why == QUIRE_INVALID ? "not inside of a parallel block: end it first (quire_block_end)"
            : why == QUIRE_BUSY  ? "units are pinned: release them first (quire_unpin)"
                                 : quire_status_text(why));
  if (why == QUIRE_INVALID)
    (void)base::explain(why, "quire_checkpoint(): a parallel block is under way; end it first (quire_block_end())");
  if (why == QUIRE_BUSY)
    (void)base::explain(
        why, "%s: a thread of some node has pinned units (quire_pin()); release them first (quire_unpin())", save_call);
  return why;
}

/// What this node does for a checkpoint, as services/checkpoint_call.hpp says.
class save_work {
 public:
  using work = services::checkpoint_save::work;
  save_work(runtime& r, const checkpoint_path& path) : runtime_(r), path_(path) {}

  quire_status does(work what) {
    switch (what) {
      case work::meet:
        return agree_and_explain(save_call, saving, std::exchange(mine_, {}), std::exchange(advice_, go_on));
      case work::path:
        return agree_on_path(path_);
      case work::identity:
        if (attempt_) what_ = attempt_->what();
        return spread(what_, 0);
      case work::hold:
        return hold_content(runtime_);
      case work::gather:
        return gather();
      case work::let_go:
        return runtime_.core->holding.let_go(), QUIRE_OK;
      case work::hold_names:
        return runtime_.containers->hold_names(), QUIRE_OK;
      case work::let_names_go:
        return runtime_.containers->let_names_go(), QUIRE_OK;
      case work::abandon:
        return attempt_.reset(), QUIRE_OK;
      case work::prune:
        return prune(), QUIRE_OK;
      default:
        mine_ = do_own(what);
        return mine_.code;
    }
  }

 private:
  outcome do_own(work what) {
    switch (what) {
      case work::begin: {
        const outcome begun = attempt_.emplace().begin(path_.text);
        if (begun.code == QUIRE_BUSY) advice_ = "";
        return begun;
      }
      case work::describe:
        return runtime_.containers->describe(all_);
      case work::sync:
        return runtime_.containers->sync_files(all_);
      case work::write:
        if (quire_node() == 0) describe(runtime_, what_, all_);
        return write_node(runtime_, checkpoint::unfinished_path(path_.text, what_.generation), what_, all_, row_);
      default:
        return attempt_->commit(all_);
    }
  }
  quire_status gather() {
    quire_status why = gather_copies(all_);
    for (int node = 0; why == QUIRE_OK && node < quire_nodes(); ++node) {
      checkpoint::file_row row = row_;
      why = spread(row, node);
      all_.files.push_back(row);
    }
    return why;
  }
  /// The new one is valid, whatever becomes of the old ones.
  void prune() {
    const outcome pruned =
        attempt_->prune(static_cast<unsigned>(runtime_.options.number(base::option::checkpoint_keep)));
    if (!pruned.ok()) base::log(base::log_level::warning, "%s: %s", saving, pruned.text.c_str());
    std::uint64_t bytes = 0;
    for (const checkpoint::file_row& f : all_.files) bytes += f.bytes;
    base::log(base::log_level::info, "checkpoint %lu in %s: %lu MiB of %d nodes in %lu ms",
              static_cast<unsigned long>(what_.generation), path_.text, static_cast<unsigned long>(bytes >> 20),
              quire_nodes(), static_cast<unsigned long>((base::now_ns() - begin_ns_) / 1'000'000));
  }

  runtime& runtime_;
  const checkpoint_path& path_;
  const std::uint64_t begin_ns_ = base::now_ns();
  std::optional<checkpoint::attempt> attempt_{};  ///< of node 0
  checkpoint::identity what_{};
  checkpoint::manifest all_{};  ///< of containers on all nodes, of all else on node 0
  checkpoint::file_row row_{};  ///< of this node
  outcome mine_{};
  const char* advice_ = go_on;
};

}  // namespace

quire_status save(runtime& r, const checkpoint_path& path) {
  r.regions
      ->settle_frees();  // before the first meeting: what any thread here has freed before is free in the checkpoint
  save_work here(r, path);
  services::checkpoint_save steps(quire_node() == 0);
  auto next = steps.begin();
  while (next.what != save_work::work::over) next = steps.on_done(here.does(next.what));
  return next.why;
}

}  // namespace quire::api
