// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/crash.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/runtime.hpp"
#include "base/log.hpp"
#include "core/region_slot.hpp"
#include "split/core_file.hpp"

namespace quire::api {
namespace {

using core::dumped_parts;
using core::region_slot;

/// Adds the pages of a part of a region that this node has a valid copy of, and that were ever used.
void add_part(const region_slot& r, std::uint64_t first, std::uint64_t bytes, std::vector<split::memory_run>& runs) {
  constexpr std::uint64_t page = os::page_bytes;
  std::vector<unsigned char> resident(bytes / page);
  std::byte* const at = r.memory->system_view() + first;
  if (::mincore(at, bytes, resident.data()) != 0) return;
  for (std::size_t i = 0; i < resident.size(); ++i) {
    const std::uint64_t offset = first + i * page;
    if ((resident[i] & 1) == 0 || !r.machine->has_content(r.layout.unit_of(offset))) continue;
    const std::uint64_t address = r.about.base + offset;
    if (!runs.empty() && runs.back().address + runs.back().bytes == address) {
      runs.back().bytes += page;
    } else {
      runs.push_back({address, page});
    }
  }
}

/// Driver's thread: nothing moves meanwhile.
std::vector<split::memory_run> valid_pages(core::core& core) {
  std::vector<split::memory_run> runs;
  core.regions.for_each([&](const region_slot& r) {
    constexpr std::uint64_t part = std::uint64_t{1} << dumped_parts::part_shift;
    for (std::uint64_t first = 0; first < r.about.bytes; first += part) {
      if (r.dumped.has(first)) add_part(r, first, std::min(part, r.about.bytes - first), runs);
    }
  });
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return runs;
}

}  // namespace

void tell_pages(const std::string& directory) {
  runtime* const r = current();
  if (r == nullptr) return;
  if (directory.empty()) {
    base::log(base::log_level::info, "the application of this node has ended without quire_end()");
    return;
  }
  struct pages_op : core::op {
    using op::op;
    std::vector<split::memory_run> runs;
  } o(
      [](core::core& e, core::op& self) noexcept {
        static_cast<pages_op&>(self).runs = valid_pages(e);
        self.complete();
      },
      core::op::type::call);
  if (!r->core->run(o, 1000)) return;
  std::uint64_t bytes = 0;
  for (const auto& run : o.runs) bytes += run.bytes;
  const std::string path =
      directory + "/quire." + std::to_string(r->job->node()) + "." + std::to_string(::getpid()) + ".core";
  const int error = split::write_core_file(path, o.runs);
  if (error != 0) {
    base::log(base::log_level::error, "cannot write the shared pages of the crashed application to %s: %s",
              path.c_str(), std::strerror(error));
  } else {
    base::log(base::log_level::error, "the application of this node has crashed; %lu KiB of shared pages are in %s",
              static_cast<unsigned long>(bytes >> 10), path.c_str());
  }
}

}  // namespace quire::api
