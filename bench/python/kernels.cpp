// SPDX-License-Identifier: BSD-3-Clause
// A stencil, conjugate gradients and k-means in C++, loop for loop what kernels.py does in Python with numba;
// compare.py runs both.
//   quire run -n 2 quire_python_kernels stencil|cg|k_means SIZE STEPS
// One thread a node. Node 0 prints the time of the steps, and a number that both must agree on.
#include <time.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include <quire/quire.hpp>

namespace {

constexpr std::size_t clusters = 16, dimensions = 8;

struct rows {
  std::size_t first, last;
};

/// This node's part of low .. high, as block() of Python.
rows block(std::size_t low, std::size_t high) {
  const auto node = static_cast<std::size_t>(quire_node()), nodes = static_cast<std::size_t>(quire_nodes());
  const std::size_t count = high - low;
  return {low + count * node / nodes, low + count * (node + 1) / nodes};
}

std::span<double> shared(std::size_t count) {
  return quire::from_node(0,
                          [count] {
                            return quire::region::create(
                                count * sizeof(double),
                                {.consistency = quire::consistency::release, .place = quire::placement::first_touch});
                          })
      .span<double>()
      .first(count);
}

void barrier() { quire::barrier{}.arrive_and_wait(); }

void sum(double* values, std::size_t count) {
  if (quire_group_reduce_f64({0}, values, count, QUIRE_SUM) != QUIRE_OK) std::exit(1);
}
double sum(double value) {
  sum(&value, 1);
  return value;
}

void sweep(double* to, const double* from, std::size_t n, rows mine) {
  for (std::size_t i = mine.first; i < mine.last; ++i)
    for (std::size_t j = 1; j < n - 1; ++j)
      to[i * n + j] =
          0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] + from[i * n + j + 1]);
}

/// q = A p on these rows, of the five-point Laplacian; the part of p.q that is this node's.
double multiply(double* q, const double* p, std::size_t n, rows mine) {
  double total = 0;
  for (std::size_t i = mine.first; i < mine.last; ++i)
    for (std::size_t j = 1; j < n - 1; ++j) {
      const double value =
          4 * p[i * n + j] - p[(i - 1) * n + j] - p[(i + 1) * n + j] - p[i * n + j - 1] - p[i * n + j + 1];
      q[(i - mine.first) * n + j] = value;
      total += value * p[i * n + j];
    }
  return total;
}

double advance(double* x, double* r, const double* p, const double* q, double alpha, std::size_t n, rows mine) {
  double total = 0;
  for (std::size_t i = mine.first; i < mine.last; ++i)
    for (std::size_t j = 1; j < n - 1; ++j) {
      const std::size_t at = (i - mine.first) * n + j;
      x[at] += alpha * p[i * n + j];
      r[at] -= alpha * q[at];
      total += r[at] * r[at];
    }
  return total;
}

void turn(double* p, const double* r, double beta, std::size_t n, rows mine) {
  for (std::size_t i = mine.first; i < mine.last; ++i)
    for (std::size_t j = 1; j < n - 1; ++j) p[i * n + j] = r[(i - mine.first) * n + j] + beta * p[i * n + j];
}

/// Adds each of these points to the sums of the centre that is nearest: its coordinates, and one.
void assign(double* sums, const double* points, const double* centres, rows mine) {
  for (std::size_t i = mine.first; i < mine.last; ++i) {
    std::size_t best = 0;
    double nearest = INFINITY;
    for (std::size_t c = 0; c < clusters; ++c) {
      double distance = 0;
      for (std::size_t d = 0; d < dimensions; ++d) {
        const double apart = points[i * dimensions + d] - centres[c * dimensions + d];
        distance += apart * apart;
      }
      if (distance < nearest) nearest = distance, best = c;
    }
    for (std::size_t d = 0; d < dimensions; ++d) sums[best * (dimensions + 1) + d] += points[i * dimensions + d];
    sums[best * (dimensions + 1) + dimensions] += 1;
  }
}

