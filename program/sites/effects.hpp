// SPDX-License-Identifier: BSD-3-Clause
// What an instruction of x86-64 does to the general registers and to memory, as far as argument.hpp has to know; and to
// numbers, as far as sums.hpp has to.
#pragma once

#include <array>
#include <cstdint>

namespace quire::program::sites {

/// As the processor numbers them; then what is no general register.
enum reg : std::uint8_t { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r15 = 15, rip, no_reg };

/// A set of general registers.
using reg_set = std::uint16_t;
[[nodiscard]] constexpr reg_set only(unsigned of) noexcept {
  return of < rip ? static_cast<reg_set>(1u << of) : reg_set{0};
}

/// Memory that an instruction uses, or whose address it computes.
struct memory_use {
  std::uint8_t base = no_reg, index = no_reg;
  bool reads = false, writes = false;
  bool of_thread = false;  ///< by fs or gs
  std::int64_t displacement = 0;
  std::uint32_t bytes = 0;
};

/// How numbers become one.
enum class combining : std::uint8_t { add, multiply, least, greatest };

/// Operands of numbers: the general registers, those of vectors, and what is no register.
inline constexpr std::uint8_t register_count = 32, in_memory = 32, constant = 33;

/// `to` = `left` combined with `right`, or `right` alone.
struct value_step {
  enum class kind : std::uint8_t {
    nothing,  ///< of that kind
    move,
    combine,
    exchange  ///< in one step: memory becomes `right` if it is as rax, else rax becomes as memory
  };
  kind what = kind::nothing;
  std::uint8_t to = constant, left = constant, right = constant;
  std::uint8_t bytes = 0, lane = 0;  ///< of all numbers, and of each
  bool real = false;
  bool ordered = false;  ///< `left` less `right`
  bool merges = false;   ///< a part of `to` stays
  combining how = combining::add;
};

struct effects {
  enum class kind : std::uint8_t {
    plain,
    jump,      ///< to `target`
    branch,    ///< there, or on
    call,      ///< of `target`, or of what `memory[0]` has if it is relative to rip; else of what cannot be known
    leaves,    ///< to its caller, or ends
    unknown,   ///< goes where it cannot be known
    copy,      ///< `to` = `from`, 64 bits
    load,      ///< `to` = memory[0], 64 bits
    store,     ///< memory[0] = `from`, 64 bits
    push,      ///< of `from`
    pop,       ///< into `to`
    address,   ///< `to` = the address of memory[0]
    move_sp,   ///< rsp += `amount`
    align_sp,  ///< rsp becomes less by what cannot be known
    frame_end  ///< rsp = rbp, and rbp is popped
  };
  kind what = kind::plain;
  std::uint8_t length = 0;
  std::uint8_t from = no_reg, to = no_reg;
  bool direct = false;  ///< a call of `target`
  std::uint64_t target = 0;
  std::int64_t amount = 0;
  reg_set reads = 0;                              ///< as values, not as addresses
  reg_set replaces = 0;                           ///< 32 bits, which clears the rest, or 64
  reg_set vector_reads = 0, vector_replaces = 0;  ///< of the first 16 vector registers; the latter: a part at least
  bool clears = false;                            ///< a register, by itself
  bool tests_flags = false, sets_flags = false;   ///< the latter: all that instructions test
  value_step step{};
  std::uint8_t uses = 0;
  std::array<memory_use, 3> memory{};
};

}  // namespace quire::program::sites
