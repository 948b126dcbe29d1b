// SPDX-License-Identifier: BSD-3-Clause
#include "container/link.hpp"

#include <quire/container.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/detail.hpp"
#include "base/fault_heap.hpp"
#include "base/log.hpp"
#include "os/futex.hpp"

namespace quire::container {

namespace {
using base::number;
using base::second;
constexpr int nothing_asked = -1;
}  // namespace

std::size_t used_bytes(std::span<const std::byte> content) noexcept {
  std::size_t used = content.size();
  while (used != 0 && content[used - 1] == std::byte{0}) --used;
  return used;
}

int errno_of(int given, bool& sense) noexcept {
  sense = given >= 0 && given < 4096;
  return sense ? given : EIO;
}

/// A function of the linker on its way, with all that it reads and writes.
class link::call final : public caller_task {
 public:
  call(std::shared_ptr<link> which, function f, std::uint64_t position, std::size_t size) noexcept
      : of(std::move(which)),
        what(f),
        at(position),
        bytes(size),
        room(f == function::fill || f == function::flush ? size : 0) {
    if (room != 0) memory = static_cast<std::byte*>(base::fault_allocate(room));
  }
  ~call() override { base::fault_free(memory, room); }

  const std::shared_ptr<link> of;
  const function what;
  const std::uint64_t at;  ///< truncate: the bytes that there are to be; open: flags
  std::size_t bytes;
  std::uint64_t answer = 0;  ///< of open, identify
  int error = EIO;
  std::uint64_t began_ns = 0;
  bool is_late = false;  ///< it was given up
  call* next = nullptr;  ///< in the linker

 protected:
  void perform() noexcept override;
  void begin_late() noexcept override { of->note_late(*this, true); }
  void stop_late() noexcept override { of->note_late(*this, false); }
  void end_late() noexcept override { of->leave_late(*this); }

