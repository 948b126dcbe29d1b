// SPDX-License-Identifier: BSD-3-Clause
// What a part of a job costs in messages and faults: counts of all nodes, which a busy machine does not change. One
// thread of each node calls, in the same order.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <quire/quire.hpp>

#include "common/samples.hpp"

namespace bench {

class traffic {
 public:
  /// Counting begins.
  traffic() : before_(read()) {}
  /// Prints each count divided by `operations`, named "messages_NAME" and so on. All nodes call; node 0 prints.
  void print(const std::string& name, double operations) const {
    counts now = read();
    for (std::size_t i = 0; i < now.size(); ++i) now[i] -= before_[i];
    quire::all_reduce(std::span<std::int64_t>(now), quire::operation::sum);
    if (quire_node() != 0) return;
    for (std::size_t i = 0; i < now.size(); ++i) {
      samples each(std::string(names[i]) + "_" + name, names[i]);
      each.add(static_cast<double>(now[i]) / operations);
      each.print();
    }
  }

 private:
  static constexpr std::array names = {"messages",       "bytes",        "read_faults", "write_faults",
                                       "upgrade_faults", "local_faults", "fault_us",    "lock_us"};
  using counts = std::array<std::int64_t, names.size()>;
  [[nodiscard]] static counts read() {
    const auto c = quire::counters();
    counts all{};
    std::size_t i = 0;
    for (const std::uint64_t count : {c.messages_sent, c.bytes_sent, c.read_faults, c.write_faults, c.upgrade_faults,
                                      c.local_faults, c.fault_ns / 1000, c.lock_ns / 1000}) {
      all[i++] = static_cast<std::int64_t>(count);
    }
    return all;
  }
  counts before_;
};

}  // namespace bench
