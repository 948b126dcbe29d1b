// SPDX-License-Identifier: BSD-3-Clause
// CG on another shared memory system: apps/cg/cg.cpp with its kernel, its blocks of rows, its barriers and sums, on one
// of the bodies of system.h. Vectors and matrix lie in shared memory, at the node that computes their rows. Built by
// build_apps.sh.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <vector>

#include "cg/kernel.hpp"
#include "cg/matrix.hpp"
#include "cg/settings.hpp"
#include "common/partition.hpp"
#include "common/report.hpp"
#include "peers/worker.hpp"

namespace {

/// The part of the shared memory where this node has its rows of the matrix.
std::byte *arena = nullptr, *arena_end = nullptr;

/// Allocates there, and gives nothing back.
template <class Value>
struct arena_allocator {
  using value_type = Value;
  arena_allocator() = default;
  template <class Other>
  arena_allocator(const arena_allocator<Other>&) {}
  [[nodiscard]] Value* allocate(std::size_t count) {
    const std::size_t bytes = (count * sizeof(Value) + 63) / 64 * 64;
    if (bytes > static_cast<std::size_t>(arena_end - arena)) throw std::bad_alloc();
    auto* const at = reinterpret_cast<Value*>(arena);
    arena += bytes;
    return at;
  }
  void deallocate(Value*, std::size_t) {}
  friend bool operator==(const arena_allocator&, const arena_allocator&) { return true; }
};

/// Enough for a node's rows: they have about as many elements as the outer products that they are sums of.
std::size_t matrix_bytes(const cg::problem_class& problem, apps::row_range rows) {
  const auto elements = static_cast<std::size_t>((problem.nonzeros + 1) * (problem.nonzeros + 1));
  const std::size_t of_row = elements * 3 / 2 * (sizeof(int) + sizeof(double)) + sizeof(std::size_t);
  return (rows.end - rows.begin) * of_row + 16 * apps::page_bytes;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = cg::parse(system_arguments(argc, argv), argv, system_name());
  const auto n = static_cast<std::size_t>(wanted.problem.n);
  system_start(argc, argv, matrix_bytes(wanted.problem, {0, n}) + 64 * 16 * apps::page_bytes + 6 * n * sizeof(double));
  peers::node_worker me;
  const std::size_t nodes = me.count();
  const auto rows_of = [&](std::size_t node) { return apps::block_of_rows(node, nodes, n, sizeof(double), 2); };
  std::vector<std::size_t> rows_begin(nodes + 1), matrix_begin(nodes + 1);
  for (std::size_t node = 0; node < nodes; ++node) {
    rows_begin[node + 1] = rows_of(node).end * sizeof(double);
    const std::size_t pages = matrix_bytes(wanted.problem, rows_of(node)) / apps::page_bytes;
    matrix_begin[node + 1] = matrix_begin[node] + pages * apps::page_bytes;
  }
  const auto make = [&] { return std::span(peers::allocate_blocks<double>(rows_begin), n); };
  const cg::vectors vectors{make(), make(), make(), make(), make()};
  auto* const matrices = peers::allocate_blocks<std::byte>(matrix_begin);

  arena = matrices + matrix_begin[me.number()], arena_end = matrices + matrix_begin[me.number() + 1];
  const auto terms = cg::random_vectors(wanted);
  cg::matrix_rows<arena_allocator> matrix;
  cg::eigenvalue found;
  auto result = cg::begin_report(wanted, system_name());
  peers::run(
      result,
      [&] {
        matrix = cg::build_rows<arena_allocator>(terms, wanted.problem.shift, cg::rows_of(me, n));
        cg::warm_up(me, matrix, vectors, wanted.problem.shift);
      },
      [&] {
        for (int i = 0; i < wanted.problem.iterations; ++i)
          found = cg::iterate(me, matrix, vectors, wanted.problem.shift);
      });
  const int status = me.number() == 0 ? cg::finish(wanted, result, found) : 0;
  system_barrier();
  system_end();
  return status;
} catch (const std::exception& e) {
  std::fprintf(stderr, "cg: %s\n", e.what());
  return 1;
}
