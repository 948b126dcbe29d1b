// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/log.hpp"
#include "os/memory.hpp"

namespace quire::record {
namespace {

void copy_name(std::array<char, longest_name + 1>& to, std::string_view name) noexcept {
  to.fill(0);
  std::copy_n(name.begin(), std::min(name.size(), longest_name), to.begin());
}

}  // namespace

recorder::recorder(std::uint64_t now_ns, unsigned nodes)
    : begin_ns_(now_ns), met_ns_(now_ns), nodes_(nodes), peers_(std::make_unique<peer[]>(nodes)), labels_(std::make_unique<label[]>(most_labels)) {}

std::unique_ptr<recorder> recorder::make(std::uint64_t now_ns, unsigned nodes) {
  std::unique_ptr<recorder> made(new recorder(now_ns, nodes));
  int error = 0;
  made->threads_ = static_cast<thread_record*>(os::map_table(most_threads * sizeof(thread_record), error));
  made->heats_ = static_cast<heat_of*>(os::map_table(most_heats * sizeof(heat_of), error));
  if (made->threads_ != nullptr && made->heats_ != nullptr) return made;
  base::log(base::log_level::error, "no addresses for the report's record (%lu MiB, which cost nothing until they are used): %s; leave the report out, or raise "
            "the limit of the address space (ulimit -v)", static_cast<unsigned long>(most_threads * sizeof(thread_record) >> 20), std::strerror(error));
  return nullptr;
}

recorder::~recorder() {
  if (threads_ != nullptr) os::unmap(threads_, most_threads * sizeof(thread_record));
  if (heats_ != nullptr) os::unmap(heats_, most_heats * sizeof(heat_of));
}

thread_record* recorder::enter(thread_record*& own, std::uint32_t number, std::uint64_t now_ns) noexcept {
  const bool first = own == nullptr;
  if (first) {
    if (taken_.load(std::memory_order_relaxed) >= most_threads) return nullptr;
    const std::size_t at = taken_.fetch_add(1, std::memory_order_relaxed);
    if (at >= most_threads) return nullptr;
    own = &threads_[at];
  }
  // A handler of a signal may have come in the middle.
  if (own->busy.load(std::memory_order_relaxed)) return nullptr;
  own->busy.store(true, std::memory_order_seq_cst);
  if (closed_.load(std::memory_order_seq_cst)) {
    own->busy.store(false, std::memory_order_release);
    return nullptr;
  }
  if (first) {
    own->when = segments(own->memory, now_ns);
    own->phase_begin_ns = now_ns;
  }
  own->number = number;
  return own;
}

void recorder::on_wait(thread_record*& own, std::uint32_t number, wait kind, std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
  thread_record* const r = enter(own, number, begin_ns);
  if (r == nullptr) return add_to_rest(kind, end_ns - begin_ns);
  r->when.add(kind, begin_ns, end_ns, r->phase);
  r->phases[r->phase].waited_ns[static_cast<std::size_t>(kind)] += end_ns - begin_ns;
  r->busy.store(false, std::memory_order_release);
}

void recorder::on_fault(thread_record*& own, std::uint32_t number, const fault& f) noexcept {
  const wait kind = f.write ? wait::write_fault : wait::read_fault;
  const std::uint64_t ns = f.end_ns - f.begin_ns;
  thread_record* const r = enter(own, number, f.begin_ns);
  if (r == nullptr) return add_to_rest(kind, ns);
  r->when.add(kind, f.begin_ns, f.end_ns, r->phase);
  r->phases[r->phase].waited_ns[static_cast<std::size_t>(kind)] += ns;
  const auto count = [&](fault_sums& sums) {
    ++sums.faults[f.write];
    sums.ns[f.write] += ns;
    sums.lines[f.write] |= std::uint64_t{1} << f.line;
  };
  count(r->units.at({std::uint64_t{f.region} << 46 | f.unit, f.from}));
  count(r->sites.at({f.from}));
  r->busy.store(false, std::memory_order_release);
}

std::size_t recorder::phase_of(std::string_view name) {
  if (name.empty()) return 0;
  const auto find = [&](std::size_t from) {
    const std::size_t count = phase_count_.load(std::memory_order_acquire);
    for (std::size_t i = from; i < count; ++i)
      if (name == phase_names_[i].data()) return i + 1;
    return std::size_t{0};
  };
  if (const std::size_t known = find(0); known != 0) return known;
  const std::lock_guard locked(naming_);
  if (const std::size_t known = find(0); known != 0) return known;
  const std::size_t count = phase_count_.load(std::memory_order_relaxed);
  if (count == most_phases) return most_phases + 1;
  copy_name(phase_names_[count], name);
  phase_count_.store(count + 1, std::memory_order_release);
  return count + 1;
}

bool recorder::on_phase(thread_record*& own, std::uint32_t number, std::string_view name, std::uint64_t now_ns) {
  const std::size_t phase = phase_of(name);
  if (phase > most_phases) return false;
  thread_record* const r = enter(own, number, now_ns);
  if (r == nullptr) return true;
  r->when.mark(now_ns, r->phase);
  r->phases[r->phase].ns += now_ns - std::min(now_ns, r->phase_begin_ns);
  r->phase = phase;
  r->phase_begin_ns = now_ns;
  r->busy.store(false, std::memory_order_release);
  return true;
}

bool recorder::add_label(std::uint64_t address, std::uint64_t bytes, std::string_view name) {
  const std::lock_guard locked(naming_);
  const std::span<label> all(labels_.get(), label_count_);
  auto found = std::ranges::find(all, address, &label::address);
  if (found == all.end() && label_count_ == most_labels) return false;
  label& to = found == all.end() ? labels_[label_count_++] : *found;
  to.address = address;
  to.bytes = bytes;
  copy_name(to.name, name);
  return true;
}

void recorder::on_access(std::uint16_t region, std::uint64_t address, std::uint64_t now_ns) noexcept {
  std::size_t at = 0;
  while (at + 1 < most_heats && heats_[at].used && heats_[at].region != region) ++at;
  heat_of& of = heats_[at];  // the last one has what is left
  if (!of.used) of.used = true, of.region = region;
  of.map.add(address, now_ns - std::min(now_ns, begin_ns_), 1);
}

bool recorder::close() noexcept {
  if (closed_.exchange(true, std::memory_order_seq_cst)) return false;
  constexpr int longest_ms = 100;
  const timespec pause{0, 1'000'000};
  for (const thread_record& r : threads())
    for (int ms = 0; in_use(r) && ms < longest_ms; ++ms) ::nanosleep(&pause, nullptr);
  return true;
}

std::span<const thread_record> recorder::threads() const noexcept {
  return {threads_, std::min(taken_.load(std::memory_order_acquire), most_threads)};
}

wait_times recorder::rest() const noexcept {
  wait_times all{};
  for (std::size_t i = 0; i < waits; ++i) all[i] = rest_[i].load(std::memory_order_relaxed);
  return all;
}

}  // namespace quire::record
