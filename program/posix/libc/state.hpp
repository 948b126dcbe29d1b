// SPDX-License-Identifier: BSD-3-Clause
// What libc keeps for a process, and a program on many nodes has once: in shared memory.
#pragma once

#include <stdlib.h>
#include <time.h>

#include <cstdint>

namespace quire::program {

struct libc_state {
  std::uint32_t turn = 0;  ///< not 0: a thread is using what follows
  random_data random{};
  char random_table[128] = {};
  drand48_data drand48{};
  char* token = nullptr;  ///< where strtok(3) goes on
  tm time{};
  char zone[32] = {}, time_text[64] = {};
};

/// Collective, once.
void open_libc_state();
/// Before the program's memory goes.
void close_libc_state() noexcept;
/// Null: there is none yet, or not any more, and libc's own is taken.
[[nodiscard]] libc_state* shared_libc_state() noexcept;

/// The caller alone uses the state, as long as this lives.
class libc_turn {
 public:
  explicit libc_turn(libc_state& s) noexcept;
  libc_turn(const libc_turn&) = delete;
  libc_turn& operator=(const libc_turn&) = delete;
  ~libc_turn();

 private:
  libc_state& state_;
};

}  // namespace quire::program
