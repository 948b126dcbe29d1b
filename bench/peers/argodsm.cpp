// SPDX-License-Identifier: BSD-3-Clause
// ArgoDSM for measure.cpp, sor.cpp and cg.cpp. Its default allocation policy gives the first part of the shared memory
// to node 0, so that twice as much is asked for as is used. The applications run under its policy "first touch"
// (ARGO_ALLOCATION_POLICY=4), as its manual advises where each node initialises its own part.
#include <argo/argo.hpp>
#include <argo/synchronization/cohort_lock.hpp>

#include <stdexcept>

#include "peers/system.h"

namespace {
argo::globallock::cohort_lock* the_lock = nullptr;
}  // namespace

const char* system_name() { return "argodsm"; }
int system_arguments(int argc, char**) { return argc; }

void system_start(int, char**, size_t bytes) {
  constexpr size_t own_use = 16u << 20;
  argo::init(2 * (bytes + own_use), bytes + own_use);
  the_lock = new argo::globallock::cohort_lock();
}

void system_end() {
  delete the_lock;
  argo::finalize();
}

int system_node() { return static_cast<int>(argo::node_id()); }
int system_nodes() { return static_cast<int>(argo::number_of_nodes()); }

void* system_allocate(size_t bytes) {
  char* const at = argo::conew_array<char>(bytes);
  if (argo::get_homenode(at) != 0 || argo::get_homenode(at + bytes - 1) != 0)
    throw std::runtime_error("ArgoDSM has not placed the memory on node 0");
  return at;
}

void* system_allocate_blocks(const size_t* begin) {
  constexpr size_t page = 4096;
  char* const at = argo::conew_array<char>(begin[argo::number_of_nodes()] + page);  // not on a page by itself
  return reinterpret_cast<char*>((reinterpret_cast<size_t>(at) + page - 1) / page * page);
}

void system_barrier() { argo::barrier(); }
void system_lock() { the_lock->lock(); }
void system_unlock() { the_lock->unlock(); }
