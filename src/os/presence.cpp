// SPDX-License-Identifier: BSD-3-Clause
#include "os/presence.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "os/memory.hpp"
#include "os/process.hpp"

namespace quire::os {

void for_each_present(const void* at, std::size_t bytes, const std::function<void(std::size_t, std::size_t)>& f) {
  constexpr std::uint64_t present = std::uint64_t{1} << 63 | std::uint64_t{1} << 62;  // in memory, or swapped out
  std::array<std::uint64_t, 8192> entries;
  const descriptor map(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  const std::size_t first = reinterpret_cast<std::uintptr_t>(at) / page_bytes,
                    pages = (bytes + page_bytes - 1) / page_bytes;
  std::size_t run = 0, begin = 0;
  const auto end_run = [&] {
    if (run != 0) f(begin * page_bytes, std::min(run * page_bytes, bytes - begin * page_bytes));
    run = 0;
  };
  for (std::size_t page = 0; page < pages;) {
    const std::size_t wanted = std::min(entries.size(), pages - page);
    const ssize_t got = map.open() ? ::pread(map.number(), entries.data(), wanted * sizeof entries[0],
                                             static_cast<off_t>((first + page) * sizeof entries[0]))
                                   : -1;
    const std::size_t told = got > 0 ? static_cast<std::size_t>(got) / sizeof entries[0] : 0;
    if (told == 0) {  // who cannot tell must be taken for present
      end_run();
      return f(page * page_bytes, bytes - page * page_bytes);
    }
    for (std::size_t i = 0; i < told; ++i) {
      if ((entries[i] & present) == 0) {
        end_run();
      } else if (run++ == 0) {
        begin = page + i;
      }
    }
    page += told;
  }
  end_run();
}

}  // namespace quire::os
