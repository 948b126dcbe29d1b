// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "os/file_size.hpp"
#include "os/memory.hpp"

namespace quire::record {
namespace {

void copy_name(std::array<char, longest_name + 1>& to, std::string_view name) noexcept {
  to.fill(0);
  std::copy_n(name.begin(), std::min(name.size(), longest_name), to.begin());
}

/// A sparse file; -1 if it cannot be, as where files may not be so long.
int make_file(const std::string& path, std::size_t bytes) noexcept {
  const os::file_size_scope no_signal;
  const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (made < 0 || ::ftruncate(made, static_cast<off_t>(bytes)) == 0) return made;
  ::unlink(path.c_str());
  os::close_descriptor(made);
  return -1;
}

}  // namespace

std::unique_ptr<recorder> recorder::make(std::uint64_t now_ns, unsigned nodes, const std::string& path) {
  std::unique_ptr<recorder> made(new recorder());
  int error = 0;
  if (!path.empty()) made->descriptor_ = make_file(path, sizeof(memory));
  if (made->descriptor_ < 0) made->descriptor_ = os::make_memfd("quire-record", sizeof(memory));
  void* at = made->descriptor_ >= 0 ? os::map_shared(made->descriptor_, sizeof(memory), nullptr, true, error) : nullptr;
  if (at == nullptr) {  // such as a limit of the size of files: then the record ends with the node
    os::close_descriptor(std::exchange(made->descriptor_, -1));
    at = os::map_table(sizeof(memory), error);
  }
  if (at == nullptr) {
    base::log(base::log_level::error,
              "no addresses for the report's record (%lu MiB, which cost nothing until they are used): %s; leave the "
              "report out, or "
              "raise the limit of the address space (ulimit -v)",
              static_cast<unsigned long>(sizeof(memory) >> 20), std::strerror(error));
    return nullptr;
  }
  (void)os::advise(at, sizeof(memory), MADV_DONTDUMP);
  made->memory_ = static_cast<memory*>(at);
  made->memory_->mark = mark_of_build;
  made->memory_->begin_ns = made->memory_->met_ns = now_ns;
  made->memory_->nodes = nodes;
  return made;
}

recorder::~recorder() {
  if (memory_ != nullptr) os::unmap(memory_, sizeof(memory));
  os::close_descriptor(descriptor_);
}

void recorder::set_about(std::span<const std::byte> file) noexcept {
  if (file.size() > memory::most_about_bytes) return;
  std::ranges::copy(file, memory_->about.begin());
  memory_->about_bytes = file.size();
}

thread_record* recorder::enter(thread_record*& own, std::uint32_t number, std::uint64_t now_ns) noexcept {
  const bool first = own == nullptr;
  if (first) {
    if (memory_->taken.load(std::memory_order_relaxed) >= most_threads) return nullptr;
    const std::uint64_t at = memory_->taken.fetch_add(1, std::memory_order_relaxed);
    if (at >= most_threads) return nullptr;
    own = &memory_->threads[at];
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

void recorder::on_wait(thread_record*& own, std::uint32_t number, wait kind, std::uint64_t begin_ns,
                       std::uint64_t end_ns) noexcept {
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
    const std::size_t count = memory_->phases.load(std::memory_order_acquire);
    for (std::size_t i = from; i < count; ++i)
      if (name == memory_->phase_names[i].data()) return i + 1;
    return std::size_t{0};
  };
  if (const std::size_t known = find(0); known != 0) return known;
  const std::lock_guard locked(naming_);
  if (const std::size_t known = find(0); known != 0) return known;
  const std::size_t count = memory_->phases.load(std::memory_order_relaxed);
  if (count == most_phases) return most_phases + 1;
  copy_name(memory_->phase_names[count], name);
  memory_->phases.store(count + 1, std::memory_order_release);
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
  const std::uint64_t count = memory_->labels.load(std::memory_order_relaxed);
  const auto all = std::span(memory_->label_rows).first(count);
  const auto found = std::ranges::find(all, address, &label::address);
  const bool is_new = found == all.end();
  if (is_new && count == most_labels) return false;
  label& to = is_new ? memory_->label_rows[count] : *found;
  to.address = address;
  to.bytes = bytes;
  copy_name(to.name, name);
  if (is_new) memory_->labels.store(count + 1, std::memory_order_release);
  return true;
}

heat_of& recorder::heat_for(std::uint16_t region) noexcept {
  std::size_t at = 0;
  while (at + 1 < most_heats && memory_->heats[at].used && memory_->heats[at].region.id != region) ++at;
  return memory_->heats[at];  // the last one has what is left
}

bool recorder::close() noexcept {
  if (closed_.exchange(true, std::memory_order_seq_cst)) return false;
  constexpr int longest_ms = 100;
  const timespec pause{0, 1'000'000};
  for (const thread_record& r : memory_->threads_in_use())
    for (int ms = 0; r.busy.load(std::memory_order_acquire) && ms < longest_ms; ++ms) ::nanosleep(&pause, nullptr);
  return true;
}

}  // namespace quire::record