 private:
  friend class link;
  const std::size_t room;
  std::byte* memory = nullptr;
};

/// A linker is the program's: nothing that it does may end a thread of the engine.
void link::call::perform() noexcept {
  bool sense = true, threw = false;
  try {
    error = errno_of(of->perform(*this), sense);
  } catch (...) {
    threw = true;
  }
  if (sense && !threw) return;
  error = EIO;
  base::log(base::log_level::error, "%s() of linker '%s' %s; that counts as an error of input and output (EIO)",
            name_of(what), of->name_.c_str(),
            threw ? "has thrown an exception" : "has given a number that is no errno");
}

const char* link::name_of(function which) noexcept {
  constexpr const char* all[] = {"open", "fill", "flush", "sync", "truncate", "close", "remove", "identify"};
  return all[static_cast<std::size_t>(which)];
}

int link::perform(call& c) {
  switch (c.what) {
    case function::open:
      return linker_.open(linker_.context, what_.c_str(), static_cast<unsigned>(c.at), &c.answer, &self_);
    case function::fill:
      return perform_fill(c);
    case function::flush:
      return linker_.flush(self_, c.at, c.memory, c.bytes);
    case function::sync:
      return linker_.sync(self_);
    case function::truncate:
      return linker_.truncate(self_, c.at);
    case function::close:
      linker_.close(self_);
      return 0;
    case function::remove:
      return linker_.remove(linker_.context, what_.c_str());
    case function::identify:
      return linker_.identify(linker_.context, what_.c_str(), &c.answer);
  }
  return EIO;
}

/// Content that has grown since it was flushed last ends early, and the rest is zero. What once was there somebody else
/// has taken away.
int link::perform_fill(const call& c) {
  const std::uint64_t had = flushed_end_.load();
  const int error = linker_.fill(self_, c.at, c.memory, c.bytes);
  if (error != ENODATA) return error;
  if (c.at + c.bytes > had) return 0;
  if (!told_shorter_.exchange(true)) {
    base::log(base::log_level::error,
              "container '%s': '%s' has become shorter than it was, as linker '%s' says: there is nothing up to byte "
              "%lu any more; what "
              "is read there fails",
              container_.c_str(), what_.c_str(), name_.c_str(), number(c.at + c.bytes));
  }
  return error;
}

// ---- Into the linker, and back

link::link(const quire_linker& linker, const link_names& names)
    : container_(names.container),
      what_(names.what),
      name_(linker.name),
      linker_(linker),
      callers_(callers::of_process()),
      most_inside_(linker.threads != 0 ? linker.threads : 64) {}

/// How many of these bytes may go to the linker: the content ends within the last grain.
std::uint64_t link::gated(std::uint64_t at, std::uint64_t bytes) const noexcept {
  const std::uint64_t gate = gate_.load(), there = gate > at ? gate - at : 0;
  if (there >= bytes) return bytes;
  return linker_.grain == 0
             ? there
             : std::min<std::uint64_t>(bytes, (there + linker_.grain - 1) / linker_.grain * linker_.grain);
}

/// Who changes something has woken everybody by adding to `changes_`.
void link::wait_for_change(std::unique_lock<std::mutex>& lock) noexcept {
  const std::uint32_t seen = changes_.load();
  lock.unlock();
  os::futex_wait(changes_, seen, -1);
  lock.lock();
}

/// Waits for a turn: at most as many are in the linker as it is made for. 0, an errno, or nothing_asked: all of it is
/// behind the gate.
int link::enter(call& c) noexcept {
  std::unique_lock lock(mutex_);
  while (inside_ >= most_inside_ && late_ == 0 && !closed_) wait_for_change(lock);
  const std::uint64_t now = base::now_ns();
  if (closed_ && c.what != function::close)
    return EBADF;  // its region has gone, and something of it was still under way
  if (late_ != 0) {
    const call* hangs = first_;
    while (!hangs->is_late) hangs = hangs->next;
    const bool tell = now - late_told_ns_ >= std::max(call_limit_ns(), second);
    const function what = hangs->what;
    const std::uint64_t age_s = (now - hangs->began_ns) / second;
    if (tell) late_told_ns_ = now;
    lock.unlock();
    if (tell) {
      base::log(
          base::log_level::warning,
          "container '%s': %s() of linker '%s' has still not returned, after %lu s: all that needs the linker fails",
          container_.c_str(), name_of(what), name_.c_str(), number(age_s));
    }
    return ETIMEDOUT;
  }
  if (c.room != 0) {
    c.bytes = gated(c.at, c.bytes);
    if (c.bytes == 0) return nothing_asked;
  }
  ++inside_;
  c.began_ns = now;
  c.next = std::exchange(first_, &c);
  return 0;
}

void link::leave(call& c) noexcept {
  {
    const std::lock_guard guard(mutex_);
    call** at = &first_;
    while (*at != &c) at = &(*at)->next;
    *at = c.next;
    --inside_;
    if (c.is_late) --late_;
    if (c.what == function::flush && c.error == 0 && linker_.grain == 0 && flushed_end_ < c.at + c.bytes)
      flushed_end_ = c.at + c.bytes;
    if (c.what == function::open && c.error == 0) is_open_ = true;
    changes_.fetch_add(1);
  }
  os::futex_wake(changes_, 1 << 30);
}

/// The time is up, perhaps: it may come back in this moment.
void link::note_late(call& c, bool is_late) noexcept {
  {
    const std::lock_guard guard(mutex_);
    c.is_late = is_late;
    is_late ? ++late_ : --late_;
    late_told_ns_ = base::now_ns();
    changes_.fetch_add(1);
  }
  os::futex_wake(changes_, 1 << 30);
}

/// It has come back after all. Nobody is left who could close the linker but this thread.
void link::leave_late(call& c) noexcept {
  const std::uint64_t age_s = (base::now_ns() - c.began_ns) / second;
  leave(c);
  bool closes = false;
  {
    const std::lock_guard guard(mutex_);
    closes = inside_ == 0 && (closed_ || c.what == function::open) && std::exchange(is_open_, false);
  }
  base::log(base::log_level::warning, "container '%s': %s() of linker '%s' has returned, after %lu s",
            container_.c_str(), name_of(c.what), name_.c_str(), number(age_s));
  if (closes) close_linker();
}

int link::ask(function which, std::uint64_t at, std::size_t bytes, std::byte* into, const std::byte* from,
              std::uint64_t* answer) noexcept {
  auto* const c = new call(shared_from_this(), which, at, bytes);
  if (const int why = enter(*c); why != 0) {
    delete c;
    if (why == nothing_asked && into != nullptr) std::memset(into, 0, bytes);
    return why == nothing_asked ? 0 : why;
  }
  if (from != nullptr) std::memcpy(c->memory, from, c->bytes);
  const std::uint64_t limit_ns = call_limit_ns();
  if (!callers_->perform(*c, limit_ns)) {  // it may be gone
    base::log(base::log_level::error,
              "container '%s': %s() of linker '%s' for '%s', at byte %lu, has not returned for %lu s; it is given up, "
              "and until it "
              "returns all that needs the linker fails (QUIRE_IO_TIMEOUT)",
              container_.c_str(), name_of(which), name_.c_str(), what_.c_str(),
              number(which == function::open ? 0 : at), number(limit_ns / second));
    return ETIMEDOUT;
  }
  leave(*c);
  if (into != nullptr && c->error == 0) {
    std::memcpy(into, c->memory, c->bytes);
    std::memset(into + c->bytes, 0, bytes - c->bytes);
  }
  if (answer != nullptr) *answer = c->answer;
  const int error = c->error;
  delete c;
  return error;
}

// ---- From its beginning to its end

std::shared_ptr<link> link::make(const quire_linker& linker, const link_names& names, int& error) {
  std::shared_ptr<link> made(new link(linker, names));
  error = made->callers_ != nullptr ? 0 : EAGAIN;
  return error == 0 ? made : nullptr;
}

std::shared_ptr<link> link::open(const quire_linker& linker, const link_names& names, unsigned flags,
                                 std::uint64_t& bytes, int& error) {
  bytes = 0;
  const auto made = make(linker, names, error);
  if (made != nullptr) made->only_reads_ = (flags & QUIRE_CONTAINER_READ_ONLY) != 0;
  if (made != nullptr) error = made->ask(function::open, flags, 0, nullptr, nullptr, &bytes);
  return error == 0 ? made : nullptr;
}

int link::identify(const quire_linker& linker, const link_names& names, std::uint64_t& identity) {
  if (linker.identify == nullptr) return EOPNOTSUPP;
  int error = 0;
  const auto made = make(linker, names, error);
  return made != nullptr ? made->ask(function::identify, 0, 0, nullptr, nullptr, &identity) : error;
}

int link::remove(const quire_linker& linker, const link_names& names) {
  if (linker.remove == nullptr) return EOPNOTSUPP;
  int error = 0;
  const auto made = make(linker, names, error);
  return made != nullptr ? made->ask(function::remove) : error;
}

/// What is staged may be under way when its region goes.
void link::close() noexcept {
  std::unique_lock lock(mutex_);
  closed_ = true;
  changes_.fetch_add(1);
  os::futex_wake(changes_, 1 << 30);
  while (inside_ != late_) wait_for_change(lock);
  if (late_ != 0 || !std::exchange(is_open_, false)) return;  // leave_late() sees to it
  lock.unlock();
  if (linker_.close != nullptr) (void)ask(function::close);
}

link::~link() {
  if (is_open_) close_linker();
}

void link::close_linker() noexcept {
  if (linker_.close == nullptr) return;
  try {
    linker_.close(self_);
  } catch (...) {
    base::log(base::log_level::error, "close() of linker '%s' has thrown an exception", name_.c_str());
  }
}

void link::begin(const part& which, std::uint64_t bytes) noexcept {
  part_ = which;
  known_end_ = bytes;
  flushed_end_ = bytes;
}

// ---- Content

std::uint64_t link::end() const noexcept {
  return std::min(gate_.load(), std::max(known_end_.load(), flushed_end_.load()));
}

int link::fill(std::uint64_t at, std::span<std::byte> into) noexcept {
  const std::uint64_t there = end() > at ? end() - at : 0;
  std::size_t asked = into.size();
  if (there < asked)
    asked = linker_.grain == 0
                ? there
                : std::min<std::size_t>(asked, (there + linker_.grain - 1) / linker_.grain * linker_.grain);
  std::memset(into.data() + asked, 0, into.size() - asked);
  return asked == 0 ? 0 : ask(function::fill, at, asked, into.data());
}

/// It takes no turn: who has one may be waiting for a disk.
int link::try_fill(std::uint64_t at, std::span<std::byte> into) noexcept {
  const std::uint64_t last = end();
  if (last <= at) {
    std::memset(into.data(), 0, into.size());
    return 0;
  }
  if (linker_.try_fill == nullptr || last - at < into.size()) return EAGAIN;
  try {
    return linker_.try_fill(self_, at, into.data(), into.size()) == 0 ? 0 : EAGAIN;
  } catch (...) {
    return EAGAIN;  // fill() says so
  }
}

int link::flush(std::uint64_t at, std::span<const std::byte> from) noexcept {
  if (only_reads_) return 0;  // a thread may have had the right to write it: it was pinned, say
  if ((linker_.can & QUIRE_LINK_WRITE) == 0) return EROFS;
  if (linker_.grain == 0 && at + from.size() > flushed_end_.load()) return flush_tail(at, from);
  return ask(function::flush, at, from.size(), nullptr, from.data());
}

int link::flush_tail(std::uint64_t at, std::span<const std::byte> from) noexcept {
  const std::lock_guard guard(tail_);
  const std::uint64_t known = end() > at ? end() - at : 0;
  const std::size_t bytes = std::max<std::size_t>(std::min<std::uint64_t>(known, from.size()), used_bytes(from));
  return bytes == 0 ? 0 : ask(function::flush, at, bytes, nullptr, from.data());
}

int link::sync() noexcept {
  if (only_reads_ || (linker_.can & QUIRE_LINK_WRITE) == 0) return 0;
  if (linker_.grain == 0) {
    const std::lock_guard guard(tail_);
    const std::uint64_t last = known_end_.load();
    constexpr std::byte zero{0};
    if (flushed_end_ < last && part_.has(last - 1)) {
      if (const int error = ask(function::flush, last - 1, 1, nullptr, &zero); error != 0) return error;
    }
  }
  return linker_.sync != nullptr ? ask(function::sync) : 0;
}

// ---- Its end

int link::resize(std::uint64_t bytes) noexcept {
  std::unique_lock lock(mutex_);
  gate_ = bytes;
  const auto goes = [&](const call& c) { return c.room != 0 && c.at + c.bytes > bytes; };
  for (;;) {
    const call* c = first_;
    while (c != nullptr && !goes(*c)) c = c->next;
    if (c == nullptr) return 0;
    if (late_ != 0) return ETIMEDOUT;
    wait_for_change(lock);
  }
}

void link::note_end(std::uint64_t bytes) noexcept {
  std::uint64_t before = known_end_.load();
  while (before < bytes && !known_end_.compare_exchange_weak(before, bytes)) continue;
}

void link::set_end(std::uint64_t bytes) noexcept {
  const std::lock_guard guard(tail_);
  const std::lock_guard own(mutex_);
  known_end_ = bytes;
  flushed_end_ = std::min(flushed_end_.load(), bytes);
}

int link::tell_end(std::uint64_t bytes) noexcept {
  return linker_.truncate != nullptr ? ask(function::truncate, bytes) : EOPNOTSUPP;
}

}  // namespace quire::container
