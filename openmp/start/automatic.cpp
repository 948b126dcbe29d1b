// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/start/automatic.hpp"

#include <vector>

#include "openmp/sites/known_libraries.hpp"
#include "openmp/sites/look.hpp"
#include "openmp/start/modules.hpp"

namespace quire::openmp {

sites::verdict choose_by_code() {
  sites::verdict v;
  const auto all = modules();  // before the decoder's library is among them
  const sites::decoder* const by = sites::decoder::open(v.why);
  if (by == nullptr) return v;
  std::vector<sites::file_code> files;
  for (const module& m : all) {
    const bool executable = m.name[0] == 0;
    if (!m.known) files.push_back(sites::look_at(*by, executable ? "/proc/self/exe" : m.name, executable ? "the program" : sites::last_part(m.name)));
  }
  return sites::decide(files, sites::can_watch);
}

}  // namespace quire::openmp