struct times {
  double wall, processor;  ///< of the calling thread
};
struct outcome {
  times seconds;
  double check;
};

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class Steps>
times seconds_of(Steps&& steps) {
  barrier();
  const auto start = std::chrono::steady_clock::now();
  const double processor = processor_seconds();
  steps();
  barrier();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          processor_seconds() - processor};
}

double total(std::span<const double> a, std::size_t n, rows mine) {
  double part = 0;
  for (std::size_t i = mine.first * n; i < mine.last * n; ++i) part += a[i];
  return sum(part);
}

outcome stencil(std::size_t n, int steps) {
  auto now = shared(n * n), next = shared(n * n);
  const rows mine = block(1, n - 1), whole = block(0, n);
  for (std::size_t i = whole.first; i < whole.last; ++i)
    for (std::size_t j = 0; j < n; ++j) now[i * n + j] = next[i * n + j] = i == 0 ? 100 : 0;
  const times seconds = seconds_of([&] {
    for (int step = 0; step < steps; ++step) {
      sweep(next.data(), now.data(), n, mine);
      barrier();
      std::swap(now, next);
    }
  });
  return {seconds, total(now, n, whole)};
}

outcome cg(std::size_t n, int steps) {
  const auto p = shared(n * n);
  const rows mine = block(1, n - 1);
  const std::size_t count = (mine.last - mine.first) * n;
  std::vector<double> x(count), r(count), q(count);
  double square = 0;
  for (std::size_t i = mine.first; i < mine.last; ++i)
    for (std::size_t j = 1; j < n - 1; ++j) {
      p[i * n + j] = r[(i - mine.first) * n + j] = 1.0 / static_cast<double>(n + i + j);
      square += p[i * n + j] * p[i * n + j];
    }
  square = sum(square);
  const times seconds = seconds_of([&] {
    for (int step = 0; step < steps; ++step) {
      const double alpha = square / sum(multiply(q.data(), p.data(), n, mine));
      const double next = sum(advance(x.data(), r.data(), p.data(), q.data(), alpha, n, mine));
      turn(p.data(), r.data(), next / square, n, mine);
      square = next;
      barrier();
    }
  });
  return {seconds, total(x, n, {0, mine.last - mine.first})};
}

outcome k_means(std::size_t n, int steps) {
  const auto points = shared(n * dimensions);
  const rows mine = block(0, n);
  for (std::size_t i = mine.first; i < mine.last; ++i)
    for (std::size_t d = 0; d < dimensions; ++d)
      points[i * dimensions + d] = static_cast<double>((i * (d + 3) * 7919) % 10007) / 10007;
  std::vector<double> centres(clusters * dimensions), sums(clusters * (dimensions + 1));
  for (std::size_t c = 0; c < clusters; ++c)
    for (std::size_t d = 0; d < dimensions; ++d)
      centres[c * dimensions + d] = static_cast<double>((c * (d + 3) * 7919) % 10007) / 10007;
  const times seconds = seconds_of([&] {
    for (int step = 0; step < steps; ++step) {
      std::fill(sums.begin(), sums.end(), 0.0);
      assign(sums.data(), points.data(), centres.data(), mine);
      sum(sums.data(), sums.size());
      for (std::size_t c = 0; c < clusters; ++c)
        for (std::size_t d = 0; d < dimensions; ++d)
          centres[c * dimensions + d] =
              sums[c * (dimensions + 1) + d] / std::fmax(1, sums[c * (dimensions + 1) + dimensions]);
    }
  });
  double check = 0;
  for (const double value : centres) check += value;
  return {seconds, check};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s stencil|cg|k_means SIZE STEPS\n", argv[0]);
    return 2;
  }
  const quire::session job;
  const std::string_view name = argv[1];
  const auto size = static_cast<std::size_t>(std::strtoull(argv[2], nullptr, 10));
  const int steps = std::atoi(argv[3]);
  const outcome found = name == "stencil" ? stencil(size, steps)
                        : name == "cg"    ? cg(size, steps)
                                          : k_means(size, steps);
  if (job.node() == 0)
    std::printf("time %.6f s, processor %.6f s, check %.9g\n", found.seconds.wall, found.seconds.processor,
                found.check);
  return 0;
}
