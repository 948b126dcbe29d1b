// SPDX-License-Identifier: BSD-3-Clause
// Quire for C++20: one shared memory for threads on many machines. A thin layer over <quire/quire.h> that feels like
// the standard library; everything is inline and has no state of its own.
//
//     #include <quire/quire.hpp>
//     int main() {
//       quire::session job;
//       auto numbers = quire::from_node(0, [] { return quire::make_shared_array<double>(1'000'000); });
//       auto lock = quire::from_node(0, quire::mutex::create);
//       ...                                     // any thread of any node reads and writes `numbers`
//       { std::scoped_lock guard(lock); numbers[0] += 1; }
//       quire::barrier{}.arrive_and_wait();
//     }
//
// Errors are exceptions of type quire::error.
#pragma once

#include <quire/channel.hpp>
#include <quire/error.hpp>
#include <quire/group.hpp>
#include <quire/job.hpp>
#include <quire/memory.hpp>
#include <quire/minipages.hpp>
#include <quire/sync.hpp>
#include <quire/team.hpp>
#include <quire/thread.hpp>
