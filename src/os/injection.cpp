// SPDX-License-Identifier: BSD-3-Clause
#include "os/injection.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

namespace quire::os {

void die_here() noexcept {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

void wait_here() noexcept { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }

bool inject_from_environment() noexcept {
  const char* text = std::getenv("QUIRE_FAIL");
  if (text == nullptr || *text == 0) return true;
  static constexpr const char* names[] = {"none",         "memfd",           "truncate",       "map",
                                          "protect",      "advise",          "userfault_open", "userfault_ioctl",
                                          "pagemap_open", "pagemap_scan",    "scratch_write",  "file_make",
                                          "file_write",   "file_sync",       "file_rename",    "file_remove",
                                          "hand_over",    "unnamed_file",    "segment_attach", "userfault_read_only",
                                          "populate",     "thread_finished", "process_handle", "process_file"};
  const char* colon = std::strchr(text, ':');
  if (colon == nullptr) return false;
  const std::string_view name(text, static_cast<std::size_t>(colon - text));
  char* end = nullptr;
  const long nth = std::strtol(colon + 1, &end, 10);
  const std::string_view word(end);
  long error = ENOMEM;
  if (word == ":kill" || word == ":wait") {
    error = word == ":kill" ? kill_instead : wait_instead;
    end += word.size();
  } else if (*end == ':') {
    error = std::strtol(end + 1, &end, 10);
  }
  if (nth < 1 || *end != 0) return false;
  for (int i = 1; i < static_cast<int>(call::count); ++i) {
    if (name == names[i]) {
      inject(static_cast<call>(i), static_cast<int>(nth), static_cast<int>(error));
      return true;
    }
  }
  return false;
}

}  // namespace quire::os
