// SPDX-License-Identifier: BSD-3-Clause
// The C++ API on real nodes: that it throws what it should, that standard locks, containers and algorithms work with
// it, and that an exception on one node ends the job instead of leaving the others to wait. What lies below it has
// tests of its own.
#include <array>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <stdexcept>
#include <string_view>

#include <quire/quire.hpp>

#include "node.hpp"

using namespace quire::test;
using namespace std::literals;

namespace {

static_assert(std::is_trivially_copyable_v<quire::mutex> && std::is_standard_layout_v<quire::mutex>);
static_assert(std::is_trivially_copyable_v<quire::barrier> && std::is_trivially_copyable_v<quire::region>);
static_assert(sizeof(quire::mutex) == sizeof(quire_mutex) && sizeof(quire::event) == sizeof(quire_event));
static_assert(!std::is_copy_constructible_v<quire::thread> && !std::is_copy_constructible_v<quire::session>);
static_assert(quire::detail::timeout_ms(100us) == 1 && quire::detail::timeout_ms(2ms) == 2);
static_assert(quire::detail::timeout_ms(-1s) == 0 && quire::detail::timeout_ms(std::chrono::hours::max()) == -1);

/// The status of the quire::error that `call` throws; QUIRE_OK if it throws nothing.
template <class Call>
quire_status thrown_by(Call call) {
  try {
    call();
  } catch (const quire::error& e) {
    REQUIRE(std::string_view(e.what()).find(quire_status_text(e.status())) != std::string_view::npos);
    return e.status();
  }
  return QUIRE_OK;
}

void errors() {
  REQUIRE_EQUAL(thrown_by([] { quire::session twice; }), QUIRE_EXISTS);
  REQUIRE_EQUAL(thrown_by([] { quire::mutex{}.lock(); }), QUIRE_INVALID);
  REQUIRE_EQUAL(thrown_by([] { quire::event{}.wait(); }), QUIRE_INVALID);
  REQUIRE_EQUAL(thrown_by([] { quire::thread{}.join(); }), QUIRE_INVALID);
  const auto nothing = [](int) {};
  REQUIRE_EQUAL(thrown_by([&] { quire::thread(quire::nodes(), nothing, 1); }), QUIRE_INVALID);
  int in_private_memory = 0;
  REQUIRE_EQUAL(thrown_by([&] { (void)quire::region::of(&in_private_memory); }), QUIRE_BAD_ADDRESS);
  const quire::error timed_out(QUIRE_TIMED_OUT);
  REQUIRE(timed_out.code() == quire::errc::timed_out && timed_out.code() == std::errc::timed_out);
  REQUIRE(timed_out.code() != quire::errc::busy && timed_out.code() != std::errc::file_exists);
}

void locks() {
  struct shared {
    quire::mutex a = quire::mutex::create(), b = quire::mutex::create();
    quire::shared_mutex readers = quire::shared_mutex::create();
    int counted = 0;
  };
  auto* all = quire::from_node(0, [] { return quire::new_object<shared>(); });
  REQUIRE(all->a && all->a != all->b && !quire::mutex{});
  for (int i = 0; i < 50; ++i) {
    // In opposite orders on neighbouring nodes: std::scoped_lock avoids the deadlock by try_lock().
    const bool even = quire::node() % 2 == 0;
    const std::scoped_lock both(even ? all->a : all->b, even ? all->b : all->a);
    ++all->counted;
  }
  quire::barrier{}.arrive_and_wait();
  REQUIRE_EQUAL(all->counted, 50 * quire::nodes());

  {
    const std::shared_lock reading(all->readers);
    quire::barrier{}.arrive_and_wait();  // all nodes read at once
    on_threads(1, [&](int) { REQUIRE(!all->readers.try_lock() && !all->readers.try_lock_for(5ms)); });
    quire::barrier{}.arrive_and_wait();  // no writer asks any more
    on_threads(1, [&](int) { REQUIRE(std::shared_lock(all->readers, std::try_to_lock).owns_lock()); });
    quire::barrier{}.arrive_and_wait();
  }
  quire::barrier{}.arrive_and_wait();
  if (quire::node() == 0) {
    const std::unique_lock lock(all->a, 10s);
    const std::unique_lock writing(all->readers, std::chrono::steady_clock::now() + 10s);
    REQUIRE(lock.owns_lock() && writing.owns_lock());
    on_threads(1, [&](int) {
      REQUIRE_EQUAL(thrown_by([&] { all->a.unlock(); }), QUIRE_NOT_OWNER);
      REQUIRE(!all->a.try_lock() && !all->a.try_lock_for(5ms) && !all->readers.try_lock_shared());
    });
  }
  quire::barrier{}.arrive_and_wait();
}

void waiting() {
  struct shared {
    quire::mutex guard = quire::mutex::create();
    quire::condition_variable changed = quire::condition_variable::create();
    quire::event opened = quire::event::create();
    quire::counting_semaphore places = quire::counting_semaphore::create(0);
    int turn = 0;
  };
  auto* all = quire::from_node(quire::nodes() - 1, [] { return quire::new_object<shared>(); });
  {
    // Each node waits for its turn and then gives it to the next.
    std::unique_lock lock(all->guard);
    all->changed.wait(lock, [&] { return all->turn == quire::node(); });
    ++all->turn;
    all->changed.notify_all();
    REQUIRE(!all->changed.wait_for(lock, 5ms, [] { return false; }));
    REQUIRE(lock.owns_lock());
    REQUIRE(all->changed.wait_for(lock, 10s, [&] { return all->turn == quire::nodes(); }));
  }
  quire::barrier{}.arrive_and_wait();
  REQUIRE(!all->opened.wait_for(5ms) && !all->places.try_acquire() && !all->places.try_acquire_for(5ms));
  quire::barrier{}.arrive_and_wait();
  if (quire::node() == 0) {
    all->opened.set();
    all->places.release(static_cast<std::uint64_t>(quire::nodes()));
  }
  all->opened.wait();
  all->places.acquire();

  // A barrier for two threads of each node.
  auto some = quire::from_node(0, [] { return quire::barrier::create(2 * static_cast<unsigned>(quire::nodes())); });
  auto* arrived = quire::from_node(0, [] { return quire::new_object<std::uint64_t>(0u); });
  on_threads(2, [&](int) {
    quire::atomic_ref(*arrived).fetch_add(1);
    some.arrive_and_wait();
    REQUIRE_EQUAL(quire::atomic_ref(*arrived).load(), 2 * quire::nodes());
  });
}

struct throws_when_made {
  explicit throws_when_made(const void** place) {
    *place = this;
    throw std::runtime_error("not today");
  }
};
struct alignas(4096) page_of_its_own {
  int value = 7;
};

void memory() {
  std::vector<int, quire::allocator<int>> numbers;
  for (int i = 0; i < 10000; ++i) numbers.push_back(i);
  REQUIRE_EQUAL(std::accumulate(numbers.begin(), numbers.end(), 0), 49995000);
  (void)quire::region::of(numbers.data());  // throws if it is not shared
  quire::memory_resource resource;
  const std::pmr::vector<std::pmr::string> words(100, "longer than what a string keeps in itself", &resource);
  (void)quire::region::of(words.back().data());

  const auto zeroes = quire::make_shared_array<std::uint16_t>(5000);
  REQUIRE_EQUAL(std::accumulate(zeroes.begin(), zeroes.end(), 0), 0);
  quire::free_shared_array(zeroes);
  REQUIRE_EQUAL(thrown_by([&] { quire::free_shared_array(zeroes); }), QUIRE_BAD_ADDRESS);
  const auto pages = quire::make_shared_array<page_of_its_own>(3);
  REQUIRE(reinterpret_cast<std::uintptr_t>(pages.data()) % 4096 == 0 && pages[2].value == 7);
  quire::free_shared_array(pages);

  const void* place = nullptr;
  try {
    (void)quire::new_object<throws_when_made>(&place);
  } catch (const std::runtime_error&) {
    std::size_t bytes = 0;
    REQUIRE_STATUS(quire_allocation_size(place, &bytes), QUIRE_BAD_ADDRESS);  // given back
  }
  REQUIRE(place != nullptr);
  bool no_room = false;
  try {
    (void)quire::allocator<page_of_its_own>{}.allocate(std::numeric_limits<std::size_t>::max() / 2);
  } catch (const std::bad_alloc&) {
    no_room = true;
  }
  REQUIRE(no_room);
}

void regions_and_hints() {
  const auto mine = quire::from_node(0, [] {
    return quire::region::create(100'000, {.unit_bytes = 65536, .place = quire::placement::node, .home = 0});
  });
  const auto values = mine.span<std::int64_t>();
  REQUIRE_EQUAL(values.size_bytes(), 131072);
  REQUIRE(quire::region::of(&values.back()) == mine && quire::region::of(&values.front()) != quire::region{});
  quire::prefetch(values);
  if (quire::node() == 0) {
    std::iota(values.begin(), values.end(), 0);
    quire::push(values.first(100));
  }
  quire::barrier{}.arrive_and_wait();
  REQUIRE_EQUAL(std::accumulate(values.begin(), values.end(), std::int64_t{0}), 16384 / 2 * 16383);
  quire::barrier{}.arrive_and_wait();
  REQUIRE_EQUAL(thrown_by([] { (void)quire::region::create(4096, {.unit_bytes = 5000}); }), QUIRE_INVALID);

  mine.set_consistency(quire::consistency::release);
  REQUIRE_EQUAL(values[7], 7);
  mine.set_consistency(quire::consistency::sequential);
  REQUIRE_EQUAL(thrown_by([] { quire::region{}.set_consistency(quire::consistency::release); }), QUIRE_INVALID);
  const auto place = static_cast<std::size_t>(quire::node());
  mine.begin_block();
  mine.declare(values.subspan(place, 1));
  values[place] = 1000 + quire::node();
  REQUIRE(!mine.end_block());
  for (int n = 0; n < quire::nodes(); ++n) REQUIRE_EQUAL(values[static_cast<std::size_t>(n)], 1000 + n);
  mine.begin_block(true);
  if (quire::node() < 2) values[40] = -1;
  const auto overlap = mine.end_block();
  REQUIRE(overlap.has_value() == (quire::nodes() > 1));
  if (overlap) REQUIRE(overlap->node_a == 0 && overlap->node_b == 1);
  REQUIRE_EQUAL(thrown_by([&] { (void)mine.end_block(); }), QUIRE_INVALID);

  if (quire::node() == 0) quire::publish("values", values.data());
  REQUIRE(quire::lookup<std::int64_t>("values") == values.data());
  REQUIRE(quire::lookup_for<int>("nothing", 0ms) == nullptr && quire::lookup_for<int>("nothing", 5ms) == nullptr);
  REQUIRE_EQUAL(thrown_by([&] { quire::publish("values", values.data()); }), QUIRE_EXISTS);
}

void atomics() {
  struct shared {
    std::int64_t balance = 0;
    double last = 0.5;
    shared* top = nullptr;
  };
  auto* all = quire::from_node(0, [] { return quire::new_object<shared>(); });
  const quire::atomic_ref balance(all->balance);
  balance.fetch_add(5);
  balance.fetch_sub(7);
  quire::barrier{}.arrive_and_wait();
  REQUIRE_EQUAL(balance.load(), -2 * quire::nodes());

  const double before = quire::atomic_ref(all->last).exchange(quire::node() + 1.5);
  REQUIRE(before == 0.5 || (before >= 1.5 && before < quire::nodes() + 1.5));
  shared* expected = nullptr;
  const bool won = quire::atomic_ref(all->top).compare_exchange(expected, all);
  REQUIRE(expected == (won ? nullptr : all));
  REQUIRE_EQUAL(quire::all_reduce(won ? 1 : 0, quire::operation::sum), 1);
}

void values_by_messages() {
  const int self = quire::node(), nodes = quire::nodes();
  std::array<std::int64_t, 20> many;
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = self + static_cast<std::int64_t>(i);
  quire::all_reduce(std::span<std::int64_t>(many), quire::operation::max);
  for (std::size_t i = 0; i < many.size(); ++i) REQUIRE_EQUAL(many[i], nodes - 1 + static_cast<std::int64_t>(i));
  REQUIRE(quire::all_reduce(0.5 + self, quire::operation::min) == 0.5);
  REQUIRE(quire::all_reduce(2.0f, quire::operation::product) == static_cast<float>(1 << nodes));
  REQUIRE(quire::all_agree(true) && !quire::all_agree(self != nodes - 1));

  std::array<int, 100> large{};
  if (self == nodes - 1) std::iota(large.begin(), large.end(), 1);
  REQUIRE_EQUAL(quire::broadcast(large, nodes - 1)[99], 100);
}

void remote_threads() {
  if (quire::node() == 0) {
    const int last = quire::nodes() - 1;
    const auto add_node = [](int more) { return quire::node() + more; };
    REQUIRE_EQUAL(quire::thread(last, add_node, 40).join<int>(), last + 40);

    using numbers = std::array<double, 30>;  // more than fits into a pointer
    const auto sum = [](const numbers& all) { return std::accumulate(all.begin(), all.end(), 0.0); };
    numbers halves;
    halves.fill(0.5);
    quire::thread summing(last, sum, halves);
    quire::thread moved = std::move(summing);
    REQUIRE(!summing.joinable() && moved.joinable() && moved.join<double>() == 15 && !moved.joinable());

    auto* touched = quire::new_object<int>(0);
    const auto touch = [](int* flag) { *flag = 1; };
    { const quire::thread joined_at_the_end(last, touch, touched); }
    REQUIRE_EQUAL(*touched, 1);
  }
  quire::barrier{}.arrive_and_wait();
}

/// One node throws, the others wait at a barrier that it never reaches.
void give_up_on_one_node() {
  if (quire::node() == quire::nodes() - 1) throw std::runtime_error("this node gives up");
  quire::barrier{}.arrive_and_wait();
}

/// The job ends while the thread that was joined is still within the library (QUIRE_FAIL=thread_finished:1:wait keeps
/// it there for half a second).
void end_behind_a_thread() {
  auto at = std::chrono::steady_clock::now();
  {
    quire::session job;
    if (quire::node() == 0)
      quire::thread(
          quire::nodes() - 1, [](int) {}, 0)
          .join();
    quire::barrier{}.arrive_and_wait();
    at = std::chrono::steady_clock::now();
    if (quire::node() != quire::nodes() - 1) at -= 1s;  // the thread was elsewhere
  }
  REQUIRE(std::chrono::steady_clock::now() - at > 100ms);
}

}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc > 1 && argv[1] == "end"sv) {
    end_behind_a_thread();
    return 0;
  }
  quire::session job;
  if (argc > 1) give_up_on_one_node();
  section("errors", errors);
  section("locks", locks);
  section("waiting", waiting);
  section("memory", memory);
  section("regions and hints", regions_and_hints);
  section("atomic operations", atomics);
  section("values by messages", values_by_messages);
  section("remote threads", remote_threads);
} catch (const std::exception& e) {
  std::fprintf(stderr, "facade: %s\n", e.what());
  return 3;
}
