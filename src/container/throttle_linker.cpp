// SPDX-License-Identifier: BSD-3-Clause
// Another linker, as on a slower or a failing device. Calls that go through it take turns at the device: each waits
// until those before it have had their time.
#include <time.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <memory>
#include <new>
#include <semaphore>

#include "base/clock.hpp"
#include "container/linker_table.hpp"
#include "container/linkers.hpp"

namespace quire::container {
namespace {

class throttle {
 public:
  throttle(const throttling& how, const quire_linker& of) noexcept
      : how_(how), of_(of), turns_(of.threads != 0 ? of.threads : 64) {}
  throttle(const throttle&) = delete;
  throttle& operator=(const throttle&) = delete;
  ~throttle() {
    if (self_ != nullptr && of_.close != nullptr) of_.close(self_);
  }
  int open(unsigned flags, std::uint64_t* bytes) {
    return of_.open(of_.context, how_.what.c_str(), flags, bytes, &self_);
  }
  int fill(std::uint64_t at, void* into, std::size_t bytes) {
    if (const int error = pass(fills_, how_.fill, bytes); error != 0) return error;
    const turn mine(turns_);
    return of_.fill(self_, at, into, bytes);
  }
  int flush(std::uint64_t at, const void* from, std::size_t bytes) {
    if (const int error = pass(flushes_, how_.flush, bytes); error != 0) return error;
    const turn mine(turns_);
    return of_.flush != nullptr ? of_.flush(self_, at, from, bytes) : EROFS;
  }
  int sync() {
    if (const int error = pass(syncs_, how_.sync, 0); error != 0) return error;
    const turn mine(turns_);
    return of_.sync != nullptr ? of_.sync(self_) : 0;
  }
  int truncate(std::uint64_t bytes) {
    const turn mine(turns_);
    return of_.truncate != nullptr ? of_.truncate(self_, bytes) : EOPNOTSUPP;
  }

 private:
  using turns = std::counting_semaphore<64>;
  /// One of those that the linker is made for, which the throttle's own row knows nothing of.
  struct turn {
    explicit turn(turns& all) noexcept : of(all) { of.acquire(); }
    ~turn() { of.release(); }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    turns& of;
  };
  int pass(std::atomic<std::uint64_t>& calls, std::uint64_t first, std::size_t bytes) {
    const std::uint64_t time_ns =
        how_.latency_ns +
        (how_.bytes_per_ns > 0 ? static_cast<std::uint64_t>(static_cast<double>(bytes) / how_.bytes_per_ns) : 0);
    if (time_ns != 0) wait_for(time_ns);
    const std::uint64_t call = calls.fetch_add(1) + 1;
    return first != 0 && call >= first && call - first < how_.times ? how_.error : 0;
  }
  void wait_for(std::uint64_t time_ns) noexcept {
    std::uint64_t before = free_ns_.load(), until = 0;
    do {
      const std::uint64_t now = base::now_ns();
      until = (before > now ? before : now) + time_ns;
    } while (!free_ns_.compare_exchange_weak(before, until));
    timespec at{};
    for (std::uint64_t now = base::now_ns(); now < until; now = base::now_ns()) {
      at.tv_sec = static_cast<time_t>((until - now) / 1'000'000'000);
      at.tv_nsec = static_cast<long>((until - now) % 1'000'000'000);
      ::nanosleep(&at, nullptr);
    }
  }

  const throttling how_;
  const quire_linker of_;
  turns turns_;
  void* self_ = nullptr;
  std::atomic<std::uint64_t> fills_{0}, flushes_{0}, syncs_{0}, free_ns_{0};
};

throttle& throttled(void* self) noexcept { return *static_cast<throttle*>(self); }

/// What is wrapped; null, with an errno, if there is none.
const quire_linker* wrapped(void* context, const char* what, throttling& how, int& error) {
  error = read(what, how) ? 0 : EINVAL;
  if (error != 0) return nullptr;
  const quire_linker* const found = static_cast<const linker_table*>(context)->find(how.linker);
  if (found == nullptr) error = ENOENT;
  if (found != nullptr && found->grain != 0) error = EOPNOTSUPP;  // it would have to be this linker's
  return error == 0 ? found : nullptr;
}

int open_throttled(void* context, const char* what, unsigned flags, std::uint64_t* bytes, void** self) {
  throttling how;
  int error = 0;
  const quire_linker* const found = wrapped(context, what, how, error);
  if (found == nullptr) return error;
  auto made = std::make_unique<throttle>(how, *found);
  error = made->open(flags, bytes);
  if (error == 0) *self = made.release();
  return error;
}

int identify_throttled(void* context, const char* what, std::uint64_t* identity) {
  throttling how;
  int error = 0;
  const quire_linker* const found = wrapped(context, what, how, error);
  if (found == nullptr) return error;
  return found->identify != nullptr ? found->identify(found->context, how.what.c_str(), identity) : EOPNOTSUPP;
}

int remove_throttled(void* context, const char* what) {
  throttling how;
  int error = 0;
  const quire_linker* const found = wrapped(context, what, how, error);
  if (found == nullptr) return error;
  return found->remove != nullptr ? found->remove(found->context, how.what.c_str()) : EOPNOTSUPP;
}

bool number_of(std::string_view text, std::uint64_t& into) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool set(std::string_view name, std::string_view value, throttling& into) {
  std::uint64_t number = 0;
  if (name == "error") {
    into.error = value == "EIO"                                             ? EIO
                 : value == "ENOSPC"                                        ? ENOSPC
                 : number_of(value, number) && number != 0 && number < 4096 ? static_cast<int>(number)
                                                                            : 0;
    return into.error != 0;
  }
  if (!number_of(value, number) || number == 0) return false;
  if (name == "mbps") return into.bytes_per_ns = static_cast<double>(number) / 1000, true;
  if (name == "latency_us") return into.latency_ns = number * 1000, true;
  if (name == "fill") return into.fill = number, true;
  if (name == "flush") return into.flush = number, true;
  if (name == "sync") return into.sync = number, true;
  if (name == "times") return into.times = number, true;
  return false;
}

}  // namespace

bool read(std::string_view text, throttling& into) {
  const std::size_t first = text.find(';');
  const std::size_t second = first == std::string_view::npos ? first : text.find(';', first + 1);
  if (second == std::string_view::npos) return false;
  std::string_view list = text.substr(0, first);
  into.linker = text.substr(first + 1, second - first - 1);
  into.what = text.substr(second + 1);
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || !set(one.substr(0, equals), one.substr(equals + 1), into)) return false;
    list = one.size() == list.size() ? std::string_view{} : list.substr(one.size() + 1);
  }
  return true;
}

quire_linker throttle_linker(const linker_table& among) noexcept {
  quire_linker l{};
  l.size = sizeof l;
  l.name = "throttle";
  l.can = QUIRE_LINK_WRITE | QUIRE_LINK_TRUNCATE;
  l.context = const_cast<linker_table*>(&among);
  l.open = open_throttled;
  l.fill = [](void* self, std::uint64_t at, void* into, std::size_t bytes) {
    return throttled(self).fill(at, into, bytes);
  };
  l.flush = [](void* self, std::uint64_t at, const void* from, std::size_t bytes) {
    return throttled(self).flush(at, from, bytes);
  };
  l.sync = [](void* self) { return throttled(self).sync(); };
  l.truncate = [](void* self, std::uint64_t bytes) { return throttled(self).truncate(bytes); };
  l.close = [](void* self) { delete static_cast<throttle*>(self); };
  l.remove = remove_throttled;
  l.identify = identify_throttled;
  return l;
}

}  // namespace quire::container
