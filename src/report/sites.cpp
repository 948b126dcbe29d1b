// SPDX-License-Identifier: BSD-3-Clause
#include "report/sites.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>

#include "core/unit_calls.hpp"

namespace quire::api::sites {
namespace {

constexpr unsigned page_shift = 12;
constexpr std::uint64_t large_bytes = 16 << page_shift;  ///< such blocks have an entry of their own
constexpr std::size_t pages = 1 << 16, looked_at = 8, most_large = 1024, stacks = 512, depth = 16;

/// Calls that led to an allocation, the library's own first.
struct stack {
  std::atomic<std::uint64_t> hash{0};  ///< 0: free; `calls` are there when `ready` says so
  std::atomic<bool> ready{false};
  std::array<void*, depth> calls{};
};
struct page {
  std::atomic<std::uint64_t> number{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint32_t> blocks{0}, first{0};  ///< `first`: a stack, from 1 on; 0 is unknown
};
struct large {
  std::uint64_t address = 0, bytes = 0;
  std::atomic<std::uint32_t> first{0};
  std::atomic<bool> ready{false};
};
// Zero, and so no memory, until they are used.
std::array<stack, stacks> g_stacks;
std::array<page, pages> g_pages;
std::array<large, most_large> g_large;
std::atomic<std::size_t> g_large_used{0};

/// The number of the stack of the calls that led here; 0 if there is no room for another one.
std::uint32_t stack_here() noexcept {
  // The first call loads a library, which allocates: from here again, where a program's malloc() is ours.
  static constinit thread_local bool under_way = false;
  if (under_way) return 0;
  void* found[depth];
  under_way = true;
  const int count = ::backtrace(found, static_cast<int>(depth));
  under_way = false;
  if (count <= 0) return 0;
  std::uint64_t hash = 1469598103934665603u;
  for (int i = 0; i < count; ++i) hash = (hash ^ reinterpret_cast<std::uint64_t>(found[i])) * 1099511628211u;
  hash |= 1;
  for (std::size_t i = 0; i < stacks; ++i) {
    stack& s = g_stacks[(hash + i) % stacks];
    std::uint64_t there = 0;
    if (s.hash.compare_exchange_strong(there, hash, std::memory_order_relaxed)) {
      std::copy(found, found + count, s.calls.begin());
      s.ready.store(true, std::memory_order_release);
      there = hash;
    }
    if (there == hash) return static_cast<std::uint32_t>((hash + i) % stacks) + 1;
  }
  return 0;
}

page* find(std::uint64_t number, bool make) noexcept {
  for (std::size_t i = 0; i < looked_at; ++i) {
    page& p = g_pages[((number * 0x9e3779b97f4a7c15u >> 48) + i) % pages];
    std::uint64_t there = p.number.load(std::memory_order_relaxed);
    if (there == 0 && make && p.number.compare_exchange_strong(there, number, std::memory_order_relaxed))
      there = number;
    if (there == number) return &p;
  }
  return nullptr;
}

void name_calls(std::uint32_t number, std::vector<std::string>& to) {
  if (number == 0 || !g_stacks[number - 1].ready.load(std::memory_order_acquire)) return;
  Dl_info own{};
  (void)::dladdr(reinterpret_cast<void*>(&on_allocated), &own);
  for (void* const call : g_stacks[number - 1].calls) {
    Dl_info about{};
    link_map* map = nullptr;
    if (call == nullptr || ::dladdr1(call, &about, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
        map == nullptr)
      continue;
    if (about.dli_fbase == own.dli_fbase) continue;
    char text[4096];
    // The call, not what follows it; in a file that has no fixed address, from its beginning.
    const auto offset = static_cast<unsigned long>(reinterpret_cast<std::uint64_t>(call) - 1 - map->l_addr);
    std::snprintf(text, sizeof text, "%s+0x%lx", about.dli_fname, offset);
    to.emplace_back(text);
  }
}

}  // namespace

[[gnu::noinline]] void on_allocated(std::uint64_t address, std::uint64_t bytes) noexcept {
  if (bytes >= large_bytes) {
    const std::size_t at = g_large_used.fetch_add(1, std::memory_order_relaxed);
    if (at >= most_large) return;
    g_large[at].address = address;
    g_large[at].bytes = bytes;
    g_large[at].first.store(stack_here(), std::memory_order_relaxed);
    g_large[at].ready.store(true, std::memory_order_release);
    return;
  }
  page* const p = find(address >> page_shift, true);
  if (p == nullptr) return;
  p->bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (p->blocks.fetch_add(1, std::memory_order_relaxed) == 0) p->first.store(stack_here(), std::memory_order_relaxed);
}

void forget(std::uint64_t first, std::uint64_t bytes) noexcept {
  const std::size_t used = std::min(g_large_used.load(std::memory_order_relaxed), most_large);
  for (std::size_t i = 0; i < used; ++i) {
    if (g_large[i].address - first < bytes) g_large[i].ready.store(false, std::memory_order_relaxed);
  }
  for (page& p : g_pages) {
    const std::uint64_t number = p.number.load(std::memory_order_relaxed);
    if (number == 0 || (number << page_shift) - first >= bytes) continue;
    p.bytes.store(0, std::memory_order_relaxed);
    p.blocks.store(0, std::memory_order_relaxed);
    p.first.store(0, std::memory_order_relaxed);
    p.number.store(0, std::memory_order_relaxed);
  }
}

std::string static_place(std::uint64_t address) {
  Dl_info about{};
  link_map* map = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(address), &about, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
      map == nullptr)
    return {};
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%lx", static_cast<unsigned long>(address - map->l_addr));
  return std::string(about.dli_fname) + offset;
}

known of(std::uint64_t first, std::uint64_t bytes) {
  known k;
  const std::size_t used = std::min(g_large_used.load(std::memory_order_relaxed), most_large);
  for (std::size_t i = used; i-- > 0;) {  // the last one may have the memory of one before
    const large& l = g_large[i];
    if (!l.ready.load(std::memory_order_acquire) || l.address >= first + bytes || first >= l.address + l.bytes)
      continue;
    k.blocks = 1;
    k.bytes = l.bytes;
    name_calls(l.first.load(std::memory_order_relaxed), k.calls);
    return k;
  }
  for (std::uint64_t number = first >> page_shift; number <= (first + bytes - 1) >> page_shift; ++number) {
    const page* const p = find(number, false);
    if (p == nullptr) continue;
    k.blocks += p->blocks.load(std::memory_order_relaxed);
    k.bytes += p->bytes.load(std::memory_order_relaxed);
    if (k.calls.empty()) name_calls(p->first.load(std::memory_order_relaxed), k.calls);
  }
  return k;
}

}  // namespace quire::api::sites
