// SPDX-License-Identifier: BSD-3-Clause
// quire_region_adopt(): memory that a program was born with becomes a region, in steps that all nodes take together.
//
//   1  all agree on the arguments, and that nothing is in the way
//   2  each copies what it has there; so nothing is lost if a later step fails
//   3  the region is made as any other, at these addresses: what was mapped there is replaced
//   4  the node whose content counts takes its copy over, without a message
//
// From 3 to 4 the addresses have no content: neither the driver nor a caller touches them.
#include <quire/system.h>

#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "api/adopt.hpp"
#include "checkpoint/meeting/agreement.hpp"
#include "runtime/range.hpp"
#include "runtime/forward.hpp"
#include "api/versions.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "core/hold.hpp"
#include "core/job_call.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "model/membership.hpp"
#include "services/adoption.hpp"

namespace quire::api {
namespace {

using base::explain;
using checkpoint::outcome;

constexpr const char* adopt_call = "quire_region_adopt";

struct request {
  quire_region_options options{};
  std::byte* address = nullptr;
  std::uint64_t bytes = 0;
  int node = 0;
  [[nodiscard]] std::uint64_t base() const noexcept { return reinterpret_cast<std::uint64_t>(address); }
  [[nodiscard]] std::uint64_t unit() const noexcept {
    return options.unit_bytes == 0 ? os::page_bytes : options.unit_bytes;
  }
};

// ---- What cannot be shared

/// Data that the runtime, or what it stands on, uses while it serves a fault.
struct own_data {
  std::uint64_t base = 0, bytes = 0;
  const char* found = nullptr;
};

bool has_code_at(const dl_phdr_info& module, const void* function) noexcept {
  const auto at = reinterpret_cast<std::uint64_t>(function) - module.dlpi_addr;
  return std::any_of(module.dlpi_phdr, module.dlpi_phdr + module.dlpi_phnum,
                     [at](const ElfW(Phdr) & h) { return h.p_type == PT_LOAD && at - h.p_vaddr < h.p_memsz; });
}

int look_at_module(dl_phdr_info* module, std::size_t, void* argument) {
  auto& own = *static_cast<own_data*>(argument);
  const bool is_quire = has_code_at(*module, reinterpret_cast<const void*>(&quire_region_adopt));
  if (!is_quire && !has_code_at(*module, reinterpret_cast<const void*>(&::getpid))) return 0;
  for (const ElfW(Phdr)* h = module->dlpi_phdr; h != module->dlpi_phdr + module->dlpi_phnum; ++h) {
    const std::uint64_t first = module->dlpi_addr + h->p_vaddr;
    if (h->p_type != PT_LOAD || (h->p_flags & PF_W) == 0 || first >= own.base + own.bytes ||
        first + h->p_memsz <= own.base)
      continue;
    own.found = is_quire ? "Quire" : "the C library";
  }
  return 0;
}

/// With the sentence that explain() was given.
outcome said(base::status why) { return {why.code(), why.ok() ? "" : base::detail()}; }

/// Whether frames of the calling thread lie in it, or will in a moment: calls go on below the one that has `here`.
bool has_own_frames(const request& what, const void* here) noexcept {
  constexpr std::uint64_t below = 64 << 10;
  const auto frame = reinterpret_cast<std::uint64_t>(here);
  if (frame - what.base() < what.bytes) return true;
  pthread_attr_t about;
  if (::pthread_getattr_np(::pthread_self(), &about) != 0) return false;
  void* begin = nullptr;
  std::size_t bytes = 0;
  const bool known = ::pthread_attr_getstack(&about, &begin, &bytes) == 0;
  ::pthread_attr_destroy(&about);
  const auto first = reinterpret_cast<std::uint64_t>(begin);
  if (!known || frame - first >= bytes) return false;  // it runs on a stack of the program's
  return what.base() < first + bytes && std::max(first, frame - below) < what.base() + what.bytes;
}

outcome check(runtime& r, const request& what) {
  const auto why = r.regions->others().may_adopt(what.options, what.base(), what.bytes, what.node);
  if (!why.ok()) return said(why);
  if (has_own_frames(what, &why))
    return said(explain(QUIRE_INVALID, "%s(): the stack of the calling thread lies in the memory", adopt_call));
  own_data own{what.base(), what.bytes};
  ::dl_iterate_phdr(look_at_module, &own);
  if (own.found == nullptr) return {};
  return said(explain(QUIRE_INVALID, "%s(): data of %s lies in the memory, and stays private", adopt_call, own.found));
}

// ---- The steps

/// All nodes: is all well, and are the arguments the same?
quire_status agree_on(const outcome& mine, const request& what) {
  std::uint64_t sum = 14695981039346656037u;  // FNV-1a
  const std::uint64_t all[] = {what.base(),
                               what.bytes,
                               static_cast<std::uint64_t>(what.node),
                               what.unit(),
                               static_cast<std::uint64_t>(what.options.consistency),
                               static_cast<std::uint64_t>(what.options.placement),
                               static_cast<std::uint64_t>(what.options.pool),
                               static_cast<std::uint64_t>(what.options.detector),
                               what.options.orders == QUIRE_ORDERS_APART ? 2u
                               : what.options.orders != 0                ? 1u
                                                                         : 0u};
  for (const std::uint64_t one : all) sum = (sum ^ one) * 1099511628211u;
  const auto hash = static_cast<std::int64_t>(sum >> 2);
  std::int64_t values[] = {mine.ok() ? 0 : std::int64_t{mine.code} << 32 | quire_node(), hash, -hash};
  if (const quire_status why = quire_reduce_i64(values, 3, QUIRE_MAX); why != QUIRE_OK) return why;
  if (!mine.ok()) return explain(mine.code, "%s", mine.text.c_str());
  if (const auto code = static_cast<quire_status>(values[0] >> 32); code != QUIRE_OK) {
    return explain(code, "%s(): node %d cannot (%s)", adopt_call, static_cast<int>(values[0] & 0xffffffff),
                   quire_status_text(code));
  }
  if (values[1] == -values[2]) return QUIRE_OK;
  return explain(QUIRE_INVALID, "%s(): not all nodes ask for the same memory, node and options", adopt_call);
}

outcome copy(const request& what, os::content_copy& to) {
  const int error = to.take(what.address, what.bytes);
  if (error == 0) return {};
  if (error == EFAULT)
    return said(explain(QUIRE_BAD_ADDRESS, "%s(): not all of the memory is mapped here, and may be read", adopt_call));
  return said(explain(QUIRE_NO_MEMORY, "%s(): cannot copy the memory: %s", adopt_call, std::strerror(error)));
}

/// A copy as the store that a region is filled from.
class copied final : public store::store {
 public:
  copied(const os::content_copy& content, std::uint64_t from) : content_(content), from_(from) {}
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    std::memcpy(into.data(), content_.data() + (at - from_), into.size());
    return 0;
  }
  [[nodiscard]] int flush(std::uint64_t, std::span<const std::byte>) noexcept override { return EROFS; }
  [[nodiscard]] const char* name() const noexcept override { return "memory of the program"; }
  [[nodiscard]] const char* where() const noexcept override { return "memory"; }

