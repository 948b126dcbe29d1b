// SPDX-License-Identifier: BSD-3-Clause
// The heat equation on a square plate that all nodes share: hot on one side, cold on the others. With a directory it
// writes checkpoints there, and goes on from the last one when it is started again, on as many nodes or on others; with
// a file, a picture. Run it: quire run -n 2 heat [STEPS [SIZE [THREADS of a node [DIRECTORY [PICTURE.pgm]]]]]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <quire/quire.hpp>

namespace {

using quire::index_range;

constexpr int steps_between = 50;  ///< checkpoints

/// What a later run goes on from.
struct plate {
  int done = 0;
  std::size_t size = 0;
  quire::region now, next;
};

void step(std::span<const double> now, std::span<double> next, std::size_t size, index_range rows) {
  for (std::size_t y = std::max<std::size_t>(rows.first, 1); y < std::min(rows.last, size - 1); ++y)
    for (std::size_t x = 1; x + 1 < size; ++x) {
      const std::size_t i = y * size + x;
      next[i] = now[i] + 0.2 * (now[i - 1] + now[i + 1] + now[i - size] + now[i + size] - 4 * now[i]);
    }
}

void warm_up(std::span<double> a, std::size_t size, index_range rows) {
  for (std::size_t y = rows.first; y < rows.last; ++y)
    for (std::size_t x = 0; x < size; ++x) a[y * size + x] = y == 0 ? 100 : 0;
}

plate* make_plate(std::size_t size) {
  auto* const p = quire::new_object<plate>();
  p->size = size;
  for (quire::region* r : {&p->now, &p->next})
    *r = quire::region::create(size * size * sizeof(double), {.consistency = quire::consistency::release});
  quire::publish("plate", p);
  return p;
}

void draw(const std::string& file, std::span<const double> plate, std::size_t size) {
  std::ofstream out(file, std::ios::binary);
  out << "P5\n" << size << ' ' << size << "\n255\n";
  for (const double t : plate) out.put(static_cast<char>(std::lround(t * 2.55)));
}

/// Compares with what one thread computes, and tells.
bool check(std::span<const double> result, std::size_t size, int steps, std::chrono::duration<double> took) {
  std::vector<double> a(size * size), b(size * size);
  warm_up(a, size, {0, size}), warm_up(b, size, {0, size});
  for (int i = 0; i < steps; ++i) step(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, size, {0, size});
  const bool right = std::equal(result.begin(), result.end(), (steps % 2 == 0 ? a : b).begin());
  std::printf("%d steps; near the hot side of %zu x %zu it has %.4f degrees: %s\n", steps, size, size,
              result[3 * size + size / 2], right ? "right" : "wrong");
  std::printf("%.4f s\n", took.count());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 200;
  const std::size_t wanted = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 256;
  const unsigned threads = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 2;
  const std::string directory = argc > 4 ? argv[4] : "", picture = argc > 5 ? argv[5] : "";
  quire::session job;
  const bool goes_on = !directory.empty() && quire::restore(directory);
  plate* const p = goes_on ? quire::lookup<plate>("plate") : quire::from_node(0, [&] { return make_plate(wanted); });
  const std::size_t size = p->size;
  const int done = p->done;
  const auto first = p->now.span<double>().first(size * size), second = p->next.span<double>().first(size * size);
  std::chrono::duration<double> took{};
  quire::team all(threads);
  all.run([&](quire::member& me) {
    const auto rows = me.my_part(size);
    if (!goes_on) warm_up(first, size, rows), warm_up(second, size, rows);
    me.wait();
    const auto start = std::chrono::steady_clock::now();
    for (int i = done; i < steps; ++i) {
      step(i % 2 == 0 ? first : second, i % 2 == 0 ? second : first, size, rows);
      me.wait();
      if (directory.empty() || (i + 1) % steps_between != 0) continue;
      if (me.is_first()) p->done = i + 1;
      if (me.place() == 0) quire::checkpoint(directory);  // one thread of each node, while the others wait
      me.wait();
    }
    if (me.is_first()) took = std::chrono::steady_clock::now() - start;
  });
  const auto result = steps % 2 == 0 ? first : second;
  if (job.node() == 0 && goes_on) std::printf("goes on after %d steps\n", done);
  if (job.node() == 0 && !picture.empty()) draw(picture, result, size);
  const bool right = job.node() != 0 || check(result, size, steps, took);
  return quire::broadcast(right) ? 0 : 1;
}
