// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/races.hpp"

namespace quire::whole {

namespace {
/// A step that changes low and high bits alike, so that a mixture of two values is neither.
constexpr std::uint64_t count_by = 0x10'0101, all_bytes = 0x0101'0101'0101'0101;
}  // namespace

std::uint64_t races::owned(unsigned writer, unsigned which) const {
  const std::uint64_t word = common_words + std::uint64_t{which} * writers() + writer;
  return options_.base + (writer + which) % options_.pages * options_.page_bytes + word * sizeof(std::uint64_t);
}

std::uint64_t races::common(unsigned page, unsigned which) const {
  return options_.base + page * options_.page_bytes + which * sizeof(std::uint64_t);
}

void races::step(actor& a, unsigned place, bool may_write) {
  for (std::uint64_t i = 1 + a.draw.below(6); i != 0 && !world_.failed(); --i) {
    const auto which = static_cast<unsigned>(a.draw.below(owned_words));
    const bool owns = place < writers();
    const std::uint64_t shared =
        common(static_cast<unsigned>(a.draw.below(options_.pages)), static_cast<unsigned>(a.draw.below(common_words)));
    switch (may_write ? a.draw.below(5) : 1 + 3 * a.draw.below(2)) {
      case 0:
        if (const std::uint64_t mine = owned(place, which); owns) a.write(mine, world_.latest(mine) + count_by);
        break;
      case 1:
      case 2:
        read_owned(a, place, static_cast<unsigned>(a.draw.below(writers())), which);
        break;
      case 3: {
        const std::uint64_t byte = a.draw.below(256);
        written_[shared].set(byte);  // from here on: where the thread waits, another one may see it first
        a.write(shared, byte * all_bytes);
        break;
      }
      default:
        read_common(a, shared);
    }
  }
}

void races::read_owned(actor& a, unsigned place, unsigned writer, unsigned which) {
  const std::uint64_t at = owned(writer, which);
  const std::uint64_t found = a.here.load(at);
  if (writer != place) ++reads_of_others_;
  std::uint64_t& seen = seen_[{place, at}];
  if (options_.sequential || writer == place) a.check(at, found);
  if (found % count_by != 0 || found > world_.latest(at)) fail(a, "a value that was never written", found, at);
  if (options_.in_order && found < seen) fail(a, "an older value than before", found, at);
  seen = found;
}

void races::read_common(actor& a, std::uint64_t address) {
  const std::uint64_t found = a.here.load(address), byte = found & 0xff;
  if (options_.sequential) a.check(address, found);
  if (found != byte * all_bytes) fail(a, "parts of several values", found, address);
  if (found != 0 && !written_[address][byte]) fail(a, "a value that was never written", found, address);
}

void races::look_at_all(actor& a) {
  for (unsigned page = 0; page < options_.pages; ++page) {
    for (unsigned which = 0; which < common_words && !world_.failed(); ++which) read_common(a, common(page, which));
  }
}

void races::fail(const actor& a, const char* why, std::uint64_t found, std::uint64_t address) {
  world_.fail("node " + std::to_string(a.node_number()) + " finds " + why + ", " + std::to_string(found) + ", in " +
              world_.name_of(address));
}

}  // namespace quire::whole
