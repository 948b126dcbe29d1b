// SPDX-License-Identifier: BSD-3-Clause
// What may lie in shared memory, and what is refused: quire::is_shareable. That refused types do not compile, and what
// is said then, is checked by shareable_refused.py.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <complex>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <quire/quire.hpp>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace {

using quire::is_shareable;
template <class T>
using shared_vector = std::vector<T, quire::allocator<T>>;

struct no_default {
  no_default(int) {}
};
struct tree {
  int value;
  shared_vector<tree> children;
};
struct known_better {
  std::mutex of_one_node;
};
struct point {
  int x, y;
};

}  // namespace

template <>
inline constexpr bool quire::is_shareable<known_better> = true;

namespace {

TEST(shareable, plain_data_atomics_and_containers_with_our_allocator) {
  struct all {
    quire::mutex guard;
    std::atomic<long> count{0};
    shared_vector<int> numbers;
    std::map<int, tree, std::less<>, quire::allocator<std::pair<const int, tree>>> trees;
    std::basic_string<char, std::char_traits<char>, quire::allocator<char>> text;
    int* pointer;
    void (*function)(int);
    std::complex<double> z;
    std::optional<double> maybe;
    char name[100];
    std::array<point, 50> points;
    std::pair<int, double> both;
    std::chrono::seconds time;
  };
  static_assert(is_shareable<all> && is_shareable<tree> && is_shareable<int> && is_shareable<point[3]>);
  struct with_a_reference {
    int bits : 3;
    const int constant;
    int& reference;
  };
  static_assert(is_shareable<with_a_reference> && is_shareable<std::atomic<int>> &&
                is_shareable<std::pair<const int, point>>);
}

TEST(shareable, not_what_has_threads_or_memory_of_one_node) {
  static_assert(!is_shareable<std::mutex> && !is_shareable<std::recursive_timed_mutex> &&
                !is_shareable<std::shared_timed_mutex>);
  static_assert(!is_shareable<std::condition_variable_any> && !is_shareable<std::jthread>);
  static_assert(!is_shareable<std::barrier<>> && !is_shareable<std::counting_semaphore<5>>);
  static_assert(!is_shareable<std::string> && !is_shareable<std::list<int>> &&
                !is_shareable<std::unordered_map<int, int>>);
  static_assert(!is_shareable<std::unique_ptr<int[]>> && !is_shareable<std::function<int(int)>>);
  static_assert(!is_shareable<const std::string> && !is_shareable<std::mutex[4]>);
}

TEST(shareable, not_what_has_such_members) {
  struct after_an_array {
    char name[64];
    std::string text;
  };
  struct after_what_has_no_default {
    no_default first;
    point second;
    std::function<void()> third;
  };
  struct base {
    std::condition_variable condition;
  };
  struct derived : base {
    int value;
  };
  struct the_sixteenth {
    int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o;
    std::thread thread;
  };
  struct several {
    point p[3];
    std::mutex guards[4];
  };
  static_assert(!is_shareable<after_an_array> && !is_shareable<after_what_has_no_default> && !is_shareable<derived>);
  static_assert(!is_shareable<the_sixteenth> && !is_shareable<several> && !is_shareable<std::tuple<int, several>>);
  static_assert(!is_shareable<std::array<std::mutex, 3>> && !is_shareable<std::pair<const int, std::string>>);
}

TEST(shareable, what_is_declared_so_as_a_member_too) {
  struct holder {
    known_better member;
    int value;
  };
  struct holder_without_default {
    no_default first;
    known_better member;
  };
  static_assert(is_shareable<known_better> && is_shareable<holder> && is_shareable<holder_without_default>);
}

}  // namespace
