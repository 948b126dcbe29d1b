// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/team/sums.hpp"

#include <quire/quire.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "program/job/job.hpp"
#include "program/job/shared_state.hpp"
#include "program/omp/team/members.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/process/fail.hpp"

namespace quire::program {
namespace {

using sites::combining;
using sites::summed_word;
using sites::summed_words;

/// Words that one collective brings together.
struct batch {
  bool real = false;
  combining how = combining::add;
  int count = 0;
  std::array<const summed_word*, summed_words::most> words{};
};

constexpr quire_operation operation_of(combining how) noexcept {
  switch (how) {
    case combining::multiply:
      return QUIRE_PRODUCT;
    case combining::least:
      return QUIRE_MIN;
    case combining::greatest:
      return QUIRE_MAX;
    default:
      return QUIRE_SUM;
  }
}

template <class T>
T combined(combining how, T a, T b) noexcept {
  switch (how) {
    case combining::multiply:
      return a * b;
    case combining::least:
      return b < a ? b : a;
    case combining::greatest:
      return a < b ? b : a;
    default:
      return a + b;
  }
}

template <class T>
T word_at(const summed_word& w, const std::byte* block) noexcept {
  T value;
  std::memcpy(&value, block + w.at, sizeof value);
  return value;
}

/// `Narrow` has 4 bytes, `Wide` 8.
template <class Wide, class Narrow>
Wide read(const summed_word& w, const std::byte* block) noexcept {
  return w.bytes == sizeof(Wide) ? word_at<Wide>(w, block) : static_cast<Wide>(word_at<Narrow>(w, block));
}

template <class Wide, class Narrow>
void write(const summed_word& w, std::byte* block, Wide value) noexcept {
  const auto narrow = static_cast<Narrow>(value);
  w.bytes == sizeof(Wide) ? std::memcpy(block + w.at, &value, sizeof value)
                          : std::memcpy(block + w.at, &narrow, sizeof narrow);
}

/// What this node gives; node 0 has its own in the words already.
template <class Wide, class Narrow>
std::array<Wide, summed_words::most> given(const batch& b, const std::byte* data) noexcept {
  std::array<Wide, summed_words::most> all{};
  for (int i = 0; i < b.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    alignas(8) std::byte nothing[256];
    sites::set_to_nothing(*b.words[at], nothing);
    all[at] = read<Wide, Narrow>(*b.words[at], job().node == 0 ? nothing : data);
  }
  return all;
}

template <class Wide, class Narrow, class Sum>
void take(const batch& b, const Sum& all, std::byte* data) noexcept {
  for (int i = 0; i < b.count && job().node == 0; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto before = static_cast<typename Sum::value_type>(read<Wide, Narrow>(*b.words[at], data));
    write<Wide, Narrow>(*b.words[at], data, static_cast<Wide>(combined(b.how, before, all[at])));
  }
}

void add_batch(const batch& b, std::byte* data) noexcept {
  quire_status why = QUIRE_OK;
  if (b.real) {
    auto all = given<double, float>(b, data);
    why = quire_reduce_f64(all.data(), static_cast<std::uint32_t>(b.count), operation_of(b.how));
    if (why == QUIRE_OK) take<double, float>(b, all, data);
  } else {
    auto all = given<std::int64_t, std::int32_t>(b, data);
    why = quire_reduce_i64(all.data(), static_cast<std::uint32_t>(b.count), operation_of(b.how));
    std::array<std::uint64_t, summed_words::most> wrapping{};  // whole numbers do
    std::memcpy(wrapping.data(), all.data(), sizeof wrapping);
    if (why == QUIRE_OK) take<std::int64_t, std::int32_t>(b, wrapping, data);
  }
  if (why != QUIRE_OK) fail("the sums of a parallel region cannot be added up", why);
}

/// The caller's team, if the caller has its lock.
thread_local constinit team* t_adds = nullptr;

bool is_of_sums(const team* t, const void* at) noexcept {
  if (t == nullptr || t->adds_by == 0) return false;
  const auto from = reinterpret_cast<std::uintptr_t>(t->what);
  return reinterpret_cast<std::uintptr_t>(at) - from <= t->adds_by;
}

}  // namespace

bool put_sums(const summed_words& sums, std::size_t read, carried_data& into) noexcept {
  const std::size_t bytes = sums.count * sizeof(summed_word);
  if (read + bytes > carried_data::most) return false;
  std::memcpy(into.bytes + carried_data::most - bytes, sums.all.data(), bytes);
  return true;
}

summed_words sums_of(const carried_data& carried, std::size_t count) noexcept {
  summed_words sums;
  sums.count = static_cast<std::uint8_t>(count);
  const std::size_t bytes = count * sizeof(summed_word);
  std::memcpy(sums.all.data(), carried.bytes + carried_data::most - bytes, bytes);
  return sums;
}

void begin_sums(const summed_words& sums, std::byte* copy) noexcept {
  for (const summed_word& w : sums) sites::set_to_nothing(w, copy);
}

void add_up(const summed_words& sums, std::byte* data) noexcept {
  std::array<batch, summed_words::most> batches{};
  std::size_t count = 0;
  for (const summed_word& w : sums) {
    std::size_t i = 0;
    while (i < count && (batches[i].real != w.real || batches[i].how != w.how)) ++i;
    if (i == count) batches[count++] = {w.real, w.how, 0, {}};
    batches[i].words[static_cast<std::size_t>(batches[i].count++)] = &w;
  }
  for (std::size_t i = 0; i < count; ++i) add_batch(batches[i], data);
}

void lock_atomics(const void* at) noexcept {
  team* const t = me().in_team;
  if (!is_of_sums(t, at)) return lock(shared().atomics);
  t->adding.lock();
  t_adds = t;
}
void unlock_atomics() noexcept {
  if (t_adds == nullptr) return unlock(shared().atomics);
  std::exchange(t_adds, nullptr)->adding.unlock();
}

}  // namespace quire::program
