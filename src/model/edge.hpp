// SPDX-License-Identifier: BSD-3-Clause
// What a message between nodes means to memory, where consistency is relaxed.
#pragma once

#include <cstdint>

namespace quire::model {

enum class edge : std::uint8_t {
  none,     ///< nothing: it says nothing of what the threads of its sender did
  carries,  ///< passes on what others have released: the receiver may let a thread of its own go on
  joins,  ///< tells that threads of the sender have come to a call, and released when it began; or brings content that
          ///< they wrote before an interval ended
  releases,  ///< a thread of the sender releases
};

}  // namespace quire::model
