// SPDX-License-Identifier: BSD-3-Clause
// For predict_test: work that nodes share, or words that they write in turn. Arguments: "work MILLISECONDS": of
// processor time, shared by all nodes, with ten barriers; "turns NUMBER": node 0 and 1 write a word in turn, so often;
// "sleep MILLISECONDS": of real time; "socket MILLISECONDS": waits so long for what nobody sends; "team MILLISECONDS":
// two threads of each node compute so long, and ask Quire for nothing; "fail": ends with status 3; "ever": does not
// end; "sweep NUMBER": so often one node writes 4 MiB, and the other one reads them, in no order that could be read
// ahead, with work that two nodes share; "input": fails unless it finds "all of it" on standard input.
#include <quire/quire.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

namespace {

double processor_s() {
  timespec t{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}
void compute(double seconds) {
  const double until = processor_s() + seconds;
  while (processor_s() < until) continue;
}
void meet() {
  if (quire_barrier_wait(quire_barrier{0}) != QUIRE_OK) std::exit(2);
}

void sweep(int times) {
  constexpr std::size_t words = 512, pages = 1024, step = 389;
  void* at = nullptr;
  if (quire_node() == 0 && quire_malloc(pages * words * sizeof(std::uint64_t), &at) != QUIRE_OK) std::exit(2);
  auto address = reinterpret_cast<std::uint64_t>(at);
  if (quire_broadcast(&address, sizeof address, 0) != QUIRE_OK) std::exit(2);
  auto* const all = reinterpret_cast<volatile std::uint64_t*>(address);
  for (int i = 1; i <= times; ++i) {
    for (std::size_t page = 0; quire_node() == 0 && page < pages; ++page)
      all[page * step % pages * words] = static_cast<std::uint64_t>(i);
    meet();
    for (std::size_t page = 0; quire_node() == quire_nodes() - 1 && page < pages; ++page)
      if (all[page * step % pages * words] != static_cast<std::uint64_t>(i)) std::exit(4);
    compute(0.1 / quire_nodes());
    meet();
  }
}
void read_input() {
  char text[64] = {};
  if (quire_node() == 0 && (std::fgets(text, sizeof text, stdin) == nullptr || std::strcmp(text, "all of it\n") != 0))
    std::exit(5);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  if (quire_start(nullptr) != QUIRE_OK) return 2;
  const int me = quire_node(), nodes = quire_nodes();
  if (what == "fail") std::exit(3);
  void* at = nullptr;
  if (me == 0 && quire_malloc(4096, &at) != QUIRE_OK) return 2;
  auto address = reinterpret_cast<std::uint64_t>(at);
  if (quire_broadcast(&address, sizeof address, 0) != QUIRE_OK) return 2;
  auto* const word = reinterpret_cast<volatile std::uint64_t*>(address);
  if (what == "work") {
    for (int round = 0; round < 10; ++round) {
      compute(number / 1e4 / nodes);
      meet();
    }
  }
  for (int turn = 0; what == "turns" && turn < number; ++turn) {
    if (turn % 2 == me) *word = *word + 1;
    meet();
  }
  if (what == "sleep") {
    const timespec pause{number / 1000, number % 1000 * 1'000'000L};
    (void)::nanosleep(&pause, nullptr);
  }
  if (what == "socket") {
    int both[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, both) != 0) return 2;
    const timeval limit{number / 1000, number % 1000 * 1000L};
    char nothing = 0;
    if (::setsockopt(both[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0) return 2;
    if (::recv(both[0], &nothing, 1, 0) >= 0) return 2;
  }
  if (what == "team") {
    std::thread one(compute, number / 1e3), other(compute, number / 1e3);
    one.join();
    other.join();
  }
  if (what == "sweep") sweep(number);
  if (what == "input") read_input();
  while (what == "ever") {
    compute(0.01);
    meet();
  }
  return quire_end() == QUIRE_OK ? 0 : 2;
}
