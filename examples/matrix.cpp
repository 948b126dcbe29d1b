// SPDX-License-Identifier: BSD-3-Clause
// A matrix product, C = A x B, with regions and a barrier. The rows of A and C are divided over the nodes, so large
// units in consecutive order suit them; B is read by all, and its units are spread over the nodes.
// Run it: quire run -n 2 matrix
#include <cstddef>
#include <cstdio>
#include <span>

#include <quire/quire.hpp>

namespace {

constexpr std::size_t n = 256;

std::span<double> make_matrix(const quire::region_options& options) {
  return quire::from_node(0, [&] { return quire::region::create(n * n * sizeof(double), options); }).span<double>();
}

}  // namespace

int main() {
  quire::session job;
  const auto a = make_matrix({.unit_bytes = 65536, .place = quire::placement::block});
  const auto b = make_matrix({.place = quire::placement::modulo});
  const auto c = make_matrix({.unit_bytes = 65536, .place = quire::placement::block});

  const auto node = static_cast<std::size_t>(job.node());
  const auto nodes = static_cast<std::size_t>(job.nodes());
  const std::size_t begin = n * node / nodes;
  const std::size_t end = n * (node + 1) / nodes;

  for (std::size_t i = begin; i < end; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      a[i * n + j] = static_cast<double>(i + j);
      b[i * n + j] = i == j ? 2 : 0;
    }
  quire::barrier{}.arrive_and_wait();

  for (std::size_t i = begin; i < end; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  quire::barrier{}.arrive_and_wait();

  // B is twice the unit matrix: C must be twice A. Every node looks at all of it.
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n * n; ++i) wrong += c[i] != 2 * a[i];
  std::printf("node %d: %zu of %zu elements are wrong\n", job.node(), wrong, n * n);
  return wrong == 0 ? 0 : 1;
}
