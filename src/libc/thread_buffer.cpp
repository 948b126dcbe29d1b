// SPDX-License-Identifier: BSD-3-Clause
#include "libc/thread_buffer.hpp"

#include <pthread.h>

#include <cstdint>

#include "os/memory.hpp"

namespace quire::api::calls {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{64} << 10, step = 64;

thread_local constinit char* t_buffer __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local constinit std::size_t t_taken __attribute__((tls_model("initial-exec"))) = 0;
pthread_key_t g_at_thread_end;
bool g_has_key = false;

/// A key that is made early has its place in the thread itself: setting it allocates nothing.
[[gnu::constructor]] void make_key() noexcept {
  g_has_key = ::pthread_key_create(&g_at_thread_end, [](void* start) {
                t_buffer = nullptr;
                os::unmap(start, buffer_bytes);
              }) == 0;
}

char* make_buffer() noexcept {
  constexpr pthread_key_t first_block = 32;
  if (!g_has_key || g_at_thread_end >= first_block) return nullptr;
  int error = 0;
  auto* const start = static_cast<char*>(os::map_table(buffer_bytes, error));
  if (start != nullptr) (void)::pthread_setspecific(g_at_thread_end, start);
  return start;
}

}  // namespace

char* take_of_buffer(std::size_t bytes) noexcept {
  if (bytes > buffer_bytes - step) return nullptr;
  const std::size_t whole = (bytes + step - 1) / step * step;
  if (whole > buffer_bytes - t_taken) return nullptr;
  if (t_buffer == nullptr) t_buffer = make_buffer();
  if (t_buffer == nullptr) return nullptr;
  char* const at = t_buffer + t_taken;
  t_taken += whole;
  return at;
}

/// What lies behind is of handlers that have been left by siglongjmp(3).
void give_to_buffer(char* taken) noexcept {
  const auto at = static_cast<std::size_t>(taken - t_buffer);
  if (t_buffer != nullptr && at < t_taken) t_taken = at;
}

}  // namespace quire::api::calls
