// SPDX-License-Identifier: BSD-3-Clause
// quire_containers: what the pages of a file cost that all nodes use as a container: from the page cache, from the
// disk, from another node; all of a file for all nodes, on a device of 100 MB/s; writing and sync. The floors:
// floor_container.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <quire/container.hpp>
#include <quire/quire.hpp>
#include <stdexcept>
#include <string>

#include "common/job.hpp"
#include "common/order.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

constexpr std::size_t chunk = 1u << 20;
constexpr double device_mbps = 100;

struct settings {
  std::string directory = ".";
  std::uint64_t bytes = 64u << 20;
  std::uint64_t rounds = 5;
};

/// Of this process, from files and sockets of the system.
std::uint64_t bytes_read() {
  std::ifstream in("/proc/self/io");
  std::string word;
  std::uint64_t value = 0;
  while (in >> word >> value) {
    if (word == "rchar:") return value;
  }
  throw std::runtime_error("/proc/self/io says nothing");
}

void leave_cache(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw std::runtime_error("cannot open " + path);
  ::fdatasync(descriptor);
  (void)::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
}

void write_file(const std::string& path, std::uint64_t bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  const std::string some(chunk, '\7');
  for (std::uint64_t done = 0; done < bytes; done += chunk)
    out.write(some.data(), static_cast<std::streamsize>(some.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

void touch(std::span<std::byte> memory, std::size_t page) {
  if (static_cast<volatile std::byte&>(memory[page * bench::page_bytes]) != std::byte{7})
    throw std::runtime_error("wrong content");
}

void all() { quire::barrier{}.arrive_and_wait(); }

void warm_faults(const settings& wanted, const std::string& path, int node) {
  quire::file file("warm", {.what = path, .flags = quire::file::create | quire::file::read_only, .node = 0});
  const std::size_t pages = std::min<std::uint64_t>(wanted.bytes, 16u << 20) / bench::page_bytes;
  const auto order = bench::random_order(pages);
  const auto* const memory = reinterpret_cast<const volatile std::byte*>(file.bytes().data());
  bench::samples home("warm_fault", "us"), peer("peer_fault", "us");
  for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
    all();
    if (node == 0) {
      file.drop();
      for (const std::size_t page : order) home.time([&] { (void)memory[page * bench::page_bytes]; });
    }
    all();
    if (node == 1) {
      for (const std::size_t page : order) peer.time([&] { (void)memory[page * bench::page_bytes]; });
    }
    all();
  }
  if (node == 0) home.print();
  if (node == 1) peer.print();
}

/// Microseconds a page of 4 KiB.
void cold_reads(const settings& wanted, const std::string& path, int node) {
  quire::file file("cold", {.what = path, .flags = quire::file::create | quire::file::read_only, .node = 0});
  const auto memory = file.bytes();
  bench::samples times("cold_in_order", "us");
  for (std::uint64_t round = 0; round < wanted.rounds && node == 0; ++round) {
    file.drop();
    leave_cache(path);
    const std::size_t pages = wanted.bytes / bench::page_bytes;
    const std::uint64_t start = bench::now_ns();
    for (std::size_t page = 0; page < pages; ++page) touch(memory, page);
    times.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(pages));
  }
  if (node == 0) times.print();
  all();
}

/// Each node reads all of the file, which comes from a slow device.
void all_read(const settings& wanted, const std::string& path, int node) {
  const std::uint64_t bytes = std::min<std::uint64_t>(wanted.bytes, 32u << 20);
  const quire::file file("shared", {.linker = "throttle",
                                    .what = "mbps=" + std::to_string(static_cast<int>(device_mbps)) + ";file;" + path,
                                    .flags = quire::file::create | quire::file::read_only,
                                    .node = 0});
  const auto memory = file.bytes();
  all();
  const std::uint64_t before = bytes_read(), start = bench::now_ns();
  for (std::size_t page = 0; page < bytes / bench::page_bytes; ++page) touch(memory, page);
  all();
  const double device_s = static_cast<double>(bytes) / (device_mbps * 1e6),
               took_s = static_cast<double>(bench::now_ns() - start) / 1e9;
  // rchar counts what nodes send each other over TCP as well: over shared memory it is files alone.
  const auto read = quire::all_reduce(static_cast<std::int64_t>(bytes_read() - before), quire::operation::sum);
  if (node != 0) return;
  bench::samples time("all_read", "of the device's time"), filled("all_read_bytes", "of the file");
  time.add(took_s / device_s);
  filled.add(static_cast<double>(read) / static_cast<double>(bytes));
  time.print();
  filled.print();
}

void writes(const settings& wanted, const std::string& path, int node) {
  quire::file file("written", {.what = path, .flags = quire::file::create, .node = 0});
  std::vector<std::byte> some(chunk, std::byte{9});
  for (const int writer : {0, 1}) {
    bench::samples times(writer == 0 ? "write_sync" : "write_sync_remote", "us");
    for (std::uint64_t round = 0; round < 4 * wanted.rounds && node == writer; ++round) {
      times.time([&] {
        file.write_at(0, some);
        file.sync(0, some.size());
      });
    }
    if (node == writer) times.print();
    all();
  }
}

void run(const settings& wanted) {
  const quire::session job;
  const int node = job.node();
  const std::string path = wanted.directory + "/quire_containers.file", other = path + ".written";
  if (node == 0) write_file(path, wanted.bytes), write_file(other, chunk);
  all();
  warm_faults(wanted, path, node);
  cold_reads(wanted, path, node);
  all_read(wanted, path, node);
  writes(wanted, other, node);
  all();
  if (node == 0) ::unlink(path.c_str()), ::unlink(other.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here(
      "What the pages of a file cost that all nodes use. Start it as `quire run -n 4 quire_containers`.");
  here.add_size("--bytes", wanted.bytes, "of the file");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "times that all is done");
  here.add_text("--directory", wanted.directory, "for the file, on a disk");
  return here.run(argc, argv, [&] {
    wanted.bytes = std::max<std::uint64_t>(1, wanted.bytes / chunk) * chunk;
    run(wanted);
  });
}