 private:
  const os::content_copy& content_;
  std::uint64_t from_;
};

quire_status take_over(runtime& r, quire_region region, const os::content_copy& content) {
  core::region_slot& slot = *r.core->regions.of_handle(region.id);
  copied from(content, slot.position);
  const std::uint64_t unit_bytes = slot.about.unit_bytes, units = slot.layout.units();
  const auto holds = [&](std::uint64_t unit) { return content.holds(unit * unit_bytes, unit_bytes); };
  for (std::uint64_t first = 0, end = 0; first < units; first = end) {
    const bool some = holds(first);
    for (end = first + 1; end < units && holds(end) == some;) ++end;
    if (!some) continue;
    if (const auto why = r.core->holding.adopt(slot, first, end - first, from); !why.ok()) return why.code();
  }
  return QUIRE_OK;
}

std::atomic<bool> g_any{false};

/// Whole pages that need not be kept (quire_region_forget).
class forgotten_pages {
 public:
  void add(std::uint64_t first, std::uint64_t end) {
    const std::lock_guard held(guard_);
    ranges_.push_back({first, end});
  }
  /// Where the range ends that has the page at `address`; else `address`.
  [[nodiscard]] std::uint64_t end_at(std::uint64_t address) {
    const std::lock_guard held(guard_);
    for (const auto& [first, end] : ranges_) {
      if (address >= first && address < end) return end;
    }
    return address;
  }
  void clear() {
    const std::lock_guard held(guard_);
    ranges_.clear();
  }

