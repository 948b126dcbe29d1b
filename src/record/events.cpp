// SPDX-License-Identifier: BSD-3-Clause
#include "record/events.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "base/clock.hpp"
#include "os/memory.hpp"
#include "os/raw_call.hpp"

namespace quire::record {
namespace {

constexpr std::uint64_t bytes_of_file = sizeof(events_head) + events::most_places * sizeof(event);

std::uint64_t processor_ns(clockid_t of) noexcept {
  timespec t{};
  (void)base::kernel_clock(of, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

std::uint64_t thread_ns() noexcept { return processor_ns(CLOCK_THREAD_CPUTIME_ID); }

/// For how many microseconds the calling thread has waited for a core so far, modulo 2^32; 0 where the system does not
/// say it. By the kernel itself: libc's calls may be Quire's.
std::uint32_t core_wait_us() noexcept {
  static constexpr char path[] = "/proc/thread-self/schedstat";
  const long file = os::raw_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[64];  // "processor time, time waited, slices", in ns
  const long bytes = os::raw_call(SYS_read, file, reinterpret_cast<long>(text), sizeof text);
  (void)os::raw_call(SYS_close, file, 0, 0);
  std::uint64_t waited_ns = 0;
  long at = 0;
  while (at < bytes && text[at] != ' ') ++at;
  for (++at; at < bytes && text[at] >= '0' && text[at] <= '9'; ++at)
    waited_ns = 10 * waited_ns + static_cast<std::uint64_t>(text[at] - '0');
  return static_cast<std::uint32_t>(waited_ns / 1000);
}

}  // namespace

std::string events_file_name(std::uint64_t node) { return "quire." + std::to_string(node) + ".events"; }

std::unique_ptr<events> events::make(const std::string& directory, unsigned node, unsigned nodes, int& error) {
  const std::string path = directory + '/' + events_file_name(node);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    error = errno;
    return nullptr;
  }
  void* at = nullptr;
  if (::ftruncate(file, static_cast<off_t>(bytes_of_file)) != 0) {
    error = errno;
  } else {
    at = os::map_shared(file, bytes_of_file, nullptr, true, error);
  }
  os::close_descriptor(file);
  if (at == nullptr) return nullptr;
  std::unique_ptr<events> made(new events());
  made->head_ = new (at) events_head();
  made->head_->node = node;
  made->head_->nodes = nodes;
  made->head_->places = most_places;
  made->places_ = reinterpret_cast<event*>(static_cast<std::byte*>(at) + sizeof(events_head));
  return made;
}

events::~events() { os::unmap(head_, bytes_of_file); }

std::uint64_t events::add(event_type type, std::uint64_t key, std::uint64_t value, std::uint16_t peer,
                          std::uint8_t kind, std::uint32_t bytes) noexcept {
  const std::uint64_t at = head_->taken.fetch_add(1, std::memory_order_relaxed);
  if (at >= most_places) return 0;
  const bool takes_time = type == event_type::executes || type == event_type::comes || type == event_type::comes_here;
  places_[at] = {type, kind, peer, bytes, key, base::now_ns(), takes_time ? thread_ns() : value};
  return at + 1;
}

std::uint64_t events::add_of_thread(event_type type, std::uint64_t key, std::uint16_t& own, asked what) noexcept {
  if (own == 0) own = static_cast<std::uint16_t>(threads_.fetch_add(1, std::memory_order_relaxed) + 1);
  // What it costs to look is no work of the thread.
  const std::uint64_t before_ns = thread_ns();
  const std::uint32_t waited_us = core_wait_us();
  const std::uint64_t used_ns = type == event_type::goes_on ? thread_ns() : before_ns;
  if (type == event_type::met || type == event_type::ends) key = processor_ns(CLOCK_PROCESS_CPUTIME_ID);
  return add(type, key, used_ns, own, static_cast<std::uint8_t>(what), waited_us);
}

void events::set_duration(std::uint64_t place) noexcept {
  if (place != 0) places_[place - 1].value = thread_ns() - places_[place - 1].value;
}

}  // namespace quire::record
