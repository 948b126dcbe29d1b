// SPDX-License-Identifier: BSD-3-Clause
// A thread on x86-64 has a block of thread-local variables below its descriptor, to which %fs points: first the
// executable's, below them those of libraries in the order of loading.
//
//     place of a thread                                             page boundary
//     | its own stack | libraries' variables | the executable's variables | descriptor |
//       private         private                shared: whole pages           private
//
// Quire, libc and the kernel use what is private while a fault is served, so the pages must have nothing of theirs.
// This is so because
//   - the descriptor begins on a page, as an alignment of 4096 is asked for below, and the dynamic linker gives all
//   threads the largest one;
//   - the first library is the stand-in for libgomp, whose variables are two pages that nobody uses
//   (stand_ins/stand_in.c).
//   - a program whose variables are aligned leaves room in its last page, into which the dynamic linker puts variables
//   of libraries, unless a block behind it leaves more: this library's does, as long as all of its own take up to
//   0x2800 bytes.
// Both are checked. The pages become shared by quire_region_adopt(), of a thread's node; elsewhere the rest of its
// place is not there.
#include "program/posix/memory/thread_data.hpp"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <quire/system.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "program/job/plan.hpp"
#include "program/process/fail.hpp"
#include "program/process/interpose.hpp"
#include "program/process/memory_mode.hpp"
#include "program/process/modules.hpp"