 private:
  std::mutex guard_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
} g_forgotten;

/// The data of the program is not there in a child.
void refuse_to_fork() noexcept {
  if (!g_any.load()) return;
  base::log(base::log_level::error,
            "a child of fork(2) has none of the program's static data, which is shared: use posix_spawn(3), or "
            "vfork(2) and exec(3)");
  ::_exit(127);
}

struct made_region {
  std::uint64_t id = 0;  ///< 0: no node has it
  quire_status why = QUIRE_OK;
};

/// The node whose content counts.
made_region make(runtime& r, const request& what, const os::content_copy& before) {
  quire_region one{};
  made_region made;
  made.why = r.regions->others().adopt(what.options, what.base(), what.bytes, what.node, one).code();
  made.id = one.id;
  if (made.why == QUIRE_OK) made.why = take_over(r, one, before);
  return made;
}

/// In the order of services/adoption.hpp. `alone`: while other nodes do something else, and nobody there uses the
/// memory.
class adopting {
 public:
  using work = services::adoption::work;
  adopting(runtime& r, const request& what, bool alone) : runtime_(r), what_(what), alone_(alone) {}

  quire_status run(quire_region& region) {
    services::adoption steps(quire_node() == what_.node, alone_);
    auto next = steps.begin();
    while (next.what != work::over) {
      if (next.what != work::tell) {
        next = steps.on_done(does(next.what));
        continue;
      }
      const quire_status why = alone_ ? QUIRE_OK : quire_broadcast(&made_, sizeof made_, what_.node);
      next = why == QUIRE_OK ? steps.on_told(made_.why, made_.id != 0) : steps.on_done(why);
    }
    if (next.why == QUIRE_OK) region.id = made_.id;
    if (!mine_.ok() && alone_) return explain(next.why, "%s", mine_.text.c_str());
    return next.why;
  }

 private:
  quire_status does(work what) {
    switch (what) {
      case work::meet:
        return agree_on(mine_, what_);
      case work::make:
        made_ = make(runtime_, what_, before_);
        return made_.why;
      case work::put_back:
        (void)explain(made_.why, "%s(): the region cannot be made: %s", adopt_call, quire_status_text(made_.why));
        return before_.move_to(what_.address) == 0 ? QUIRE_OK : QUIRE_SYSTEM;
      case work::give_up:
        base::die(made_.why, "%s(): the memory from 0x%lx on can be neither shared nor put back", adopt_call,
                  static_cast<unsigned long>(what_.base()));
      default:
        mine_ = what == work::check ? check(runtime_, what_) : copy(what_, before_);
        return mine_.code;
    }
  }

  runtime& runtime_;
  const request& what_;
  const bool alone_;
  outcome mine_{};
  os::content_copy before_{};
  made_region made_{};
};

}  // namespace

void note_adopted(const core::region_description& made) {
  static const int once = ::pthread_atfork(nullptr, nullptr, refuse_to_fork);
  (void)once;
  g_any.store(true);
  calls::watch_adopted(made.base, made.bytes);
}

