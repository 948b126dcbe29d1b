// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing that somebody else does: a crew. In a process it has threads (crew.hpp); in the simulator chance
// does it (sim/whole/chance_crew.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "store/store.hpp"

namespace quire::store {

/// A range on its way between memory and a store. It stays where it is from crew::begin() until crew::take_done() has
/// given it back.
struct io {
  enum class kind : std::uint8_t {
    fill,
    flush,
    sync,
    resize,  ///< to `at` bytes
    close,   ///< the store goes, and so do the threads that its crew has for it: nothing else of it is under way
  };
  kind what = kind::fill;
  store* of = nullptr;
  std::uint64_t at = 0;
  std::byte* memory = nullptr;  ///< written by a fill, read by a flush
  std::size_t bytes = 0;
  int error = 0;                        ///< when it is done: 0 or errno
  io* next = nullptr;                   ///< of take_done()
  std::atomic<std::uint32_t> state{0};  ///< the crew's

  /// Does it, now. May take as long as a disk does.
  void perform() noexcept {
    switch (what) {
      case kind::fill:
        error = of->fill(at, {memory, bytes});
        return;
      case kind::flush:
        error = of->flush(at, {memory, bytes});
        return;
      case kind::sync:
        error = of->sync();
        return;
      case kind::resize:
        error = of->resize(at);
        return;
      case kind::close:
        delete of;
        return;
    }
  }
};

/// Driver's thread, fault context.
class crew {
 public:
  /// Has it done some time, whatever else was begun before.
  virtual void begin(io& o) noexcept = 0;
  /// Those that are done and have not been given back, in the order in which they were done; null if there are none.
  /// Whoever drives is called when there is one.
  [[nodiscard]] virtual io* take_done() noexcept = 0;
  /// Waits until it is done. take_done() gives it back all the same.
  virtual void finish(io& o) noexcept = 0;

 protected:
  ~crew() = default;
};

}  // namespace quire::store