namespace quire::program {
namespace {

constexpr std::uint64_t data_page = 4096, first_place = 0x3000'0000'0000;
[[gnu::used]] alignas(data_page) thread_local char t_alignment[64];

std::uint64_t g_bytes = 0;        ///< shared of each thread; 0: there is nothing to share
std::uint64_t g_place_bytes = 0;  ///< from one place to the next; 0: there are no places
std::vector<int> g_made;          ///< places of each node
std::atomic<int> g_made_here{0};  ///< the same of this node, for any thread

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) noexcept { return (bytes + to - 1) / to * to; }
std::uint64_t place_start(std::size_t node, std::uint64_t number) noexcept {
  return first_place + (node * most_places + number) * g_place_bytes;
}
std::uint64_t descriptor_of(std::uint64_t place) noexcept { return place + g_place_bytes - data_page; }
std::uint64_t own_descriptor() noexcept { return reinterpret_cast<std::uint64_t>(__builtin_thread_pointer()); }

struct overlap {
  std::uint64_t first, end;
  const char* found = nullptr;
};

int look_for_others(dl_phdr_info* info, std::size_t, void* argument) {
  auto& o = *static_cast<overlap*>(argument);
  if (info->dlpi_name[0] == 0 || info->dlpi_tls_data == nullptr ||
      std::strstr(info->dlpi_name, "libgomp.so") != nullptr)
    return 0;
  for (const ElfW(Phdr)* h = info->dlpi_phdr; h != info->dlpi_phdr + info->dlpi_phnum; ++h) {
    if (h->p_type != PT_TLS) continue;
    const auto first = reinterpret_cast<std::uint64_t>(info->dlpi_tls_data);
    if (first < o.end && first + h->p_memsz > o.first) o.found = info->dlpi_name;
  }
  return 0;
}

/// In the calling thread. Other threads have the same layout.
void check_layout() noexcept {
  if (own_descriptor() % data_page != 0)
    fail("thread-local variables cannot be shared: the dynamic linker does not begin a thread's descriptor on a page",
         QUIRE_UNSUPPORTED);
  overlap o{own_descriptor() - g_bytes, own_descriptor()};
  ::dl_iterate_phdr(look_for_others, &o);
  if (o.found == nullptr) return;
  char line[300];
  std::snprintf(line, sizeof line,
                "thread-local variables cannot be shared: %s has some between the program's (lower the alignment of "
                "the program's)",
                o.found);
  fail(line, QUIRE_UNSUPPORTED);
}

void share_pages(std::uint64_t at, int node) {
  quire_region_options how{};
  how.size = sizeof how;
  how.orders = orders_of_flags();
  quire_region region{};
  const quire_status why = quire_region_adopt(&how, reinterpret_cast<void*>(at), g_bytes, node, &region);
  if (why != QUIRE_OK) fail("thread-local variables of a thread cannot be shared", why);
}

void map(std::uint64_t at, std::uint64_t bytes) noexcept {
  void* const wanted = reinterpret_cast<void*>(at);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (::mmap(wanted, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == wanted) return;
  if (errno == ENOMEM) fail_for_system("there is no memory for a thread", errno, QUIRE_NO_MEMORY);
  fail("the addresses of a thread are taken by something else", QUIRE_NO_ADDRESSES);
}

void make_place(int node, int number) {
  if (static_cast<std::uint64_t>(number) >= most_places) fail("a node has too many threads", QUIRE_LIMIT);
  const std::uint64_t place = place_start(static_cast<std::size_t>(node), static_cast<std::uint64_t>(number)),
                      shared = descriptor_of(place) - g_bytes;
  if (node == quire_node()) {
    map(place, g_place_bytes);
  } else {
    map(shared, g_bytes);
  }
  share_pages(shared, node);
}

}  // namespace

bool has_thread_data() noexcept { return g_bytes != 0; }

void open_thread_data(bool always) {
  const module& program = modules()[0];
  const bool shares = program.thread_data_bytes != 0 && quire_nodes() > 1;
  if (!shares && !always) return;
  constexpr std::uint64_t own_stack = 1u << 20;
  if (shares) g_bytes = round_up(round_up(program.thread_data_bytes, program.thread_data_alignment), data_page);
  g_place_bytes = round_up(own_stack + g_bytes, own_stack);
  for (const module& m : modules()) g_place_bytes += round_up(m.thread_data_bytes, data_page);
  g_made.assign(static_cast<std::size_t>(quire_nodes()), 0);
  check_layout();
  if (!shares) return;
  std::uint64_t main_thread = own_descriptor();
  if (const quire_status why = quire_broadcast(&main_thread, sizeof main_thread, 0); why != QUIRE_OK)
    fail("nodes cannot begin", why);
  if (main_thread != own_descriptor())
    fail("thread-local variables cannot be shared: those of main() lie elsewhere than on node 0", QUIRE_INVALID);
  share_pages(main_thread - g_bytes, 0);
}

bool has_places(int threads) noexcept {
  for (std::size_t node = 0; node < g_made.size(); ++node) {
    if (g_made[node] < share_of(static_cast<int>(node), threads, quire_nodes()).count) return false;
  }
  return true;
}

void make_places(int threads) {
  if (g_bytes == 0) return;  // add_place_here()
  const int nodes = quire_nodes();
  for (int node = 0; node < nodes; ++node) {
    int& made = g_made[static_cast<std::size_t>(node)];
    for (const int wanted = std::max(share_of(node, threads, nodes).count, 1); made < wanted; ++made) {
      if (node != 0 || made != 0) make_place(node, made);  // node 0's first is the main thread
    }
    if (node == quire_node()) g_made_here.store(made, std::memory_order_release);
  }
}

bool find_place_here(std::size_t place, own_place& found) noexcept {
  if (g_bytes == 0 || place >= static_cast<std::size_t>(g_made[static_cast<std::size_t>(quire_node())])) return false;
  const std::uint64_t at = place_start(static_cast<std::size_t>(quire_node()), place);
  found = {at, g_place_bytes, descriptor_of(at)};
  return true;
}

std::size_t places_here() noexcept { return static_cast<std::size_t>(g_made_here.load(std::memory_order_acquire)); }

bool add_place_here() noexcept {
  const auto number = static_cast<std::uint64_t>(std::max(g_made_here.load(), 1));
  if (g_bytes != 0 || number >= most_places) return false;
  map(place_start(static_cast<std::size_t>(quire_node()), number), g_place_bytes);
  g_made_here.store(static_cast<int>(number) + 1);
  return true;
}

int create_at_place(std::size_t place, pthread_attr_t& about, void* (*body)(void*), void* argument,
                    pthread_t& thread) noexcept {
  const std::uint64_t at = place_start(static_cast<std::size_t>(quire_node()), place);
  if (const int error = ::pthread_attr_setstack(&about, reinterpret_cast<void*>(at), g_place_bytes); error != 0)
    return error;
  if (const int error = QUIRE_NEXT(pthread_create)(&thread, &about, body, argument); error != 0) return error;
  if (thread != descriptor_of(at)) fail("libc places a thread elsewhere than expected", QUIRE_UNSUPPORTED);
  return 0;
}

pthread_t handle_of_place(std::size_t place) noexcept {
  return descriptor_of(place_start(static_cast<std::size_t>(quire_node()), place));
}

int node_of_handle(pthread_t thread, std::size_t& place) noexcept {
  const int node = node_of_place(thread);
  if (node < 0) return -1;
  const std::uint64_t from = thread - place_start(static_cast<std::size_t>(node), 0);
  place = from / g_place_bytes;
  return from % g_place_bytes == g_place_bytes - data_page ? node : -1;
}

int node_of_place(std::uint64_t address) noexcept {
  const std::uint64_t node = g_place_bytes != 0 && address >= first_place
                                 ? (address - first_place) / (most_places * g_place_bytes)
                                 : g_made.size();
  return node < g_made.size() ? static_cast<int>(node) : -1;
}

}  // namespace quire::program