namespace {

// ---- The end

/// Units first to end - 1. None: the end of a list.
struct run {
  std::uint64_t first = 0, end = 0;
};

/// What some node has used of a region: who asks for a unit for the first time asks its home, which has heard of all of
/// them. Small gaps are left in.
std::vector<run> used_of(runtime& r, const core::region_slot& slot) {
  constexpr std::uint64_t least_gap = 256;
  std::vector<run> all;
  r.core->as_driver([&] {
    for (std::uint64_t unit = 0; unit < slot.layout.units(); ++unit) {
      if (!slot.machine->knows(unit)) continue;
      if (all.empty() || unit - all.back().end > least_gap) all.push_back({unit, unit});
      all.back().end = unit + 1;
    }
  });
  return all;
}

/// All nodes: the same, as the region's home says. Everything where a node has died, maybe the home.
quire_status agree_on_used(runtime& r, const core::region_slot& slot, bool any_dead, std::vector<run>& used) {
  if (any_dead) return used = {{0, slot.layout.units()}}, QUIRE_OK;
  const bool home = quire_node() == slot.about.home;
  if (home) used = used_of(r, slot);
  for (std::size_t next = 0;;) {
    std::array<run, 4> some{};
    if (home)
      next += static_cast<std::size_t>(std::copy_n(used.begin() + static_cast<std::ptrdiff_t>(next),
                                                   std::min(some.size(), used.size() - next), some.begin()) -
                                       some.begin());
    if (const quire_status why = quire_broadcast(&some, sizeof some, slot.about.home); why != QUIRE_OK) return why;
    if (!home)
      std::copy_if(some.begin(), some.end(), std::back_inserter(used), [](const run& one) { return one.end != 0; });
    if (some.back().end == 0) return QUIRE_OK;
  }
}

/// A fault for each unit: all its pages can be read then. Pages of one that was lost with a node stay zero.
void fetch_content(runtime& r, const core::region_slot& region, const run& used, os::content_copy& into) {
  const std::uint64_t base = region.about.base, unit_bytes = region.about.unit_bytes,
                      end = base + used.end * unit_bytes;
  std::uint64_t readable = base;  // up to here
  for (std::uint64_t at = base + used.first * unit_bytes; at < end;) {
    if (const std::uint64_t over = g_forgotten.end_at(at); over != at) {
      at = over;
      continue;
    }
    if (at >= readable && r.core->bring(at, false).ok()) readable = base + ((at - base) / unit_bytes + 1) * unit_bytes;
    if (at < readable) into.put(at - base, reinterpret_cast<const std::byte*>(at));
    at += os::page_bytes;
  }
}
}  // namespace

quire_status kept_memory::fetch(runtime& r) {
  if (!r.core->regions.any_adopted()) return QUIRE_OK;
  if (const quire_status why = quire_barrier_wait(quire_barrier{0}); why != QUIRE_OK) return why;
  r.core->regions.for_each([&](core::region_slot& slot) {
    if (r.core->regions.is_adopted(slot.about)) parts_.push_back({&slot});
  });
  int error = 0;
  for (part& p : parts_) {
    if (error == 0) error = p.content.make(p.region->about.bytes);
  }
  const outcome mine =
      error == 0 ? outcome{}
                 : said(explain(QUIRE_NO_MEMORY, "quire_end(): no memory for what the program's data holds: %s",
                                std::strerror(error)));
  if (const quire_status why = agree("quire_end", mine); why != QUIRE_OK) return why;
  std::int64_t dead = 0;
  r.core->as_driver([&] { dead = r.core->members.dead != 0 ? 1 : 0; });
  if (const quire_status why = quire_reduce_i64(&dead, 1, QUIRE_MAX); why != QUIRE_OK) return why;
  for (part& p : parts_) {
    std::vector<run> used;
    if (const quire_status why = agree_on_used(r, *p.region, dead != 0, used); why != QUIRE_OK) return why;
    for (const run& one : used) fetch_content(r, *p.region, one, p.content);
  }
  return QUIRE_OK;
}

