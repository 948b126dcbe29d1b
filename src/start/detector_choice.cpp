// SPDX-License-Identifier: BSD-3-Clause
#include "start/detector_choice.hpp"

#include <quire/quire.h>

#include <algorithm>
#include <cstdio>

#include "base/log.hpp"

namespace quire::api {

base::status detector_choice::choose(const base::option_values& options, int asked, const pool::settings& pool) {
  static constexpr detect::kind kinds[] = {detect::kind::userfault_inline, detect::kind::userfault_thread,
                                           detect::kind::segv};
  if (options.given(base::option::detect)) asked = static_cast<int>(options.number(base::option::detect));
  if (asked < QUIRE_DETECT_DEFAULT || asked > QUIRE_DETECT_SEGV) {
    base::log(
        base::log_level::error,
        "quire_options.detector = %d is not allowed; it may be QUIRE_DETECT_DEFAULT, _USERFAULT, _USERFAULT_THREAD "
        "or _SEGV",
        asked);
    return QUIRE_BAD_OPTION;
  }
  automatic_ = asked == QUIRE_DETECT_DEFAULT;
  const bool takes = pool::takes_userfault(pool);
  if (!automatic_) {
    kind_ = kinds[asked - 1];
    if (kind_ == detect::kind::segv || takes) return {};
    base::log(base::log_level::error, "userfaultfd cannot watch pool '%s'%s; set QUIRE_DETECT to segv",
              pool::name_of(pool.which), pool.which == pool::kind::file ? " unless its directory is a tmpfs" : "");
    return QUIRE_BAD_OPTION;
  }
  kind_ = takes ? detect::kind::userfault_inline : detect::kind::segv;
  if (!takes) {
    base::log(base::log_level::info, "pool '%s' goes with detector 'segv' only", pool::name_of(pool.which));
    return {};
  }
  const std::string why = detect::why_no_userfault(*pool.application);
  std::snprintf(lack_.text.data(), lack_.text.size(), "%s", why.c_str());
  if (!why.empty()) kind_ = detect::kind::segv;
  return {};
}

void detector_choice::agree(std::span<const detector_lack> all, std::span<const std::string> hosts, std::size_t self) {
  const auto lacks = [](const detector_lack& one) { return one.text[0] != 0; };
  const auto first = std::find_if(all.begin(), all.end(), lacks);
  if (!automatic_ || first == all.end()) return;
  kind_ = detect::kind::segv;
  if (self != 0) return;
  const auto node = first - all.begin();
  const std::string who = all.size() == 1 ? "this system has"
                          : std::all_of(first, all.end(), lacks) && node == 0
                              ? "the nodes have"
                              : "node " + std::to_string(node) + " (" + hosts[static_cast<std::size_t>(node)] + ") has";
  base::log(base::log_level::warning,
            "%s detector 'segv': faults are noticed by SIGSEGV and mprotect, with at most vm.max_map_count changes of "
            "protection between neighbouring pages, as %s no userfaultfd for shared memory: %s (see `quire info`)",
            all.size() == 1 ? "the job takes" : "all nodes take", who.c_str(), first->text.data());
}

}  // namespace quire::api
