// SPDX-License-Identifier: BSD-3-Clause
// Pages of shared memory (heap, stacks, static data) as calls of mappings see them: a page is open, or closed on all
// nodes (PROT_NONE), where an access is SIGSEGV.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program/posix/memory/pages.hpp"

namespace quire::program {

/// How much of a range is shared, by its first and its last page. `caller`, a return address: what is not of the
/// program finds nothing shared.
[[nodiscard]] part shared_part(const void* at, std::size_t bytes, const void* caller) noexcept;

// Whole pages, which are shared. All nodes have made the change when a call returns.

/// False, and errno: ENOTSUP, where Quire cannot close pages of this memory; ENOMEM.
[[nodiscard]] bool close_pages(void* at, std::size_t bytes) noexcept;
/// Where no page is closed, this costs no message.
[[nodiscard]] bool open_pages(void* at, std::size_t bytes) noexcept;
/// Before a block of them is given back. `zero`: all are, as most were and the others are written.
[[nodiscard]] bool open_to_give_back(void* at, std::size_t bytes, bool& zero) noexcept;
/// They read as zeroes from now on, and are open.
[[nodiscard]] bool clear_pages(void* at, std::size_t bytes) noexcept;
/// Their content is zero from now on; what is closed stays so.
[[nodiscard]] bool clear_open_pages(void* at, std::size_t bytes) noexcept;
/// They are closed, and will read as zeroes when they are opened. `fresh`: they are zero already.
[[nodiscard]] bool empty_pages(void* at, std::size_t bytes, bool fresh = false) noexcept;

/// Before a block of the heap is freed: none of its pages may stay closed.
void open_block(void* at) noexcept;

/// A call that shared memory cannot have: a line that says so, and what to do. errno becomes ENOTSUP.
void refuse_mapping(const char* call, const void* at, const char* advice) noexcept;
inline constexpr const char* whole_advice =
    "only a part of the range is shared by all nodes: make one call for each part";

}  // namespace quire::program
