// SPDX-License-Identifier: BSD-3-Clause
// The heat equation on a square plate that all nodes share: hot on one side, cold on the others. With a directory it writes checkpoints there, and
// goes on from the last one when it is started again, on as many nodes or on others; with a file, a picture.
// Run it: quire run -n 2 heat [STEPS [DIRECTORY [PICTURE.pgm]]]
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

constexpr std::size_t size = 256;
constexpr int steps_between = 50;  ///< checkpoints

/// What a later run goes on from.
struct plate {
  int done = 0;
  quire::region now, next;
};

void step(std::span<const double> now, std::span<double> next, quire::index_range rows) {
  for (std::size_t y = std::max<std::size_t>(rows.first, 1); y < std::min(rows.last, size - 1); ++y)
    for (std::size_t x = 1; x + 1 < size; ++x) {
      const std::size_t i = y * size + x;
      next[i] = now[i] + 0.2 * (now[i - 1] + now[i + 1] + now[i - size] + now[i + size] - 4 * now[i]);
    }
}

void warm_up(std::span<double> a, quire::index_range rows) {
  for (std::size_t y = rows.first; y < rows.last; ++y)
    for (std::size_t x = 0; x < size; ++x) a[y * size + x] = y == 0 ? 100 : 0;
}

plate* make_plate() {
  auto* const p = quire::new_object<plate>();
  for (quire::region* r : {&p->now, &p->next}) *r = quire::region::create(size * size * sizeof(double), {.consistency = quire::consistency::release});
  quire::publish("plate", p);
  return p;
}

void draw(const std::string& file, std::span<const double> plate) {
  std::ofstream out(file, std::ios::binary);
  out << "P5\n" << size << ' ' << size << "\n255\n";
  for (const double t : plate) out.put(static_cast<char>(std::lround(t * 2.55)));
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 200;
  const std::string directory = argc > 2 ? argv[2] : "", picture = argc > 3 ? argv[3] : "";
  quire::session job;
  const bool goes_on = !directory.empty() && quire::restore(directory);
  plate* const p = goes_on ? quire::lookup<plate>("plate") : quire::from_node(0, make_plate);
  const int done = p->done;
  const auto first = p->now.span<double>().first(size * size), second = p->next.span<double>().first(size * size);
  quire::team all(2);
  all.run([&](quire::member& me) {
    const auto rows = me.my_part(size);
    if (!goes_on) warm_up(first, rows), warm_up(second, rows);
    me.wait();
    for (int i = done; i < steps; ++i) {
      step(i % 2 == 0 ? first : second, i % 2 == 0 ? second : first, rows);
      me.wait();
      if (directory.empty() || (i + 1) % steps_between != 0) continue;
      if (me.is_first()) p->done = i + 1;
      if (me.place() == 0) quire::checkpoint(directory);  // one thread of each node, while the others wait
      me.wait();
    }
  });
  bool right = true;
  if (job.node() == 0) {  // the same by one thread
    const auto result = steps % 2 == 0 ? first : second;
    std::vector<double> a(size * size), b(size * size);
    warm_up(a, {0, size}), warm_up(b, {0, size});
    for (int i = 0; i < steps; ++i) step(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, {0, size});
    right = std::equal(result.begin(), result.end(), (steps % 2 == 0 ? a : b).begin());
    if (!picture.empty()) draw(picture, result);
    std::printf("%d steps, %d of them now; the middle has %.4f degrees: %s\n", steps, steps - done, result[size / 2 * size + size / 2], right ? "right" : "wrong");
  }
  return quire::broadcast(right) ? 0 : 1;
}
