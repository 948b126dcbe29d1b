// SPDX-License-Identifier: BSD-3-Clause
// quire_checkpoint(): all nodes write what they keep, each to a file of its own, while the engine holds it still; node
// 0 makes the directory before and the checkpoint valid afterwards (src/checkpoint/store.hpp says how nothing is lost
// in between).
#include <algorithm>
#include <cstring>
#include <ctime>
#include <optional>
#include <vector>

#include "api/agreement.hpp"
#include "api/container_service.hpp"
#include "api/forward.hpp"
#include "api/names.hpp"
#include "base/clock.hpp"
#include "base/copy_words.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "checkpoint/store.hpp"
#include "core/configuration.hpp"
#include "core/hold.hpp"
#include "core/job_call.hpp"
#include "core/region_slot.hpp"
#include "core/sync_calls.hpp"

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

/// The steps of all nodes between begin and commit. `m`: of containers on all nodes, of all else on node 0.
quire_status write_all(runtime& r, const char* path, const checkpoint::identity& what, checkpoint::manifest& m) {
  quire_status why = r.core->holding.hold().code();
  if (why != QUIRE_OK) {
    base::log(base::log_level::error, "%s: %s", saving,
              why == QUIRE_INVALID ? "not inside of a parallel block: end it first (quire_block_end)"
              : why == QUIRE_BUSY  ? "units are pinned: release them first (quire_unpin)"
                                   : quire_status_text(why));
    if (why == QUIRE_INVALID)
      (void)base::explain(why, "quire_checkpoint(): a parallel block is under way; end it first (quire_block_end())");
    if (why == QUIRE_BUSY)
      (void)base::explain(
          why, "%s: a thread of some node has pinned units (quire_pin()); release them first (quire_unpin())",
          save_call);
    return why;
  }
  checkpoint::file_row mine;
  if (why = agree_and_explain(save_call, saving, r.containers->sync_files(m), go_on); why != QUIRE_OK) {
    r.core->holding.let_go();
    return why;
  }
  if (quire_node() == 0) describe(r, what, m);
  const outcome written = write_node(r, checkpoint::unfinished_path(path, what.generation), what, m, mine);
  // Nobody goes on before all have written: what a keeper has not written yet would be sent away, or change.
  why = agree_and_explain(save_call, saving, written, go_on);
  r.core->holding.let_go();
  if (why == QUIRE_OK) why = gather_copies(m);
  for (int node = 0; why == QUIRE_OK && node < quire_nodes(); ++node) {
    checkpoint::file_row row = mine;
    why = spread(row, node);
    m.files.push_back(row);
  }
  return why;
}

/// No container comes or goes. On node 0.
class names_hold {
 public:
  explicit names_hold(runtime& r) : containers_(quire_node() == 0 ? r.containers.get() : nullptr) {
    if (containers_ != nullptr) containers_->hold_names();
  }
  names_hold(const names_hold&) = delete;
  names_hold& operator=(const names_hold&) = delete;
  ~names_hold() {
    if (containers_ != nullptr) containers_->let_names_go();
  }

 private:
  container_service* const containers_;
};

quire_status save(runtime& r, const checkpoint_path& path) {
  const std::uint64_t begin_ns = base::now_ns();
  r.regions
      ->settle_frees();  // before the first meeting: what any thread here has freed before is free in the checkpoint
  if (const quire_status why = agree_on_path(path); why != QUIRE_OK) return why;
  const bool leads = quire_node() == 0;
  const names_hold names(r);
  checkpoint::attempt attempt;
  outcome step;
  if (leads) step = attempt.begin(path.text);
  if (const quire_status why = agree_and_explain(save_call, saving, step, step.code == QUIRE_BUSY ? "" : go_on);
      why != QUIRE_OK)
    return why;
  checkpoint::identity what = attempt.what();
  if (const quire_status why = spread(what, 0); why != QUIRE_OK) return why;
  checkpoint::manifest m;
  if (const quire_status why = agree_and_explain(save_call, saving, r.containers->describe(m), go_on); why != QUIRE_OK)
    return why;
  if (const quire_status why = write_all(r, path.text, what, m); why != QUIRE_OK) return why;
  step = {};
  if (leads) step = attempt.commit(m);
  if (const quire_status why = agree_and_explain(save_call, saving, step, go_on); why != QUIRE_OK) return why;
  if (!leads) return QUIRE_OK;
  // The new one is valid, whatever becomes of the old ones.
  const outcome pruned = attempt.prune(static_cast<unsigned>(r.options.number(base::option::checkpoint_keep)));
  if (!pruned.ok()) base::log(base::log_level::warning, "%s: %s", saving, pruned.text.c_str());
  std::uint64_t bytes = 0;
  for (const checkpoint::file_row& f : m.files) bytes += f.bytes;
  base::log(base::log_level::info, "checkpoint %lu in %s: %lu MiB of %d nodes in %lu ms",
            static_cast<unsigned long>(what.generation), path.text, static_cast<unsigned long>(bytes >> 20),
            quire_nodes(), static_cast<unsigned long>((base::now_ns() - begin_ns) / 1'000'000));
  return QUIRE_OK;
}

quire_status save_here(checkpoint_path path) {
  QUIRE_FORWARD(save_here, path);
  QUIRE_ENTER(r);
  if (r->core->config.survives) {
    (void)base::explain(QUIRE_UNSUPPORTED,
                        "%s: no checkpoints in a job that goes on when a node is lost: set QUIRE_ON_FAILURE to end",
                        save_call);
    base::log(base::log_level::error, "%s", base::detail());
    return QUIRE_UNSUPPORTED;
  }
  const core::job_call together(*r->core, sync::meeting::checkpoint, "quire_checkpoint", quire_thread());
  return together.status().ok() ? save(*r, path) : together.status().code();
}

}  // namespace
}  // namespace quire::api

quire_status quire_checkpoint(const char* path) {
  QUIRE_STARTED();
  const quire::api::checkpoint_path whole = quire::api::make_checkpoint_path(path);
  return quire::api::explain_path("quire_checkpoint()", quire::api::save_here(whole), path, whole);
}
