// SPDX-License-Identifier: BSD-3-Clause
#include "report/pointer_check.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "report/sites.hpp"
#include "base/log.hpp"
#include "core/own_words.hpp"
#include "os/private_mappings.hpp"

namespace quire::api {
namespace {

using os::private_mapping;

struct suspect {
  std::uint64_t region, offset, address, value;
};

/// Collects words whose value lies in one of the mappings, which are in order.
class finder final : public core::words_reader {
 public:
  explicit finder(const std::vector<private_mapping>& all) : all_(all) {}

  void read(const core::region_slot& r, std::uint64_t offset, std::span<const std::uint64_t> words) noexcept override {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::uint64_t value = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
      if (value < all_.front().first || value >= all_.back().end || mapping_of(value) == nullptr) continue;
      const std::uint64_t at = offset + i * sizeof value;
      suspects.push_back({r.about.id, at, r.about.base + at, value});
    }
  }
  [[nodiscard]] const private_mapping* mapping_of(std::uint64_t address) const noexcept {
    const auto after = std::upper_bound(all_.begin(), all_.end(), address,
                                        [](std::uint64_t a, const private_mapping& m) { return a < m.first; });
    return after != all_.begin() && address < (after - 1)->end ? &*(after - 1) : nullptr;
  }

  std::vector<suspect> suspects;

 private:
  const std::vector<private_mapping>& all_;
};

const char* name_of(const private_mapping& m) noexcept {
  if (m.name == "[heap]") return "[heap] (malloc, new)";
  if (m.name == "[stack]") return "[stack] (of the first thread)";
  return m.name.empty() ? "memory without a name (malloc, mmap, or the stack of a thread)" : m.name.c_str();
}

/// Where this node has allocated the first block on the page of a word, if it has.
std::string site_of(std::uint64_t address) {
  constexpr std::uint64_t page = 4096;
  const auto known = sites::of(address / page * page, page);
  return known.calls.empty() ? "" : "; the first block on this page was allocated by " + known.calls.front();
}

}  // namespace

pointer_check::pointer_check(unsigned node) {
  if (!os::shift_private_memory(node)) {
    base::log(base::log_level::warning,
              "QUIRE_CHECK=pointers: there are not enough addresses to have private memory elsewhere on each node");
  }
}

void pointer_check::look(core::core& core) {
  const std::unique_lock only(looking_, std::try_to_lock);
  if (!only.owns_lock()) return;
  const auto mappings = os::writable_private_mappings();
  if (mappings.empty()) return;
  finder found(mappings);
  core::look_at_own_words(core, found);
  for (const suspect& s : found.suspects) {
    if (!found_.insert(s.address).second || found_.size() > most_told) continue;
    const private_mapping* const m = found.mapping_of(s.value);
    const bool is_file = m->name.starts_with('/');
    base::say(
        "QUIRE_CHECK: the word at 0x%lx (region %lu, byte %lu) looks like a pointer to private memory of this node: "
        "0x%lx, in %s%s%s",
        s.address, s.region, s.offset, s.value, name_of(*m), is_file ? " (a global or static variable)" : "",
        site_of(s.address).c_str());
  }
}

void pointer_check::tell_total() const noexcept {
  if (found_.empty()) return;
  base::say("QUIRE_CHECK: %lu words of shared memory looked like pointers to private memory of this node%s",
            found_.size(), found_.size() > most_told ? "; the first 8 were reported" : "");
}

}  // namespace quire::api
