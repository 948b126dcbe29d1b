// SPDX-License-Identifier: BSD-3-Clause
#include "memory_fact.hpp"

#include <vector>

#include "exec_plan.hpp"
#include "program/sites/known_libraries.hpp"
#include "program/sites/look.hpp"
#include "program_libraries.hpp"

namespace quire::tools {

namespace sites = program::sites;

memory_fact memory_for(const std::string& path) {
  const auto sequential = [](const std::string& why) {
    return memory_fact{sequential_memory, "sequential, as " + why};
  };
  std::string why;
  const sites::decoder* const by = sites::decoder::open(why);
  if (by == nullptr) return sequential(why);
  std::vector<sites::file_code> files;
  files.push_back(sites::look_at(*by, path.c_str(), "the program"));
  std::vector<std::string> libraries;
  if (!libraries_of(path, libraries)) return sequential("its libraries cannot be found");
  for (const auto& one : libraries) {
    const char* const name = sites::last_part(one.c_str());
    if (!sites::is_of_a_compiler(name) && !sites::is_of_an_allocator(name))
      files.push_back(sites::look_at(*by, one.c_str(), name));
  }
  const auto v = sites::decide(files, sites::can_watch);
  return v.mixed ? memory_fact{mixed_memory, "mixed, as " + v.why} : sequential(v.why);
}

}  // namespace quire::tools
