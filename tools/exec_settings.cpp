// SPDX-License-Identifier: BSD-3-Clause
#include "exec_settings.hpp"

#include <sys/personality.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "exec_environment.hpp"
#include "loader_room.hpp"

namespace quire::tools {
namespace {

void change(exec_settings& into, const char* name, const std::string& value, const char* remembered_as) {
  const char* const old = std::getenv(name);
  into.emplace_back(remembered_as, old != nullptr ? old : "");
  into.emplace_back(name, value);
}

std::string library_path(const std::string& more_folders) {
  const char* const set = std::getenv("LD_LIBRARY_PATH");
  if (set == nullptr || *set == 0) return more_folders;
  return more_folders.empty() ? set : std::string(set) + ":" + more_folders;
}

/// One string of the environment has 128 KiB at most (MAX_ARG_STRLEN), its name and the 0 behind it included.
constexpr std::size_t most_path_bytes = 120 << 10;

bool is_fresh() {
  constexpr const char* left[] = {exec_preload_variable, exec_bind_now_variable, exec_library_path_variable,
                                  exec_stack_variable,   exec_memory_variable,   exec_place_variable,
                                  exec_code_variable,    exec_file_variable};
  return std::none_of(std::begin(left), std::end(left), [](const char* name) { return std::getenv(name) != nullptr; });
}

bool has_stack(rlim_t least, rlim_t most) {
  rlimit limit;
  return ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= least && limit.rlim_cur <= most;
}

/// The environment lies on the stack, and counts for its limit.
bool has_stack_for_room() { return has_stack(rlim_t{1} << 20, RLIM_INFINITY); }

/// Tried on this process, which is afterwards what it was.
bool addresses_can_be_fixed() {
  const int old = ::personality(0xffffffff);
  if (old == -1 || (old & ADDR_NO_RANDOMIZE) != 0) return old != -1;
  if (::personality(static_cast<unsigned long>(old) | ADDR_NO_RANDOMIZE) == -1) return false;
  (void)::personality(static_cast<unsigned long>(old));
  return true;
}

}  // namespace

exec_settings settings_for(const exec_plan& plan, const std::string& stack_before, const std::string& memory,
                           const std::string& place, const std::string& more_folders) {
  std::string list;
  for (const auto& path : plan.preload) list += (list.empty() ? "" : ":") + path;
  const char* const users = std::getenv("LD_PRELOAD");
  if (users != nullptr && *users != '\0') list += std::string(":") + users;
  exec_settings all;
  change(all, "LD_PRELOAD", list, exec_preload_variable);
  change(all, "LD_BIND_NOW", "1", exec_bind_now_variable);
  const std::string path = library_path(more_folders), with_room = with_loader_room(path);
  if (has_stack_for_room() && with_room.size() <= most_path_bytes) {
    change(all, "LD_LIBRARY_PATH", with_room, exec_library_path_variable);
  } else if (!more_folders.empty()) {
    change(all, "LD_LIBRARY_PATH", path, exec_library_path_variable);
  }
  all.emplace_back(exec_stack_variable, stack_before);
  all.emplace_back(exec_memory_variable, memory);
  if (plan.places_threads) all.emplace_back(exec_place_variable, place.empty() ? usual_place : place);
  return all;
}

exec_settings settings_at_once(const exec_plan& plan, const std::string& memory, const std::string& place) {
  if (!is_fresh() || !has_stack(standard_stack_bytes, standard_stack_bytes) || !addresses_can_be_fixed()) return {};
  return settings_for(plan, std::to_string(standard_stack_bytes), memory.empty() ? sequential_memory : memory, place,
                      "");
}

}  // namespace quire::tools
