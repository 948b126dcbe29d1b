// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/places/topology.hpp"

#include <sched.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace quire::program {
namespace {

/// The first number of a file, if there is one.
int number_in(const std::string& path, int otherwise) noexcept {
  int number = otherwise;
  if (std::FILE* const file = std::fopen(path.c_str(), "re"); file != nullptr) {
    if (std::fscanf(file, "%d", &number) != 1) number = otherwise;
    std::fclose(file);
  }
  return number;
}

/// The first processor that shares the cache of the highest level; the socket, where there is none.
int cache_of(const std::string& folder, int otherwise) {
  for (int index = 9; index >= 0; --index) {
    const std::string cache = folder + "/cache/index" + std::to_string(index);
    std::error_code ignored;
    if (std::filesystem::exists(cache, ignored)) return number_in(cache + "/shared_cpu_list", otherwise);
  }
  return otherwise;
}

int memory_of(const std::string& folder) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("node") && name.size() > 4) return std::atoi(name.c_str() + 4);
  }
  return 0;
}

cpu_set_t g_at_start;
bool g_noted = false;

}  // namespace

void note_processors() noexcept { g_noted = ::sched_getaffinity(0, sizeof g_at_start, &g_at_start) == 0; }
bool had_processor(int number) noexcept { return g_noted && CPU_ISSET(static_cast<std::size_t>(number), &g_at_start); }

std::vector<processor> processors_here() {
  std::vector<processor> found;
  cpu_set_t mine;
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) return found;
  for (int number = 0; number < CPU_SETSIZE; ++number) {
    if (!CPU_ISSET(number, &mine)) continue;
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(number);
    const int socket = number_in(folder + "/topology/physical_package_id", 0);
    found.push_back({number, number_in(folder + "/topology/thread_siblings_list", number), cache_of(folder, socket),
                     socket, memory_of(folder)});
  }
  return found;
}

}  // namespace quire::program