void kept_memory::put_back(runtime& r) noexcept {
  for (part& p : parts_) {
    auto* const at = reinterpret_cast<std::byte*>(p.region->about.base);
    p.region->memory->end_host();  // other nodes still use what they have not put back: their frames stay
    r.core->builder.empty(*p.region);
    if (const int error = p.content.move_to(at); error != 0) {
      base::die(QUIRE_SYSTEM, "quire_end(): cannot give the program its data back: %s", std::strerror(error));
    }
  }
  g_any.store(false);
  g_forgotten.clear();
}

}  // namespace quire::api

quire_status quire_region_forget(const void* address, uint64_t bytes) {
  namespace api = quire::api;
  if (api::on_shared_stack()) return api::forwarder<&quire_region_forget>::call_aside(address, bytes);
  QUIRE_ENTER(r);
  constexpr std::uint64_t page = quire::os::page_bytes;
  const auto first = reinterpret_cast<std::uint64_t>(address), end = first + bytes;
  if (bytes == 0 || end < first)
    return quire::base::explain(QUIRE_INVALID, "quire_region_forget(): %lu bytes", static_cast<unsigned long>(bytes));
  for (std::uint64_t at = first; at < end;) {
    const quire::core::region_ref found = r->core->regions.find(at);
    if (found == nullptr || !r->core->regions.is_adopted(found->about)) {
      return quire::base::explain(QUIRE_BAD_ADDRESS, "quire_region_forget(): %p was not adopted (quire_region_adopt)",
                                  reinterpret_cast<const void*>(at));
    }
    at = found->about.base + found->about.bytes;
  }
  const std::uint64_t first_page = (first + page - 1) / page * page, end_page = end / page * page;
  if (first_page < end_page) api::g_forgotten.add(first_page, end_page);
  return QUIRE_OK;
}

namespace quire::api {
namespace {

quire_status take_request(const quire_region_options* options, const quire_region* region, request& what) {
  if (!take(options, what.options, adopt_call, "quire_region_options")) return QUIRE_INVALID;
  if (region == nullptr) return explain(QUIRE_INVALID, "%s(): the place for the region is NULL", adopt_call);
  if (elsewhere() != nullptr) return explain(QUIRE_UNSUPPORTED, "%s(): not with pool 'fork'", adopt_call);
  return QUIRE_OK;
}

}  // namespace
}  // namespace quire::api

quire_status quire_region_adopt_alone(const quire_region_options* options, void* address, uint64_t bytes,
                                      quire_region* region) {
  namespace api = quire::api;
  QUIRE_STARTED();
  api::request what{{}, static_cast<std::byte*>(address), bytes, quire_node()};
  if (const quire_status why = api::take_request(options, region, what); why != QUIRE_OK) return why;
  if (api::on_shared_stack())
    return api::forwarder<&quire_region_adopt_alone>::call_aside(options, address, bytes, region);
  QUIRE_ENTER(r);
  return api::adopting(*r, what, true).run(*region);
}

quire_status quire_region_disown(quire_region region) {
  QUIRE_FORWARD(quire_region_disown, region);
  QUIRE_ENTER(r);
  return r->regions->others().disown(region).code();
}

quire_status quire_region_adopt(const quire_region_options* options, void* address, uint64_t bytes, int node,
                                quire_region* region) {
  namespace api = quire::api;
  QUIRE_STARTED();
  api::request what{{}, static_cast<std::byte*>(address), bytes, node};
  if (const quire_status why = api::take_request(options, region, what); why != QUIRE_OK) return why;
  if (api::on_shared_stack())
    return api::forwarder<&quire_region_adopt>::call_aside(options, address, bytes, node, region);
  QUIRE_ENTER(r);
  const quire::core::job_call together(*r->core, quire::sync::meeting::adopt, api::adopt_call, quire_thread());
  return together.status().ok() ? api::adopting(*r, what, false).run(*region) : together.status().code();
}
