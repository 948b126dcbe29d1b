// SPDX-License-Identifier: BSD-3-Clause
// quire_checkpoint_speed: seconds and GB/s of a checkpoint and of a restart, against one process a node that writes as
// many bytes to a file and waits for the disk (write and fsync), or reads and forgets them. Start it on an empty
// directory: it writes the checkpoint, and a second start restores it.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include <quire/quire.hpp>

#include "common/job.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

struct settings {
  std::uint64_t bytes = 512u << 20;  ///< of each node
  std::uint64_t rounds = 3;
  std::string directory;
};

constexpr std::size_t step = 16u << 20;

double gigabytes(const settings& wanted, int nodes) { return static_cast<double>(wanted.bytes) * nodes / 1e9; }

/// All nodes do this together; the slowest counts. In milliseconds.
template <class Work>
double slowest(Work&& work) {
  quire::barrier{}.arrive_and_wait();
  const std::uint64_t start = bench::now_ns();
  work();
  return quire::all_reduce(static_cast<double>(bench::now_ns() - start) / 1e6, quire::operation::max);
}

std::string floor_file(const settings& wanted) { return wanted.directory + "/floor-" + std::to_string(quire::node()); }

void write_floor(const settings& wanted, const std::vector<char>& content) {
  const int fd = ::open(floor_file(wanted).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  for (std::uint64_t at = 0; fd >= 0 && at < wanted.bytes; at += step) {
    if (::write(fd, content.data(), step) != static_cast<ssize_t>(step))
      throw std::runtime_error("cannot write " + floor_file(wanted));
  }
  if (fd < 0 || ::fsync(fd) != 0) throw std::runtime_error("cannot write " + floor_file(wanted));
  ::close(fd);
}

void read_floor(const settings& wanted, std::vector<char>& content) {
  const int fd = ::open(floor_file(wanted).c_str(), O_RDONLY);
  for (std::uint64_t at = 0; fd >= 0 && at < wanted.bytes; at += step) {
    if (::read(fd, content.data(), step) != static_cast<ssize_t>(step))
      throw std::runtime_error("cannot read " + floor_file(wanted));
  }
  ::close(fd);
}

void report(const char* name, const settings& wanted, int nodes, std::vector<double> took_ms) {
  if (quire::node() != 0) return;
  bench::samples times(std::string(name), "ms"), speeds(std::string(name) + "_speed", "GB/s");
  for (const double ms : took_ms) {
    times.add(ms);
    speeds.add(gigabytes(wanted, nodes) / (ms / 1e3));
  }
  times.print();
  speeds.print();
}

void run(const settings& wanted) {
  const quire::session job;
  const std::string state = wanted.directory + "/state";
  std::vector<char> content(step, 7);
  bool found = false;
  const double restore_ms = slowest([&] { found = quire::restore(state); });
  if (found) {
    report("restore", wanted, job.nodes(), {restore_ms});
    report("read_floor", wanted, job.nodes(), {slowest([&] { read_floor(wanted, content); })});
    ::unlink(floor_file(wanted).c_str());
    return;
  }
  const auto memory = quire::from_node(0, [&] {
    return quire::region::create(wanted.bytes * static_cast<unsigned>(quire::nodes())).span<std::uint64_t>();
  });
  const auto mine = memory.subspan(
      memory.size() / static_cast<std::size_t>(job.nodes()) * static_cast<std::size_t>(job.node()), wanted.bytes / 8);
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = i * 0x9e3779b97f4a7c15 + 1;
  std::vector<double> checkpoints, floors;
  for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
    checkpoints.push_back(slowest([&] { quire::checkpoint(state); }));
    floors.push_back(slowest([&] { write_floor(wanted, content); }));
  }
  report("checkpoint", wanted, job.nodes(), checkpoints);
  report("write_floor", wanted, job.nodes(), floors);
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  if (const char* directory = std::getenv("TMPDIR"); directory != nullptr) wanted.directory = directory;
  bench::program here(
      "A checkpoint in $TMPDIR, which must be empty at first; started again, its restart. `TMPDIR=/scratch quire run "
      "-n 2 quire_checkpoint_speed`.");
  here.add_size("--bytes", wanted.bytes, "of each node");
  here.add_number("--rounds", wanted.rounds, 1, 100, "of checkpoint and floor");
  return here.run(argc, argv, [&] {
    if (wanted.directory.empty())
      throw std::runtime_error("set TMPDIR to a directory on the file system to be measured");
    run(wanted);
  });
}
