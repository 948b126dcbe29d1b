// SPDX-License-Identifier: BSD-3-Clause
#include "core/trace.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "base/log.hpp"
#include "os/memory.hpp"

namespace quire::core {

fault_trace::~fault_trace() { os::unmap(stamps_, capacity * sizeof(stamp)); }

base::status fault_trace::open(const std::string& directory, unsigned node) {
  if (directory.empty()) return {};
  path_ = directory + "/quire." + std::to_string(node) + ".faults";
  // Whether it can be written is found out now, not after hours.
  std::FILE* const file = std::fopen(path_.c_str(), "w");
  if (file == nullptr) {
    base::log(base::log_level::error, "cannot write the time stamps of faults to %s (QUIRE_FAULT_TRACE): %s",
              path_.c_str(), std::strerror(errno));
    return QUIRE_BAD_OPTION;
  }
  std::fclose(file);
  int error = 0;
  stamps_ = static_cast<stamp*>(os::map_table(capacity * sizeof(stamp), error));
  return stamps_ != nullptr ? QUIRE_OK : QUIRE_NO_MEMORY;
}

void fault_trace::write() noexcept {
  if (stamps_ == nullptr) return;
  static constexpr const char* names[] = {"entered", "asked", "received", "decided", "replied", "woken"};
  std::FILE* const file = std::fopen(path_.c_str(), "w");
  bool good = file != nullptr;
  const std::uint64_t count = std::min(count_.load(), capacity);
  for (std::uint64_t i = 0; good && i < count; ++i) {
    const stamp& s = stamps_[i];
    good = std::fprintf(file, "%s %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", names[static_cast<int>(s.where)], s.region,
                        s.unit, s.ns) > 0;
  }
  if (file != nullptr) good = std::fclose(file) == 0 && good;
  if (!good) base::log(base::log_level::warning, "cannot write %s: %s", path_.c_str(), std::strerror(errno));
}

}  // namespace quire::core
