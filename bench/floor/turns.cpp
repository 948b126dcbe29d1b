// SPDX-License-Identifier: BSD-3-Clause
// floor_turns: the cost of synchronisation of more processes than cores, which share nothing but a few words of memory.
// They poll, and give way (sched_yield) while nothing comes for them. In microseconds:
//
//   barrier     all tell the first one, which tells all: two hops
//   hop         a word is handed from one to the next, round and round, while the others wait for their turn
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>

#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

struct settings {
  std::uint64_t processes = 4;
  std::uint64_t count = 10000;
};

/// Of one process, on a cache line of its own.
struct alignas(64) post {
  std::atomic<std::uint64_t> arrived{0}, told{0}, turn{0};
};

void wait_for(const std::atomic<std::uint64_t>& word, std::uint64_t value) {
  constexpr unsigned rounds_between = 16;
  for (unsigned i = 1; word.load(std::memory_order_acquire) < value; ++i)
    if (i % rounds_between == 0) ::sched_yield();
}

/// Of process `self`; meeting `number` of all, from 1 on.
void meet(std::span<post> posts, std::size_t self, std::uint64_t number) {
  if (self != 0) {
    posts[self].arrived.store(number, std::memory_order_release);
    return wait_for(posts[self].told, number);
  }
  for (post& other : posts.subspan(1)) wait_for(other.arrived, number);
  for (post& other : posts.subspan(1)) other.told.store(number, std::memory_order_release);
}

void work(std::span<post> posts, std::size_t self, std::uint64_t count) {
  bench::samples barrier("barrier", "us"), hop("hop", "us");
  for (std::uint64_t i = 1; i <= count; ++i) barrier.time([&] { meet(posts, self, i); });
  // The first one measures whole turns.
  for (std::uint64_t i = 1; i <= count; ++i) {
    const std::uint64_t start = bench::now_ns();
    if (self != 0) wait_for(posts[self].turn, i);
    posts[(self + 1) % posts.size()].turn.store(i, std::memory_order_release);
    if (self != 0) continue;
    wait_for(posts[0].turn, i);
    hop.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(posts.size()));
  }
  if (self != 0) return;
  barrier.print();
  hop.print();
}

void run(const settings& wanted) {
  const std::size_t bytes = wanted.processes * sizeof(post);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  const std::span posts(new (memory) post[wanted.processes], wanted.processes);
  for (std::size_t self = 1; self < wanted.processes; ++self) {
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("fork");
    if (child > 0) continue;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    work(posts, self, wanted.count);
    ::_exit(0);
  }
  work(posts, 0, wanted.count);
  for (int status = 0; ::wait(&status) > 0;)
    if (status != 0) throw std::runtime_error("a process failed");
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("Barriers and hops of processes that share memory, and cores.");
  here.add_number("--processes", wanted.processes, 2, 64, "processes");
  here.add_number("--count", wanted.count, 10, 10'000'000, "how many of each");
  return here.run(argc, argv, [&] { run(wanted); });
}
